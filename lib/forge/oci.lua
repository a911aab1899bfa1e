-- The base of a world from an image of a registry: its layers, laid over one another (DESIGN 5). The environment that
-- its configuration sets is not applied: a build has what its recipe names and nothing else.
local check = require "forge.check"
local primitives = require "forge.primitives"

local function digits(digest)
  return digest:match("^sha256:(%x+)$")
end

-- Each layer is an object of its own under a name that says nothing of the image: images share them.
local function fetch(entry, layer)
  local hash = digits(layer.digest)
  return primitives.fetch {
    from = "oci", image = entry.image, name = "layer-" .. hash:sub(1, 12), sha256 = hash, size = layer.size,
  }
end

local made = {}

local function make(options)
  local entry = primitives.locked { kind = "oci", image = options.image, digest = options.digest }
  local links = options.links and primitives.json(options.links)
  local key = entry.manifest .. " " .. entry.image .. " " .. (links or "")
  if not made[key] then
    local layers, ids = {}, {}
    for i, layer in ipairs(entry.layers) do
      layers[i], ids[i] = fetch(entry, layer), digits(layer.diffId)
    end
    made[key] = primitives.derivation {
      name = "oci-" .. entry.image:match("[^/]+$"), what = "unpack", system = "builtin", builder = "builtin:oci-rootfs",
      env = { layers = layers, diff_ids = ids, links = links },
    }
  end
  return made[key]
end

-- oci { image = "registry.example/vendor/cuda:13.0-devel", digest = "sha256:…" }: for a recipe's `base`, in the place
-- of forge.debian; a function whose result is a derivation, the root file system. The image is named with its
-- registry's host, and has a tag, which `forge lock` pins, or a digest (of the image or of an index that has one for
-- linux/amd64), or both, which must agree. links = { ["/usr/bin/python3.13"] = "/opt/python/bin/python3" }: links that
-- the image lacks; what it has at such a place stays.
return function(options)
  check.fields("forge.oci", options, {
    image = { "string", needed = true }, digest = { "string" }, links = { "table" },
  })
  for path, target in pairs(options.links or {}) do
    if type(path) ~= "string" or not path:find("^/.") then
      primitives.fail("forge.oci: links: '" .. tostring(path) .. "' is not an absolute path")
    end
    check.value("forge.oci: links", path, target, { "string" })
  end
  return function(more)
    if more and more.packages and #more.packages > 0 then
      primitives.fail("forge.wheel: 'packages' are Debian's, and the base " .. options.image ..
        " is an image: build one that has them")
    end
    return make(options)
  end
end
