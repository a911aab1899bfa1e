-- Rasterisation of 3D Gaussians, differentiable, for PyTorch.
local forge = require "forge"

return forge.wheel {
  name     = "gsplat",
  version  = "1.5.3",
  summary  = "Differentiable rasterization of Gaussians in CUDA",
  homepage = "https://github.com/nerfstudio-project/gsplat",
  license  = "Apache-2.0",

  matrix = {
    python = { "3.13", "3.11", "3.14" },
    torch  = { "2.11.0", "2.15.0", "2.6.0" },
    cuda   = { "13.0", "13.2", "12.4" },
    archs  = { { "80" }, { "90" } },
  },

  -- It imports packaging wherever it uses its kernels, and asks for it nowhere.
  patches  = { "patches/gsplat-packaging.patch" },
  requires = { "setuptools==80.9.0", "wheel", "ninja" },
  jobs     = { MAX_JOBS = { memory = "4GiB" } },       -- where it is unset, setup.py takes 10
  env = function(v) return {
    TORCH_CUDA_ARCH_LIST = v.archs:dotted ";",         -- unset: what torch thinks of as usual
  } end,

  label = forge.label.local_version "cu{cuda}{sm}torch{torch}",
  -- `import gsplat` works without the extension as well: it then compiles at run time, if there is a toolkit. So the
  -- extension is asked for by name.
  test  = {
    import   = { "gsplat", "gsplat.csrc" },
    run      = "from gsplat.cuda._backend import _C; assert _C is not None",
    requires = { "packaging" },
  },
}
