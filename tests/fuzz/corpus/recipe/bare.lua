local p = require "forge.primitives"
local a = p.derivation { name = "a", builder = "/bin/sh", outputs = { "out", "dev" } }
return p.derivation { name = "b", builder = a .. "/x", args = { a.dev, 1 }, env = { L = { a, 2, "x" } },
  world = { mounts = { { at = "/", layers = { a } } } }, inert = { J = { memory = 1 } }, timeout = "5min", memory = "1GiB" }
