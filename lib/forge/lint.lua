-- What `forge lint` finds in the tables of a recipe that evaluates. A check is a function of what is known of the
-- recipe that says what it finds: to add one, write it and name it in `checks`.
--
-- It gets { recipe, all = its variants, excluded = function of a variant's index, made = by index what deriving it
-- gave (nothing: it was not, or can't be), profile = the indexes of a profile's variants }, and say { field, word, what,
-- todo }: what is wrong and what to do, and where: at `word` in the recipe's `field`.
local build = require "forge.build"
local check = require "forge.check"
local readers = require "forge.readers"
local source = require "forge.source"

-- The variants that are built: neither excluded nor impossible.
local function built(about)
  local list = {}
  for i, v in ipairs(about.all) do
    if about.made[i] and not about.made[i].impossible then list[#list + 1] = v end
  end
  return list
end

-- Why variant i is not built, or nil.
local function left_out(about, i)
  return about.excluded(i) or (about.made[i] and about.made[i].impossible)
end

local function text_of(value)
  return type(value) == "table" and table.concat(value, ",") or value
end

-- --env asks the aliases first, so a variable of that name can't be given any more.
local function aliases(about, say)
  local recipe, taken = about.recipe, {}
  for name in pairs(recipe.jobs or {}) do taken[name] = "jobs" end
  if recipe.label and recipe.label.variable then taken[recipe.label.variable] = "label" end
  for _, v in ipairs(built(about)) do
    for name in pairs(check.field(recipe, "env", { "table" }, v) or {}) do taken[name] = "env" end
  end
  for name in pairs(recipe.aliases or {}) do
    if taken[name] then
      say { field = "aliases", word = name, what = "the alias '" .. name .. "' hides the variable of " .. taken[name] ..
        " from --env", todo = "rename one of the two" }
    end
  end
end

local function label(about, say)
  local recipe, told_apart = about.recipe, {}
  if recipe.label then return end
  for _, axis in ipairs(recipe.stable_abi or {}) do told_apart[axis] = true end
  for _, axis in ipairs { "torch", "cuda" } do
    if (recipe.matrix or {})[axis] and not told_apart[axis] then
      say { field = "matrix", word = axis, what = "there is no label: the wheels for another " .. axis ..
        " would have the same name", todo = 'add label = forge.label.local_version "cu{cuda}torch{torch}" or the like' }
      return
    end
  end
end

local function tested(about, say)
  local test = about.recipe.test or {}
  if test.import == nil and test.run == nil then
    say { field = "test", what = "the test neither imports nor runs anything", todo = 'add test = { import = "…" }' }
  end
end

-- The names of the patches' files.
local function patch_files(recipe)
  local files = {}
  for i, patch in ipairs(recipe.patches or {}) do files[i] = type(patch) == "table" and patch[1] or patch end
  return files
end

local function wanted_by_any(patch, variants)
  for _, v in ipairs(variants) do
    if check.call("patches", "when", patch.when, { "boolean", "nothing" }, v) then return true end
  end
  return false
end

local function patches(about, say)
  local variants, files = built(about), patch_files(about.recipe)
  for i, patch in ipairs(about.recipe.patches or {}) do
    if type(patch) == "table" and patch.when and #variants > 0 and not wanted_by_any(patch, variants) then
      say { field = "patches", word = files[i], what = "no variant uses " .. files[i], todo = "mend its `when`, or remove it" }
    end
  end
end

-- Why no variant with that value is built: the reason of the first; nil where one is, or might be.
local function never_built(about, axis, value)
  local why
  for i, v in ipairs(about.all) do
    if text_of(v.axes[axis]) == text_of(value) then
      local reason = left_out(about, i)
      if not reason then return end
      why = why or reason
    end
  end
  return why
end

local function values(about, say)
  for axis, list in pairs(about.recipe.matrix or {}) do
    for _, value in ipairs(list) do
      local why = never_built(about, axis, value)
      if why then
        say { field = "matrix", word = axis, what = "no variant with " .. axis .. " " .. text_of(value) .. " is built (" ..
          why .. ")", todo = "remove the value, or what keeps it out" }
      end
    end
  end
end

-- Of the recipe's own profiles; those that lib/ makes follow from the values.
local function profiles(about, say)
  for name in pairs(about.recipe.profiles or {}) do
    local any = false
    for _, i in ipairs(about.profile(name)) do any = any or not left_out(about, i) end
    if not any then
      say { field = "profiles", word = name, what = "profile '" .. name .. "' selects no variant that is built",
        todo = "mend or remove it" }
    end
  end
end

local checks = {
  { "alias", aliases }, { "label", label }, { "test", tested }, { "patch", patches }, { "value", values },
  { "profile", profiles },
}

-- The names of what is installed where any variant is built.
local function takes_part(about, entry)
  local names = {}
  for _, package in ipairs(about.recipe.packages or {}) do names[package] = true end
  for _, v in ipairs(built(about)) do
    for _, wheel in ipairs(build.wheels(about.recipe, v, entry)) do names[wheel.name] = true end
  end
  return names
end

-- All that C asks for: { findings, known = names of variables that are read by what is no source, patches = files,
-- sources = folders as derivations or store paths; none where no variant is built }.
return function(about)
  local findings, recipe = {}, about.recipe
  for _, each in ipairs(checks) do
    each[2](about, function(finding)
      finding.check = each[1]
      findings[#findings + 1] = finding
    end)
  end
  local parts, names = {}, {}
  if #built(about) > 0 then
    local _, entry = source.folder(recipe)
    parts, names = source.parts(recipe), takes_part(about, entry)
  end
  return {
    findings = findings, patches = patch_files(recipe), sources = parts,
    known = readers.known(names, (recipe.matrix or {}).cuda ~= nil),
  }
end
