"""What forge lays over a toolkit that comes as folders (lib/cuda/lay.sh), with a toolkit of scripts; and a world whose
gcc is not 12."""
import hashlib
import pathlib
import shutil

import pytest

from compiling import GCC, WORLD, compiles
from conftest import with_libraries

ROOT = pathlib.Path(__file__).resolve().parents[2]

NVCC = """#!/bin/sh
case $1 in --help) echo "--threads"; HELP ;; *) echo "nvcc $*" ;; esac
"""
TOOL = """#!/bin/sh
echo "NAME $*"
while [ $# -gt 0 ]; do [ "$1" = --module_id_file_name ] && cat < "$2"; shift; done
"""
HEADER = """extern __DEVICE__ __device_builtin__ double                 sinpi(double x);
extern __DEVICE__ __device_builtin__ float                  cospif(float x);
extern __DEVICE__ __device_builtin__ double                 rsqrt(double x);
"""
FRONT = """
local function compose(mounts)
  return forge.world.compose { base = forge.path "base", parts = { { mounts = { ["/cuda"] = mounts } } } }
end
local cuda = forge.path "cuda"
local front = forge.derivation {
  name = "front", what = "unpack", builder = "/bin/sh", args = { "-eu", forge.path "lay.sh" }, world = compose { cuda },
  env = { PATH = "/bin", nvcc = forge.path "stand-in", version = "VERSION", profile = forge.path "nvcc.profile",
          unseeded = forge.path "unseeded.sh", named = forge.path "named.sh" },
}
return sh("used", [==[
SCRIPT]==], { world = compose { front, cuda }, env = { PATH = "/cuda/bin:/cuda/nvvm/bin:/bin" } })
"""


class Toolkit:
    def __init__(self, project, helps=""):
        self.project = project
        base = project.base()
        for name in ("sed", "readlink"):
            (base / "bin" / name).symlink_to("busybox")
        (base / "usr/bin").mkdir(parents=True)
        shutil.copy("/bin/busybox", base / "usr/bin/md5sum")
        for file in (ROOT / "lib/cuda").glob("*"):
            shutil.copy(file, project.recipes)
        (project.recipes / "stand-in").write_text("the stand-in\n")
        self.folder = project.recipes / "cuda"
        self.put("bin/nvcc", NVCC.replace("HELP", f"echo '{helps}'"))
        self.put("bin/cudafe++", TOOL.replace("NAME", "cudafe++"))
        self.put("nvvm/bin/cicc", TOOL.replace("NAME", "cicc"))
        self.put("include/crt/math_functions.h", HEADER)
        self.put("lib/libcudart.so.12", "runtime\n")
        for name in ("libcublas.so", "libcudart.so"):
            self.put(f"lib/stubs/{name}", "stub\n")
        (self.folder / "lib/libcublas.so").symlink_to("libcublas.so.12")

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name.split("/")[-2] == "bin" else 0o644)

    def used(self, script, version="12.4"):
        return self.project.object(FRONT.replace("VERSION", version).replace("SCRIPT", script)).read_text().splitlines()


SEED = "nvcc.real -frandom-seed=forge-1 -c k.cu --frandom-seed=2 > $out\n"
NAMED = ("echo 'a text' > k.ii\nfor tool in cudafe++ cicc; do $tool --gen_module_id_file --module_id_file_name id -x k.ii -o 'a b' >> $out; "
         "echo '' >> $out; done\n")
ID = "_forge_" + hashlib.md5(b"a text\n").hexdigest()


def test_an_nvcc_that_has_no_seed(project):
    """The option is kept from it, and modules are named by their text."""
    toolkit = Toolkit(project)
    assert toolkit.used(SEED) == ["nvcc -c k.cu"]
    seen = toolkit.used("echo > id\n" + NAMED)
    assert seen[0] == "cudafe++ --module_id_file_name id -x k.ii -o a b" and seen[1] == ID
    assert seen[2] == "cicc --gen_module_id_file --module_id_file_name id -x k.ii -o a b"
    # of 11 it is cicc that names the module; cudafe++ is never asked to
    seen = toolkit.used("echo > id\n" + NAMED, "11.8")
    assert seen[2] == "cicc --module_id_file_name id -x k.ii -o a b" and seen[3] == ID
    # without the option nothing is named
    assert toolkit.used("echo own > id\ncudafe++ --module_id_file_name id k.ii > $out\n")[1] == "own"


def test_an_nvcc_that_has_one(project):
    toolkit = Toolkit(project, "--frandom-seed <text>  (-frandom-seed)")
    assert toolkit.used(SEED) == ["nvcc -frandom-seed=forge-1 -c k.cu --frandom-seed=2"]
    assert toolkit.used("echo own > id\n" + NAMED)[:2] == ["cudafe++ --gen_module_id_file --module_id_file_name id -x k.ii -o a b", "own"]


def test_the_names_that_builds_look_for(project):
    toolkit = Toolkit(project)
    script = ("cat /cuda/bin/nvcc > $out; cd /cuda; for n in lib64 lib/libcudart.so lib/libcublas.so; do readlink $n >> $out; done; "
              "cat lib64/libcudart.so lib64/libcublas.so include/crt/math_functions.h >> $out; grep -c TOP bin/nvcc.profile >> $out\n")
    seen = toolkit.used(script)
    assert seen[:4] == ["the stand-in", "lib", "libcudart.so.12", "stubs/libcublas.so"] and seen[4:6] == ["runtime", "stub"]
    assert [line.split()[-3:] for line in seen[6:9]] == [["sinpi(double", "x)", "__THROW;"], ["cospif(float", "x)", "__THROW;"],
                                                        ["double", "rsqrt(double", "x);"]]
    assert int(seen[9]) > 3
    # a toolkit that says so itself, and has a profile of its own, keeps both
    toolkit.put("include/crt/math_functions.h", HEADER.replace("(double x);", "(double x) MAYBE_THROW;"))
    toolkit.put("bin/nvcc.profile", "its own\n")
    assert toolkit.used("cat /cuda/include/crt/math_functions.h /cuda/bin/nvcc.profile > $out\n")[0].endswith("MAYBE_THROW;")
    assert toolkit.used("cat /cuda/bin/nvcc.profile > $out\n") == ["its own"]


def test_debians_nvcc_is_a_script_elsewhere(project):
    toolkit = Toolkit(project)
    toolkit.put("nvvm/bin/nvcc", NVCC.replace("HELP", "true").replace("nvcc $*", "the real one $*"))
    toolkit.put("nvvm/bin/crt/link.stub", "a stub\n")
    assert toolkit.used("nvcc.real -frandom-seed=1 -c x > $out; cat /cuda/bin/crt/link.stub >> $out\n") == ["the real one -c x", "a stub"]


@pytest.mark.parametrize("file", ["bin/cudafe++", "bin/nvcc"])
def test_a_toolkit_that_lacks_a_program(project, file):
    toolkit = Toolkit(project)
    (toolkit.folder / file).unlink()
    _, err = project.realise(FRONT.replace("VERSION", "12.4").replace("SCRIPT", "true\n"), status=100)
    assert file in err and "front: the build exited with status" in err.splitlines()[-1]
    project.ends_well()


def test_a_toolkit_without_headers(project):
    toolkit = Toolkit(project)
    (toolkit.folder / "include/crt/math_functions.h").unlink()
    assert toolkit.used(SEED) == ["nvcc -c k.cu"]


# --- a world whose gcc is another ---------------------------------------------------------------------------------

def test_the_compile_service_runs_the_worlds_own_gcc(project, static_program):
    """What /toolchain/gcc says is what runs, in the build and in forge's own sandboxes."""
    base = project.base()
    (base / "usr/bin").mkdir(parents=True)
    (base / "usr/bin/gcc-11").write_text(GCC.replace("object of", "object by 11 of"))
    (base / "usr/bin/gcc-11").chmod(0o755)
    with_libraries("/bin/dash", base)
    for name in ("test", "cut"):
        (base / "bin" / name).symlink_to("busybox")
    (project.recipes / "toolchain/bin").mkdir(parents=True)
    sources = sorted((ROOT / "src/shim").glob("*.c"))
    shutil.copy(static_program("cc", sources, ['-DGCC_MAJOR="11"']), project.recipes / "toolchain/bin/cc")
    world = WORLD.replace("} } } }\n", '} } }, files = { ["/toolchain/gcc"] = "11" } }\n', 1)
    text = world + 'return build("NAME", "echo x > a.c; cc -c a.c -o a.o; cp a.o $out")'
    assert text.count("/toolchain/gcc") == 1
    for name, args in (("one", ()), ("two", ()), ("three", ("--no-compile-store",))):
        assert project.object(text.replace("NAME", name), *args).read_text() == "object by 11 of\nx\n"
    assert [c["note"] for c in compiles(project)] == ["hit", "miss"]
    # without the file there is no gcc that forge could run: in place, and right all the same
    plain = WORLD + 'return build("four", "echo y > a.c; cc -c a.c -o a.o; cp a.o $out")'
    assert project.object(plain).read_text() == "object by 11 of\ny\n"
    assert compiles(project)[0]["note"].startswith("in place: ")
    project.ends_well()
