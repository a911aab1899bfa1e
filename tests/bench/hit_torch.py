"""A compile that is found in the store: a C++ file that includes torch/extension.h, in the world of a wheel's build.
It fetches torch and all that torch needs."""
import shutil

import hit
import places
from measure import run

TITLE = "a hit for a C++ file that includes torch/extension.h"
TARGET = 40  # ms
AGAIN = 20

RECIPE = """
local forge = require "forge"
local build = require "forge.build"
local recipe = { requires = { "setuptools==80.9.0", "wheel", "packaging", "ninja" } } -- causal-conv1d's, as locked
local v = { axes = { python = "3.13", torch = "2.11.0", cuda = "13.0" } }
local seen, path = build.world(recipe, v, build.wheels(recipe, v))
return forge.derivation {
  name = "NAME", what = "build", builder = "/bin/sh", args = { "-euc", [==[
SCRIPT]==] },
  world = seen, env = { PATH = path, SOURCE_DATE_EPOCH = build.epoch },
}
"""
SOURCE = """mkdir /build/w; cd /build/w
echo '#include <torch/extension.h>
torch::Tensor twice(torch::Tensor t) { return t + t; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }' > a.cc
"""
INCLUDE = "/env/site-packages/torch/include"
COMPILE = ("for i in $(seq %d); do c++ -O2 -std=c++17 -fPIC -DTORCH_EXTENSION_NAME=a "
           f"-isystem {INCLUDE} -isystem {INCLUDE}/torch/csrc/api/include -isystem /usr/include/python3.13 -c a.cc -o a.o; done\n")


class World:
    def __init__(self, work):
        self.folder = work / "torch"
        self.env = places.forge_env(work)
        self.count = 0
        self.folder.mkdir()
        shutil.copy(places.ROOT / "recipes/forge.lock", self.folder)

    def build(self, script, *args):
        self.count += 1
        recipe = self.folder / f"b{self.count}.lua"
        recipe.write_text(RECIPE.replace("NAME", recipe.stem).replace("SCRIPT", script + "echo > $out\n"))
        return run([places.FORGE, "realise", "-q", "--jobs", "1", "--store", self.folder / "store", *args, recipe], env=self.env)


def measure(work, pairs=None, again=AGAIN, **_):
    return hit.figures(World(work).build, SOURCE, COMPILE, again, pairs or 3, TARGET)
