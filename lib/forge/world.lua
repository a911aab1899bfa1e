-- A world is data: what is laid over one another at each mount point, small files, links (DESIGN 5).
local primitives = require "forge.primitives"

local world = {}

local function parent_first(a, b)
  return a.at < b.at
end

-- world.compose { base = <root file system>, parts = { part, … } }, where a part is
-- { mounts = { [at] = { layer, … } }, files = { [path] = text }, links = { [path] = target } }.
-- Layers of the same mount point are joined: those of earlier parts lie on top.
function world.compose(spec)
  local layers, files, links = { ["/"] = { spec.base } }, {}, {}
  for _, part in ipairs(spec.parts) do
    for at, list in pairs(part.mounts or {}) do
      local all = layers[at] or {}
      layers[at] = table.move(list, 1, #list, #all + 1, all)
    end
    for path, text in pairs(part.files or {}) do files[path] = text end
    for path, target in pairs(part.links or {}) do links[path] = target end
  end
  local mounts = {}
  for at, list in pairs(layers) do
    if #list > 0 then mounts[#mounts + 1] = { at = at, layers = list } end
  end
  table.sort(mounts, parent_first)
  local out = { mounts = mounts }
  for _ in pairs(files) do out.files = files end
  for _ in pairs(links) do out.links = links end
  return out
end

local shared = {}

-- The world for a list of wheels and a key, made by the function once: variants that differ in neither see the same.
function world.shared(list, key, make)
  shared[list] = shared[list] or {}
  local known = shared[list]
  known[key] = known[key] or primitives.world(make())
  return known[key]
end

return world
