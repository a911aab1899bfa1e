-- Variants: the cells of a recipe's matrix, each a value of its own.
local check = require "forge.check"
local cuda = require "forge.cuda"
local primitives = require "forge.primitives"
local python = require "forge.python"

local variant = {}

-- The axes that forge itself understands come first, in this order, in names and in the product.
variant.known = { "python", "torch", "cuda", "archs" }

-- What a list can do: v.archs:join ";" is "80;90a"; v.archs:dotted ";" is "8.0;9.0a", as PyTorch writes them.
local list_methods = {
  __index = {
    join = function(list, between) return table.concat(list, between) end,
    dotted = function(list, between)
      local names = {}
      for i, arch in ipairs(list) do names[i] = arch:gsub("^(%d+)(%d)", "%1.%2") end
      return table.concat(names, between)
    end,
  },
}

-- Known axes first, then the recipe's own by name.
function variant.axes(matrix)
  local names, known = {}, {}
  for _, axis in ipairs(variant.known) do
    known[axis] = true
    if matrix[axis] then names[#names + 1] = axis end
  end
  for axis in pairs(matrix) do
    if not known[axis] then names[#names + 1] = axis end
  end
  return names
end

local function check_archs(value)
  check.value("matrix", "archs", value, { "strings" })
  for _, arch in ipairs(value) do
    if not arch:find("^%d+[af]?$") then
      primitives.fail("matrix: archs: '" .. arch .. "' is no GPU architecture (write \"90\" for sm_90)")
    end
  end
  if #value == 0 then primitives.fail("matrix: archs: a list without an architecture") end
end

-- recipe: what it brings of its own (pythons, cuda_from) is known too.
local function check_value(axis, value, recipe)
  if axis == "archs" then return check_archs(value) end
  if type(value) ~= "string" or value == "" then
    primitives.fail("matrix: the values of '" .. axis .. "' are strings, not a " .. type(value))
  end
  if axis == "python" then python.get(value, recipe.pythons) end
  if axis == "cuda" then cuda.check(value, recipe.cuda_from ~= nil) end
end

-- An own axis that looks like one of forge's that is not there is a slip.
local function check_name(matrix, axis)
  if type(axis) ~= "string" or not axis:find("^%l[%w_]*$") then
    primitives.fail("matrix: '" .. tostring(axis) .. "' is not a name for an axis")
  end
  local near = primitives.nearest(axis, variant.known)
  if near and not matrix[near] then check.unknown("matrix", "axis", axis, variant.known) end
end

function variant.check_matrix(matrix, recipe)
  for axis, values in pairs(matrix) do
    check_name(matrix, axis)
    check.value("matrix", axis, values, { "list" })
    if #values == 0 then primitives.fail("matrix: '" .. axis .. "' has no values") end
    for _, value in ipairs(values) do check_value(axis, value, recipe) end
  end
  if #variant.axes(matrix) == 0 then
    primitives.fail("matrix: it has no axes; a recipe of one variant has no matrix")
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

-- All variants of a matrix, in its order: { name, axes }. A variant's axes can be read as its fields: v.python,
-- v.archs:join ";".
function variant.all(matrix)
  local names = variant.axes(matrix)
  local cells, shorts, count = product(names, matrix), {}, {}
  for i, axes in ipairs(cells) do
    local name = short_name(names, axes)
    shorts[i], count[name] = name, (count[name] or 0) + 1
  end
  local all, seen = {}, {}
  for i, axes in ipairs(cells) do
    local name = shorts[i]
    if count[name] > 1 then name = short_name(names, axes, true) end
    if seen[name] then primitives.fail("matrix: two variants are called " .. name) end
    seen[name] = true
    all[i] = setmetatable({ name = name, axes = axes }, variant_methods)
  end
  return all
end

-- The lists of "80;90" and the like, as people write architectures: { "80", "90" }; "8.0" is 80.
local function read_archs(text)
  local list = {}
  for arch in text:gmatch("[^%s;,]+") do list[#list + 1] = arch:gsub("^(%d+)%.(%d)", "%1%2") end
  return list
end

-- The value of an axis of the recipe from a text.
function variant.read(axis, text, recipe)
  local value = axis == "archs" and read_archs(text) or text
  check_value(axis, value, recipe)
  return value
end

return variant
