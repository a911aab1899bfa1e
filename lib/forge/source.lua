-- Where a package's source comes from, and how it becomes a folder.
local check = require "forge.check"
local primitives = require "forge.primitives"

local source = {}

-- The sdist of the recipe's name and version, as locked.
function source.sdist()
  return { kind = "sdist" }
end

-- An archive anywhere: { urls = { … }, sha256 = "…", name = "x-1.0.tar.gz" }; urls are tried in order.
function source.url(spec)
  check.fields("forge.url", spec, {
    urls = { "strings", needed = true }, sha256 = { "string", needed = true }, name = { "string" },
  })
  local name = spec.name or (spec.urls[1] or ""):match("([^/?#]+)[?#]?[^/]*$")
  if not name then primitives.fail("forge.url: no file name in urls: give a name") end
  return { kind = "url", entry = { from = "url", name = name, urls = spec.urls, sha256 = spec.sha256 } }
end

function source.git()
  primitives.fail("forge.git is not there yet: use forge.url with an archive of that commit, or forge.path")
end

local function unpack(name, archive)
  return primitives.derivation {
    name = name, what = "unpack", system = "builtin", builder = "builtin:unpack",
    env = { src = archive, strip = "1" },
  }
end

local function is_archive(name)
  for _, ending in ipairs { ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2", ".zip" } do
    if name:sub(-#ending) == ending then return true end
  end
  return false
end

-- The lock's entry for the sdist, with `requires` and `build_requires` as read from it.
function source.entry(recipe)
  return primitives.locked { kind = "sdist", name = recipe.name, version = recipe.version }
end

-- A folder (a derivation or a store path), and the lock's entry where there is one.
local function folder_of(recipe)
  local from, name = recipe.source, recipe.name .. "-" .. recipe.version .. "-source"
  if type(from) == "string" then
    return is_archive(from) and unpack(name, from) or from
  elseif from.kind == "url" then
    return unpack(name, primitives.fetch(from.entry))
  end
  local entry = source.entry(recipe)
  return unpack(name, primitives.fetch(entry)), entry
end

local folders = {}

-- The same, worked out once for all variants of a recipe.
function source.folder(recipe)
  if not folders[recipe] then folders[recipe] = table.pack(folder_of(recipe)) end
  return folders[recipe][1], folders[recipe][2]
end

return source
