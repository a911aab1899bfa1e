"""A Debian archive whose base runs this machine's own Python, and that Python packed so that it can stand anywhere:
for tests of interpreters as layers, without a network."""
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile

from made import sha256
from test_lock import publish_debian

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = sysconfig.get_python_version()
PROGRAM = pathlib.Path(sys.executable).resolve()
STDLIB = pathlib.Path(sysconfig.get_paths()["stdlib"])
LEFT_OUT = ("__pycache__", "test", "tests", "site-packages", "dist-packages", "idlelib", "ensurepip", "tkinter", "lib2to3", "turtledemo")

# The base's compiler: what is made of the shim is a file that nothing runs, and what is linked with is none.
GCC = """#!/bin/sh
case $1 in -print-file-name=*) echo "/usr/lib/x86_64-linux-gnu/${1#*=}"; exit ;; esac
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && echo compiled > "$2"
  shift
done
"""

# The base's own Python, asked for what sysconfig says.
BASE_PYTHON = """#!/bin/sh
echo '["x86_64-linux-gnu-gcc -pthread", "x86_64-linux-gnu-g++", "-O2 -Wall", "-O2", "", "-fPIC",' \\
  '"x86_64-linux-gnu-gcc -shared -Wl,x", "x86_64-linux-gnu-g++ -shared", "-Wl,x", "x86_64-linux-gnu-gcc-ar", "rcs"]'
"""


def libraries(*programs):
    out = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    return {line.split()[-2] for line in out.splitlines() if "/" in line and not line.endswith(":")}


def modules():
    return sorted((STDLIB / "lib-dynload").glob("*.so"))


class Tar:
    def __init__(self, mode="w"):
        self.out = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.out, mode=mode)

    def file(self, name, data, mode=0o644):
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(data), mode
        self.tar.addfile(member, io.BytesIO(data))

    def link(self, name, target):
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, target
        self.tar.addfile(member)

    def bytes(self):
        self.tar.close()
        return self.out.getvalue()


def deb(tar):
    """A binary package: an ar archive with the files in data.tar."""
    out = b"!<arch>\n"
    for name, data in (("debian-binary", b"2.0\n"), ("data.tar", tar)):
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return out


def base_files():
    """The root file system: busybox, make, the libraries that the Python needs, and the two stand-ins."""
    tar = Tar()
    for name, target in (("bin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
        tar.link(name, target)
    tar.file("usr/bin/busybox", pathlib.Path("/bin/busybox").read_bytes(), 0o755)
    for name in "sh awk cat chmod cp cut dirname echo find grep ln ls mkdir mv patch realpath rm rmdir sed touch tr".split():
        tar.link("usr/bin/" + name, "busybox")
    tar.file("usr/bin/make", pathlib.Path("/usr/bin/make").read_bytes(), 0o755)
    tar.file("usr/bin/gcc-12", GCC.encode(), 0o755)
    tar.file("usr/bin/gcc-ar-12", b'#!/bin/sh\nshift; to=$1; shift; cat "$@" >"$to"\n', 0o755)
    tar.file("usr/bin/objdump", b"#!/bin/sh\n", 0o755)
    tar.file("usr/lib/x86_64-linux-gnu/libc.so", b"GROUP ( libc.so.6 )\n")
    tar.file("usr/bin/python3.13", BASE_PYTHON.encode(), 0o755)
    for path in sorted(libraries("/usr/bin/make", PROGRAM, *modules())):
        tar.file(re.sub("^/(usr/)?", "usr/", path), pathlib.Path(path).read_bytes(), 0o755)
    return tar.bytes()


def add_python(tar, top, claims=VERSION, without=(), program=None):
    """This machine's Python in tar, below top, under the name that it claims to have."""
    tar.file(f"{top}/bin/python{claims}", PROGRAM.read_bytes() if program is None else program, 0o755)
    for folder, folders, files in os.walk(STDLIB):
        folders[:] = [name for name in folders if name not in LEFT_OUT and not name.startswith("config-")]
        for name in files:
            path = pathlib.Path(folder, name)
            if path.is_file() and not any(word in name for word in without):
                tar.file(f"{top}/lib/python{VERSION}/{path.relative_to(STDLIB)}", path.read_bytes())
    if "Python.h" not in without:
        tar.file(f"{top}/include/python{VERSION}/Python.h", b"/* a header */\n")


def standalone(**how):
    tar = Tar("w:gz")
    add_python(tar, "python", **how)
    return tar.bytes()


def names_in(file, table):
    """The packages that a table of the library names."""
    text = (ROOT / "lib/forge" / file).read_text()
    return re.findall(r'"([a-z0-9.+-]+)"', re.search(rf"local {table} = {{(.*?)}}", text, re.S)[1])


class Archive:
    """Served: the packages of the base, source packages, and files at their URLs."""

    def __init__(self, project, keys, server):
        self.project, self.keys = project, keys
        self.root = project.folder / "www"
        self.folder = project.folder
        self.pool = self.root / "debian/pool"
        self.pool.mkdir(parents=True)
        self.stanzas, self.sources = "", ""
        for name in [*names_in("debian.lua", "packages"), *names_in("python.lua", "headers")]:
            self.add(name, deb(base_files() if name == "base-files" else Tar().bytes()))
        self.url = server(self.root)
        project.env |= {"FORGE_DEBIAN_MIRROR": self.url + "debian/", "FORGE_DEBIAN_KEYRING": str(self.folder / "keyring.gpg")}

    def add(self, name, data):
        (self.pool / f"{name}.deb").write_bytes(data)
        self.stanzas += (f"Package: {name}\nVersion: 1\nArchitecture: amd64\nFilename: pool/{name}.deb\n"
                         f"Size: {len(data)}\nSHA256: {sha256(data)}\n\n")

    def add_source(self, name, data):
        file = f"{name}_1.0.orig.tar.gz"
        (self.pool / file).write_bytes(data)
        self.sources += (f"Package: {name}\nVersion: 1.0-1\nDirectory: pool\nChecksums-Sha256:\n"
                         f" {sha256(data)} {len(data)} {file}\n\n")

    def put(self, name, data):
        """A file with a URL; the fields of a recipe that name it."""
        (self.root / name).write_bytes(data)
        return f'urls = {{ "{self.url}{name}" }}, sha256 = "{sha256(data)}"'

    def publish(self):
        publish_debian(self, self.keys, self.stanzas, sources=self.sources)
