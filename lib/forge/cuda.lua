-- The CUDA toolkit as a part of a world: /cuda, with bin, include, lib, lib64 and nvvm (DESIGN 5).
local check = require "forge.check"
local debian = require "forge.cuda_debian"
local image = require "forge.cuda_image"
local primitives = require "forge.primitives"
local redist = require "forge.cuda_redist"
local wheels = require "forge.cuda_wheels"

-- Where each release comes from when a recipe says nothing of it.
local sources = {}
for _, source in ipairs { wheels, debian } do
  for _, version in ipairs(source.versions) do sources[version] = source end
end

local function source_of(version)
  if not sources[version] then
    local names = {}
    for name in pairs(sources) do names[#names + 1] = name end
    check.unknown("cuda", "version", version, names)
  end
  return sources[version]
end

-- One source by its name; others have other releases.
local function of(name, source)
  return function(version, more)
    if sources[version] ~= source then
      table.sort(source.versions)
      primitives.fail("forge.cuda." .. name .. " has no CUDA '" .. tostring(version) .. "', only " ..
        table.concat(source.versions, ", "))
    end
    return source.part(version, more)
  end
end

local cuda = {
  -- cuda.wheels(version, more): from the Python index; `more` is a list of wheels (torch's) whose headers belong to it.
  wheels = of("wheels", wheels),
  -- cuda.debian(version): from Debian's non-free packages.
  debian = of("debian", debian),
  -- cuda.redist { release = "13.0.2", … }: NVIDIA's archives.
  redist = redist.part,
  -- cuda.image { image = forge.oci { … }, cuda = "13.0", … }: the one in an image.
  image = image.part,
}

-- Fail for a release that forge has no toolkit of; where a recipe brings its own, for what is no release.
function cuda.check(version, brought)
  if not (brought and version:find("^%d+%.%d+$")) then source_of(version) end
end

-- The toolkit of a variant: the recipe's cuda_from, or that of its axis. list: what is installed where the build runs.
function cuda.of(recipe, v, list)
  local version, given = v.axes.cuda, check.field(recipe, "cuda_from", { "table" }, v)
  if not given then return source_of(version).part(version, list) end
  if given.cuda and given.cuda ~= version then
    primitives.fail("forge.wheel: cuda_from is of CUDA " .. given.cuda .. "; this variant has " .. version)
  end
  return given
end

return check.module("forge.cuda", cuda)
