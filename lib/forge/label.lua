-- Version injection: how the variant is told apart in the wheel's version (DESIGN 9).
local check = require "forge.check"
local primitives = require "forge.primitives"

local label = {}

local function make(kind, template, variable)
  if type(template) ~= "string" and type(template) ~= "function" then
    primitives.fail("forge.label." .. kind .. " takes a template, not a " .. type(template))
  end
  return { kind = kind, template = template, variable = variable }
end

-- 2.8.3 becomes 2.8.3+<text> (a PEP 440 local version).
function label.local_version(template) return make("local", template) end

-- The file name and WHEEL get the build tag (PEP 427): 2.8.3-<tag>. It begins with a digit.
function label.build_tag(template) return make("build", template) end

-- The package's own variable adds the text to its version while it is built; such a label is part of the build.
function label.env(variable, template)
  check.value("forge.label.env", "variable", variable, { "string" })
  return make("env", template, variable)
end

-- The same where that variable holds the whole version: 0.0.35+<text>.
function label.env_version(variable, template)
  check.value("forge.label.env_version", "variable", variable, { "string" })
  local of = make("env", template, variable)
  of.whole = true
  return of
end

-- What a template can say of an axis: {torch} is "2.11", {torch.full} "2.11.0", {torch.digits} "2110",
-- {cuda} "130", {python} "313", {archs} "80.90", {sm} "sm80sm90".
local function words(variant)
  local known = {}
  for axis, value in pairs(variant.axes) do
    if type(value) == "table" then
      known[axis] = table.concat(value, ".")
      if axis == "archs" then known.sm = "sm" .. table.concat(value, "sm") end
    else
      local digits = value:gsub("%.", "")
      local major, minor = value:match("^(%d+)%.(%d+)")
      known[axis .. ".full"] = value
      known[axis .. ".digits"] = digits
      known[axis] = (axis == "cuda" or axis == "python") and digits
        or (axis == "torch" and major) and major .. "." .. minor or value
    end
  end
  return known
end

-- A function gives a template for its variant.
local function template_of(of, variant)
  if type(of.template) ~= "function" then return of.template end
  return check.call("forge.label", of.kind, of.template, { "string" }, variant)
end

-- The text for one variant; one that fits its kind: PEP 440 local version, or PEP 427 build tag.
local function make_text(of, variant)
  local known = words(variant)
  local text = template_of(of, variant):gsub("{([^{}]*)}", function(name)
    if not known[name] then
      local names = {}
      for each in pairs(known) do names[#names + 1] = each end
      check.unknown("label", "word", name, names)
    end
    return known[name]
  end)
  if of.kind == "build" and not text:find("^%d[%w_.]*$") then
    primitives.fail("label: the build tag '" .. text .. "' must begin with a digit and hold letters, digits, _ and .")
  elseif of.kind ~= "build" and not (text .. "."):find("^[%w]+[%w.]*$") then
    primitives.fail("label: the local version '" .. text .. "' may hold letters and digits, with dots between")
  end
  -- PEP 440 knows no upper case here: the wheel's name has the normal form, and so has what is shown.
  return of.kind == "build" and text or text:lower()
end

local texts = {}

-- The same, asked once for a variant.
function label.text(of, variant)
  local known = texts[of] or {}
  texts[of] = known
  known[variant] = known[variant] or make_text(of, variant)
  return known[variant]
end

-- The version a user sees.
function label.version(of, version, variant)
  if not of then return version end
  return version .. (of.kind == "build" and "-" or "+") .. label.text(of, variant)
end

return check.module("forge.label", label)
