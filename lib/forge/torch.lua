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

-- Wheels whose version is that of the CUDA which torch's requirements ask for, the surest first.
local tells = { "cuda-toolkit", "nvidia-cuda-runtime-cu11", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime" }

-- The CUDA that a release's wheels are built for: its own version says so (2.6.0+cu124), else what they require
-- (nvidia-cuda-runtime-cu12 12.8.90). nil: none.
local function made_for(list)
  local versions = {}
  for _, wheel in ipairs(list) do versions[wheel.name] = wheel.version end
  local digits = (versions.torch or ""):match("%+cu(%d%d+)")
  if digits then return digits:sub(1, -2) .. "." .. digits:sub(-1) end
  for _, name in ipairs(tells) do
    if versions[name] then return minor_of(versions[name]) end
  end
end

local made = {}

-- The same, worked out once for a list; false: none.
local function made_for_once(list)
  if made[list] == nil then made[list] = made_for(list) or false end
  return made[list]
end

-- Why a release can't be built against with a CUDA, or nil. list: what is installed where the build runs;
-- other_minor: the recipe says that another minor version will do.
function torch.lacks_cuda(version, cuda, list, other_minor)
  local wants = made_for_once(list)
  if not wants then return "torch " .. version .. " is built without CUDA; this variant has " .. cuda end
  if wants == cuda or (other_minor and wants:match("^%d+") == cuda:match("^%d+")) then return end
  return "torch " .. version .. " is built for CUDA " .. wants .. "; this variant has " .. cuda
end

return torch
