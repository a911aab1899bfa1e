-- What a recipe gets from `require "forge"`.
local check = require "forge.check"
local primitives = require "forge.primitives"
local label = require "forge.label"
local source = require "forge.source"

return check.module("forge", {
  -- the primitives: see `forge help recipes`
  derivation = primitives.derivation,
  fetch      = primitives.fetch,
  path       = primitives.path,
  text       = primitives.text,
  locked     = primitives.locked,
  json       = primitives.json,

  -- a package
  wheel = require "forge.wheel",
  label = label,
  sdist = source.sdist,
  url   = source.url,
  git   = source.git,

  -- the parts a world is made of
  debian    = require "forge.debian",
  oci       = require "forge.oci",
  python    = require "forge.python",
  cuda      = require "forge.cuda",
  torch     = require "forge.torch",
  toolchain = require "forge.toolchain",
  env       = require "forge.env",
  world     = require "forge.world",
  wheels    = require "forge.wheels",
})
