-- Wheels from the index: locked, fetched, each unpacked once into an object of its own.
local primitives = require "forge.primitives"

local wheels = {}

local unpacked = {}

-- The folder a wheel is unpacked into: site-packages/ bin/ data/ include/, the same for every Python.
local function unpack(entry)
  if not unpacked[entry.file] then
    unpacked[entry.file] = primitives.derivation {
      name = entry.name .. "-" .. entry.version, what = "unpack", system = "builtin",
      builder = "builtin:unpack-wheel", env = { src = primitives.fetch(entry) },
    }
  end
  return unpacked[entry.file]
end

local function sorted_once(list)
  local out, seen = {}, {}
  for _, item in ipairs(list) do
    if not seen[item] then
      seen[item] = true
      out[#out + 1] = item
    end
  end
  table.sort(out)
  return out
end

local answers = {}

-- wheels.get { python = "3.13", requires = { … }, alone = false }: a list of { name, version, folder } in the
-- lock's order. `alone`: only what is named, not what that needs.
function wheels.get(request)
  local requires = sorted_once(request.requires)
  local key = request.python .. (request.alone and " alone " or " ") .. table.concat(requires, " ")
  if not answers[key] then
    local list = {}
    local ask = { kind = "wheels", python = request.python, requires = requires }
    if request.alone then ask.deps = false end
    for _, entry in ipairs(#requires > 0 and primitives.locked(ask) or {}) do
      list[#list + 1] = { name = entry.name, version = entry.version, folder = unpack(entry) }
    end
    answers[key] = list
  end
  return answers[key]
end

local layers_of = {}

-- The folders of a list, each with a sub-folder added. Variants that share a list share this too: it is not to be
-- changed.
function wheels.layers(list, sub)
  layers_of[list] = layers_of[list] or {}
  local known = layers_of[list]
  if not known[sub] then
    local layers = {}
    for i, wheel in ipairs(list) do layers[i] = wheel.folder .. sub end
    known[sub] = layers
  end
  return known[sub]
end

return wheels
