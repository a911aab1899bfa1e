-- Where a package's source comes from, and how it becomes a folder.
local check = require "forge.check"
local debian = require "forge.debian"
local primitives = require "forge.primitives"
local world = require "forge.world"

local source = {}

-- The sdist of the recipe's name and version, as locked; of another with { name = …, version = … }.
function source.sdist(spec)
  check.fields("forge.sdist", spec or {}, { name = { "string" }, version = { "string" } })
  spec = spec or {}
  if (spec.name == nil) ~= (spec.version == nil) then
    primitives.fail("forge.sdist: of another package than the recipe's, give name and version")
  end
  return { kind = "sdist", name = spec.name, version = spec.version }
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

-- The files of one commit, as git holds them: { url = "https://…", rev = "v1.0", submodules = true }. rev is a commit
-- (40 digits), or a tag or branch that `forge lock` looks up. submodules: true for all, and theirs; or a list of paths.
function source.git(spec)
  check.fields("forge.git", spec, {
    url = { "string", needed = true }, rev = { "string", needed = true }, submodules = { "boolean", "strings" },
  })
  local some = spec.submodules
  if type(some) == "table" and #some == 0 then some = false end
  return { kind = "git", url = spec.url, rev = spec.rev, submodules = some or false }
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

-- The folder below a source that is built, as the lock knows it; nil: the outermost.
local function subdir_of(recipe)
  local parts = {}
  for part in (recipe.subdir or ""):gmatch("[^/]+") do
    if part ~= "." then parts[#parts + 1] = part end
  end
  return parts[1] and table.concat(parts, "/")
end

-- One source as a folder (a derivation or a store path), and the lock's entry where that has `requires` and
-- `build_requires`, as read from it: of an sdist, and of git's files where they tell. subdir: the folder to read there.
local function folder_of(recipe, from, subdir)
  local name = recipe.name .. "-" .. recipe.version .. "-source"
  if type(from) == "string" then
    return is_archive(from) and unpack(name, from) or from
  elseif from.kind == "url" then
    return unpack(name, primitives.fetch(from.entry))
  elseif from.kind == "git" then
    local entry = primitives.locked {
      kind = "git", url = from.url, rev = from.rev, submodules = from.submodules, subdir = subdir,
    }
    return primitives.fetch(entry), entry
  end
  local entry = primitives.locked {
    kind = "sdist", name = from.name or recipe.name, version = from.version or recipe.version,
  }
  return unpack(name, primitives.fetch(entry)), entry
end

local function is_source(value)
  return type(value) == "string" or (type(value) == "table" and value.kind ~= nil)
end

local a_source = 'forge.sdist(), forge.url{…}, forge.git{…} or forge.path "…"'

local function check_place(where, at)
  local plain = at:find("^[%w._+-][%w._+/-]*$") and not at:find("//", 1, true) and at:sub(-1) ~= "/"
  if not plain or ("/" .. at .. "/"):find("/%.%.?/") then
    primitives.fail(where .. ": at '" .. at .. "' is not a path below the main source")
  end
end

local function check_sources(sources)
  local places = {}
  if sources.main == nil then primitives.fail("forge.wheel: sources has no 'main'") end
  for name, given in pairs(sources) do
    local where = "forge.wheel: sources." .. tostring(name)
    if name == "main" then
      if not is_source(given) then primitives.fail(where .. " is " .. a_source) end
    elseif type(given) ~= "table" or not is_source(given[1]) then
      primitives.fail(where .. " is { <source>, at = \"path\" }, where the source is " .. a_source)
    else
      check.fields(where, { source = given[1], at = given.at, more = given[2] }, {
        source = { "string", "table" }, at = { "string", needed = true },
      })
      check_place(where, given.at)
      if places[given.at] then primitives.fail(where .. ": " .. places[given.at] .. " stands at the same place") end
      places[given.at] = tostring(name)
    end
  end
end

-- The fields `source` and `sources` of a recipe.
function source.check(recipe)
  if recipe.source and recipe.sources then
    primitives.fail("forge.wheel: give 'source' or 'sources', not both")
  elseif recipe.source and not is_source(recipe.source) then
    primitives.fail("forge.wheel: 'source' is " .. a_source)
  elseif recipe.sources then
    check_sources(recipe.sources)
  end
end

-- Several sources as one folder; the places of outer ones come before those in them.
local function join(recipe, main)
  local rest = {}
  for name, given in pairs(recipe.sources) do
    if name ~= "main" then rest[#rest + 1] = { folder = folder_of(recipe, given[1]), at = given.at } end
  end
  if #rest == 0 then return main end
  table.sort(rest, function(a, b) return a.at < b.at end)
  local from, at = {}, {}
  for i, each in ipairs(rest) do from[i], at[i] = each.folder, each.at end
  return primitives.derivation {
    name = recipe.name .. "-" .. recipe.version .. "-sources", what = "unpack", builder = "/bin/sh",
    args = { "-eu", primitives.path "source/join.sh" },
    env = { PATH = "/usr/bin:/bin", main = main, from = from, at = at },
    world = world.compose { base = (recipe.base or debian)(), parts = {} },
  }
end

-- The folder of each of a recipe's sources by itself: derivations or store paths.
function source.parts(recipe)
  local parts = {}
  for name, given in pairs(recipe.sources or { main = recipe.source }) do
    local folder = folder_of(recipe, is_source(given) and given or given[1], name == "main" and subdir_of(recipe) or nil)
    parts[#parts + 1] = folder
  end
  return parts
end

local folders = {}

-- The folder that is built, and the lock's entry of the main source, if it has one: worked out once for all variants
-- of a recipe.
function source.folder(recipe)
  if not folders[recipe] then
    local sources = recipe.sources
    local folder, entry = folder_of(recipe, sources and sources.main or recipe.source, subdir_of(recipe))
    folders[recipe] = { folder = sources and join(recipe, folder) or folder, entry = entry }
  end
  return folders[recipe].folder, folders[recipe].entry
end

return source
