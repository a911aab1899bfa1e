-- The 39 wheels of the torch environment, as flash-attn's build and test ask for them: fetched (variant "fetch"), and
-- unpacked, each into an object of its own (variant "unpack").
local forge = require "forge"

local function entries()
  local list, seen = {}, {}
  for _, request in ipairs {
    { requires = { "einops", "ninja", "packaging", "psutil", "setuptools==80.9.0", "torch==2.11.0", "wheel" } },
    { requires = { "einops", "torch", "torch==2.11.0" } },
    { deps = false, requires = { "nvidia-cuda-cccl==13.0.85", "nvidia-cuda-crt==13.0.88", "nvidia-cuda-nvcc==13.0.88",
      "nvidia-cuda-runtime==13.0.96", "nvidia-nvvm==13.0.88" } },
  } do
    request.kind, request.python = "wheels", "3.13"
    for _, entry in ipairs(forge.locked(request)) do
      if not seen[entry.file] then list[#list + 1] = entry end
      seen[entry.file] = true
    end
  end
  return list
end

local function unpack(entry)
  return forge.derivation {
    name = entry.name .. "-" .. entry.version, what = "unpack", system = "builtin",
    builder = "builtin:unpack-wheel", env = { src = forge.fetch(entry) },
  }
end

local function target(name, make)
  return {
    name = name, recipe = "wheels", version = "1", label = "1", axes = { step = name },
    derive = function()
      local results = {}
      for _, entry in ipairs(entries()) do results[#results + 1] = { role = entry.file, drv = make(entry) } end
      return results
    end,
  }
end

return { targets = { target("fetch", forge.fetch), target("unpack", unpack) } }
