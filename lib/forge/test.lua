-- The test step: the finished wheel alone with what it needs to run, in a fresh world. The output is a small verdict.
local check = require "forge.check"
local debian = require "forge.debian"
local env = require "forge.env"
local primitives = require "forge.primitives"
local python = require "forge.python"
local torch = require "forge.torch"
local wheels = require "forge.wheels"
local world = require "forge.world"

local test = {}

local fields = {
  import = { "string", "strings" }, run = { "string" }, gpu = { "string" }, requires = { "strings" },
}

function test.check(given)
  check.fields("test", given, fields)
  -- Run by machines that have a GPU; here it only has to be there.
  if given.gpu then primitives.recipe_path(given.gpu) end
end

local function listed(value)
  if type(value) == "string" then return { value } end
  return value or {}
end

-- Requirements of an extra are not the package's own.
local function without_extras(requires)
  local own = {}
  for _, requirement in ipairs(requires) do
    local marker = requirement:match(";(.*)$") or ""
    if not marker:find("%f[%w]extra%f[%W]") then own[#own + 1] = requirement end
  end
  return own
end

-- What stands beside the wheel: the recipe's `runtime`, else what the source declares, and torch of the axis.
local function requires_of(recipe, v, entry)
  local list = check.field(recipe, "runtime", { "strings" }, v) or without_extras(entry and entry.requires or {})
  local all = table.move(list, 1, #list, 1, {})
  for _, more in ipairs((recipe.test or {}).requires or {}) do all[#all + 1] = more end
  if v.axes.torch then all[#all + 1] = torch.requirement(v.axes.torch) end
  return all
end

function test.verdict(recipe, v, wheel, entry)
  local given, py = recipe.test or {}, python.of(recipe, v)
  local list = wheels.get { python = py.version, requires = requires_of(recipe, v, entry) }
  local base = (recipe.base or debian) { packages = recipe.packages }
  local seen = world.shared(list, "test " .. py.id .. " " .. base, function()
    return world.compose { base = base, parts = { env { python = py, wheels = list } } }
  end)
  return primitives.derivation {
    name = recipe.name .. "-" .. recipe.version .. "-test", what = "test", builder = "/env/bin/python",
    args = { "-B", primitives.path "build/test.py" },
    env = {
      PATH = "/env/bin:/usr/bin:/bin", FORGE_WHEEL = wheel, FORGE_IMPORT = listed(given.import),
      FORGE_RUN = given.run or "",
    },
    world = seen,
    timeout = "30min",
  }
end

return test
