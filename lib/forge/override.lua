-- What the command line puts in the place of a recipe's own: --set FIELD=VALUE, --env NAME=VALUE.
local check = require "forge.check"
local primitives = require "forge.primitives"
local variant = require "forge.variant"

local override = {}

local function keys(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  return names
end

local function is_text(wanted)
  return wanted[1] == "string" or wanted[1] == "amount"
end

-- --set: fields that are a single text.
function override.set(given, fields)
  local recipe = {}
  for name, value in pairs(given) do recipe[name] = value end
  for name, value in pairs(primitives.set) do
    local wanted = fields[name]
    if not wanted then check.unknown("--set", "field", name, keys(fields)) end
    if not is_text(wanted) then
      primitives.fail("--set: '" .. name .. "' is not a text and can't be set from the command line")
    end
    recipe[name] = value
  end
  return recipe
end

-- Each alias stands for an axis of the matrix or for a field that is a text.
function override.check_aliases(recipe, fields)
  for name, of in pairs(recipe.aliases or {}) do
    check.value("aliases", tostring(name), of, { "string" })
    local field = fields[of]
    if not (recipe.matrix or {})[of] and not (field and is_text(field)) then
      local known = variant.axes(recipe.matrix or {})
      for each, wanted in pairs(fields) do
        if is_text(wanted) then known[#known + 1] = each end
      end
      check.unknown("aliases." .. tostring(name), "axis or field", of, known)
    end
  end
end

local function nothing_reads(recipe, name, variables)
  local known = keys(recipe.aliases or {})
  for each in pairs(variables) do known[#known + 1] = each end
  local near = primitives.nearest(name, known)
  primitives.fail("--env: nothing in the recipe reads '" .. name .. "'" ..
    (near and " (did you mean '" .. near .. "'?)" or #known > 0 and "; it has " .. table.concat(known, ", ") or ""))
end

-- An axis that is given gets that one value, and the recipe's matrix is left as it is.
local function put(recipe, of, text)
  if not (recipe.matrix or {})[of] then
    recipe[of] = text
    return
  end
  local matrix = {}
  for axis, values in pairs(recipe.matrix) do matrix[axis] = values end
  matrix[of] = { variant.read(of, text, recipe) }
  recipe.matrix = matrix
end

-- --env: names that are aliases. What else was given is in recipe.variables, for override.variables; if `env` is no
-- function it is known already what the build reads.
function override.aliases(recipe)
  recipe.variables = {}
  for name, text in pairs(primitives.env) do
    local of = (recipe.aliases or {})[name]
    if of then
      put(recipe, of, text)
    elseif (recipe.jobs or {})[name] then
      primitives.fail("--env: '" .. name .. "' is filled in by the scheduler; see --jobs, --cores and --memory")
    else
      recipe.variables[name] = text
    end
  end
  if type(recipe.env) ~= "function" then override.variables(recipe, recipe.env or {}) end
end

-- The build's variables with those that were given in the place of the recipe's own.
function override.variables(recipe, variables)
  local all = {}
  for name, value in pairs(variables) do all[name] = value end
  for name, text in pairs(recipe.variables) do
    if all[name] == nil then nothing_reads(recipe, name, variables) end
    all[name] = text
  end
  return all
end

return override
