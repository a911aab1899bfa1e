-- The base of a world: a root file system of Debian packages (DESIGN 5).
local check = require "forge.check"
local primitives = require "forge.primitives"

local suite = "trixie"

-- base-files first: it brings the links bin -> usr/bin and so on, which others fill.
local packages = {
  "base-files", "bash", "coreutils", "dash", "diffutils", "findutils", "g++-12", "gawk", "grep", "gzip",
  "make", "patch", "python3.13", "python3.13-dev", "sed", "tar", "xz-utils",
}

-- What maintainer scripts would have made; a file that a package ships stays.
local links = {
  ["/usr/bin/awk"] = "gawk", ["/usr/bin/sh"] = "dash",
  ["/usr/bin/python"] = "python3.13", ["/usr/bin/python3"] = "python3.13",
  ["/usr/bin/cc"] = "gcc-12", ["/usr/bin/gcc"] = "gcc-12", ["/usr/bin/cpp"] = "cpp-12",
  ["/usr/bin/c++"] = "g++-12", ["/usr/bin/g++"] = "g++-12",
}

local made = {}

local function fetch_all(entries)
  local first, rest = {}, {}
  for _, entry in ipairs(entries) do
    local list = entry.package == "base-files" and first or rest
    list[#list + 1] = primitives.fetch(entry)
  end
  return table.move(rest, 1, #rest, #first + 1, first)
end

-- The names of the usual packages and more of them, sorted, each once.
local function wanted(more)
  local names, seen = {}, {}
  for _, list in ipairs { packages, more } do
    for _, name in ipairs(list) do
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  table.sort(names)
  return names
end

local function make(names)
  return primitives.derivation {
    name = "debian-" .. suite, what = "unpack", system = "builtin", builder = "builtin:debian",
    env = {
      debs = fetch_all(primitives.locked { kind = "debian", suite = suite, packages = names }),
      links = primitives.json(links),
    },
  }
end

local by_list, none = {}, {}

-- debian { packages = { … } }: a derivation whose output is the root file system. `packages` are more than
-- what every base has; the same set is made once.
return function(options)
  options = options or {}
  check.fields("forge.debian", options, { packages = { "strings" } })
  local more = options.packages or none
  if not by_list[more] then
    local names = wanted(more)
    local key = table.concat(names, " ")
    made[key] = made[key] or make(names)
    by_list[more] = made[key]
  end
  return by_list[more]
end
