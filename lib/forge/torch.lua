-- What building against a torch asks for.
local primitives = require "forge.primitives"

-- The CUDA that a release's wheels on the index are made for. Extensions need a toolkit of the same major version.
local made_for = {
  ["2.8.0"] = "12.8", ["2.9.0"] = "12.8", ["2.9.1"] = "12.8", ["2.10.0"] = "12.8", ["2.11.0"] = "13.0",
}

local torch = {}

-- The requirement that pins it.
function torch.requirement(version)
  return "torch==" .. version
end

-- Fail for a pair that can't work.
function torch.check_cuda(version, cuda)
  local wants = made_for[version]
  if wants and wants:match("^%d+") ~= cuda:match("^%d+") then
    primitives.fail("torch " .. version .. " is made for CUDA " .. wants .. ": it can't be built against with CUDA " .. cuda)
  end
end

return torch
