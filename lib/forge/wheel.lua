-- forge.wheel: a package's build facts become a short chain of derivations for each variant:
-- fetch, unpack, build (the raw wheel), finish (label, tags, checks), test.
local build = require "forge.build"
local check = require "forge.check"
local label = require "forge.label"
local primitives = require "forge.primitives"
local python = require "forge.python"
local source = require "forge.source"
local test = require "forge.test"
local torch = require "forge.torch"
local variant = require "forge.variant"

local fields = {
  name = { "string", needed = true }, version = { "string", needed = true },
  summary = { "string" }, homepage = { "string" }, license = { "string" },
  source = { "string", "table" }, sources = { "table" }, subdir = { "string" }, patches = { "list" },
  matrix = { "table" }, exclude = { "tables" }, profiles = { "table" },
  requires = { "strings", "function" }, runtime = { "strings", "function" },
  base = { "function" }, packages = { "strings" },
  env = { "table", "function" }, jobs = { "table" }, aliases = { "table" },
  prepare = { "string", "function" }, build = { "string", "function" }, install = { "string", "function" },
  config_settings = { "table" }, label = { "table" }, test = { "table" },
  timeout = { "amount" }, memory = { "amount" },
}

-- --set version=…: fields that are a single text.
local function with_overrides(given)
  local recipe = {}
  for name, value in pairs(given) do recipe[name] = value end
  for name, value in pairs(primitives.set) do
    local wanted = fields[name]
    if not wanted then
      local names = {}
      for each in pairs(fields) do names[#names + 1] = each end
      check.unknown("--set", "field", name, names)
    end
    if wanted[1] ~= "string" and wanted[1] ~= "amount" then
      primitives.fail("--set: '" .. name .. "' is not a text and can't be set from the command line")
    end
    recipe[name] = value
  end
  return recipe
end

local function check_recipe(recipe)
  check.fields("forge.wheel", recipe, fields)
  if not recipe.name:find("^%w[%w._-]*$") or not recipe.name:find("%w$") then
    primitives.fail("forge.wheel: '" .. recipe.name .. "' is not a package name")
  elseif not recipe.version:find("^%d[%w.!]*$") then
    primitives.fail("forge.wheel: version '" .. recipe.version .. "' is not a public version (PEP 440)")
  elseif recipe.label and not (recipe.label.kind and recipe.label.template) then
    primitives.fail("forge.wheel: 'label' is forge.label.local_version, build_tag or env")
  elseif recipe.subdir and (recipe.subdir:find("^/") or ("/" .. recipe.subdir .. "/"):find("/../", 1, true)) then
    primitives.fail("forge.wheel: subdir '" .. recipe.subdir .. "' leads out of the source")
  end
  source.check(recipe)
  build.check(recipe)
  test.check(recipe.test or {})
end

-- The raw wheel, finished: labelled, its tags proven, checked; in a folder under its true name.
local function finish(recipe, v, raw)
  local of = recipe.label
  local in_finish = of and of.kind ~= "env"
  return primitives.derivation {
    name = recipe.name .. "-" .. recipe.version, what = "finish", system = "builtin", builder = "builtin:finish",
    env = {
      src = raw, dist = recipe.name, python = v.axes.python or python.default, epoch = build.epoch,
      version = of and of.kind == "env" and label.version(of, recipe.version, v) or recipe.version,
      label_kind = in_finish and of.kind or "none",
      label_text = in_finish and label.check(of, v) or "",
    },
  }
end

local function derive(recipe, v)
  if v.axes.torch and v.axes.cuda then torch.check_cuda(v.axes.torch, v.axes.cuda) end
  local folder, entry = source.folder(recipe)
  local wheel = finish(recipe, v, build.raw(recipe, v, folder, entry))
  return { { role = "wheel", drv = wheel }, { role = "test", drv = test.verdict(recipe, v, wheel, entry) } }
end

local function target(recipe, v, is_default)
  return {
    name = v.name, recipe = recipe.name, version = recipe.version,
    label = label.version(recipe.label, recipe.version, v), axes = v.axes, is_default = is_default,
    excluded = v.excluded or nil,
    derive = function() return derive(recipe, v) end,
  }
end

return function(given)
  check.fields("forge.wheel", given, fields)
  local recipe = with_overrides(given)
  if not recipe.sources then recipe.source = recipe.source or source.sdist() end
  check_recipe(recipe)
  local targets, has_default = {}, false
  for _, v in ipairs(variant.all(recipe)) do
    local is_default = not has_default and not v.excluded
    has_default = has_default or is_default
    targets[#targets + 1] = target(recipe, v, is_default)
  end
  return { targets = targets }
end
