-- Scatter and segment reductions for PyTorch, of which PyTorch Geometric is made.
local forge = require "forge"

return forge.wheel {
  name     = "torch-scatter",
  version  = "2.1.2",
  summary  = "PyTorch extension library of optimized scatter operations",
  homepage = "https://github.com/rusty1s/pytorch_scatter",
  license  = "MIT",

  matrix = {
    python = { "3.13", "3.11", "3.14" },
    torch  = { "2.11.0", "2.15.0", "2.6.0" },
    cuda   = { "13.0", "13.2", "12.4" },
    archs  = { { "80" }, { "90" } },
  },

  -- Its setup.py turns ninja off, and so compiles one source after another and never reads MAX_JOBS. (To build the
  -- extensions side by side is no way out: they share one compiler, whose name PyTorch changes for each CUDA source.)
  patches  = { "patches/torch-scatter-ninja.patch" },
  requires = { "setuptools==80.9.0", "wheel", "ninja" },       -- it declares nothing, not even torch
  jobs     = { MAX_JOBS = { memory = "4GiB" } },
  env = function(v) return {
    -- Where no GPU is seen it builds for the CPU alone. FORCE_CUDA=1 builds each extension twice, with and without;
    -- the one with holds what the other has, and is the one that is loaded.
    FORCE_ONLY_CUDA      = "1",
    TORCH_CUDA_ARCH_LIST = v.archs:dotted ";",
  } end,

  label = forge.label.local_version "cu{cuda}{sm}torch{torch}",
  test  = {
    import = "torch_scatter",
    run = [[
import torch, torch_scatter
assert torch.ops.torch_scatter.cuda_version() // 1000 == int(torch.version.cuda.split(".")[0])
sums = torch_scatter.scatter(torch.tensor([1., 2., 4.]), torch.tensor([0, 1, 1]), reduce="sum")
assert sums.tolist() == [1., 6.], sums
]],
  },
}
