-- NumPy and SciPy for GPUs. The project "cupy" has no wheels: those are published under a name for each major version
-- of CUDA, and one wheel serves all its minor versions.
local forge = require "forge"

-- The libraries that it is compiled against: of the oldest CUDA that it is to work with.
local libraries = {
  "cuda-toolkit[cublas,cudart,cufft,curand,cusolver,cusparse,nvrtc]==13.0.2",
  "nvidia-cuda-profiler-api==13.0.85", "nvidia-nvtx==13.0.85", "nvidia-nccl-cu13==2.28.9", "cutensor-cu13==2.4.1",
}

return forge.wheel {
  name     = "cupy-cuda13x",
  version  = "14.2.0",
  summary  = "NumPy & SciPy for GPU",
  homepage = "https://cupy.dev",
  license  = "MIT",
  source   = forge.sdist { name = "cupy", version = "14.2.0" },

  matrix = {
    python = { "3.13", "3.11", "3.14", "3.14t" },
    cuda   = { "13.0" },
    -- For the few sources that are compiled ahead (CUB, Thrust, random numbers); all else is compiled when it runs. The
    -- second is upstream's list.
    archs  = { { "80" }, { "75", "80", "86", "89", "90", "100", "120" } },
  },

  patches  = { "patches/cupy-cuda13x-name.patch" },
  requires = { "setuptools==80.9.0", "wheel", "Cython>=3.2,<3.3", "numpy>=2.0", table.unpack(libraries) },
  jobs     = { CUPY_NUM_BUILD_JOBS = { memory = "3GiB" } },

  -- A module whose library does not link is left out without an error, so:
  -- NVIDIA's wheels have libcublas.so.13 but not the name that -lcublas looks for, and no libcuda at all. That of an
  -- empty one is enough to link with, and --as-needed (which is the default where upstream builds, but not on Debian)
  -- leaves out again what nothing is used of: with it the wheel could not be imported without a driver.
  prepare  = [[
mkdir /build/lib
for file in /cuda/lib/lib*.so.* /env/site-packages/nvidia/nccl/lib/lib*.so.* /env/site-packages/cutensor/lib/lib*.so.*; do
	name=${file##*/}
	[ -e "/build/lib/${name%%.so.*}.so" ] || ln -s "$file" "/build/lib/${name%%.so.*}.so"
done
cc -shared -Wl,-soname,libcuda.so.1 -x c /dev/null -o /build/lib/libcuda.so
# Without this file it does not look for libraries in the wheels that pip installed beside it.
cat >/build/wheel.json <<end
{"cuda": "13.x", "packaging": "pip",
 "cutensor": {"version": "2.4.1", "min_pypi_version": "2.3.0", "filenames": ["libcutensor.so.2.4.1", "libcutensorMg.so.2.4.1"]},
 "nccl": {"version": "2.28.9", "min_pypi_version": "2.27.7", "filenames": ["libnccl.so.2.28.9"]}}
end
]],
  env = function(v)
    local codes = {}
    for i, arch in ipairs(v.archs) do codes[i] = "arch=compute_" .. arch .. ",code=sm_" .. arch end
    return {
      CUPY_NVCC_GENERATE_CODE     = table.concat(codes, ";"),    -- "current" asks for the visible GPU
      CUPY_NUM_NVCC_THREADS       = "1",
      CUPY_INSTALL_WHEEL_METADATA = "/build/wheel.json",
      CUPY_INSTALL_NO_RPATH       = "1",                         -- else the folders below are in every module
      CUPY_INCLUDE_PATH           = "/env/site-packages/nvidia/nccl/include:/env/site-packages/cutensor/include",
      CUPY_LIBRARY_PATH           = "/build/lib",
      LDFLAGS                     = "-Wl,--as-needed",
    }
  end,

  label = forge.label.local_version "{sm}",
  test  = {
    import   = "cupy",
    run      = "import cupy.cuda.cub, cupy.cuda.thrust, cupy.cuda.nccl, cupy.random._generator_api",
    requires = libraries,
  },
}
