-- The host's part and one of its 72 kernels.
return require "objects" {
  name = "flash-attn", version = "2.8.3", torch = "2.11.0", cuda = "13.0",
  requires = { "setuptools==80.9.0", "wheel", "packaging", "psutil", "ninja", "einops" },
  env = { FLASH_ATTENTION_FORCE_BUILD = "TRUE", FLASH_ATTN_CUDA_ARCHS = "80", NVCC_THREADS = "1" },
  build = [[
    objects=/build/src/build/temp.linux-x86_64-cpython-313/csrc/flash_attn
    only $objects/flash_api.o $objects/src/flash_fwd_hdim32_fp16_sm80.o
    PATH=/build/only:$PATH python setup.py -q build_ext || true
  ]],
}
