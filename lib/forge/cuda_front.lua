-- The topmost layer of a /cuda that is laid together from an archive's folders: nvcc behind forge's stand-in, what it
-- takes to compile the same bytes again with releases of nvcc that have no option for it, and the names that builds
-- and the linker look for (cuda/lay.sh).
local debian = require "forge.debian"
local gcc = require "forge.gcc"
local primitives = require "forge.primitives"
local shim = require "forge.shim"
local world = require "forge.world"

-- version: "12.4"; mounts: { [at] = { layer, … } }, what there will be below /cuda but for the front itself; claimed:
-- of an image { folder, lib }, for lay.sh to prove.
return function(version, mounts, claimed)
  local env = {
    PATH = "/usr/bin:/bin", nvcc = shim(gcc.usual) .. "/lib/nvcc", version = version,
    profile = primitives.path "cuda/nvcc.profile", unseeded = primitives.path "cuda/unseeded.sh",
    named = primitives.path "cuda/named.sh",
  }
  for name, value in pairs(claimed or {}) do env[name] = value end
  return primitives.derivation {
    name = "cuda-front-" .. version, what = "unpack", builder = "/bin/sh",
    args = { "-eu", primitives.path "cuda/lay.sh" },
    env = env,
    world = world.compose { base = debian(), parts = { { mounts = mounts } } },
  }
end
