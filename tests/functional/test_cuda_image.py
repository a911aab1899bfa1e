"""forge.cuda.image: the toolkit of an image laid at /cuda, from a registry on loopback.  The toolkit is of scripts, laid
out as NVIDIA's; what forge makes of Debian's packages, the base and the compilers' stand-ins, is put in by the test."""
import json
import shutil

import pytest

from compiling import compiles, source
from registry import Image, busybox, registry  # noqa: F401 (fixtures)

ROOT = "usr/local/cuda-13.0/"
NVCC = """#!/bin/sh
case $1 in
--version) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
--help) echo "--frandom-seed <text>" ;;
*) echo "the real nvcc $*" ;;
esac
"""
OLD = "extern double sinpi(double x);\n"  # as before CUDA 13: the front has an include of its own, with another one
NEW = "extern double sinpi(double x) MAYBE_THROW;\n"
MATH = "targets/x86_64-linux/include/crt/math_functions.h"
TOOLKIT = {
    "bin/nvcc": (NVCC.encode(), 0o755), "bin/cudafe++": (b"#!/bin/sh\n", 0o755), "bin/nvcc.profile": b"its own\n",
    "nvvm/bin/cicc": (b"#!/bin/sh\necho the cicc\n", 0o755),
    "targets/x86_64-linux/include/cuda_runtime.h": b"#pragma once\n",
    MATH: NEW.encode(),
    "targets/x86_64-linux/lib/libcudart.so.13": b"the runtime\n",
    "targets/x86_64-linux/lib/stubs/libcuda.so": b"a stub\n",
    "include": "-> targets/x86_64-linux/include", "lib64": "-> targets/x86_64-linux/lib",
}
LINKS = {"usr/local/cuda": "-> /etc/alternatives/cuda", "etc/alternatives/cuda": "-> /usr/local/cuda-13.0"}
STUB = 'local primitives = require "forge.primitives"\nreturn function() return primitives.recipe_path "%s" end\n'
PART = 'local image = forge.oci { image = "NAME" }\nlocal part = forge.cuda.image { image = image, cuda = "13.0"MORE }\n'
USED = """return sh("used", [==[
SCRIPT]==], { world = forge.world.compose { base = BASE, parts = { part } }, env = { PATH = "/cuda/bin:/cuda/nvvm/bin:/bin" } })
"""


class Images:
    """A project whose lib has a base of busybox, and a registry to push images of toolkits to."""

    def __init__(self, project, registry):
        self.project, self.registry, self.pushed = project, registry, 0
        lib, base = project.folder / "lib", project.base()
        shutil.copytree(project.env["FORGE_LIB"], lib)
        project.env["FORGE_LIB"] = str(lib)
        for name, folder in ("debian", "base"), ("shim", "toolchain"):
            (lib / f"forge/{name}.lua").write_text(STUB % folder)
        for name in "sed", "readlink":
            (base / "bin" / name).symlink_to("busybox")
        (project.recipes / "toolchain/lib").mkdir(parents=True)
        (project.recipes / "toolchain/lib/nvcc").write_text("the stand-in\n")

    def push(self, changes=(), root=ROOT):
        """The image's name.  changes: members of the toolkit, None for those that it lacks."""
        toolkit = {root + k: v for k, v in (TOOLKIT | dict(changes)).items() if v is not None}
        self.pushed += 1
        return self.registry.push("vendor/cuda", str(self.pushed), Image(busybox("sh", "cat", "readlink"), toolkit, LINKS))

    def part(self, name, more=""):
        return PART.replace("NAME", name).replace("MORE", more)

    def locked(self, name, script, more="", base='forge.path "base"'):
        path = self.project.recipe(self.part(name, more) + USED.replace("SCRIPT", script).replace("BASE", base))
        self.project.run("lock", path)
        return path

    def used(self, *args, **more):
        [line] = self.project.run("realise", self.locked(*args, **more))[0].splitlines()
        self.project.ends_well()
        with open(line) as f:
            return f.read().splitlines()

    def lacks(self, name, says, more=""):
        """The front can't be made, and one line of its log says why."""
        _, err = self.project.run("realise", self.locked(name, "true\n", more), status=100)
        [line] = [line for line in err.splitlines() if "forge.cuda.image: " in line]
        assert says in line
        assert err.splitlines()[-1] == "forge: cuda-front-13.0: the build exited with status 1"
        self.project.ends_well()


@pytest.fixture
def images(project, registry):
    return Images(project, registry)


LOOK = ("cat /cuda/bin/nvcc > $out; nvcc.real -c x.cu >> $out; cicc >> $out; cat /cuda/bin/nvcc.profile >> $out\n"
        "for f in include/cuda_runtime.h lib/libcudart.so lib64/libcudart.so lib64/libcuda.so; do cat /cuda/$f >> $out; done\n"
        "for f in lib64 lib/libcudart.so lib/libcuda.so; do readlink /cuda/$f >> $out; done\n")
SEEN = ["the stand-in", "the real nvcc -c x.cu", "the cicc", "its own", "#pragma once", "the runtime", "the runtime", "a stub",
        "lib", "libcudart.so.13", "stubs/libcuda.so"]


def test_a_toolkit_at_cuda(images):
    assert images.used(images.push(), LOOK) == SEEN


def test_the_base_is_the_same_image(images):
    """Once as the world's root, once at /cuda: one object, made once."""
    assert images.used(images.push(), LOOK, base="image()") == SEEN
    names = [b["name"] for b in images.project.builds("unpack")]
    assert sorted(names) == ["cuda-front-13.0", "oci-cuda"]


def test_another_path_and_another_lib(images):
    name = images.push({"lib64": None, "include": None, "targets/x86_64-linux/lib/libcudart.so.13": None,
                        "real/include/cuda_runtime.h": b"x\n", "real/lib64/libcudart.so.13": b"y\n"}, root="opt/nvidia/cuda/")
    seen = images.used(name, "cd /cuda; cat bin/nvcc include/cuda_runtime.h lib64/libcudart.so > $out\n",
                       ', path = "/opt/nvidia/cuda", lib = "real/lib64"')
    assert seen == ["the stand-in", "x", "y"]


@pytest.mark.parametrize("lib", ["lib", "lib64"])
def test_libraries_that_stand_beside_bin(images, lib):
    name = images.push({lib: "folder", f"{lib}/libcudart.so.13": b"y\n", "include": "folder", "include/a.h": b"x\n"} |
                       ({"lib64": None} if lib == "lib" else {}))
    seen = images.used(name, "cd /cuda; cat lib/libcudart.so lib64/libcudart.so include/a.h > $out\n", f', lib = "{lib}"')
    assert seen == ["y", "y", "x"]


@pytest.mark.parametrize("header", [OLD, NEW], ids=["mended", "as it is"])
def test_both_places_show_the_same(images, header):
    """What the front has is seen at the top of /cuda and where nvcc itself looks, below targets."""
    name = images.push({MATH: header.encode()})
    files = "include/crt/math_functions.h", "include/cuda_runtime.h", "lib/libcudart.so"
    script = "".join(f"cat /cuda/{at}/{file} >> $out\n" for file in files for at in (".", "targets/x86_64-linux"))
    mended = "extern double sinpi(double x) __THROW;" if header == OLD else header.strip()
    assert images.used(name, script) == [mended] * 2 + ["#pragma once"] * 2 + ["the runtime"] * 2


@pytest.mark.parametrize("header", [OLD, NEW], ids=["mended", "as it is"])
def test_compiles_are_shared(compiling, registry, header):
    """The compile service finds again what was read in either place."""
    images = Images(compiling, registry)
    places = "include/crt/math_functions.h", MATH, "include/cuda_runtime.h", "targets/x86_64-linux/include/cuda_runtime.h"
    script = source("a.c", *(f"//!include /cuda/{place}" for place in places), "int a;") + "cc -c a.c -o a.o; cp a.o $out\n"
    tools = 'part.mounts["/toolchain"] = { forge.path "toolchain" }\n'
    text = images.part(images.push({MATH: header.encode()})) + tools + USED.replace("SCRIPT", script).replace("BASE", 'forge.path "base"')
    for name in "one", "two":
        path = compiling.recipe(text.replace('"used"', f'"{name}"').replace("/cuda/bin:/cuda/nvvm/bin:", "/toolchain/bin:"))
        compiling.run("lock", path)
        compiling.run("realise", path)
    assert [c["note"] for c in compiles(compiling)] == ["hit", "miss"]


# --- what is wrong ------------------------------------------------------------------------------------------------

def test_an_image_that_lacks_it(images):
    name = images.push()
    images.lacks(name, "the image has no /opt/cuda/bin/nvcc: 'path' is the toolkit's folder", ', path = "/opt/cuda"')
    images.lacks(name, "the image has no libcudart.so in /usr/local/cuda-13.0/targets/sbsa-linux/lib: 'lib' is",
                 ', lib = "targets/sbsa-linux/lib"')
    images.lacks(images.push({"bin/nvcc": None}), "the image has no /usr/local/cuda-13.0/bin/nvcc: ")


def test_another_release_than_it_is_said_to_be(images):
    name = images.push({"bin/nvcc": (NVCC.replace("13.0", "12.4").encode(), 0o755)})
    images.lacks(name, "the toolkit in /usr/local/cuda-13.0 of the image says it is CUDA '12.4', not 13.0")


@pytest.mark.parametrize("more, link", [
    (', path = "/usr/local/cuda"', "/usr/local/cuda"), (', lib = "lib64"', "/usr/local/cuda-13.0/include")])
def test_a_folder_that_is_a_link(images, more, link):
    path = images.locked(images.push(), "true\n", more)
    images.project.refuses("realise", path, status=1, says=["cuda-front-13.0: ", f"-oci-cuda{link} is behind a link: name the folder"])


@pytest.mark.parametrize("fields, says", [
    ('cuda = "13.0"', "'image' is missing (what forge.oci gives)"),
    ('image = "registry.example/cuda:1", cuda = "13.0"', "'image' must be what forge.oci gives, not a string"),
    ("image = image", "'cuda' is missing (a string)"),
    ('image = image, cuda = "13"', "cuda '13' is not like 13.0"),
    ('image = image, cuda = "13.0.2"', "cuda '13.0.2' is not like 13.0"),
    ('image = image, cuda = "13.0", paht = "/x"', "there is no field 'paht' (did you mean 'path'?)"),
    ('image = image, cuda = "13.0", path = 3', "'path' must be a string, not a number"),
    *((f'image = image, cuda = "13.0", path = "{path}"', f"path '{path}' is not a plain absolute path")
      for path in ("usr/local/cuda", "/usr/../cuda", "/usr/local/cuda/", "/usr//local", "/./usr", "/..", "/", "")),
    *((f'image = image, cuda = "13.0", lib = "{lib}"', f"lib '{lib}' is not a path in the toolkit's folder")
      for lib in ("/usr/lib", "../lib", "lib/..", "a//b", "lib/", ".", "")),
    ("image = function() return 3 end, cuda = '13.0'", "'image' must be a derivation or what forge.path gives, not a number"),
])
def test_fields_that_are_wrong(project, fields, says):
    path = project.recipe(f'local image = forge.oci {{ image = "registry.example/cuda:1" }}\nreturn forge.cuda.image {{ {fields} }}')
    project.refuses("realise", path, status=1, says=["x.lua:", "forge.cuda.image: " + says])


def test_an_image_of_another_cuda_than_the_variant(images):
    name = images.push()
    images.locked(name, "true\n")
    lock = images.project.recipes / "forge.lock"
    entries = json.loads(lock.read_text())["entries"] | {
        "sdist x 1": {"from": "pypi", "name": "x", "version": "1", "file": "x-1.tar.gz", "sha256": "0" * 64, "size": 1, "requires": [],
                      "build_requires": []}, "wheels 3.13 a==1": {"files": []}}
    lock.write_text(json.dumps({"version": 1, "entries": entries}))
    wheel = 'return forge.wheel { name = "x", version = "1", requires = { "a==1" }, matrix = { cuda = { "CUDA" } }, cuda_from = part }'
    path = images.project.recipe(images.part(name) + wheel.replace("CUDA", "13.2"))
    images.project.refuses("realise", "--dry-run", path, status=1, says=["cuda_from is of CUDA 13.0; this variant has 13.2"])
    path = images.project.recipe(images.part(name) + wheel.replace("CUDA", "13.0"))
    assert "cuda-front-13.0" in images.project.run("realise", "--dry-run", path)[0]
