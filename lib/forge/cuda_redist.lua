-- CUDA as NVIDIA offers it for redistribution: a JSON for each release lists an archive for each component.
local check = require "forge.check"
local front = require "forge.cuda_front"
local primitives = require "forge.primitives"

-- What compiling needs, by the release's major version; from 13 on nvcc is in three components.
local function components_of(release)
  local list = {
    "cuda_cccl", "cuda_cudart", "cuda_nvcc", "cuda_nvrtc", "cuda_profiler_api", "libcublas", "libcurand", "libcusolver",
    "libcusparse",
  }
  if tonumber(release:match("^%d+")) >= 13 then
    list[#list + 1] = "cuda_crt"
    list[#list + 1] = "libnvvm"
  end
  return list
end

local function unpack(component, urls)
  local places = {}
  for i, url in ipairs(urls) do places[i] = url:gsub("/*$", "/") .. component.path end
  return primitives.derivation {
    name = component.name .. "-" .. component.version, what = "unpack", system = "builtin", builder = "builtin:unpack",
    env = {
      strip = "1",
      src = primitives.fetch {
        from = "url", urls = places, name = component.path:match("[^/]+$"), sha256 = component.sha256, size = component.size,
      },
    },
  }
end

local made = {}

local cuda_redist = {}

local function check_spec(spec)
  check.fields("forge.cuda.redist", spec, {
    release = { "string", needed = true }, sha256 = { "string", needed = true }, urls = { "strings", needed = true },
    components = { "strings" },
  })
  if not spec.release:find("^%d+%.%d+%.%d+$") then
    primitives.fail("forge.cuda.redist: release '" .. spec.release .. "' is not like 13.0.2")
  end
end

-- The folders of a release's components, each unpacked once.
function cuda_redist.layers(spec)
  check_spec(spec)
  local layers = {}
  for i, component in ipairs(primitives.locked {
    kind = "redist", release = spec.release, sha256 = spec.sha256, urls = spec.urls,
    components = spec.components or components_of(spec.release),
  }) do layers[i] = unpack(component, spec.urls) end
  return layers
end

-- part { release = "13.0.2", sha256 = <of redistrib_13.0.2.json>, urls = { <folders that have it> }, components = { … } }:
-- a part of a world. `components` are those that are laid at /cuda, in the place of the usual ones.
function cuda_redist.part(spec)
  check_spec(spec)
  local key = primitives.json(spec)
  if not made[key] then
    local layers = cuda_redist.layers(spec)
    made[key] = table.move(layers, 1, #layers, 2, { front(spec.release, { ["/cuda"] = layers }) })
  end
  return { cuda = spec.release:match("^%d+%.%d+"), mounts = { ["/cuda"] = made[key] } }
end

return cuda_redist
