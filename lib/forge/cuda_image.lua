-- CUDA from an image, which has the whole toolkit in one folder (DESIGN 5).
--
-- NVIDIA's have headers and libraries below targets/x86_64-linux, where nvcc looks by itself, and beside bin the links
-- include and lib64 to them, which the front's own folders hide. So headers and libraries are laid under the front's in
-- both places.
local check = require "forge.check"
local front = require "forge.cuda_front"
local primitives = require "forge.primitives"

local cuda_image = {}

-- "a/b": no part is empty, "." or "..".
local function is_plain(path)
  local parts = "/" .. path .. "/"
  return not parts:find("//", 1, true) and not parts:find("/%.%.?/")
end

local function check_spec(spec)
  check.fields("forge.cuda.image", spec, {
    image = { "image", needed = true }, cuda = { "string", needed = true }, path = { "string" }, lib = { "string" },
  })
  local path, lib = spec.path, spec.lib
  if not spec.cuda:find("^%d+%.%d+$") then
    primitives.fail("forge.cuda.image: cuda '" .. spec.cuda .. "' is not like 13.0")
  elseif path and not (path:find("^/") and is_plain(path:sub(2))) then
    primitives.fail("forge.cuda.image: path '" .. path .. "' is not a plain absolute path, like /usr/local/cuda-13.0")
  elseif lib and not is_plain(lib) then
    primitives.fail("forge.cuda.image: lib '" .. lib .. "' is not a path in the toolkit's folder, like lib64")
  end
end

-- What is laid where: at each place a folder of the front's and, under it, one of the toolkit's.
local function places_of(lib)
  local include = "/" .. (lib:match("^.*/") or "") .. "include"
  local headers, libraries = { "/include", include }, { "/lib", "/" .. lib }
  return {
    ["/cuda"] = { "", "" }, ["/cuda/include"] = headers, ["/cuda/lib"] = libraries,
    ["/cuda" .. include] = headers, ["/cuda/" .. lib] = libraries,
  }
end

local function make(version, toolkit, claimed)
  local places, below, mounts = places_of(claimed.lib), {}, {}
  for at, place in pairs(places) do below[at] = { toolkit .. place[2] } end
  local top = front(version, below, claimed)
  for at, place in pairs(places) do mounts[at] = { top .. place[1], toolkit .. place[2] } end
  return mounts
end

local made = {}

-- part { image = forge.oci { … }, cuda = "13.0", path = "/usr/local/cuda-13.0", lib = "targets/x86_64-linux/lib" }:
-- a part of a world. `path` is the toolkit's folder in the image, `lib` that of the libraries in there, with include
-- beside it; these are what NVIDIA's have. The image may be the recipe's base as well.
function cuda_image.part(spec)
  check_spec(spec)
  local root = check.call("forge.cuda.image", "image", spec.image, { "folder" })
  local claimed = { folder = spec.path or "/usr/local/cuda-" .. spec.cuda, lib = spec.lib or "targets/x86_64-linux/lib" }
  local key = table.concat({ tostring(root), spec.cuda, claimed.folder, claimed.lib }, "\n")
  made[key] = made[key] or make(spec.cuda, root .. claimed.folder, claimed)
  return { cuda = spec.cuda, mounts = made[key] }
end

return cuda_image
