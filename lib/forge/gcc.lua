-- Which gcc compiles. The base has gcc 12, which keeps the platform floor (DESIGN 5) and which every Python of a
-- recipe shares. Others are layers over the base, so that the base stays the same object: of gcc 13 on, C++ that sees
-- <iostream> needs GLIBCXX_3.4.32 (std::ios_base_library_init), which no system before gcc 13 has, so it is used only
-- where a recipe says so; and what is older is used for a nvcc that takes no other.
local check = require "forge.check"
local debs = require "forge.debs"
local nvcc = require "forge.nvcc"

local gcc = { usual = 12 }

-- Compilers run with the base's libraries and its binutils; what they bring is below folders of their own version.
local layers = {
  [11] = { suite = "bookworm", packages = { "cpp-11", "g++-11", "gcc-11", "libgcc-11-dev", "libstdc++-11-dev" } },
  [13] = { suite = "trixie", packages = {
    "cpp-13", "cpp-13-x86-64-linux-gnu", "g++-13", "g++-13-x86-64-linux-gnu", "gcc-13", "gcc-13-x86-64-linux-gnu",
    "libgcc-13-dev", "libstdc++-13-dev",
  } },
}

local made = {}

-- The layer that brings a major version, nil for the base's own.
function gcc.layer(major)
  if major == gcc.usual then return end
  local from = layers[major]
  if not from then
    local known = { tostring(gcc.usual) }
    for other in pairs(layers) do known[#known + 1] = tostring(other) end
    table.sort(known)
    check.unknown("toolchain", "gcc", tostring(major), known)
  end
  made[major] = made[major] or debs { name = "gcc-" .. major, suite = from.suite, packages = from.packages }
  return made[major]
end

-- The major version for a variant: that of the recipe's toolchain (nil: it has one of its own making), else the
-- newest that the CUDA's nvcc accepts, up to the usual one.
function gcc.of(recipe, v)
  local given = check.field(recipe, "toolchain", { "table" }, v)
  if given then return given.gcc end
  if recipe.base or not v.axes.cuda then return gcc.usual end
  return math.min(gcc.usual, nvcc.newest_gcc(v.axes.cuda) or gcc.usual)
end

return gcc
