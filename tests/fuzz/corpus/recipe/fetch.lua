local p = require "forge.primitives"
local e = p.locked { kind = "sdist", name = "n", version = "1" }
assert(p.text("t", p.json { e, { 1.5, true } }) and p.nearest("nme", { "name" }) == "name" and p.bytes "1MiB")
return p.fetch(e)
