-- One of everything that the primitives make.
local p = require "forge.primitives"

local file = p.fetch {
  from = "pypi", name = "demo", version = "1.0", file = "demo-1.0.tar.gz", size = 1234,
  sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
}
local unpacked = p.derivation {
  name = "demo-source", system = "builtin", builder = "builtin:unpack", env = { src = file, strip = "1" },
}
local tools = p.derivation { name = "tools", builder = "/bin/sh", args = { "-c", "mkdir $out $dev" }, outputs = { "out", "dev" } }

return p.derivation {
  name = "demo", builder = tools .. "/bin/sh", args = { "-eu", p.text("build.sh", "cp -R $src $out\n") },
  env = { src = unpacked, list = { "a", 1, tools.dev }, utf8 = "größer €", quoted = "a\"b\\c\nd\te" },
  world = { mounts = { { at = "/", layers = { tools, unpacked .. "/sub" } } }, files = { ["/etc/x"] = "1\n" } },
  inert = { MAX_JOBS = { memory = 1024 } },
}
