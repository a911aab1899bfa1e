"""What forge runs for a compiler command gives what the compiler in place gives: the object, the dependency file and
the messages, byte for byte.  gcc 12 of this machine stands in for the world's; the folders /build and /out of the
sandbox are folders of the test, put into the words of the runs."""
import json
import os
import pathlib
import shlex
import struct
import subprocess

import pytest

PROGRAMS = {"cc": "/usr/bin/gcc-12", "c++": "/usr/bin/g++-12"}
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "315619200"}

pytestmark = pytest.mark.skipif(not all(os.path.exists(p) for p in PROGRAMS.values()), reason="no gcc 12")

HEADER = "#pragma once\n#include <stdio.h>\n#define TWICE(x) ((x) + (x) + __COUNTER__)\n"
C = """#include "h.h"
static int unused;
int f(int x)
{
	switch (x) {
	case 1: x++; /* fall through */
	case 2: return TWICE(x);
	}
	return printf("%s%s%s", __DATE__, __FILE__, WITH);
}
"""
CXX = """#include <string>
#include <vector>
#include "h.h"
namespace { struct A { std::string s; int n() const { return TWICE((int)s.size()); } }; }
int f(const std::vector<std::string> &v) { int q = v.size(); A a{v.at(0)}; return q + a.n() + (int)sizeof WITH; }
"""


def request(tool, argv, cwd):
    texts = [tool, cwd, str(len(argv)), *argv, str(len(ENV)), *(f"{k}={v}" for k, v in ENV.items())]
    body = b"".join(text.encode() + b"\0" for text in texts)
    return b"FRGC" + struct.pack("<II", 1, 12 + len(body)) + body


class Place:
    def __init__(self, build, folder):
        self.tool = build / "tests/support/compile_tool"
        self.root = folder
        for name in ("build/p/inc", "build/p/b/x.p", "build/p/s d", "out"):
            (folder / name).mkdir(parents=True)
        (folder / "build/p/inc/h.h").write_text(HEADER)
        for name, text in (("a.c", C), ("s d/a.b.c", C), ("a.cc", CXX)):
            (folder / "build/p" / name).write_text(text)

    def real(self, word):
        for name in ("build", "out"):
            word = word.replace(f"/{name}/", f"{self.root}/{name}/")
        return word

    def ask(self, sent, *args):
        return subprocess.run([self.tool, *args], input=sent, capture_output=True, check=True).stdout

    def run(self, argv, cwd):
        done = subprocess.run([self.real(word) for word in argv], cwd=self.real(cwd + "/"), env=ENV, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout, done.stderr

    def in_forge(self, tool, argv, cwd):
        """The command as understood, its object, dependencies and messages."""
        sent = request(tool, argv, cwd)
        command = json.loads(self.ask(sent, "command"))
        assert command["kind"] == "cc", command
        out = self.root / "out"
        said = self.run(command["compile"], cwd)
        assert sorted(os.listdir(out)) == ([".deps", "object"] if "out_deps" in command else ["object"])
        deps = None
        if "out_deps" in command:
            deps = self.ask(sent, "deps", str(out / ".deps"))
            if command["deps_target"].startswith("/build/"):
                deps = None  # the folder's own length would break the lines elsewhere
        return command, (out / "object").read_bytes(), deps, said

    def in_place(self, tool, argv, command):
        said = self.run([PROGRAMS[tool], *argv[1:]], command["cwd"])
        deps = pathlib.Path(self.real(command["depfile"])).read_bytes() if "depfile" in command else None
        return pathlib.Path(self.real(command["object"])).read_bytes(), deps, said


CASES = [
    ("cc", "gcc -Iinc -DWITH='\"1 2\"' -c a.c -o b/a.o"),
    ("cc", "gcc -Iinc -DWITH=__TIMESTAMP__ -Wall -Wextra -O2 -fPIC -c a.c"),
    ("cc", "gcc -DWITH='\"\"' -DNDEBUG -g -fwrapv -O3 -Wall -fPIC -Iinc -c a.c -o b/x.p/a.o"),
    ("cc", "gcc -Iinc -DWITH='\"\"' -g -MD -MP -c a.c -o b/a.o"),
    ("cc", "gcc -Iinc -DWITH='\"\"' -MMD -MF b/deps -c a.c"),
    ("cc", "gcc -Iinc -DWITH='\"\"' -MD -MT 'a raw$target' -MF b/deps -c a.c -o b/a.o"),
    ("cc", "gcc -Iinc -DWITH='\"\"' -MD -MQ 'a b$c#.o' -c a.c -o b/a.o"),
    ("cc", "gcc -Iinc -DWITH='\"\"' -MD -c 's d/a.b.c'"),
    ("cc", "gcc -Iinc -DWITH='\"\"' -MD -c a.c -o 'b/a long name with blanks, so that lines are broken in other places.o'"),
    ("cc", "gcc -Iinc -DWITH='\"\"' -xc++ -Wall -c a.c -ob/noext -MD"),
    ("cc", "gcc -Iinc -Ib/x.p -DWITH='\"\"' -fdiagnostics-color=always -std=gnu11 -g -MD -MQ b/x.p/a.c.o -MF b/x.p/a.c.o.d "
           "-o b/x.p/a.c.o -c ../p/a.c"),
    ("c++", "g++ -Iinc -DWITH='\"\"' -Wall -Wextra -O2 -fPIC -c a.cc -o b/a.o"),
    ("c++", "g++ -MMD -MF /build/p/b/a.o.d -g -O2 -fPIC -Iinc -c /build/p/a.cc -o /build/p/b/a.o -DWITH=1 -std=c++17"),
    ("c++", "c++ -DWITH='\"1\"' -isystem inc -fvisibility=hidden -MD -MT b/a.cc.o -MF b/a.cc.o.d -o b/a.cc.o -c a.cc"),
    ("c++", "g++ -Iinc -DWITH='\"\"' -Wp,-D_FORTIFY_SOURCE=2 -O2 -include string -iquote inc -idirafter inc -c a.cc -o b/a -MD"),
    ("c++", "g++ -Iinc -DWITH='\"\"' -c a.c -o b/a.o"),
]


@pytest.mark.parametrize("tool,line", CASES, ids=range(len(CASES)))
def test_same_bytes(build, tmp_path, tool, line):
    place = Place(build, tmp_path)
    argv = shlex.split(line)
    command, made, deps, said = place.in_forge(tool, argv, "/build/p")
    wanted, wanted_deps, wanted_said = place.in_place(tool, argv, command)
    assert made == wanted
    assert said == wanted_said
    if deps is not None:
        assert deps == wanted_deps
