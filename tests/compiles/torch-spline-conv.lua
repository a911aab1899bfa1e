-- Like torch-scatter, with smaller kernels, and for two architectures.
return require "objects" {
  name = "torch-spline-conv", version = "1.2.2", torch = "2.11.0", cuda = "13.0",
  requires = { "setuptools==80.9.0", "wheel" },
  env = { FORCE_ONLY_CUDA = "1", TORCH_CUDA_ARCH_LIST = "8.0;9.0" },
  build = "python setup.py -q build_ext",
}
