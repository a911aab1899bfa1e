-- A virtual environment as a part of a world: /env, with each wheel as a layer (DESIGN 5).
local python = require "forge.python"
local wheels = require "forge.wheels"

-- env { python = "3.13", wheels = <list from wheels.get> }
return function(spec)
  local py = python.get(spec.python)
  return {
    mounts = {
      ["/env/site-packages"] = wheels.layers(spec.wheels, "/site-packages"),
      ["/env/bin"] = wheels.layers(spec.wheels, "/bin"),
    },
    files = {
      ["/env/pyvenv.cfg"] = "home = /usr/bin\ninclude-system-site-packages = false\nversion = " .. py.version .. "\n",
      ["/env/lib/python" .. py.version .. "/site-packages/forge.pth"] =
        'import site; site.addsitedir("/env/site-packages")\n',
    },
    links = {
      ["/env/bin/python"] = py.program,
      ["/env/bin/python3"] = "python",
      ["/env/bin/python" .. py.version] = "python",
    },
  }
end
