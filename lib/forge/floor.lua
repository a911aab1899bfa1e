-- What shared objects are linked with so that older systems can load them too, as a derivation: archives of what
-- those lack, and stubs of glibc's libraries by which older versions are asked for (lib/toolchain/floor/make.sh).
-- It is of the Debian that is the usual base; what a recipe brings as its base is linked with its own libraries.
local debian = require "forge.debian"
local primitives = require "forge.primitives"
local world = require "forge.world"

local c = { "clock_waits", "isoc23_scanf", "isoc23_strtol", "single_threaded", "stat" }
local cxx = { "bad_array_length", "condition_variable", "exception_pointers", "stringstreams" }
local made

local function paths(names)
  local list = {}
  for i, name in ipairs(names) do list[i] = primitives.path("toolchain/floor/" .. name .. ".c") end
  return list
end

-- A part of a world. It stands by itself, and no compile sees it, so a new one compiles nothing anew.
return function()
  made = made or primitives.derivation {
    name = "toolchain-floor", what = "unpack", builder = "/bin/sh",
    args = { "-eu", primitives.path "toolchain/floor/make.sh" },
    env = {
      PATH = "/usr/bin:/bin", c = paths(c), cxx = paths(cxx), stub = primitives.path "toolchain/floor/stub.awk",
      at = "/toolchain/floor",
    },
    world = world.compose { base = debian(), parts = {} },
  }
  return { mounts = { ["/toolchain/floor"] = { made } } }
end
