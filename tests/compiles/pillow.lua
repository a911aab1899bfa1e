-- C by setuptools: one compile after another, with Python's own flags.
return require "objects" {
  name = "pillow", version = "11.3.0", requires = { "setuptools==80.9.0" },
  build = [[
    python setup.py -q build_ext --disable-jpeg -L /usr/lib/x86_64-linux-gnu
  ]],
}
