-- What each release of nvcc knows: the newest gcc that crt/host_config.h accepts, and the GPU architectures: those that
-- `nvcc --list-gpu-code` prints, and what it takes of their forms with a and f, which it does not print. No file that is read before a build says so, hence this table; of a release that is
-- not in it, nothing is claimed.
local nvcc = {}

local function list(text)
  local known, names = {}, {}
  for name in text:gmatch("%S+") do
    known[name] = true
    names[#names + 1] = name
  end
  return { known = known, names = names }
end

local to_80s = "50 52 53 60 61 62 70 72 75 80 86 87 89 90"
local from_11_8 = list("35 37 " .. to_80s)
local from_12_0 = list(to_80s .. " 90a")
local from_12_8 = list(to_80s .. " 90a 100 100a 101 101a 120 120a")
local from_12_9 = list(to_80s .. " 90a 100 100a 100f 101 101a 101f 103 103a 103f 120 120a 120f 121 121a 121f")
local from_13_0 = list("75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f")

local releases = {
  ["11.8"] = { gcc = 11, archs = from_11_8 },
  ["12.0"] = { gcc = 12, archs = from_12_0 }, ["12.1"] = { gcc = 12, archs = from_12_0 },
  ["12.2"] = { gcc = 12, archs = from_12_0 }, ["12.3"] = { gcc = 12, archs = from_12_0 },
  ["12.4"] = { gcc = 13, archs = from_12_0 }, ["12.5"] = { gcc = 13, archs = from_12_0 },
  ["12.6"] = { gcc = 13, archs = from_12_0 },
  ["12.8"] = { gcc = 14, archs = from_12_8 }, ["12.9"] = { gcc = 14, archs = from_12_9 },
  ["13.0"] = { gcc = 15, archs = from_13_0 }, ["13.1"] = { gcc = 15, archs = from_13_0 },
  ["13.2"] = { gcc = 15, archs = from_13_0 },
}

-- Why CUDA's nvcc can't compile for these architectures, or nil.
function nvcc.lacks_archs(cuda, archs)
  local release = releases[cuda]
  for _, arch in ipairs(release and archs or {}) do
    if not release.archs.known[arch] then
      return "nvcc of CUDA " .. cuda .. " does not know sm_" .. arch .. ": it knows " ..
        table.concat(release.archs.names, ", ")
    end
  end
end

-- The major version of the newest gcc that it accepts, nil where nothing is known.
function nvcc.newest_gcc(cuda)
  return releases[cuda] and releases[cuda].gcc
end

-- Why it can't be used with the gcc of that major version, or nil.
function nvcc.lacks_gcc(cuda, gcc)
  local release = releases[cuda]
  if release and gcc > release.gcc then
    return "nvcc of CUDA " .. cuda .. " accepts gcc up to " .. release.gcc .. "; this variant has gcc " .. gcc
  end
end

return nvcc
