-- What shared objects are linked with so that older systems can load them too, as a derivation: an archive of what
-- those lack, and stubs of glibc's libraries by which older versions are asked for (lib/toolchain/floor/make.sh).
-- It stands at /toolchain/floor, by itself: no compile sees it, so a new one compiles nothing anew.
local debian = require "forge.debian"
local primitives = require "forge.primitives"
local world = require "forge.world"

local members = { "bad_array_length", "clock_waits", "condition_variable", "exception_pointers", "isoc23_scanf",
  "isoc23_strtol", "single_threaded", "stat", "stringstreams" }
local made

return function()
  if not made then
    local paths = {}
    for i, name in ipairs(members) do paths[i] = primitives.path("toolchain/floor/" .. name .. ".c") end
    made = primitives.derivation {
      name = "toolchain-floor", what = "unpack", builder = "/bin/sh",
      args = { "-eu", primitives.path "toolchain/floor/make.sh" },
      env = {
        PATH = "/usr/bin:/bin", sources = paths, stub = primitives.path "toolchain/floor/stub.awk", at = "/toolchain/floor",
      },
      world = world.compose { base = debian(), parts = {} },
    }
  end
  return made
end
