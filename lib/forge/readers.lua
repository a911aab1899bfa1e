-- Which environment variables are read by what takes part in a build beside the source: for `forge lint`, which looks
-- for the others in the source. A name that ends in * stands for all that begin so.
local readers = {}

-- The shell, the C library, make, gcc and Python.
local always = [[
  HOME PATH TMPDIR TZ LANG LC_ALL SOURCE_DATE_EPOCH MAKEFLAGS
  AR ARFLAGS AS CC CFLAGS CPP CPPFLAGS CXX CXXFLAGS LD LDFLAGS NM RANLIB STRIP
  COMPILER_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH LD_RUN_PATH
  PYTHON*
]]

-- nvcc and the CUDA libraries.
local with_cuda = "CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES NVCC_APPEND_FLAGS NVCC_CCBIN NVCC_PREPEND_FLAGS"

-- By the name of a build requirement, or of a Debian package. torch's are those of utils/cpp_extension.py and of its
-- CMake files; NVCC_THREADS, which looks like one of them, is read by the setup.py of some packages only.
local by_name = {
  torch = [[
    CUDA_HOME CUDA_INC_PATH CUDA_NVCC_EXECUTABLE CUDA_PATH CUDAHOSTCXX CUDNN_HOME CUDNN_INCLUDE_DIR CUDNN_LIBRARY
    CUDNN_PATH CUDNN_ROOT_DIR MAX_JOBS PYTORCH_NVCC TORCH_CUDA_ARCH_LIST TORCH_DONT_CHECK_COMPILER_ABI
    TORCH_EXTENSIONS_DIR TORCH_EXTENSION_SKIP_NVCC_GEN_DEPENDENCIES
  ]],
  setuptools = [[
    DISTUTILS_DEBUG DIST_EXTRA_CONFIG LDCXXSHARED LDSHARED SETUPTOOLS_ENFORCE_DEPRECATION SETUPTOOLS_EXT_SUFFIX
    SETUPTOOLS_USE_DISTUTILS
  ]],
  ["setuptools-scm"] = "SETUPTOOLS_SCM_* VCS_VERSIONING_*",
  hatchling          = "HATCH_BUILD_*",
  pbr                = "PBR_VERSION",
  cmake = [[
    CMAKE_BUILD_PARALLEL_LEVEL CMAKE_BUILD_TYPE CMAKE_COLOR_DIAGNOSTICS CMAKE_CUDA_COMPILER_LAUNCHER
    CMAKE_CXX_COMPILER_LAUNCHER CMAKE_C_COMPILER_LAUNCHER CMAKE_EXPORT_COMPILE_COMMANDS CMAKE_GENERATOR
    CMAKE_INCLUDE_PATH CMAKE_INSTALL_PREFIX CMAKE_LIBRARY_PATH CMAKE_NO_VERBOSE CMAKE_POLICY_VERSION_MINIMUM
    CMAKE_PREFIX_PATH CMAKE_PROGRAM_PATH CMAKE_TOOLCHAIN_FILE CTEST_* CUDAARCHS CUDACXX CUDAFLAGS CUDAHOSTCXX DESTDIR
    VERBOSE
  ]],
  ninja               = "NINJA_STATUS",
  ["ninja-build"]     = "NINJA_STATUS",
  ["scikit-build"]    = "CMAKE_ARGS SKBUILD_BUILD_OPTIONS SKBUILD_CONFIGURE_OPTIONS",
  ["scikit-build-core"] = "CMAKE_ARGS CMAKE_GENERATOR SKBUILD_*",
  ["pkg-config"]      = "PKG_CONFIG*",
  pkgconf             = "PKG_CONFIG*",
}

-- The variables known where these take part, sorted. names: { [name of a wheel or package] = true }; cuda: is nvcc
-- there?
function readers.known(names, cuda)
  local seen, known = {}, {}
  local function add(text)
    for name in text:gmatch("%S+") do seen[name] = true end
  end
  add(always)
  if cuda then add(with_cuda) end
  for name in pairs(names) do add(by_name[name] or "") end
  for name in pairs(seen) do known[#known + 1] = name end
  table.sort(known)
  return known
end

return readers
