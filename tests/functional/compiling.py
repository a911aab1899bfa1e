"""A world of busybox whose gcc is a script, for tests of the compile store: the shim in it is the real one.  The
script's shell is one that loads libraries, and opens all files itself: forge watches what a compiler opens."""
import json
import os
import pathlib
import time

# Compiles to what says what was compiled; a source with "slow" takes a second, one with "fail" is wrong.  Lines
# "//!words" of a source are done by the compiler, also when it preprocesses; "//!compile words" only when it compiles.
GCC = r"""#!/bin/dash
mode=c out= src= more=
while [ $# -gt 0 ]; do
  case $1 in -E) mode=E ;; -o) out=$2; shift ;; -*) ;; *) src=$1 ;; esac
  shift
done
compile() { [ $mode = E ] || "$@"; }
include() { more="$more
# 1 \"$1\"
$(cat < "$1")"; }
text() { cat < "$src" && { [ -z "$more" ] || echo "$more"; }; }
cat < "$src" > /dev/null || exit 1
eval "$(grep '^//!' < "$src" | cut -c4-)"
if [ $mode = E ]; then { echo "# 1 \"$src\""; text; } > "$out"; exit; fi
grep -q slow < "$src" && sleep 1
grep -q fail < "$src" && { echo "$src:1: error: it says fail" >&2; exit 3; }
echo "$src: a warning" >&2
{ echo object of; text; } > "$out"
"""

WORLD = """
local shimmed = { mounts = { { at = "/", layers = { forge.path "base" } },
                             { at = "/toolchain", layers = { forge.path "toolchain" } } } }
local function build(name, script, env, more)
  env = env or {}
  env.PATH = "/toolchain/bin:/bin"
  env.WHICH = name -- no two builds are one
  local spec = { world = shimmed, env = env, inert = { MAX_JOBS = { memory = 1073741824 } } }
  for key, value in pairs(more or {}) do
    spec[key] = value
  end
  return sh(name, script, spec)
end
"""


def compiles(project):
    """The records of compiles, newest first."""
    out, _ = project.run("log", "--compiles", "--json", "--lines", "1000")
    return json.loads(out)


def notes(project):
    return sorted(c["note"] for c in compiles(project))


def building(name, script, more=""):
    """A recipe that runs the script, which may have any quotes, in /build."""
    return WORLD + f'return build("{name}", [==[\n{script}]==], nil, {{ {more} }})'


def source(name, *lines):
    """Part of a script: write these lines to a file."""
    return f"cat > {name} <<'END'\n" + "".join(line + "\n" for line in lines) + "END\n"


def running(word):
    """The processes of this machine that were called with this word."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def wait_for(what, process):
    """Until it is so; the process must still run then."""
    deadline = time.monotonic() + 90
    while not what():
        assert time.monotonic() < deadline and process.poll() is None, process.communicate()
        time.sleep(0.05)


def good_compile(project, name="after"):
    """Whatever was before: a compile goes through the store now, and what it makes is right."""
    script = source("good.c", f"int {name};") + "cc -c good.c -o good.o\ncp good.o $out\n"
    for i in "12":
        assert project.object(building(name + i, script)).read_text() == f"object of\nint {name};\n"
    assert [c["note"] for c in compiles(project)][:2] == ["hit", "miss"]
    project.ends_well()
