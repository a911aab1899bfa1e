-- The compilers' wrappers, at /toolchain/bin, first on PATH: they make compiling deterministic and keep the
-- platform floor (DESIGN 5). They stand under every name that a build may call a compiler by.
local primitives = require "forge.primitives"

return function()
  local links = {}
  for _, name in ipairs { "gcc", "gcc-12", "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-gcc-12" } do
    links["/toolchain/bin/" .. name] = "cc"
  end
  for _, name in ipairs { "g++", "g++-12", "x86_64-linux-gnu-g++", "x86_64-linux-gnu-g++-12" } do
    links["/toolchain/bin/" .. name] = "c++"
  end
  return { mounts = { ["/toolchain"] = { primitives.path "toolchain" } }, links = links }
end
