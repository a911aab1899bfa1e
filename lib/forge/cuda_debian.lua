-- CUDA from Debian's nvidia-cuda-toolkit, which is in non-free: 12.4 in trixie, 11.8 in bookworm.
--
-- The packages are meant for /usr, and their closure has a profiler, OpenCL and the graphics driver in it. Neither is
-- wanted: the base is to stay the same object for every CUDA, and compiling needs none of that. So only the packages
-- below are taken, without what they depend on (their programs need the base's C and C++ libraries), unpacked into one
-- object, and its folders are laid where a CUDA_HOME has them: bin, include, lib, nvvm. No file is copied but for a few
-- in the front. nvidia-cuda-dev has all headers, stubs of all libraries and the static ones in one package; the libraries
-- themselves are left out: extensions are linked with the stubs, and get the libraries from wheels when they run.
local debs = require "forge.debs"
local front = require "forge.cuda_front"

local releases = {
  ["11.8"] = { suite = "bookworm", runtime = "libcudart11.0" },
  ["12.4"] = { suite = "trixie", runtime = "libcudart12" },
}

-- Where in the packages what of /cuda is.
local places = {
  ["/cuda/bin"] = "/usr/bin", ["/cuda/include"] = "/usr/include", ["/cuda/lib"] = "/usr/lib/x86_64-linux-gnu",
  ["/cuda/nvvm/bin"] = "/usr/lib/nvidia-cuda-toolkit/bin",
  ["/cuda/nvvm/libdevice"] = "/usr/lib/nvidia-cuda-toolkit/libdevice",
}

local made = {}

local function make(version)
  local from = releases[version]
  local packages = debs {
    name = "cuda-debian-" .. version, suite = from.suite, components = { "non-free" },
    packages = {
      "libcu++-dev", "libcub-dev", "libnvvm4", "libthrust-dev", "nvidia-cuda-dev", "nvidia-cuda-toolkit", from.runtime,
    },
  }
  local below, mounts = {}, {}
  for at, folder in pairs(places) do below[at] = { packages .. folder } end
  local top = front(version, below)
  mounts["/cuda"] = { top }
  for at, folder in pairs(places) do mounts[at] = { top .. at:sub(#"/cuda" + 1), packages .. folder } end
  return mounts
end

local cuda_debian = { versions = {} }
for version in pairs(releases) do cuda_debian.versions[#cuda_debian.versions + 1] = version end

function cuda_debian.part(version)
  made[version] = made[version] or make(version)
  return { mounts = made[version] }
end

return cuda_debian
