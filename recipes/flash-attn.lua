local forge = require "forge"

return forge.wheel {
  name     = "flash-attn",
  version  = "2.8.3",
  summary  = "Flash Attention: fast and memory-efficient exact attention",
  homepage = "https://github.com/Dao-AILab/flash-attention",
  license  = "BSD-3-Clause",

  matrix = {
    python = { "3.13", "3.11", "3.14" },
    torch  = { "2.11.0", "2.15.0" },
    cuda   = { "13.0", "13.2" },
    archs  = { { "80" }, { "80", "90" }, { "80", "90", "100", "120" } },   -- the last: all that the release knows
  },
  profiles = {
    hopper = { archs = { "80", "90" } },
    every  = { archs = { "80", "90", "100", "120" } },
  },

  requires = { "setuptools==80.9.0", "wheel", "packaging", "psutil", "ninja", "einops" },
  jobs     = { MAX_JOBS = { memory = "6GiB" } },  -- inert: the scheduler fills it in; not part of the hash
  env = function(v) return {
    FLASH_ATTENTION_FORCE_BUILD = "TRUE",         -- literal TRUE: anything else downloads a stranger's binary
    FLASH_ATTN_CUDA_ARCHS       = v.archs:join ";",
    NVCC_THREADS                = "1",
  } end,
  aliases = { FLASH_ATTENTION_CUDA_ARCHS = "archs" },   -- a name people use for it; no release reads it

  -- Two wheels of one version must not share a name: that of several architectures says which.
  label = forge.label.local_version(function(v)
    return #v.archs == 1 and "cu{cuda}torch{torch}" or "cu{cuda}{sm}torch{torch}"
  end),
  test  = { import = "flash_attn", run = "import flash_attn_2_cuda", gpu = "tests/flash-attn-forward.py" },
}
