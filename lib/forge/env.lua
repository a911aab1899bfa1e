-- A virtual environment as a part of a world: /env, with each wheel as a layer (DESIGN 5).
local python = require "forge.python"
local wheels = require "forge.wheels"

-- env { python = "3.13" or what forge.python.build{…} gave, wheels = <list from wheels.get> }
return function(spec)
  local py = type(spec.python) == "table" and spec.python or python.get(spec.python)
  local mounts = {
    ["/env/site-packages"] = wheels.layers(spec.wheels, "/site-packages"),
    ["/env/bin"] = wheels.layers(spec.wheels, "/bin"),
  }
  for at, layers in pairs(py.mounts()) do mounts[at] = layers end
  local digits = py.version:gsub("t$", "")
  return {
    mounts = mounts,
    files = {
      ["/env/pyvenv.cfg"] = "home = " .. py.program:match("^(.*)/") ..
        "\ninclude-system-site-packages = false\nversion = " .. digits .. "\n",
      ["/env/lib/" .. py.name .. "/site-packages/forge.pth"] = 'import site; site.addsitedir("/env/site-packages")\n',
    },
    links = {
      ["/env/bin/python"] = py.program,
      ["/env/bin/python3"] = "python",
      ["/env/bin/" .. py.name] = "python",
    },
  }
end
