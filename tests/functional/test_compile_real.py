"""What comes out of the compile store is what gcc and nvcc give in place, byte for byte: objects, dependency files and
messages; and where a source, a header or a flag changes, however little of it shows, the object is the new one."""
import pathlib
import shutil
import subprocess

import pytest

import real_compilers as real
from compiling import compiles, source
from conftest import BUSYBOX, Project

pytestmark = pytest.mark.skipif(not real.have_gcc(), reason="no gcc 12")
nvcc = pytest.mark.skipif(not real.have_nvcc(), reason="no nvcc")
PLACE = "--no-compile-store"


def differ(made, wanted):
    """The names of files that are not the same: bytes would say nothing to a reader."""
    return sorted(name for name in made.keys() | wanted.keys() if made.get(name) != wanted.get(name))


class Compilers:
    def __init__(self, project):
        self.project = project
        self.count = 0

    def build(self, script, *args):
        """The files that the script leaves in $out, and the records of its compiles, oldest first."""
        self.count += 1
        before = len(compiles(self.project))
        made = self.project.object(real.recipe(f"b{self.count}", f"mkdir $out w; cd w\n{script}"), *args, timeout=600)
        records = compiles(self.project)
        return real.files(made), list(reversed(records[:len(records) - before]))

    def same(self, script):
        """In place, made and found: three times the same.  The records of the last two."""
        wanted, none = self.build(script, PLACE)
        assert wanted and not none
        made, first = self.build(script)
        found, second = self.build(script)
        assert differ(made, wanted) == []
        assert differ(found, wanted) == []
        return ([(r["name"], r["note"]) for r in records if r["what"] == "compile"] for records in (first, second))

    def steps(self, script):
        """What was done for the script: (files, notes of whole compiles, {step: note})."""
        made, records = self.build(script)
        return made, [r["note"] for r in records if r["what"] == "compile"], {
            r["name"].split(" ", 1)[1]: r["note"] for r in records if r["what"] == "step"}


@pytest.fixture(scope="module")
def compilers(tmp_path_factory, build, shim):
    if not pathlib.Path(BUSYBOX).exists():
        pytest.skip(f"no {BUSYBOX} (busybox-static)")
    folder = tmp_path_factory.mktemp("real")
    project = Project(folder, str(build / "forge"))
    real.make_world(project, shim)
    yield Compilers(project)
    project.ends_well()
    subprocess.run(["chmod", "-R", "u+w", folder], check=False, stderr=subprocess.DEVNULL)
    shutil.rmtree(folder, ignore_errors=True)


C = {
    "plain.c": ["int f(int x) { return x + 1; }"],
    "std.c": ["#include <stdio.h>", "#include <string.h>", '#include "h.h"',
              'int main(void) { return printf("%s %s %d", __DATE__, __FILE__, TWICE(__COUNTER__)); }'],
    "warn.c": ['#include "h.h"', "static int unused;", "int f(int x) { switch (x) { case 1: x++; case 2: return TWICE(x); } }"],
    "inc.c": ['__asm__(".section .rodata\\nblob: .incbin \\"h.h\\"\\n");', "int g;"],
    "has.c": ['#if __has_include("maybe.h")', "int there;", "#else", "int missing;", "#endif"],
}
CXX = {
    "plain.cc": ["namespace { struct A { int n; }; }", "int f() { return A{1}.n; }"],
    "std.cc": ["#include <map>", "#include <string>", '#include "h.h"',
               "int f(const std::map<std::string, int> &m) { int q; return TWICE((int)m.size()); }"],
    "templates.cpp": ["#include <algorithm>", "#include <vector>", "template <class T> T top(std::vector<T> v) "
                      "{ std::sort(v.begin(), v.end()); return v.back(); }", "template int top(std::vector<int>);", "template double top(std::vector<double>);"],
}
HEADER = source("h.h", "#pragma once", "#define TWICE(x) ((x) + (x))")
C_FLAGS = ["-O2", "-g -O2 -fPIC -Wall", "-g3 -O0", "-O3 -DNDEBUG -fwrapv -fPIC -I. -MMD -MF OBJ.d -Wall -Wextra", "-MD -MT x.o -MF OBJ.d -std=gnu11 -O1",
           "-O2 -fstack-protector-strong -Wformat -D_FORTIFY_SOURCE=2 -fdiagnostics-color=always -Wall -I. -MD -MQ OBJ -MF OBJ.d",
           "-ffunction-sections -fdata-sections -Os -imacros h.h", "-O2 -pthread -isystem . -march=x86-64-v2 -ffast-math"]
CXX_FLAGS = ["-O2 -std=c++17 -fPIC", "-g -O1 -std=c++20 -Wall -Wextra -I. -MMD -MF OBJ.d", "-O3 -DNDEBUG -fvisibility=hidden -fvisibility-inlines-hidden -fPIC",
             "-O0 -g -include h.h -MD -MF OBJ.d", "-O2 -fno-exceptions -fno-rtti -std=gnu++17 -Wp,-D_GLIBCXX_ASSERTIONS"]


def lines(tool, names, flags):
    """One compile a line; the object, the dependencies and what was said are kept."""
    out = ""
    for i, each in enumerate(flags):
        for name in names:
            obj = f"{i}-{name}.o"
            out += f"{tool} {each.replace('OBJ', obj)} -c {name} -o {obj} 2> $out/{i}-{name}.said\n"
    return out + "cp *.o $out\nls *.d > /dev/null 2>&1 && cp *.d $out || true\n"


@pytest.mark.parametrize("tool, sources, flags", [("gcc", C, C_FLAGS), ("g++", CXX, CXX_FLAGS)], ids=["c", "c++"])
def test_same_bytes(compilers, tool, sources, flags):
    script = HEADER + "".join(source(name, *text) for name, text in sources.items()) + lines(tool, sources, flags)
    made, found = compilers.same(script)
    assert len(made := list(made)) == len(sources) * len(flags)
    assert {note for _, note in made} == {"miss"}, made
    assert {note for _, note in found} == {"hit"}


def test_what_changes_is_seen(compilers):
    """A header's content, a header that appears before another, one that __has_include asks for, a file of .incbin."""
    base = HEADER + "mkdir -p early late; echo '#define V 1' > late/v.h\n" + source("a.c", '#include "v.h"', "int v = V;") + \
        source("has.c", *C["has.c"]) + source("inc.c", *C["inc.c"])
    run = "for n in a has inc; do gcc -Iearly -Ilate -c $n.c -o $n.o; done; cp *.o $out\n"
    first, _ = compilers.build(base + run)
    seen = [first]
    for change, other in [("echo '#define V 2' > late/v.h\n", {"a.o"}), ("echo '#define V 3' > early/v.h\n", {"a.o"}),
                          ("echo > maybe.h\n", {"has.o"}), ("echo '// more' >> h.h\n", {"inc.o"})]:
        wanted, _ = compilers.build(base + change + run, PLACE)
        made, records = compilers.build(base + change + run)
        assert differ(made, wanted) == []
        assert {name for name in made if made[name] != first[name]} == other
        assert sorted(r["note"] for r in records) == ["hit", "hit", "miss"]
        seen.append(made)
    again, records = compilers.build(base + run)
    assert again == first and {r["note"] for r in records} == {"hit"}


def test_what_only_links_read(compilers):
    """/toolchain/floor is no part of what a compile hangs on, and so none of what it sees."""
    project = compilers.project
    world = real.WORLD.replace('forge.path "toolchain" } }', 'forge.path "toolchain" } }, { at = "/toolchain/floor", layers = { forge.path "floor" } }')
    (project.recipes / "floor").mkdir(exist_ok=True)
    script = ("mkdir $out\n" + source("a.c", "int f(void) { return 1; }") + source("b.c", '#include "/toolchain/floor/x.h"', "int x = X;")
              + "gcc -c a.c -o $out/a.o; gcc -c b.c -o $out/b.o")
    notes, made = [], []
    for number in (1, 2):
        (project.recipes / "floor/x.h").write_text(f"#define X {number}\n")
        before = len(compiles(project))
        made.append(real.files(project.object(world.replace("NAME", f"floor{number}").replace("SCRIPT", script), timeout=600)))
        notes.append({r["name"]: r["note"] for r in compiles(project)[:-before or None]})
    assert [n["a.c"] for n in notes] == ["miss", "hit"] and made[0]["a.o"] == made[1]["a.o"] and made[0]["b.o"] != made[1]["b.o"]
    assert all(n["b.c"].startswith("in place: ") for n in notes)


def test_precompiled_headers(compilers):
    script = HEADER + source("a.c", '#include "h.h"', "int a = TWICE(1);")
    for more in ("", "gcc -O2 -x c-header h.h -o h.h.gch\n"):
        run = script + more + "gcc -O2 -c a.c -o a.o; cp a.o $out\n"
        wanted, _ = compilers.build(run, PLACE)
        assert differ(compilers.build(run)[0], wanted) == []


def test_commands_of_other_forms(compilers):
    script = HEADER + source("a.c", "int a;") + source("b.c", "int b;") + "echo -c a.c -o r.o > args\n" + \
        "gcc @args; gcc -c a.c b.c; echo 'int s;' | gcc -x c -c - -o s.o; gcc -S a.c -o a.s; gcc -E a.c > a.i; gcc -c a.s -o as.o\n" + \
        "cp *.o a.s a.i $out\n"
    wanted, _ = compilers.build(script, PLACE)
    assert differ(compilers.build(script)[0], wanted) == []


def test_files_of_options(compilers):
    """gcc's @FILE: found again, unless what it says has changed."""
    script = HEADER + source("a.c", '#include "h.h"', "int a = TWICE(N);") + "echo '-O2 -DN=%d' > flags\ngcc @flags -c a.c -o a.o; cp a.o $out\n"
    made, found = compilers.same(script % 1)
    assert [note for _, note in made] == ["miss"] and [note for _, note in found] == ["hit"]
    other, records = compilers.build(script % 2)
    assert other != compilers.build(script % 1)[0] and [r["note"] for r in records if r["what"] == "compile"] == ["miss"]


def test_native_is_refused(compilers):
    _, err = compilers.project.realise(real.recipe("native", "echo 'int a;' > a.c; gcc -march=native -c a.c; echo > $out"), status=100)
    assert "depends on the machine that the build happens to run on" in err


KERNEL = ["#include <cstdio>", '#include "k.h"', "__device__ __forceinline__ float work(float x) {", "#if __CUDA_ARCH__ >= 900", '#include "new.h"',
          "#endif", "  return x * FACTOR; }", "__global__ void k(float *p) { p[threadIdx.x] = work(p[threadIdx.x]); }", "#ifndef __CUDA_ARCH__",
          "int host_only() { return HOST; }", "#endif", "void run(float *p) { k<<<1, 32>>>(p); }"]
# -lineinfo and -G write down when a file was last changed: as for a package's own sources, it is always the same.
TIMES = "touch -d '1980-01-02 00:00:00' *\n"
FILES = source("k.cu", *KERNEL) + source("k.h", "#define FACTOR 2.0f") + source("new.h", "  x += 1.0f;")
ARCH = {n: f"-gencode arch=compute_{n},code=sm_{n}" for n in ("80", "90")}


def compile_line(flags="", archs=("80",), define="-DHOST=1", name="k.cu", how="-c"):
    return f"nvcc {how} {name} -o k.o {define} {' '.join(ARCH[a] for a in archs)} {flags} 2> $out/said; cp k.o $out; cp *.d $out 2> /dev/null || true\n"


@nvcc
@pytest.mark.parametrize("line", [
    compile_line(), compile_line(archs=("80", "90")), compile_line("-O3 -std=c++17 --expt-relaxed-constexpr -Xcompiler -fPIC --threads 2", ("80", "90")),
    compile_line("-lineinfo -MD -MF k.o.d"), compile_line("--generate-dependencies-with-compile --dependency-output k.o.d --use_fast_math"),
    compile_line("-MMD -MP -MF k.o.d -Xptxas -O2", ("80", "90")), compile_line(how="-dc"), compile_line("-rdc=true"),
    compile_line("-gencode arch=compute_90,code=compute_90 -Xcompiler -Wall"), compile_line("-arch=sm_86", ()),
    compile_line(name="k.cc", define="-DHOST=2", how="-x cu -c"),
    compile_line("""-m64 -D_FORCE_INLINES -Xcompiler ',"-fsigned-char","-W","-pthread","-O3","-DNDEBUG"' -Xcompiler=-fPIC --std=c++17 -DNVCC"""),
    # CMake's words: its folders of headers stand in a file
    "mkdir inc; mv k.h inc; printf '%s\\n' '-Iinc -isystem \"inc\"' -DHOST=3 > includes.rsp\n" +
    compile_line("-forward-unknown-to-host-compiler --options-file includes.rsp -MD -MT k.o -MF k.o.d", define="", how="-x cu -c"),
], ids=range(13))
def test_nvcc_same_bytes(compilers, line):
    made, found = compilers.same(FILES + "cp k.cu k.cc\n" + TIMES + line)
    assert made[0][1] == "miss" or made[0][1].startswith("miss, as a whole: ")
    assert len(made) == 1 and [note for _, note in found] == ["hit"]


@nvcc
def test_nvcc_debug_information(compilers):
    """It has the folders of the object and of the work: objects in two folders, named in two ways, are four."""
    flags = {"g": "-g -DHOST=1", "dc": "-dc -Xcompiler -g3 -O1 -DHOST=2", "all": f"-g -O2 -lineinfo -Xcompiler -fPIC {ARCH['90']} -DHOST=3"}
    line = f"nvcc -c %s {ARCH['80']} -o "
    folders = ("one/", "two/", "$PWD/two/abs-", "./one/../two/up-")
    script = FILES + "mkdir one two\n" + TIMES + "".join(
        line % f"k.cu {words}" + f"{folder}{name}.o\n" for name, words in flags.items() for folder in folders) + \
        "cd one\n" + line % "../k.cu -g -DHOST=1" + "../two/other.o\ncd ..\n" + \
        "export NVCC_APPEND_FLAGS=-g\n" + "".join(line % "k.cu -DHOST=4" + f"{folder}env.o\n" for folder in folders[:2]) + "cp -r one two $out\n"
    made, found = compilers.same(script)
    assert len(made) == len(found) == len(folders) * len(flags) + 3
    assert {note for _, note in made} == {"miss"} and {note for _, note in found} == {"hit"}


@nvcc
@pytest.mark.parametrize("code, complaint", [
    ('int host() { int x; __asm__("" : "=Z"(x)); return x; }', "impossible constraint"),
    ('int host() { __asm__("no_such_instruction"); return 0; }', "no such instruction"),
], ids=["compiler", "assembler"])
def test_nvcc_host_half_that_fails(compilers, code, complaint):
    """cudafe++ and the device's steps have nothing against it: what the host's compiler says is said, once."""
    script = FILES + source("bad.cu", '#include "k.cu"', code) + TIMES + (
        f"nvcc -c bad.cu -o bad.o -DHOST=1 {ARCH['80']} > $out/out 2> said || echo $? > $out/status\n"
        "sed 's|/tmp/[^ :]*|TEMPORARY|g' said > $out/said; test ! -e bad.o\n")
    wanted, none = compilers.build(script, PLACE)
    made, records = compilers.build(script)
    assert differ(made, wanted) == [] and not none
    assert complaint in str(made) and str(made).count(complaint) == 1
    assert [r["note"].split(":")[0] for r in records if r["what"] == "compile"] == ["in place"]


@nvcc
def test_nvcc_steps_are_shared(compilers):
    """What only the host sees leaves the device's steps; one more architecture costs only itself; and an architecture's
    own code only that."""
    one = 'sed -i s/2.0f/5.0f/ k.h\n'  # a source of this test's own
    base = FILES + one
    _, whole, steps = compilers.steps(base + compile_line())
    assert whole == ["miss"] and steps == {"cicc compute_80": "miss", "ptxas sm_80": "miss"}
    for script, want in [
        (base + "sed -i 's/return HOST/return -HOST/' k.cu\n" + compile_line(), {"cicc compute_80": "hit", "ptxas sm_80": "hit"}),
        (base + compile_line(archs=("80", "90")), {"cicc compute_80": "hit", "ptxas sm_80": "hit", "cicc compute_90": "miss", "ptxas sm_90": "miss"}),
        (base + "echo '  x += 2.0f;' > new.h\n" + compile_line(archs=("80", "90")),
         {"cicc compute_80": "hit", "ptxas sm_80": "hit", "cicc compute_90": "miss", "ptxas sm_90": "miss"}),
        (base + compile_line("--maxrregcount 32"), {"cicc compute_80": "miss", "ptxas sm_80": "miss"}),
        (base + compile_line(how="-dc"), {"cicc compute_80": "miss", "ptxas sm_80": "miss"}),
    ]:
        wanted, _ = compilers.build(script, PLACE)
        made, whole, steps = compilers.steps(script)
        assert differ(made, wanted) == []
        assert whole == ["miss"] and steps == want


@nvcc
def test_kernels_that_were_never_seen_go_first(compilers):
    """Whatever came first: they are what all else waits for in the end."""
    script = (source("held.cc", "constexpr long count() { long sum = 0; for (long i = 0; i < 2000000; i++) sum += i; return sum; }",
                     "static_assert(count() > 0, \"\");") + source("second.c", "int second;") + source("third.cu", "int third;") +
              "(c++ -fconstexpr-loop-limit=9999999 -fconstexpr-ops-limit=999999999 -c held.cc -o held.o; cp held.o $out) & sleep 0.4\n"
              "cc -c second.c -o second.o & sleep 0.2; nvcc -c third.cu -o third.o -arch=sm_80 2> said; wait\n")
    _, records = compilers.build(script, "--jobs", "1")
    began = [r["name"] for r in sorted(records, key=lambda r: r["start_ms"]) if r["what"] == "compile"]
    assert [name.rsplit("/", 1)[-1] for name in began] == ["held.cc", "third.cu", "second.c"]


@nvcc
def test_nvcc_flags_of_the_environment(compilers):
    """They change the object, whatever was there before, and what they give is found again."""
    for name in ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS"):
        objects = []
        for value in ("-DFACTOR2=1", "-Xcompiler -O3 --use_fast_math -DHOST2"):
            script = FILES + TIMES + f'export {name}="{value}"\n' + compile_line()
            wanted, _ = compilers.build(script, PLACE)
            for note in ("miss", "hit"):
                made, notes, _ = compilers.steps(script)
                assert differ(made, wanted) == [] and notes == [note]
            objects.append(made["k.o"])
        assert objects[0] != objects[1]


CUB = ["#include <cub/cub.cuh>", "#include <thrust/sort.h>", "#include <thrust/execution_policy.h>",
       "template <int N> __global__ void sum(const int *in, int *out) { using R = cub::BlockReduce<int, N>; "
       "__shared__ typename R::TempStorage t; int all = R(t).Sum(in[threadIdx.x]); if (threadIdx.x == 0) "
       '{ *out = all; printf("%s\\n", __PRETTY_FUNCTION__); } }', "template __global__ void sum<128>(const int *, int *);",
       "__global__ void order(int *p) { thrust::sort(thrust::seq, p, p + 32); }"]


@nvcc
@pytest.mark.parametrize("source_lines", [CUB, ["#include <thrust/complex.h>", "__global__ void none(int *p) { *p = 1; }"]], ids=["instantiated", "included"])
def test_names_with_the_list_in_them(compilers, source_lines):
    """CUB's and Thrust's namespaces have the list of architectures in their names: for another list either the same
    bytes as the compiler's or a miss."""
    done = []
    for archs in (("80",), ("80", "90"), ("90",)):
        script = source("k.cu", *source_lines) + compile_line("-std=c++17", archs)
        wanted, _ = compilers.build(script, PLACE)
        made, whole, steps = compilers.steps(script)
        assert differ(made, wanted) == []
        done.append(steps)
    if source_lines is not CUB:
        assert done[1]["cicc compute_80"] == "hit" and done[1]["cicc compute_90"] == "miss"
        assert done[2] == {"cicc compute_90": "hit", "ptxas sm_90": "miss"}  # PTX has the names as asked


@nvcc
def test_native_architecture_is_refused(compilers):
    _, err = compilers.project.realise(real.recipe("nativegpu", FILES + "nvcc -arch=native -c k.cu; echo > $out"), status=100)
    assert "depends on the GPU" in err
