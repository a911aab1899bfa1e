-- C and C++ by CMake and ninja: the libraries that it brings along, and some of its own core.
return require "objects" {
  name = "opencv-python-headless", version = "4.12.0.88",
  requires = { "setuptools==80.9.0", "scikit-build==0.18.1", "cmake==3.31.6", "ninja==1.13.0", "numpy==2.2.6" },
  -- What would be downloaded is left out, and modules whose objects are not asked for.
  env = { CMAKE_ARGS = "-DCMAKE_MAKE_PROGRAM=/build/only/ninja -DWITH_IPP=OFF -DBUILD_LIST=core,imgcodecs" },
  build = [[
    core=modules/core/CMakeFiles/opencv_core.dir/src
    only libpng libjpeg-turbo libtiff libwebp libopenjp2 ittnotify IlmImf \
      $core/alloc.cpp.o $core/check.cpp.o $core/logger.cpp.o $core/trace.cpp.o $core/hal_internal.cpp.o $core/lpsolver.cpp.o
    python setup.py build || true
  ]],
}
