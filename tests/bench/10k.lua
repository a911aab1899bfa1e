-- 10,000 derivations with three inputs each: what tests/bench compares with nix-instantiate.
local derivation = require("forge").derivation

local made = {}
for i = 1, 10000 do
  local inputs = {}
  for k = 1, 3 do
    local from = made[i - k * 7] or made[i - 1]
    inputs[k] = from and from .. "/lib" or "none"
  end
  made[i] = derivation {
    name = "trivial-" .. i,
    builder = "/bin/sh",
    args = { "-c", "echo " .. i .. " > $out" },
    env = { A = inputs[1], B = inputs[2], C = inputs[3] },
  }
end
return made[#made]
