-- Torches of three CUDAs, and the toolkits that go with them: which pairs are possible is not said here but follows
-- from the lock. For evaluation; the package is that of cuda-saxpy.lua and does not use torch.
local forge = require "forge"

return forge.wheel {
  name    = "cuda-torch",
  version = "1.0",
  source  = forge.path "cuda-saxpy",

  matrix = {
    python = { "3.13" },
    torch  = { "2.15.0", "2.14.0", "2.6.0" },
    cuda   = { "13.2", "13.0", "12.4", "11.8" },
  },

  requires = { "setuptools==80.9.0" },
  runtime  = {},
  env   = { SAXPY_ARCHS = "80" },
  label = forge.label.local_version "cu{cuda}torch{torch}",
  test  = { import = "cuda_saxpy" },
}
