-- The CUDA toolkit as a part of a world: /cuda, from NVIDIA's wheels on the Python index (DESIGN 5).
local check = require "forge.check"
local debian = require "forge.debian"
local primitives = require "forge.primitives"
local python = require "forge.python"
local shim = require "forge.shim"
local wheels = require "forge.wheels"
local world = require "forge.world"

-- They must be pinned together: the nvcc wheel alone pulls the newest nvvm and crt.
local releases = {
  ["13.0"] = {
    folder = "/site-packages/nvidia/cu13",
    requires = {
      "nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-crt==13.0.88",
      "nvidia-cuda-cccl==13.0.85", "nvidia-cuda-runtime==13.0.96",
    },
  },
}

local function release(version)
  if not releases[version] then
    local names = {}
    for name in pairs(releases) do names[#names + 1] = name end
    check.unknown("cuda", "version", version, names)
  end
  return releases[version]
end

-- The topmost layer: nvcc behind forge's stand-in, lib64, and the names that the linker looks for.
local function front(version, layers)
  return primitives.derivation {
    name = "cuda-front-" .. version, what = "unpack", builder = "/bin/sh",
    args = { "-eu", primitives.path "cuda/front.sh" },
    env = { PATH = "/usr/bin:/bin", nvcc = shim() .. "/lib/nvcc" },
    world = world.compose { base = debian(), parts = { { mounts = { ["/cuda"] = layers } } } },
  }
end

local made = {}

local cuda = {}

-- Fail for a release that forge has no toolkit of.
function cuda.check(version)
  release(version)
end

-- cuda.wheels(version, more): the toolkit, with the same folders of more wheels (torch's: its libraries' headers
-- stand there) under it.
function cuda.wheels(version, more)
  local from = release(version)
  local layers = wheels.layers(
    wheels.get { python = python.default, requires = from.requires, alone = true }, from.folder)
  made[version] = made[version] or front(version, layers)
  local all = { made[version] }
  for _, layer in ipairs(layers) do all[#all + 1] = layer end
  for _, wheel in ipairs(more or {}) do
    if wheel.name:find("^nvidia%-") then all[#all + 1] = wheel.folder .. from.folder end
  end
  return { mounts = { ["/cuda"] = all } }
end

return cuda
