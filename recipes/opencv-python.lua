-- OpenCV for Python, with CUDA: what the wheels on the index don't have. A drop-in for opencv-python with the modules
-- listed here.
local forge = require "forge"

-- What these need is added by OpenCV itself (flann, geometry, …).
local modules = "core,imgproc,imgcodecs,features,python3,cudev,cudaarithm,cudafilters,cudaimgproc,cudawarping"

-- NVIDIA's wheels with the libraries that it loads: with the patch a requirement of the wheel.
local libraries = "cuda-toolkit[cublas,cufft,npp]=="

return forge.wheel {
  name     = "opencv-python",
  version  = "5.0.0.93",
  summary  = "OpenCV's Python bindings, with CUDA",
  homepage = "https://github.com/opencv/opencv-python",
  license  = "Apache-2.0",
  -- The CUDA modules, and cudev which they are made of, are in opencv_contrib, which only this sdist brings along. It
  -- has a cv2/version.py in the place of .git, and that says what it is: ENABLE_CONTRIB=1 on the other has no effect.
  source   = forge.sdist { name = "opencv-contrib-python", version = "5.0.0.93" },

  matrix = {
    python = { "3.13", "3.11", "3.14" },
    cuda   = { "13.0" },
    archs  = { { "80" }, { "90" } },
  },

  patches  = {
    "patches/opencv-python-cuda-libraries.patch",
    -- setup.py insists on type stubs, and what makes them (with only a warning where it can't) on functions of the
    -- module calib, which the patch forgives, and on classes of features, which is built for that.
    "patches/opencv-python-modules.patch",
  },
  -- Its setup.py needs a setuptools that has no bdist_wheel yet, and that a wheel which still has one.
  requires = {
    "setuptools==69.5.1", "wheel==0.45.1", "packaging", "pip", "scikit-build==0.18.1", "cmake==3.31.10", "ninja",
    "numpy==2.1.3; python_version<'3.14'", "numpy==2.3.2; python_version>='3.14'",
    libraries .. "13.0.2",
  },
  runtime  = { "numpy>=2", libraries .. "13.0.2" },
  jobs     = { CMAKE_BUILD_PARALLEL_LEVEL = { memory = "3GiB" } },

  -- NVIDIA's wheels have libnppc.so.13 but not the name that CMake looks for.
  prepare  = [[
mkdir /build/lib
for file in /cuda/lib/lib*.so.*; do
	name=${file##*/}
	ln -sf "$file" "/build/lib/${name%%.so.*}.so"
done
]],
  env = function(v) return {
    OPENCV_PYTHON_PACKAGE_NAME = "opencv-python",
    OPENCV_PYTHON_LIBRARIES    = libraries .. "13.*",
    CMAKE_LIBRARY_PATH         = "/build/lib",
    CMAKE_ARGS                 = table.concat({                      -- split at every space: none can be quoted
      "-DBUILD_LIST=" .. modules,
      "-DWITH_CUDA=ON", "-DCUDA_ARCH_BIN=" .. v.archs:dotted ";",
      -- With CUDA as a language of CMake's it links NPP statically, which the wheels don't have.
      "-DENABLE_CUDA_FIRST_CLASS_LANGUAGE=OFF",
      "-DWITH_CUDNN=OFF", "-DWITH_NVCUVID=OFF", "-DWITH_NVCUVENC=OFF",
      -- What it would download while it is configured, the last even for a module that is not built. It goes on where
      -- it can't, with a feature less.
      "-DWITH_IPP=OFF", "-DWITH_UNIFONT=OFF", "-DWITH_ADE=OFF",
      "-DBUILD_ZLIB=ON", "-DBUILD_JPEG=ON", "-DBUILD_PNG=ON", "-DBUILD_TIFF=ON", "-DBUILD_WEBP=ON", "-DBUILD_OPENJPEG=ON",
      "-DCMAKE_INSTALL_RPATH=$ORIGIN/../nvidia/cu13/lib", "-DCMAKE_INSTALL_RPATH_USE_LINK_PATH=OFF",
      "-DBUILD_INFO_SKIP_SYSTEM_VERSION=ON",   -- cv2.getBuildInformation() has the version of the running kernel
    }, " "),
  } end,

  label = forge.label.local_version "cu{cuda}{sm}",
  test  = {
    import = "cv2",
    run = [[
import cv2, numpy
assert "NVIDIA CUDA:                   YES" in cv2.getBuildInformation()
assert hasattr(cv2, "cuda_GpuMat") and hasattr(cv2.cuda, "warpAffine")
assert cv2.resize(numpy.ones((4, 4), numpy.uint8), (2, 2)).min() == 1
]],
  },
}
