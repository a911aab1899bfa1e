-- What building against a torch asks for, and what it serves: both follow from its own wheels, as the lock has them.
local primitives = require "forge.primitives"

local torch = {}

-- The requirement that pins it.
function torch.requirement(version)
  return "torch==" .. version
end

-- "cp313-cp313" is "3.13", "cp314-cp314t" "3.14t"; other tags serve no one Python.
local function python_of(tag)
  local major, minor, abi = tag:match("^cp(3)(%d+)%-cp3%d+(t?)$")
  return major and major .. "." .. minor .. abi
end

local served = {}

local function pythons(version)
  if not served[version] then
    local list = {}
    for _, tag in ipairs(primitives.locked { kind = "tags", name = "torch", version = version }) do
      local known = python_of(tag)
      if known then
        list[#list + 1] = known
        list[known] = true
      end
    end
    served[version] = list
  end
  return served[version]
end

-- Has this release a wheel for this Python?
function torch.serves(version, python)
  return pythons(version)[python] == true
end

-- Why a release can't be used from a Python, or nil.
function torch.lacks_python(version, python)
  if torch.serves(version, python) then return end
  return "torch " .. version .. " has no wheels for Python " .. python .. ": it has them for " ..
    table.concat(pythons(version), ", ")
end

-- "12.8.90" is of CUDA 12.8.
local function minor_of(version)
  return version:match("^%d+%.%d+")
end

-- The CUDA that a release's wheels are built for: its own version says so (2.6.0+cu124), else what they require
-- (nvidia-cuda-runtime-cu12 12.8.90). nil: none.
local function made_for(list)
  local found = {}
  for _, wheel in ipairs(list) do
    local digits = wheel.name == "torch" and wheel.version:match("%+cu(%d%d+)")
    if digits then return digits:sub(1, -2) .. "." .. digits:sub(-1) end
    if wheel.name == "cuda-toolkit" then found.toolkit = minor_of(wheel.version) end
    if wheel.name:find("^nvidia%-cuda%-runtime%-cu%d+$") then found.named = minor_of(wheel.version) end
    if wheel.name == "nvidia-cuda-runtime" then found.runtime = minor_of(wheel.version) end
  end
  return found.toolkit or found.named or found.runtime
end

-- Why a release can't be built against with a CUDA, or nil. list: what is installed where the build runs;
-- other_minor: the recipe says that another minor version will do.
function torch.lacks_cuda(version, cuda, list, other_minor)
  local wants = made_for(list)
  if not wants then return "torch " .. version .. " is built without CUDA; this variant has " .. cuda end
  if wants == cuda or (other_minor and wants:match("^%d+") == cuda:match("^%d+")) then return end
  return "torch " .. version .. " is built for CUDA " .. wants .. "; this variant has " .. cuda
end

return torch
