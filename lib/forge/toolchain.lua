-- The compilers' stand-ins, at /toolchain/bin, first on PATH: they hand compiles to forge, make compiling
-- deterministic and keep the platform floor (DESIGN 5, 8).
local shim = require "forge.shim"

return function()
  return { mounts = { ["/toolchain"] = { shim() } } }
end
