-- Small CUDA sources, C and C++ by CMake's own CUDA language.
return require "objects" {
  name = "llama-cpp-python", version = "0.3.16", cuda = "13.0",
  requires = { "scikit-build-core==0.11.6", "cmake==3.31.6", "ninja==1.13.0", "nvidia-cublas==13.1.0.3" },
  env = {
    SKBUILD_BUILD_DIR = "/build/cmake", -- else a folder of a random name in /tmp, where nothing is kept
    CMAKE_ARGS = "-DCMAKE_MAKE_PROGRAM=/build/only/ninja -DGGML_CUDA=ON -DGGML_CUDA_NO_VMM=ON -DGGML_NATIVE=OFF -DCMAKE_CUDA_ARCHITECTURES=80;90 -DCUDA_cublas_LIBRARY=/cuda/lib/libcublas.so.13",
  },
  build = [[
    targets=ggml-base
    for name in acc add-id arange argmax clamp count-equal diagmask mean pad roll scale softcap sum sumrows tsembd; do
      targets="$targets vendor/llama.cpp/ggml/src/ggml-cuda/CMakeFiles/ggml-cuda.dir/$name.cu.o"
    done
    for name in llama-adapter llama-batch llama-chat llama-cparams llama-hparams llama-impl llama-io llama-memory; do
      targets="$targets vendor/llama.cpp/src/CMakeFiles/llama.dir/$name.cpp.o"
    done
    only $targets
    python -c 'import scikit_build_core.build as b; b.build_wheel("/build")' || true
  ]],
}
