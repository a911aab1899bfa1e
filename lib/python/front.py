"""Check that the interpreter which runs this is what the recipe says, and write the layer that lies above it.

FORGE_PYTHON  "3.12", or "3.14t" for one without the GIL
FORGE_PREFIX  where it stands
out           gets what sysconfig knows, with the compilers' names as they are in forge's worlds
"""
import importlib
import json
import os
import pprint
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

BASE = "/usr/bin/python3.13"
# What a package's build would miss much later, and with a worse message.
MODULES = "bz2", "ctypes", "hashlib", "lzma", "sqlite3", "ssl", "zlib"
TOOLS = (r"(?:[\w.+-]*-)?(?:clang|gcc|cc)(?:-\d+)?", "cc"), \
    (r"(?:[\w.+-]*-)?(?:clang\+\+|g\+\+|c\+\+)(?:-\d+)?", "c++"), \
    (r"(?:[\w.+-]*-)?ar(?:-\d+)?", "ar")
# What packages' builds take from sysconfig: as the base's own Python has it, so that a file which Python has no part
# in is compiled alike for all of them.
COMMANDS = "CC", "CXX", "CFLAGS", "OPT", "BASECFLAGS", "CCSHARED", "LDSHARED", "LDCXXSHARED", "LDFLAGS", "AR", "ARFLAGS"


def fail(text):
    sys.exit(f"python {os.environ['FORGE_PYTHON']}: {text}")


def what_it_is():
    """The version and ABI, as the recipe would write them."""
    free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return f"{sys.version_info.major}.{sys.version_info.minor}{free}"


def check(wanted, prefix):
    name = sys.implementation.name
    if name != "cpython" or what_it_is() != wanted:
        fail(f"bin/python{wanted} says that it is {name} {what_it_is()} ({sys.version.split()[0]}), wanted is cpython {wanted}")
    if Path(sys.prefix) != Path(prefix):
        fail(f"it takes {sys.prefix} for the folder that it is installed in, which is {prefix}")
    header = Path(sysconfig.get_paths()["include"], "Python.h")
    if not header.is_file():
        fail(f"it has no {header}")
    for module in MODULES:
        try:
            importlib.import_module(module)
        except ImportError as error:
            fail(f"it lacks a module that builds need: {error}")


def tool(value):
    """A command with the name of the compiler that worlds have: "/opt/bin/clang -pthread" is "cc -pthread"."""
    program, space, rest = value.partition(" ")
    for pattern, name in TOOLS:
        if re.fullmatch(pattern, os.path.basename(program)):
            return name + space + rest
    return value


def relocated(variables, prefix):
    """sysconfig's variables, with the place where it was installed replaced by where it is."""
    was = variables.get("prefix", "/").rstrip("/")
    place = re.compile(r"(?<![\w.+-])" + re.escape(was) + r"(?![\w.+-])")
    return {key: place.sub(prefix, value) if was and isinstance(value, str) else value
            for key, value in variables.items()}


def commands():
    """Those of the base's Python, by the names that compilers have in every world."""
    ask = f"import json, sysconfig; print(json.dumps([sysconfig.get_config_var(n) or '' for n in {COMMANDS!r}]))"
    values = json.loads(subprocess.run([BASE, "-I", "-c", ask], check=True, capture_output=True).stdout)
    return {name: tool(value) for name, value in zip(COMMANDS, values)}


def main():
    wanted, prefix, out = (os.environ[name] for name in ("FORGE_PYTHON", "FORGE_PREFIX", "out"))
    check(wanted, prefix)
    data = importlib.import_module(sysconfig._get_sysconfigdata_name())
    to = Path(out) / Path(data.__file__).relative_to(prefix)
    to.parent.mkdir(parents=True)
    variables = relocated(data.build_time_vars, prefix) | commands()
    to.write_text(f"build_time_vars = {pprint.pformat(variables, width=100)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
