-- CUDA from NVIDIA's wheels on the Python index (DESIGN 5).
local debian = require "forge.debian"
local gcc = require "forge.gcc"
local primitives = require "forge.primitives"
local python = require "forge.python"
local shim = require "forge.shim"
local wheels = require "forge.wheels"
local world = require "forge.world"

local folder = "/site-packages/nvidia/cu13"

-- They must be pinned together, as the metapackage cuda-toolkit of a release does (13.0.2, 13.2.2, which are those that
-- torch asks for): the nvcc wheel alone pulls the newest nvvm and crt.
local releases = {
  ["13.0"] = {
    ["nvidia-cuda-nvcc"] = "13.0.88", ["nvidia-nvvm"] = "13.0.88", ["nvidia-cuda-crt"] = "13.0.88",
    ["nvidia-cuda-cccl"] = "13.0.85", ["nvidia-cuda-runtime"] = "13.0.96",
  },
  ["13.2"] = {
    ["nvidia-cuda-nvcc"] = "13.2.86", ["nvidia-nvvm"] = "13.2.86", ["nvidia-cuda-crt"] = "13.2.86",
    ["nvidia-cuda-cccl"] = "13.2.86", ["nvidia-cuda-runtime"] = "13.2.86",
  },
}

-- The topmost layer: nvcc behind forge's stand-in, lib64, and the names that the linker looks for.
local function front(version, layers)
  return primitives.derivation {
    name = "cuda-front-" .. version, what = "unpack", builder = "/bin/sh",
    args = { "-eu", primitives.path "cuda/front.sh" },
    env = { PATH = "/usr/bin:/bin", nvcc = shim(gcc.usual) .. "/lib/nvcc" },
    world = world.compose { base = debian(), parts = { { mounts = { ["/cuda"] = layers } } } },
  }
end

local function requirements(release)
  local list = {}
  for name, version in pairs(release) do list[#list + 1] = name .. "==" .. version end
  return list
end

local made = {}

local cuda_wheels = { versions = {} }
for version in pairs(releases) do cuda_wheels.versions[#cuda_wheels.versions + 1] = version end

-- The toolkit, with the same folders of more wheels (torch's: its libraries' headers stand there) under it; but none
-- that the toolkit itself has in another version: its headers would show through where the toolkit's are fewer.
function cuda_wheels.part(version, more)
  local release = releases[version]
  local layers = wheels.layers(
    wheels.get { python = python.default, requires = requirements(release), alone = true }, folder)
  made[version] = made[version] or front(version, layers)
  local all = { made[version] }
  for _, layer in ipairs(layers) do all[#all + 1] = layer end
  for _, wheel in ipairs(more or {}) do
    local own = release[wheel.name]
    if wheel.name:find("^nvidia%-") and (not own or own == wheel.version) then all[#all + 1] = wheels.layer(wheel, folder) end
  end
  return { mounts = { ["/cuda"] = all } }
end

return cuda_wheels
