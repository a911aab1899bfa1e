-- Debian packages as a layer over a base: only those that are named, unpacked into one object. What they need to run
-- is the base's.
local primitives = require "forge.primitives"

-- debs { name = "gcc-11", suite = "bookworm", packages = { … }, components = { "non-free" } }: a derivation.
return function(spec)
  local archives = {}
  local entries = primitives.locked {
    kind = "debian", suite = spec.suite, packages = spec.packages, components = spec.components, deps = false,
  }
  for i, entry in ipairs(entries) do archives[i] = primitives.fetch(entry) end
  return primitives.derivation {
    name = spec.name, what = "unpack", system = "builtin", builder = "builtin:debian", env = { debs = archives },
  }
end
