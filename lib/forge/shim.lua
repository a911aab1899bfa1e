-- The program that stands in for the compilers of forge's worlds, as a derivation. Its output is /toolchain:
-- bin/ with every name that a build may call a compiler by, lib/nvcc for the front of the CUDA toolkit, and the
-- empty floor/ (forge.floor). Linked statically, so it runs in any world. The base's gcc makes it, whichever gcc it is
-- to stand for.
local debian = require "forge.debian"
local primitives = require "forge.primitives"
local world = require "forge.world"

local made = {}

-- The store paths of the sources, in the order of their names.
local function sources()
  local names, paths = {}, {}
  for name in pairs(primitives.shim) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do paths[i] = primitives.text(name, primitives.shim[name]) end
  return paths
end

-- major: of the gcc that it stands in for.
return function(major)
  made[major] = made[major] or primitives.derivation {
    name = "toolchain", what = "unpack", builder = "/bin/sh",
    args = { "-eu", primitives.path "toolchain/make.sh" },
    env = { PATH = "/usr/bin:/bin", gcc = major, sources = sources() },
    world = world.compose { base = debian(), parts = {} },
  }
  return made[major]
end
