-- Neighborhood attention: CUTLASS kernels behind CMake.
local forge = require "forge"

return forge.wheel {
  name     = "natten",
  version  = "0.21.7",
  summary  = "Neighborhood Attention Extension",
  homepage = "https://natten.org",
  license  = "MIT",

  matrix = {
    python = { "3.13", "3.11", "3.14" },
    torch  = { "2.11.0" },
    cuda   = { "13.0" },
    archs  = { { "80" }, { "90a" } },
  },

  -- What CMake has just linked goes into the wheel, not what it would install: so it must not put the folders where it
  -- found torch into the library's search path.
  patches  = { "patches/natten-rpath.patch" },
  requires = { "setuptools==80.9.0", "wheel", "cmake==3.31.10" },      -- cmake is needed, and not declared
  jobs     = { NATTEN_N_WORKERS = { memory = "4GiB" } },               -- MAX_JOBS is not read; unset: a quarter of the cores
  -- It builds in the folder that it is given, if there is one; else in one with a random name.
  prepare  = "mkdir /build/natten",
  env = function(v) return {
    NATTEN_BUILD_DIR = "/build/natten",
    -- Unset, and without a GPU, the wheel has no kernels at all. It takes 9.0 and no letters, and makes sm_90a,
    -- sm_100a and sm_103a of 9.0, 10.0 and 10.3 by itself: in `archs` they have the names of what is built.
    NATTEN_CUDA_ARCH = v.archs:dotted ";":gsub("a", ""),
  } end,

  label = forge.label.local_version "cu{cuda}{sm}torch{torch}",
  test  = { import = "natten", run = "import natten.libnatten; assert natten.HAS_LIBNATTEN" },
}
