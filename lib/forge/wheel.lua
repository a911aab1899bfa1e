-- forge.wheel: a package's build facts become a short chain of derivations for each variant:
-- fetch, unpack, build (the raw wheel), finish (label, tags, checks), test.
local build = require "forge.build"
local check = require "forge.check"
local choice = require "forge.choice"
local label = require "forge.label"
local override = require "forge.override"
local possible = require "forge.possible"
local primitives = require "forge.primitives"
local python = require "forge.python"
local source = require "forge.source"
local test = require "forge.test"
local variant = require "forge.variant"

local fields = {
  name = { "string", needed = true }, version = { "string", needed = true },
  summary = { "string" }, homepage = { "string" }, license = { "string" },
  source = { "string", "table" }, sources = { "table" }, subdir = { "string" }, patches = { "list" },
  matrix = { "table" }, exclude = { "list", "function" }, profiles = { "table" },
  requires = { "strings", "function" }, runtime = { "strings", "function" },
  base = { "function" }, packages = { "strings" }, pythons = { "table" },
  toolchain = { "table", "function" }, cuda_from = { "table", "function" },
  env = { "table", "function" }, jobs = { "table" }, aliases = { "table" },
  prepare = { "string", "function" }, build = { "string", "function" }, install = { "string", "function" },
  config_settings = { "table" }, label = { "table" }, test = { "table" },
  timeout = { "amount" }, memory = { "amount" },
  stable_abi = { "strings" }, other_cuda_minor = { "boolean" },
}

local function check_recipe(recipe)
  check.fields("forge.wheel", recipe, fields)
  if not recipe.name:find("^%w[%w._-]*$") or not recipe.name:find("%w$") then
    primitives.fail("forge.wheel: '" .. recipe.name .. "' is not a package name")
  elseif not recipe.version:find("^%d[%w.!]*$") then
    primitives.fail("forge.wheel: version '" .. recipe.version .. "' is not a public version (PEP 440)")
  elseif recipe.label and not (recipe.label.kind and recipe.label.template) then
    primitives.fail("forge.wheel: 'label' is forge.label.local_version, build_tag, env or env_version")
  elseif recipe.subdir and (recipe.subdir:find("^/") or ("/" .. recipe.subdir .. "/"):find("/../", 1, true)) then
    primitives.fail("forge.wheel: subdir '" .. recipe.subdir .. "' leads out of the source")
  end
  source.check(recipe)
  build.check(recipe)
  test.check(recipe.test or {})
end

-- To be raised when forge finishes the same build to another wheel, by a better proof of its tags for example: stores
-- then make it again instead of giving the old one out.
local finish_rules = "1"

-- The raw wheel, finished: labelled, its tags proven, checked; in a folder under its true name.
local function finish(recipe, v, raw)
  local of = recipe.label
  local in_finish = of and of.kind ~= "env"
  return primitives.derivation {
    name = recipe.name .. "-" .. recipe.version, what = "finish", system = "builtin", builder = "builtin:finish",
    env = {
      src = raw, dist = recipe.name, python = v.axes.python or python.default, epoch = build.epoch, rules = finish_rules,
      version = of and of.kind == "env" and label.version(of, recipe.version, v) or recipe.version,
      label_kind = in_finish and of.kind or "none",
      label_text = in_finish and label.text(of, v) or "",
    },
  }
end

local function derive(recipe, v)
  local why = possible.not_by_axes(recipe, v)
  if why then return { impossible = why } end
  local folder, entry = source.folder(recipe)
  local list = build.wheels(recipe, v, entry)
  why = possible.not_with(recipe, v, list)
  if why then return { impossible = why } end
  local wheel = finish(recipe, v, build.raw(recipe, v, folder, list))
  return { { role = "wheel", drv = wheel }, { role = "test", drv = test.verdict(recipe, v, wheel, entry) } }
end

-- Two variants of one Python, torch and CUDA that carry the same version are the same wheel to every installer. What
-- only a call can tell (a label's function, an exclude's) is left to when the variants are asked for.
local function check_labels(recipe, all)
  local of, seen = recipe.label, {}
  if of and type(of.template) == "function" or choice.has_functions(recipe.exclude) then return end
  for _, v in ipairs(all) do
    if not choice.excluded(recipe.exclude, v) then
      local version = label.version(of, recipe.version, v)
      local key = table.concat({ version, v.axes.python or "", v.axes.torch or "", v.axes.cuda or "" }, " ")
      if seen[key] then
        primitives.fail("matrix: " .. seen[key] .. " and " .. v.name .. " would both be " .. recipe.name .. " " .. version ..
          ": tell them apart by the label")
      end
      seen[key] = v.name
    end
  end
end

-- What forge asks of a variant only when it is chosen is behind functions; what deriving it gave is kept for lint.
local function target(recipe, v, excluded, keep)
  return {
    name = v.name, recipe = recipe.name, version = recipe.version, axes = v.axes, stable_abi = recipe.stable_abi,
    tell = function() return { label = label.version(recipe.label, recipe.version, v), excluded = excluded() } end,
    derive = function() return keep(derive(recipe, v)) end,
  }
end

-- Each variant is asked at most once whether it is excluded.
local function ask_excluded(recipe, all)
  local known = {}
  return function(i)
    if known[i] == nil then known[i] = choice.excluded(recipe.exclude, all[i]) or false end
    return known[i] or nil
  end
end

local function check_variants(recipe)
  local matrix = recipe.matrix or {}
  python.check(recipe.pythons or {})
  if recipe.matrix then variant.check_matrix(matrix, recipe) end
  choice.check_exclude(recipe.exclude, matrix)
  choice.check_profiles(recipe.profiles or {}, matrix)
  for i, axis in ipairs(recipe.stable_abi or {}) do
    if not matrix[axis] then check.unknown("stable_abi[" .. i .. "]", "axis", axis, variant.axes(matrix)) end
  end
  override.check_aliases(recipe, fields)
end

return function(given)
  check.fields("forge.wheel", given, fields)
  local recipe = override.set(given, fields)
  if not recipe.sources then recipe.source = recipe.source or source.sdist() end
  check_recipe(recipe)
  check_variants(recipe)
  override.aliases(recipe)
  local all, targets, made = variant.all(recipe.matrix or {}), {}, {}
  local excluded = ask_excluded(recipe, all)
  check_labels(recipe, all)
  for i, v in ipairs(all) do
    targets[i] = target(recipe, v, function() return excluded(i) end, function(results)
      made[i] = results
      return results
    end)
  end
  local names, profile = choice.profiles(recipe.profiles or {}, recipe.matrix or {}, all, excluded)
  return {
    targets = targets, profiles = names, profile = profile,
    lint = function()
      return require "forge.lint" { recipe = recipe, all = all, excluded = excluded, made = made, profile = profile }
    end,
  }
end
