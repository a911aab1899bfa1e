-- 500 builds that do next to nothing, and one that needs them all: what tests/bench compares with nix-build.
local forge = require "forge"

local world = { mounts = { { at = "/", layers = { forge.path "base" } } } }

local function sh(name, script)
  return forge.derivation { name = name, builder = "/bin/sh", args = { "-c", script }, world = world }
end

local all = {}
for i = 1, 500 do all[i] = tostring(sh("trivial-" .. i, "echo " .. i .. " > $out")) end
return sh("all", "echo " .. table.concat(all, " ") .. " > $out")
