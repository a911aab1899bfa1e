-- The compilers' stand-ins, at /toolchain/bin, first on PATH: they hand compiles to forge, make compiling
-- deterministic and have shared objects linked with what stands at /toolchain/floor (DESIGN 5, 8).
local check = require "forge.check"
local gcc = require "forge.gcc"
local shim = require "forge.shim"

-- The names that a base's links give its own gcc, for those who call a compiler by its path.
local function links(major)
  return {
    ["/usr/bin/cc"] = "gcc-" .. major, ["/usr/bin/gcc"] = "gcc-" .. major, ["/usr/bin/cpp"] = "cpp-" .. major,
    ["/usr/bin/c++"] = "g++-" .. major, ["/usr/bin/g++"] = "g++-" .. major,
  }
end

-- toolchain { gcc = 13 }: a part of a world. Another gcc than the base's comes as a layer under it, and the file
-- /toolchain/gcc tells forge's compile service of it.
return function(options)
  options = options or {}
  check.fields("forge.toolchain", options, { gcc = { "integer" } })
  local major = options.gcc or gcc.usual
  local layer = gcc.layer(major)
  local part = { gcc = major, mounts = { ["/toolchain"] = { shim(major) } } }
  if layer then
    part.mounts["/"] = { layer }
    part.files = { ["/toolchain/gcc"] = tostring(major) }
    part.links = links(major)
  end
  return part
end
