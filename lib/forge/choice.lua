-- Choosing variants: the rules of `exclude`, and profiles. A choice is a table { axis = value, … } that a variant
-- agrees with, or a function of the variant.
local check = require "forge.check"
local primitives = require "forge.primitives"
local torch = require "forge.torch"
local variant = require "forge.variant"

local choice = {}

local function text_of(value)
  return type(value) == "table" and table.concat(value, ",") or tostring(value)
end

local function same(a, b)
  return type(a) == type(b) and text_of(a) == text_of(b)
end

-- Does a variant's value equal the wanted one? For an axis of strings a list means any of it.
local function fits(value, wanted)
  if same(value, wanted) then return true end
  if type(wanted) ~= "table" or type(value) == "table" then return false end
  for _, one in ipairs(wanted) do
    if one == value then return true end
  end
  return false
end

local function agrees(axes, wanted)
  for axis, value in pairs(wanted) do
    if axis ~= "because" and not fits(axes[axis], value) then return false end
  end
  return true
end

-- The axis must have the value: else the choice would choose nothing, and that is a slip.
local function check_value(nothing, axis, values, wanted)
  for _, value in ipairs(values) do
    if same(value, wanted) then return end
  end
  local texts = {}
  for i, value in ipairs(values) do texts[i] = text_of(value) end
  local near = primitives.nearest(text_of(wanted), texts)
  primitives.fail(nothing .. ": " .. axis .. " has no value '" .. text_of(wanted) .. "'" ..
    (near and " (did you mean '" .. near .. "'?)" or "; it has " .. table.concat(texts, ", ")))
end

-- A table of axes and values against the matrix. `more`: a field beside the axes; `nothing`: "x chooses nothing".
local function check_choice(where, nothing, wanted, matrix, more)
  local names = variant.axes(matrix)
  names[#names + 1] = more
  for axis, value in pairs(wanted) do
    if axis ~= more then
      if not matrix[axis] then check.unknown(where, "axis", axis, names) end
      check.value(where, axis, value, { "string", "strings" })
      if axis ~= "archs" and type(value) == "table" then
        for _, one in ipairs(value) do check_value(nothing, axis, matrix[axis], one) end
      else
        check_value(nothing, axis, matrix[axis], value)
      end
    end
  end
end

-- The rules in one form: a list of tables and functions.
local function rules_of(exclude)
  if type(exclude) == "function" then return { exclude } end
  return exclude or {}
end

function choice.check_exclude(exclude, matrix)
  for i, rule in ipairs(rules_of(exclude)) do
    local where = "exclude[" .. i .. "]"
    check.value("exclude", "[" .. i .. "]", rule, { "table", "function" })
    if type(rule) == "table" then
      if rule.because ~= nil then check.value(where, "because", rule.because, { "string" }) end
      check_choice(where, where .. " excludes nothing", rule, matrix, "because")
    end
  end
end

-- Why a variant is not built, or nil. A function gives the reason, or true, or nothing.
function choice.excluded(exclude, v)
  for _, rule in ipairs(rules_of(exclude)) do
    if type(rule) == "table" then
      if agrees(v.axes, rule) then return rule.because or "excluded by the recipe" end
    else
      local why = check.call("forge.wheel", "exclude", rule, { "string", "boolean", "nothing" }, v)
      if why then return why == true and "excluded by the recipe" or why end
    end
  end
end

-- May a variant be excluded by what only a call can tell?
function choice.has_functions(exclude)
  for _, rule in ipairs(rules_of(exclude)) do
    if type(rule) == "function" then return true end
  end
  return false
end

function choice.check_profiles(profiles, matrix)
  for name, wanted in pairs(profiles) do
    if type(name) ~= "string" or not name:find("^%a[%w_.-]*$") then
      primitives.fail("profiles: '" .. tostring(name) .. "' is not a name for a profile")
    end
    check.value("profiles", name, wanted, { "table", "function" })
    local where = "profiles." .. name
    if type(wanted) == "table" then check_choice(where, where .. " selects nothing", wanted, matrix) end
  end
end

-- "3.9" is older than "3.13"; free-threaded "3.14t" older than any that is not.
local function older(a, b)
  local at, bt = a:find("t$"), b:find("t$")
  if not at ~= not bt then return at ~= nil end
  local next_a, next_b = a:gmatch("%d+"), b:gmatch("%d+")
  while true do
    local x, y = tonumber((next_a())), tonumber((next_b()))
    if x ~= y then return (x or 0) < (y or 0) end
    if not x then return false end
  end
end

-- For each torch, the newest Python that it serves and that the recipe builds.
local function newest_pythons(all, excluded)
  local newest = {}
  for i, v in ipairs(all) do
    local have = newest[v.torch]
    if (not have or older(have, v.python)) and not excluded(i) and torch.serves(v.torch, v.python) then
      newest[v.torch] = v.python
    end
  end
  return newest
end

-- "pytorch211" for torch 2.11.0, "python313" for Python 3.13; nil for a torch without such a number.
local function torch_profile(version)
  local major, minor = version:match("^(%d+)%.(%d+)")
  return major and "pytorch" .. major .. minor
end

local function python_profile(version)
  return "python" .. version:gsub("%.", "")
end

-- The profile of each value of an axis; for a matrix without it none.
local function names_of(values, name_of)
  local names = {}
  for _, value in ipairs(values or {}) do names[value] = name_of(value) end
  return names
end

-- The indexes of the variants with each of the named values of an axis, by name.
local function by_name(all, axis, names)
  local chosen = {}
  for i, v in ipairs(all) do
    local name = names[v.axes[axis]]
    if name then
      chosen[name] = chosen[name] or {}
      table.insert(chosen[name], i)
    end
  end
  return chosen
end

-- The indexes of the variants for which a test holds.
local function those(all, test)
  local chosen = {}
  for i, v in ipairs(all) do
    if test(v, i) then chosen[#chosen + 1] = i end
  end
  return chosen
end

local function first_left(all, excluded)
  for i in ipairs(all) do
    if not excluded(i) then return { i } end
  end
  return {}
end

-- The profiles that every recipe with these axes has; the recipe's own of the same name comes first. Each is a function
-- that gives indexes, some of which may be excluded.
local function built_in(matrix, all, excluded)
  local made = {
    all = function() return those(all, function() return true end) end,
    default = function() return first_left(all, excluded) end,
  }
  for axis, name_of in pairs { torch = torch_profile, python = python_profile } do
    local names, chosen = names_of(matrix[axis], name_of), nil
    for _, name in pairs(names) do
      made[name] = function()
        chosen = chosen or by_name(all, axis, names)
        return chosen[name]
      end
    end
  end
  if matrix.torch and matrix.python then
    made.stable = function()
      local newest = newest_pythons(all, excluded)
      return those(all, function(v) return newest[v.torch] == v.python end)
    end
  end
  return made
end

-- The names of a recipe's profiles, sorted, and a function that gives the indexes of a profile's variants:
-- excluded ones are none. excluded(i) tells why variant i is not built, or nil.
function choice.profiles(profiles, matrix, all, excluded)
  local made, names = built_in(matrix, all, excluded), {}
  for name, wanted in pairs(profiles) do
    local test = type(wanted) == "table" and function(v) return agrees(v.axes, wanted) end
      or function(v) return check.call("profiles", name, wanted, { "boolean", "nothing" }, v) end
    made[name] = function() return those(all, test) end
  end
  for name in pairs(made) do names[#names + 1] = name end
  return names, function(name)
    local left = {}
    for _, i in ipairs(made[name]()) do
      if not excluded(i) then left[#left + 1] = i end
    end
    return left
  end
end

return choice
