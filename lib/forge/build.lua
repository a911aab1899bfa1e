-- The build step: from the source's folder to the raw wheel, in a sandbox.
local check = require "forge.check"
local cuda = require "forge.cuda"
local debian = require "forge.debian"
local env = require "forge.env"
local floor = require "forge.floor"
local gcc = require "forge.gcc"
local label = require "forge.label"
local override = require "forge.override"
local primitives = require "forge.primitives"
local python = require "forge.python"
local toolchain = require "forge.toolchain"
local torch = require "forge.torch"
local wheels = require "forge.wheels"
local world = require "forge.world"

local build = {}

-- 1980-01-02: the earliest day that a zip can hold in every time zone.
build.epoch = "315619200"

local function check_jobs(jobs)
  for name, rule in pairs(jobs) do
    check.value("jobs", tostring(name), rule, { "table" })
    check.fields("jobs." .. name, rule, { memory = { "amount" } })
  end
end

function build.check(recipe)
  check_jobs(recipe.jobs or {})
  for i, patch in ipairs(recipe.patches or {}) do
    if type(patch) == "table" then
      check.fields("patches[" .. i .. "]", { file = patch[1], when = patch.when },
        { file = { "string", needed = true }, when = { "function" } })
    else
      check.value("patches", "[" .. i .. "]", patch, { "string" })
    end
  end
end

-- The store paths of the patches that hold for a variant, in order.
local function patches_of(recipe, v)
  local files = {}
  for _, patch in ipairs(recipe.patches or {}) do
    local file, when = patch, nil
    if type(patch) == "table" then file, when = patch[1], patch.when end
    if not when or check.call("patches", "when", when, { "boolean", "nothing" }, v) then files[#files + 1] = primitives.recipe_path(file) end
  end
  return files
end

-- What is installed where the build runs: the recipe's list, else the package's own, and torch of the axis.
function build.wheels(recipe, v, entry)
  local list = check.field(recipe, "requires", { "strings" }, v) or (entry and entry.build_requires) or { "setuptools", "wheel" }
  local all = table.move(list, 1, #list, 1, {})
  if v.axes.torch then all[#all + 1] = torch.requirement(v.axes.torch) end
  return wheels.get { python = v.axes.python or python.default, requires = all }
end

-- The root file system: the recipe's own, else Debian's.
local function base_of(recipe)
  local options = { packages = recipe.packages }
  return recipe.base and check.call("forge.wheel", "base", recipe.base, { "folder" }, options) or debian(options)
end

-- What two variants' worlds differ by beside their wheels; what a recipe brings itself may differ by anything.
local function key_of(recipe, v, base)
  local own = (recipe.toolchain or recipe.cuda_from) and v.name or ""
  return table.concat({ "build", python.of(recipe, v).id, v.axes.cuda or "", tostring(base), own }, " ")
end

-- The world of a build, and its PATH.
function build.world(recipe, v, list)
  local py, toolkit = python.of(recipe, v), v.axes.cuda
  local base = base_of(recipe)
  local seen = world.shared(list, key_of(recipe, v, base), function()
    local tools = check.field(recipe, "toolchain", { "table" }, v) or toolchain { gcc = gcc.of(recipe, v) }
    local parts = { env { python = py, wheels = list }, tools }
    if toolkit then parts[#parts + 1] = cuda.of(recipe, v, list) end
    if not recipe.base then parts[#parts + 1] = floor() end
    return world.compose { base = base, parts = parts }
  end)
  return seen, toolkit and "/env/bin:/toolchain/bin:/cuda/bin:/usr/bin:/bin" or "/env/bin:/toolchain/bin:/usr/bin:/bin"
end

local function shell_steps(recipe, v, variables)
  for _, step in ipairs { "prepare", "build", "install" } do
    variables["FORGE_" .. step:upper()] = check.field(recipe, step, { "string" }, v)
  end
end

-- The recipe's own variables; those that begin with FORGE_ belong to build.sh.
local function recipe_variables(recipe, v, variables)
  local given = check.field(recipe, "env", { "table" }, v) or {}
  for name, value in pairs(override.variables(recipe, given)) do
    if tostring(name):find("^FORGE_") then
      primitives.fail("forge.wheel: env: names that begin with FORGE_ are forge's own ('" .. name .. "')")
    end
    variables[name] = value
  end
end

local function variables_of(recipe, v, folder, path)
  local variables = {
    PATH = path, FORGE_SOURCE = folder, FORGE_SUBDIR = recipe.subdir or ".",
    FORGE_PATCHES = patches_of(recipe, v), FORGE_PEP517 = primitives.path "build/pep517.py",
    SOURCE_DATE_EPOCH = build.epoch,
  }
  if v.axes.cuda then variables.CUDA_HOME = "/cuda" end
  for _ in pairs(recipe.config_settings or {}) do
    variables.FORGE_CONFIG_SETTINGS = primitives.json(recipe.config_settings)
  end
  if recipe.label and recipe.label.kind == "env" then
    variables[recipe.label.variable] = recipe.label.whole and label.version(recipe.label, recipe.version, v)
      or label.text(recipe.label, v)
  end
  shell_steps(recipe, v, variables)
  recipe_variables(recipe, v, variables)
  return variables
end

local function inert_of(recipe, variables)
  local inert
  for name, rule in pairs(recipe.jobs or {}) do
    if variables[name] ~= nil then
      primitives.fail("forge.wheel: jobs: '" .. name .. "' has a value already, by env or forge's own")
    end
    inert = inert or {}
    inert[name] = { cores = 1, memory = rule.memory and primitives.bytes(rule.memory) }
  end
  return inert
end

-- The derivation whose output holds the one wheel that the build made. list: what build.wheels gave.
function build.raw(recipe, v, folder, list)
  local seen, path = build.world(recipe, v, list)
  local variables = variables_of(recipe, v, folder, path)
  return primitives.derivation {
    name = recipe.name .. "-" .. recipe.version .. "-raw", what = "build", builder = "/bin/sh",
    args = { "-eu", primitives.path "build/build.sh" },
    env = variables, world = seen, inert = inert_of(recipe, variables),
    timeout = recipe.timeout, memory = recipe.memory,
  }
end

return build
