-- Memory-efficient attention and sparse kernels, on PyTorch's stable ABI: one wheel for every Python from 3.9 on
-- (py39-none) and every PyTorch from 2.10 on.
local forge = require "forge"

return forge.wheel {
  name     = "xformers",
  version  = "0.0.35",
  summary  = "A collection of composable Transformer building blocks",
  homepage = "https://facebookresearch.github.io/xformers/",
  license  = "BSD-3-Clause",

  matrix = {
    python = { "3.13" },             -- one of each: the wheel names neither, so more would be the same wheel again,
    torch  = { "2.11.0" },           -- except for cpp_lib.json, which says what it was built with
    cuda   = { "13.0" },
    archs  = { { "80" }, { "90a" } },
  },
  stable_abi = { "torch" },

  requires = { "setuptools==80.9.0", "wheel", "ninja" },
  jobs     = { MAX_JOBS = { memory = "6GiB" } },
  env = function(v) return {
    FORCE_CUDA           = "1",
    TORCH_CUDA_ARCH_LIST = v.archs:dotted ";",
    XFORMERS_BUILD_TYPE  = "Release",          -- unset: RelWithDebInfo, with line tables
  } end,

  -- Setup.py takes BUILD_VERSION whole, and writes it into xformers/version.py too. Without it and without .git the
  -- version is that of version.txt.
  label = forge.label.env_version("BUILD_VERSION", "cu{cuda}{sm}"),
  -- `import xformers` only warns where its library can't be loaded.
  test  = { import = "xformers", run = "import xformers; assert xformers._has_cpp_library" },
}
