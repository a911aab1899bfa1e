-- CUDA without torch: a small package whose source stands beside this recipe, for every toolkit that forge has.
local forge = require "forge"

return forge.wheel {
  name    = "cuda-saxpy",
  version = "1.0",
  source  = forge.path "cuda-saxpy",

  matrix = {
    python = { "3.13" },
    cuda   = { "13.0", "13.2", "12.4", "11.8" },
    archs  = { { "80" }, { "80", "90" } },
  },

  requires = { "setuptools==80.9.0" },
  runtime  = {},
  env   = function(v) return { SAXPY_ARCHS = v.archs:join ";" } end,
  label = forge.label.local_version "cu{cuda}{sm}",
  test  = { import = "cuda_saxpy", run = "import cuda_saxpy; assert cuda_saxpy.device_count() >= 0" },
}
