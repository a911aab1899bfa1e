-- Variants: the cells of a recipe's matrix, each a value of its own.
local check = require "forge.check"
local primitives = require "forge.primitives"

local variant = {}

-- The axes that forge itself understands come first, in this order, in names and in the product.
local order = { "python", "torch", "cuda", "archs" }

local list_methods = {
  __index = { join = function(list, between) return table.concat(list, between) end },
}

-- Known axes first, then the recipe's own by name.
local function axes_of(matrix)
  local names, known = {}, {}
  for _, axis in ipairs(order) do
    known[axis] = true
    if matrix[axis] then names[#names + 1] = axis end
  end
  for axis in pairs(matrix) do
    if not known[axis] then names[#names + 1] = axis end
  end
  return names
end

local function check_value(axis, value)
  if axis == "archs" then
    check.value("matrix", "archs", value, { "strings" })
    for _, arch in ipairs(value) do
      if not arch:find("^%d+[af]?$") then
        primitives.fail("matrix: archs: '" .. arch .. "' is no GPU architecture (write \"90\" for sm_90)")
      end
    end
    if #value == 0 then primitives.fail("matrix: archs: a list without an architecture") end
  elseif type(value) ~= "string" or value == "" then
    primitives.fail("matrix: the values of '" .. axis .. "' are strings, not a " .. type(value))
  end
end

local function check_matrix(matrix)
  for axis, values in pairs(matrix) do
    if type(axis) ~= "string" or not axis:find("^%l[%w_]*$") then
      primitives.fail("matrix: '" .. tostring(axis) .. "' is not a name for an axis")
    end
    check.value("matrix", axis, values, { "list" })
    if #values == 0 then primitives.fail("matrix: '" .. axis .. "' has no values") end
    for _, value in ipairs(values) do check_value(axis, value) end
  end
end

-- "cp313", "torch2.11", "cu130", "sm80_90", "<axis><value>"
local function word(axis, value, full)
  if axis == "python" then return "cp" .. value:gsub("%.", "") end
  if axis == "torch" then return "torch" .. (full and value or value:match("^%d+%.%d+") or value) end
  if axis == "cuda" then return "cu" .. value:gsub("%.", "") end
  if axis == "archs" then return "sm" .. table.concat(value, "_") end
  return axis .. value:gsub("[^%w._]", "_")
end

local function short_name(names, axes, full)
  local words = {}
  for _, axis in ipairs(names) do words[#words + 1] = word(axis, axes[axis], full) end
  return table.concat(words, "-")
end

local variant_methods = {
  __index = function(v, name)
    local axes = rawget(v, "axes")
    if axes[name] ~= nil then return axes[name] end
    local names = { "name", "axes" }
    for axis in pairs(axes) do names[#names + 1] = axis end
    check.unknown("variant", "axis", name, names)
  end,
}

-- Every combination; the last axis turns fastest.
local function product(names, matrix)
  local all = { {} }
  for _, axis in ipairs(names) do
    local longer = {}
    for _, cell in ipairs(all) do
      for _, value in ipairs(matrix[axis]) do
        local more = {}
        for key, old in pairs(cell) do more[key] = old end
        more[axis] = type(value) == "table" and setmetatable(table.move(value, 1, #value, 1, {}), list_methods) or value
        longer[#longer + 1] = more
      end
    end
    if #longer > 10000 then primitives.fail("matrix: more than 10000 variants") end
    all = longer
  end
  return all
end

local function same(a, b)
  if type(a) == "table" and type(b) == "table" then
    return table.concat(a, " ") == table.concat(b, " ")
  end
  return a == b
end

-- Does a variant agree with { axis = value, … }? A value may also be a list of values for an axis of strings.
local function agrees(axes, wanted)
  for axis, value in pairs(wanted) do
    local matches = same(axes[axis], value)
    if type(value) == "table" and type(axes[axis]) == "string" then
      for _, one in ipairs(value) do matches = matches or one == axes[axis] end
    end
    if not matches then return false end
  end
  return true
end

local function check_selection(where, wanted, names, skip)
  local known = table.move(names, 1, #names, 1, {})
  for axis in pairs(wanted) do
    local found = axis == skip
    for _, name in ipairs(names) do found = found or name == axis end
    if not found then check.unknown(where, "axis", axis, known) end
  end
end

-- Why a variant is not built, or nil.
local function excluded(axes, rules)
  for _, rule in ipairs(rules) do
    local wanted = {}
    for axis, value in pairs(rule) do
      if axis ~= "because" then wanted[axis] = value end
    end
    if agrees(axes, wanted) then return rule.because or "excluded by the recipe" end
  end
end

-- All variants of a recipe, in the order of its matrix: { name, axes, excluded }. A variant's axes can be read
-- as its fields: v.python, v.archs:join ";".
function variant.all(recipe)
  local matrix = recipe.matrix or {}
  check_matrix(matrix)
  local names = axes_of(matrix)
  for i, rule in ipairs(recipe.exclude or {}) do check_selection("exclude[" .. i .. "]", rule, names, "because") end
  for name, wanted in pairs(recipe.profiles or {}) do
    check.value("profiles", tostring(name), wanted, { "table" })
    check_selection("profiles." .. tostring(name), wanted, names)
  end
  local cells, count = product(names, matrix), {}
  for _, axes in ipairs(cells) do
    local name = short_name(names, axes)
    count[name] = (count[name] or 0) + 1
  end
  local all, seen = {}, {}
  for _, axes in ipairs(cells) do
    local name = short_name(names, axes)
    if count[name] > 1 then name = short_name(names, axes, true) end
    if seen[name] then primitives.fail("matrix: two variants are called " .. name) end
    seen[name] = true
    all[#all + 1] = setmetatable({ name = name, axes = axes, excluded = excluded(axes, recipe.exclude or {}) or false },
      variant_methods)
  end
  return all
end

return variant
