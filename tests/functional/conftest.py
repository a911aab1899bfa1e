"""Fixtures of the functional tests: the built program, and a project folder with a world that needs no network.

FORGE_BUILD is the build folder (default: build/ of the project).  Every test has its own store and HOME.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from compiling import GCC

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def build():
    return pathlib.Path(os.environ.get("FORGE_BUILD", ROOT / "build")).resolve()


@pytest.fixture(scope="session")
def vectors():
    path = pathlib.Path(os.environ.get("FORGE_VECTORS", ROOT.parent / "shared/vectors"))
    if not path.is_dir():
        pytest.skip("no vectors")
    return path


BUSYBOX = "/bin/busybox"

# What a recipe of these tests begins with: a world of one static program.
PRELUDE = """
local forge = require "forge"
local world = { mounts = { { at = "/", layers = { forge.path "base" } } } }
local function sh(name, script, more)
  local spec = { name = name, builder = "/bin/sh", args = { "-euc", script }, world = world, what = "build",
                 env = { PATH = "/bin" } }
  for key, value in pairs(more or {}) do
    if key == "env" then
      for k, v in pairs(value) do spec.env[k] = v end
    else
      spec[key] = value
    end
  end
  return forge.derivation(spec)
end
"""


class Project:
    """A folder with recipes, a store and a HOME of its own."""

    def __init__(self, folder, program):
        self.folder = folder
        self.program = program
        self.store_tool = str(pathlib.Path(program).parent / "tests/support/store_tool")
        self.recipes = folder / "recipes"
        self.store = folder / "store"
        self.recipes.mkdir()
        (folder / "home").mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "FORGE_LIB": str(ROOT / "lib"),
                    "FORGE_STORE": str(self.store), "LC_ALL": "C.UTF-8",
                    # nothing of the machine's registries: a test that wants an index names its own
                    "FORGE_INDEX": "http://127.0.0.1:9/", "FORGE_DEBIAN_MIRROR": "http://127.0.0.1:9/"}
        self.env |= {k: v for k, v in os.environ.items() if k.startswith(("ASAN_", "UBSAN_", "LSAN_"))}

    def base(self):
        """The world's root: busybox under the names that the scripts use."""
        folder = self.recipes / "base"
        if not folder.exists():
            (folder / "bin").mkdir(parents=True)
            shutil.copy(BUSYBOX, folder / "bin/busybox")
            for name in "sh cat cp echo env find grep head id ln ls mkdir mkfifo mv nslookup printf ps rm rmdir sleep \
                    seq stat tail touch true false uname wc wget yes dd chmod mount sort kill".split():
                (folder / "bin" / name).symlink_to("busybox")
        return folder

    def recipe(self, text, name="x.lua"):
        """Write a recipe (after the prelude) and return its path."""
        self.base()
        path = self.recipes / name
        path.write_text(PRELUDE + text)
        return str(path)

    def start(self, *args, **more):
        return subprocess.Popen([self.program, *args], cwd=self.folder, env=self.env | more.pop("env", {}),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **more)

    def run(self, *args, status=0, timeout=120, **more):
        """Run forge; the exit status must be as given.  Returns (stdout, stderr)."""
        process = self.start(*args, **more)
        out, err = process.communicate(timeout=timeout)
        assert process.returncode == status, f"status {process.returncode}, not {status}\n{out}{err}"
        return out, err

    def realise(self, text, *args, status=0, **more):
        return self.run("realise", self.recipe(text), *args, status=status, **more)

    def object(self, text, *args, **more):
        """Realise and return the one result's physical path."""
        out, _ = self.realise(text, *args, **more)
        [line] = out.splitlines()
        return pathlib.Path(line)

    def use_store(self, folder):
        self.store = folder
        self.env["FORGE_STORE"] = str(folder)

    def builds(self, what="build"):
        """The records of what was done, newest first."""
        out, _ = self.run("log", "--json", "--lines", "1000")
        return [b for b in json.loads(out) if b["what"] == what]

    def ends_well(self):
        """The store is valid (every object has the hash that is registered), and no build's folder is left."""
        assert self.tmp() == []
        got = subprocess.run([self.store_tool, "verify", self.store], capture_output=True, text=True)
        assert got.returncode == 0, got.stdout + got.stderr

    def refuses(self, *args, status, says, **more):
        """Run a command that must fail as a person would want it: the status as given; one line, the last, that
        holds all of `says`, says nothing twice and is no trace.  Whatever store there is stays valid, and another
        recipe is then made as if nothing had been.  Returns the line."""
        _, err = self.run(*args, status=status, **more)
        lines = [line for line in err.splitlines() if line.startswith("forge: ")]
        assert len(lines) == 1 and err.splitlines()[-1] == lines[0], err
        parts = lines[0].split(": ")
        assert not any(a == b for a, b in zip(parts, parts[1:])), f"said twice: {lines[0]}"
        assert "traceback" not in err and len(lines[0]) < 600, err
        for each in says:
            assert each in lines[0], f"does not say {each!r}: {lines[0]}"
        if (self.store / "db.sqlite").exists():
            self.ends_well()
        self.goes_on()
        return lines[0]

    def goes_on(self):
        """A good recipe, in a folder of its own (no lock beside it), is made in the same store."""
        folder = self.folder / "good"
        if not folder.exists():
            folder.mkdir()
            shutil.copytree(self.base(), folder / "base", symlinks=True)
            (folder / "good.lua").write_text(PRELUDE + 'return sh("good", "echo good > $out")')
        [path] = self.run("realise", "good/good.lua")[0].splitlines()
        assert pathlib.Path(path).read_text() == "good\n"
        self.ends_well()

    def tmp(self):
        """What builds left in store/tmp."""
        return [p for p in (self.store / "tmp").iterdir() if p.is_dir()]


@pytest.fixture
def project(tmp_path, build):
    if not pathlib.Path(BUSYBOX).exists():
        pytest.skip(f"no {BUSYBOX} (busybox-static)")
    yield Project(tmp_path, str(build / "forge"))
    # objects are read-only: make them removable for whoever runs the tests
    subprocess.run(["chmod", "-R", "u+w", tmp_path], check=False, stderr=subprocess.DEVNULL)


@pytest.fixture
def server(tmp_path):
    """Start the scripted web server on a folder: server(folder, script={…}) -> its URL."""
    started = []

    def start(folder, script=None):
        command = [sys.executable, ROOT / "tests/support/httpd.py", str(folder)]
        if script is not None:
            file = tmp_path / f"script{len(started)}.json"
            file.write_text(json.dumps(script))
            command += ["--script", str(file)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        word, port = process.stdout.readline().split()
        assert word == "port"
        return f"http://127.0.0.1:{port}/"

    yield start
    for process in started:
        process.stdin.close()
        process.wait(timeout=20)


@pytest.fixture(scope="session")
def static_program(tmp_path_factory):
    """Compile C files to one program that needs no libraries: static_program(name, files, options) -> its path."""
    def compiled(name, sources, options=()):
        program = tmp_path_factory.mktemp("program") / name
        subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-static", "-w",
                        f"-I{ROOT / 'src'}", *options, *sources, "-o", program], check=True)
        return program
    return compiled


@pytest.fixture(scope="session")
def shim(static_program):
    return static_program("cc", sorted((ROOT / "src/shim").glob("*.c")))


def with_libraries(program, base):
    """Put a program of this machine into a world, with the libraries that it loads."""
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for path in [program, *(word for word in out.split() if word.startswith("/"))]:
        (base / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, base / path[1:])


@pytest.fixture
def compiling(project, shim):
    """A project whose world has the shim in front of a compiler that is a script (compiling.py)."""
    base = project.base()
    (base / "usr/bin").mkdir(parents=True)
    (base / "usr/bin/gcc-12").write_text(GCC)
    (base / "usr/bin/gcc-12").chmod(0o755)
    with_libraries("/bin/dash", base)
    for name in ("test", "cut"):
        (base / "bin" / name).symlink_to("busybox")
    (project.recipes / "toolchain/bin").mkdir(parents=True)
    shutil.copy(shim, project.recipes / "toolchain/bin/cc")
    return project


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 24 MiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    image, place = tmp_path / "disk.img", tmp_path / "disk"
    place.mkdir()
    with open(image, "wb") as f:
        f.truncate(24 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    if subprocess.run(["mount", "-o", "loop", image, place]).returncode != 0:
        pytest.skip("no loop devices")
    yield place
    subprocess.run(["umount", "-l", place], check=True)
