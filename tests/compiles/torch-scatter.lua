-- C++ and CUDA against torch, compiled by setuptools one after another.
return require "objects" {
  name = "torch-scatter", version = "2.1.2", torch = "2.11.0", cuda = "13.0",
  requires = { "setuptools==80.9.0", "wheel" },
  env = { FORCE_ONLY_CUDA = "1", TORCH_CUDA_ARCH_LIST = "8.0" },
  build = [[
    rm csrc/segment_coo.cpp csrc/cuda/scatter_cuda.cu # minutes each
    python setup.py -q build_ext
  ]],
}
