"""Every toolkit that forge has, with its real compilers: what comes out of the compile store is what nvcc gives in
place, byte for byte.

Run by name only, as Debian's packages take 1.8 GB to fetch and 6 GB of disk: FORGE_TEST_TOOLKITS="13.2 12.4" says which;
FORGE_TEST_STORE is a store that has them, or is to have them.
"""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from compiling import source
from test_compile_real import differ
from real_compilers import files

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLKITS = os.environ.get("FORGE_TEST_TOOLKITS", "").split()
pytestmark = pytest.mark.skipif(not TOOLKITS, reason="FORGE_TEST_TOOLKITS is not set")

RECIPE = """
local forge = require "forge"
local v = { axes = { cuda = "CUDA" } }
local parts = { forge.toolchain { gcc = require("forge.gcc").of({}, v) }, forge.cuda.of({}, v) }
return forge.derivation {
  name = "NAME", builder = "/bin/sh", args = { "-euc", [==[
SCRIPT]==] },
  env = { PATH = "/toolchain/bin:/cuda/bin:/usr/bin:/bin", SOURCE_DATE_EPOCH = "315619200" },
  world = forge.world.compose { base = forge.debian(), parts = parts },
}
"""
KERNEL = ["float work(float x) { return x * 2; }", "__global__ void k(float *p) { p[threadIdx.x] = work(p[threadIdx.x]); }"]
SOURCES = {
    "plain.cu": ["__device__ " + KERNEL[0], KERNEL[1], "void run(float *p) { k<<<1, 32>>>(p); }"],
    # nothing that is seen from outside: nvcc left alone names such a module by its process
    "hidden.cu": ["#include <cstdio>", "namespace { __device__ " + KERNEL[0], KERNEL[1] + " }",
                  "static int run(float *p) { k<<<1, 32>>>(p); return 1; }", "static int done = run(nullptr);"],
    # all of the standard library's mathematics and all of CUDA's, from both sides
    "thrust.cu": ["#include <cmath>", "#include <thrust/complex.h>", "#include <cub/block/block_reduce.cuh>",
                  "__global__ void k(double *p) { p[0] = sinpi(p[0]) + cospi(p[1]) + rsqrt(p[2]); }",
                  "double host(double x) { return std::sin(x); }"],
}
COMPILE = ("touch -d '1980-01-02 00:00:00' *\nfor n in plain hidden thrust; do nvcc -O2 -std=c++17 -lineinfo -Xcompiler -fPIC -MD -MF $n.d "
           "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_86,code=sm_86 -c $n.cu -o $n.o 2> $n.said; done\n"
           "c++ -shared -o all.so plain.o hidden.o thrust.o -L/cuda/lib64 -lcudart\ncp *.o *.d *.said all.so $out\n")


class Toolkit:
    def __init__(self, folder, program, version):
        self.folder, self.program, self.version = folder, str(program), version
        shutil.copytree(ROOT / "tests/recipes", folder / "recipes")
        self.store = os.environ.get("FORGE_TEST_STORE", str(folder / "store"))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("FORGE_")}
        self.env |= {"FORGE_LIB": str(ROOT / "lib"), "FORGE_STORE": self.store}

    def forge(self, *args):
        got = subprocess.run([self.program, *args], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=3500)
        assert got.returncode == 0, got.stdout + got.stderr
        return got.stdout

    def compiles(self):
        return json.loads(self.forge("log", "--compiles", "--json", "--lines", "100000"))

    def build(self, name, script, *args):
        """The files that it leaves, and the notes of its compiles by source."""
        before = len(self.compiles())
        text = RECIPE.replace("NAME", f"{name}-{self.version}-{os.getpid()}").replace("CUDA", self.version)
        (self.folder / "recipes/try.lua").write_text(text.replace("SCRIPT", script))
        [line] = self.forge("realise", *args, "recipes/try.lua").splitlines()
        records = self.compiles()
        new = {r["name"].removeprefix("w/"): r["note"] for r in records[:len(records) - before] if r["what"] == "compile"}
        return files(pathlib.Path(line)), {name: note for name, note in new.items() if name in SOURCES}  # the store may have other users


@pytest.fixture(scope="module", params=TOOLKITS)
def toolkit(request, tmp_path_factory, build):
    folder = tmp_path_factory.mktemp("toolkit")
    yield Toolkit(folder, build / "forge", request.param)
    subprocess.run(["chmod", "-R", "u+w", folder], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def test_made_found_and_in_place_are_the_same(toolkit):
    own = [f"// {os.getpid()} of this run"]  # so that it is a miss in whatever store
    script = "mkdir $out w; cd w\n" + "".join(source(name, *lines, *own) for name, lines in SOURCES.items()) + COMPILE
    made, first = toolkit.build("made", script)
    found, second = toolkit.build("found", script)
    wanted, none = toolkit.build("place", script, "--no-compile-store")
    assert set(first) == set(SOURCES) and none == {}
    whole = toolkit.version.startswith("11.")
    for name, note in first.items():
        assert note.split(",")[0] == "miss" and ("names the module" in note) == whole, f"{name}: {note}"
    assert set(second.values()) == {"hit"}, second
    assert differ(made, wanted) == [] and differ(found, wanted) == []
    assert {name: text for name, text in made.items() if name.endswith(".said") and text} == {}
