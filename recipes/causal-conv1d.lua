local forge = require "forge"

return forge.wheel {
  name     = "causal-conv1d",
  version  = "1.6.2.post1",
  summary  = "Causal depthwise conv1d in CUDA, with a PyTorch interface",
  homepage = "https://github.com/Dao-AILab/causal-conv1d",
  license  = "BSD-3-Clause",

  matrix = {
    python = { "3.13", "3.11", "3.14" },
    torch  = { "2.11.0" },
    cuda   = { "13.0" },
    archs  = { { "90" } },
  },

  -- Its setup.py lists up to nine architectures by CUDA version; with this it builds those of the variant.
  patches  = { "patches/causal-conv1d-archs.patch" },
  requires = { "setuptools==80.9.0", "wheel", "packaging", "ninja" },
  jobs     = { MAX_JOBS = { memory = "4GiB" } },
  env = function(v) return {
    CAUSAL_CONV1D_FORCE_BUILD = "TRUE",   -- literal TRUE: anything else downloads a stranger's binary
    CAUSAL_CONV1D_CUDA_ARCHS  = v.archs:join ";",
  } end,

  label = forge.label.local_version "cu{cuda}torch{torch}",
  test  = { import = "causal_conv1d", run = "import causal_conv1d_cuda" },
}
