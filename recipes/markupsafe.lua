-- A small C extension without CUDA: the shortest recipe there is.
local forge = require "forge"

return forge.wheel {
  name     = "markupsafe",
  version  = "3.0.3",
  summary  = "Safely add untrusted strings to HTML/XML markup",
  homepage = "https://palletsprojects.com/p/markupsafe",
  license  = "BSD-3-Clause",

  matrix   = { python = { "3.13", "3.11", "3.14", "3.13t", "3.14t" } },
  requires = { "setuptools==80.9.0" },
  test     = { import = { "markupsafe", "markupsafe._speedups" }, run = 'assert __import__("markupsafe").escape("<") == "&lt;"' },
}
