-- Which variants can't be built at all: what torch's locked wheels and the release of nvcc say. Each gives the reason,
-- or nil.
local gcc = require "forge.gcc"
local nvcc = require "forge.nvcc"
local python = require "forge.python"
local torch = require "forge.torch"

local possible = {}

-- Known from the axes alone.
function possible.not_by_axes(recipe, v)
  local axes = v.axes
  local why = axes.torch and torch.lacks_python(axes.torch, axes.python or python.default)
  if not why and axes.cuda and axes.archs then why = nvcc.lacks_archs(axes.cuda, axes.archs) end
  if not why and axes.cuda and not recipe.base then
    local major = gcc.of(recipe, v)
    why = major and nvcc.lacks_gcc(axes.cuda, major)
  end
  return why
end

-- Known from what is installed where the build runs (a list from build.wheels).
function possible.not_with(recipe, v, list)
  local axes = v.axes
  return axes.torch and axes.cuda and torch.lacks_cuda(axes.torch, axes.cuda, list, recipe.other_cuda_minor) or nil
end

return possible
