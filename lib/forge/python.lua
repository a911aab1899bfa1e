-- The Pythons that a world can have. One base serves all, so that compilers and headers of the machine are the same
-- for every Python and what one compiled serves the others (DESIGN 5). The base's own is 3.13; the others are layers,
-- compiled from Debian's source packages or brought prebuilt.
local check = require "forge.check"
local debian = require "forge.debian"
local primitives = require "forge.primitives"
local toolchain = require "forge.toolchain"
local world = require "forge.world"

local python = { default = "3.13" }

-- Where such a Python stands: below /env, as compiles read what is there and don't run it, so no compile's key has it.
local prefix = "/env/python"

-- What an interpreter links that the base's own does too: the base has the libraries, and here are their headers.
local headers = {
  "libbz2-dev", "libffi-dev", "liblzma-dev", "libncurses-dev", "libreadline-dev", "libsqlite3-dev", "libssl-dev",
  "libzstd-dev", "uuid-dev", "zlib1g-dev",
}

-- "3.14t" of "3.14": the one without the GIL.
local function check_version(where, version)
  local minor, free = version:match("^3%.(%d+)(t?)$")
  if not minor or tonumber(minor) < 11 or (free == "t" and tonumber(minor) < 13) then
    primitives.fail(where .. ": version '" .. version .. "' is like \"3.11\", or \"3.14t\" without the GIL; 3.11 is the oldest")
  end
end

local function unpack(name, archive)
  return primitives.derivation {
    name = name, what = "unpack", system = "builtin", builder = "builtin:unpack", env = { src = archive, strip = "1" },
  }
end

-- Upstream's source, as a folder.
local function source_of(spec)
  if spec.urls then
    return unpack("python-" .. spec.version .. "-source", primitives.fetch {
      from = "url", name = spec.name, urls = spec.urls, sha256 = spec.sha256,
    })
  end
  return unpack(spec.source .. "-source",
    primitives.fetch(primitives.locked { kind = "debian-source", suite = spec.suite, source = spec.source }))
end

local function compiled(spec)
  local options = { "--without-ensurepip", "--disable-test-modules" }
  if spec.version:find("t$") then options[#options + 1] = "--disable-gil" end
  return primitives.derivation {
    name = "python-" .. spec.version .. "-files", what = "build", builder = "/bin/sh",
    args = { "-eu", primitives.path "python/build.sh" },
    env = {
      PATH = "/toolchain/bin:/usr/bin:/bin", FORGE_PREFIX = prefix, FORGE_CONFIGURE = options,
      FORGE_SOURCE = source_of(spec),
    },
    inert = { MAX_JOBS = { cores = 1, memory = primitives.bytes "1GiB" } },
    world = world.compose { base = debian { packages = headers }, parts = { toolchain() } },
    timeout = "4h",
  }
end

local function prebuilt(spec)
  return unpack("python-" .. spec.version .. "-files", primitives.fetch {
    from = "url", name = spec.name, urls = spec.urls, sha256 = spec.sha256,
  })
end

-- The layer above an interpreter's own: the step that makes it runs the interpreter in its place, and fails where it
-- is not what the recipe says. In the layer is what sysconfig knows, with the names that the world's compilers have.
local function front(spec, files)
  return primitives.derivation {
    name = "python-" .. spec.version, what = "test", builder = "/bin/sh",
    args = { "-eu", primitives.path "python/front.sh" },
    env = {
      PATH = "/usr/bin:/bin", FORGE_PREFIX = prefix, FORGE_PYTHON = spec.version, FORGE_FRONT = primitives.path "python/front.py",
    },
    world = world.compose { base = debian(), parts = { { mounts = { [prefix] = { files } } } } },
    timeout = "30min",
  }
end

-- A Python as a value: { version = "3.14t", tag = "cp314t", name = "python3.14t", program = <path in the world>,
-- id = <a text that no other value has>, mounts = function() … end }. Its derivations are made when a variant wants them.
local count = 0

local function layered(spec, make)
  local mounts
  count = count + 1
  return {
    version = spec.version, tag = "cp" .. spec.version:gsub("%.", ""), name = "python" .. spec.version,
    program = prefix .. "/bin/python" .. spec.version, kind = "python", id = spec.version .. " " .. count,
    mounts = function()
      if not mounts then
        local files = make(spec)
        mounts = { [prefix] = { front(spec, files), files } }
      end
      return mounts
    end,
  }
end

-- The name of the file that urls lead to.
local function file_name(where, spec)
  local name = spec.name or (spec.urls[1] or ""):match("([^/?#]+)[?#]?[^/]*$")
  if not name then primitives.fail(where .. ": no file name in urls: give a name") end
  return name
end

-- Compiled from the upstream tarball of a Debian source package, { version = "3.11", suite = "bookworm",
-- source = "python3.11" }, or from one that lies anywhere, { version = "3.14", urls = { … }, sha256 = "…" }.
function python.build(spec)
  local where = "forge.python.build"
  check.fields(where, spec, {
    version = { "string", needed = true }, suite = { "string" }, source = { "string" },
    urls = { "strings" }, sha256 = { "string" }, name = { "string" },
  })
  check_version(where, spec.version)
  local from_debian, from_url = spec.suite and spec.source, spec.urls and spec.sha256
  if not from_debian == not from_url or (spec.suite or spec.source) and (spec.urls or spec.sha256 or spec.name) then
    primitives.fail(where .. ": give suite and source (a Debian source package), or urls and sha256")
  elseif from_debian then
    return layered({ version = spec.version, suite = spec.suite, source = spec.source }, compiled)
  end
  return layered({ version = spec.version, urls = spec.urls, sha256 = spec.sha256, name = file_name(where, spec) }, compiled)
end

-- A prebuilt one that can stand anywhere, from an archive that holds one folder with bin, lib and include:
-- { version = "3.12", urls = { … }, sha256 = "…", name = "python-3.12.tar.gz" }; urls are tried in order.
function python.standalone(spec)
  local where = "forge.python.standalone"
  check.fields(where, spec, {
    version = { "string", needed = true }, urls = { "strings", needed = true }, sha256 = { "string", needed = true },
    name = { "string" },
  })
  check_version(where, spec.version)
  return layered({ version = spec.version, urls = spec.urls, sha256 = spec.sha256, name = file_name(where, spec) }, prebuilt)
end

local known = {
  ["3.11"] = python.build { version = "3.11", suite = "bookworm", source = "python3.11" },
  ["3.13"] = {
    version = "3.13", tag = "cp313", name = "python3.13", program = "/usr/bin/python3.13", kind = "python", id = "3.13",
    mounts = function() return {} end,
  },
  ["3.13t"] = python.build { version = "3.13t", suite = "trixie", source = "python3.13" },
  ["3.14"] = python.build { version = "3.14", suite = "forky", source = "python3.14" },
  ["3.14t"] = python.build { version = "3.14t", suite = "forky", source = "python3.14" },
}

-- The recipe's field `pythons`: { ["3.12"] = forge.python.standalone{…} }.
function python.check(pythons)
  for version, given in pairs(pythons) do
    local where = "forge.wheel: pythons[" .. tostring(version) .. "]"
    if type(given) ~= "table" or given.kind ~= "python" then
      primitives.fail(where .. " is forge.python.build{…} or forge.python.standalone{…}")
    elseif given.version ~= version then
      primitives.fail(where .. " is Python " .. given.version)
    end
  end
end

-- The Python of a version: the recipe's own where it gives one (own: its field `pythons`, or nil), else forge's.
function python.get(version, own)
  local found = (own or {})[version] or known[version]
  if found then return found end
  local names = {}
  for _, list in ipairs { known, own or {} } do
    for name in pairs(list) do names[#names + 1] = name end
  end
  check.unknown("python", "version", version, names)
end

-- The Python of a variant.
function python.of(recipe, v)
  return python.get(v.axes.python or python.default, recipe.pythons)
end

return check.module("forge.python", python)
