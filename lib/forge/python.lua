-- The Pythons a world can have. One base serves all; its own is 3.13.
local check = require "forge.check"

local known = {
  ["3.13"] = { version = "3.13", tag = "cp313", program = "/usr/bin/python3.13" },
}

local python = { default = "3.13" }

-- What is known of a version: { version, tag, program }.
function python.get(version)
  if not known[version] then
    local names = {}
    for name in pairs(known) do names[#names + 1] = name end
    check.unknown("python", "version", version, names)
  end
  return known[version]
end

return python
