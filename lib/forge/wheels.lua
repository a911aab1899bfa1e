-- Wheels from the index: locked, fetched, each unpacked once into an object of its own.
local primitives = require "forge.primitives"

local wheels = {}

-- The folder a wheel is unpacked into: site-packages/ bin/ data/ include/, the same for every Python.
local function unpack(entry)
  return primitives.derivation {
    name = entry.name .. "-" .. entry.version, what = "unpack", system = "builtin",
    builder = "builtin:unpack-wheel", env = { src = primitives.fetch(entry) },
  }
end

local known = {}

-- A wheel by its entry in the lock: { name, version, folder }, one table however many lists have it.
local function wheel_of(entry)
  if not known[entry.file] then
    known[entry.file] = { name = entry.name, version = entry.version, folder = unpack(entry) }
  end
  return known[entry.file]
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
  local key = request.python .. (request.alone and " alone " or " ") .. table.concat(request.requires, " ")
  if not answers[key] then
    local list = {}
    local ask = { kind = "wheels", python = request.python, requires = sorted_once(request.requires) }
    if request.alone then ask.deps = false end
    for i, entry in ipairs(#ask.requires > 0 and primitives.entries(ask) or {}) do list[i] = wheel_of(entry) end
    answers[key] = list
  end
  return answers[key]
end

local layer_of = {}

-- A wheel's folder with a sub-folder added.
function wheels.layer(wheel, sub)
  local known = layer_of[sub] or {}
  layer_of[sub] = known
  known[wheel] = known[wheel] or wheel.folder .. sub
  return known[wheel]
end

local layers_of = {}

-- The folders of a list, each with a sub-folder added. Variants that share a list share this too: it is not to be
-- changed.
function wheels.layers(list, sub)
  layers_of[list] = layers_of[list] or {}
  local made, known = layers_of[list], layer_of[sub] or {}
  if not made[sub] then
    local layers = {}
    for i, wheel in ipairs(list) do layers[i] = known[wheel] or wheels.layer(wheel, sub) end
    made[sub] = layers
  end
  return made[sub]
end

return wheels
