-- Checking the tables that recipes hand in: unknown fields, wrong types, what is missing.
local primitives = require "forge.primitives"

local check = {}

local function is_list(value)
  if type(value) ~= "table" then return false end
  local n = 0
  for key in pairs(value) do
    n = n + 1
    if key ~= n then return false end
  end
  return true
end

local function is_list_of(value, is_item)
  if not is_list(value) then return false end
  for _, item in ipairs(value) do
    if not is_item(item) then return false end
  end
  return true
end

local function is_string(value) return type(value) == "string" end

-- As recipes see outputs: a derivation, a store path, or the text that stands for a path not known yet.
local function is_folder(value)
  return type(value) == "userdata" or
    (is_string(value) and (value:find("^/forge/store/%w") or value:find("^/" .. ("%w"):rep(52))) ~= nil)
end

local types = {
  string   = { "a string", is_string },
  integer  = { "a whole number", function(v) return math.type(v) == "integer" end },
  boolean  = { "true or false", function(v) return type(v) == "boolean" end },
  table    = { "a table", function(v) return type(v) == "table" end },
  list     = { "a list", is_list },
  strings  = { "a list of strings", function(v) return is_list_of(v, is_string) end },
  tables   = { "a list of tables", function(v) return is_list_of(v, function(t) return type(t) == "table" end) end },
  ["function"] = { "a function", function(v) return type(v) == "function" end },
  folder   = { "a derivation or what forge.path gives", is_folder },
  image    = { "what forge.oci gives", function(v) return type(v) == "function" end },
  nothing  = { "nothing", function(v) return v == nil end },
  amount   = { 'an amount such as "90min" or "6GiB"', function(v) return is_string(v) or math.type(v) == "integer" end },
}

-- "a list of strings or a function"
local function describe(names)
  local words = {}
  for _, name in ipairs(names) do words[#words + 1] = types[name][1] end
  return table.concat(words, " or ")
end

local function is_one_of(value, names)
  for _, name in ipairs(names) do
    if types[name][2](value) then return true end
  end
  return false
end

local function names_of(fields)
  local names = {}
  for name in pairs(fields) do names[#names + 1] = name end
  return names
end

-- Fail because `name` is not one of the known names; `what` says what it is: "field", "axis".
function check.unknown(where, what, name, known)
  local near = type(name) == "string" and primitives.nearest(name, known)
  primitives.fail(where .. ": there is no " .. what .. " '" .. tostring(name) .. "'" ..
    (near and " (did you mean '" .. near .. "'?)" or "; there is " .. table.concat(known, ", ")))
end

local function wrong(where, name, value, wanted)
  return where .. ": '" .. name .. "' must be " .. describe(wanted) .. ", not " ..
    (type(value) == "table" and "such a table" or value == nil and "nothing" or "a " .. type(value))
end

-- One value against a list of type names.
function check.value(where, name, value, wanted)
  if not is_one_of(value, wanted) then primitives.fail(wrong(where, name, value, wanted)) end
end

-- What a recipe's function gives, against a list of type names; a wrong one is told with the function's place.
function check.call(where, name, f, wanted, ...)
  local value = f(...)
  if not is_one_of(value, wanted) then primitives.fail_at(f, wrong(where, name, value, wanted)) end
  return value
end

-- A field of a recipe that may be a function of the variant; nil where there is none, or the function gives none.
function check.field(recipe, name, wanted, v)
  local value = recipe[name]
  if value == nil then return end
  if type(value) == "function" then
    local or_nothing = table.move(wanted, 1, #wanted, 1, {})
    or_nothing[#or_nothing + 1] = "nothing"
    return check.call("forge.wheel", name, value, or_nothing, v)
  end
  check.value("forge.wheel", name, value, wanted)
  return value
end

-- The table `given` against fields = { name = { "type", "type", needed = true } }.
function check.fields(where, given, fields)
  if type(given) ~= "table" then
    primitives.fail(where .. " takes a table, not a " .. type(given))
  end
  for name in pairs(given) do
    if not fields[name] then check.unknown(where, "field", name, names_of(fields)) end
  end
  for name, value in pairs(given) do check.value(where, name, value, fields[name]) end
  for name, wanted in pairs(fields) do
    if wanted.needed and given[name] == nil then
      primitives.fail(where .. ": '" .. name .. "' is missing (" .. describe(wanted) .. ")")
    end
  end
end

-- The table of functions that a recipe knows as `name`: a misspelt one is told with the nearest.
function check.module(name, functions)
  return setmetatable(functions, {
    __index = function(_, wanted)
      check.unknown(name, "function", wanted, names_of(functions))
    end,
  })
end

return check
