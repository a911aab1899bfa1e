-- The builds that check.py compares: a package's own commands, as far as the recipe has them run, with three variants
-- that differ in their names alone. The output lists the objects that were made.
local build = require "forge.build"
local check = require "forge.check"
local primitives = require "forge.primitives"
local source = require "forge.source"

local rounds = { "place", "made", "found" }

local fields = {
  name = { "string", needed = true }, version = { "string", needed = true }, source = { "table" },
  torch = { "string" }, cuda = { "string" }, requires = { "strings", needed = true }, env = { "table" },
  build = { "string", needed = true }, -- shell, in the source's folder
}

local function environment(recipe, round, folder, path)
  local env = {
    PATH = path, SOURCE_DATE_EPOCH = build.epoch, ROUND = round, SOURCE = folder, BUILD = recipe.build,
    CUDA_HOME = recipe.cuda and "/cuda",
  }
  for name, value in pairs(recipe.env or {}) do env[name] = value end
  return env
end

-- The world is that of a wheel's build.
local function derive(recipe, round)
  local v = { axes = { torch = recipe.torch, cuda = recipe.cuda } }
  local folder, entry = source.folder(recipe)
  local seen, path = build.world(recipe, v, build.wheels(recipe, v, entry))
  local list = primitives.derivation {
    name = recipe.name .. "-" .. round, what = "build", builder = "/bin/sh",
    args = { "-eu", primitives.path "objects.sh" },
    env = environment(recipe, round, folder, path), world = seen,
    inert = { MAX_JOBS = { cores = 1, memory = primitives.bytes "4GiB" } },
  }
  return { { role = "objects", drv = list } }
end

return function(recipe)
  check.fields("objects", recipe, fields)
  recipe.source = recipe.source or source.sdist()
  local targets = {}
  for i, round in ipairs(rounds) do
    targets[i] = {
      name = round, recipe = recipe.name, version = recipe.version, label = recipe.version, axes = { round = round },
      derive = function() return derive(recipe, round) end,
    }
  end
  return { targets = targets }
end
