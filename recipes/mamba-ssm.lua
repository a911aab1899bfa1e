-- Selective state space models: the scan's kernels, and the models in Python.
local forge = require "forge"

return forge.wheel {
  name     = "mamba-ssm",
  version  = "2.3.2.post1",
  summary  = "Mamba state-space model",
  homepage = "https://github.com/state-spaces/mamba",
  license  = "Apache-2.0",

  matrix = {
    python = { "3.13", "3.11", "3.14" },
    torch  = { "2.11.0" },
    cuda   = { "13.0" },
    archs  = { { "80" }, { "90" } },
  },

  -- Its setup.py lists up to nine architectures by CUDA version; with this it builds those of the variant. Its own
  -- flags also turn off what PyTorch makes of TORCH_CUDA_ARCH_LIST.
  patches  = { "patches/mamba-ssm-archs.patch" },
  requires = { "setuptools==80.9.0", "wheel", "packaging", "ninja" },
  jobs     = { MAX_JOBS = { memory = "4GiB" } },
  env = function(v) return {
    MAMBA_FORCE_BUILD = "TRUE",        -- literal TRUE: anything else downloads a stranger's binary
    MAMBA_CUDA_ARCHS  = v.archs:join ";",
  } end,

  label = forge.label.local_version "cu{cuda}{sm}torch{torch}",
  test  = { import = "mamba_ssm", run = "import selective_scan_cuda" },
}
