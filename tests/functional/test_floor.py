"""What shared objects are linked with so that older systems can load them (lib/toolchain/floor), made by the machine's
own gcc 12 and called through the shim as lib/toolchain/make.sh lays it out."""
import ctypes
import os
import pathlib
import re
import subprocess

import pytest

import real_compilers as real

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not real.have_gcc(), reason="no gcc 12")

# A length that no array has: containers ask libstdc++ to throw.
LENGTH = """
#include <memory>
#include <new>
extern "C" int length(unsigned long n) {
  try { std::allocator<double>().allocate(n); return 0; }
  catch (const std::bad_array_new_length &) { return 1; }
  catch (const std::bad_alloc &) { return 2; }
}
"""
# Pointers that count are told whether there are threads.
THREADS = '#include <memory>\nextern "C" int shared() { auto a = std::make_shared<int>(7), b = a; return *b + (int)a.use_count(); }\n'
# As glibc 2.38's headers have it, with which this is not compiled; %i knows other bases.
NUMBERS = """
#include <stdarg.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
long number(const char *, char **, int) __asm__("__isoc23_strtol");
unsigned long long large(const char *, char **, int) __asm__("__isoc23_strtoull");
int scan(const char *, const char *, ...) __asm__("__isoc23_sscanf");
int read_file(FILE *, const char *, ...) __asm__("__isoc23_fscanf");
long numbers(const char *path) {
  int a = 0, b = 0;
  FILE *f = fopen(path, "r");
  if (!f || scan("0x10 7", "%i %d", &a, &b) != 2 || read_file(f, "%d", &b) != 1 || fclose(f)) return -1;
  return number("1000", 0, 10) + (long)large("20000", 0, 0) + a + b;
}
#ifdef __cplusplus
}
#endif
"""
PLAIN = 'extern "C" int plain() { return 3; }\n'


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("floor")
    env = {"PATH": "/usr/bin:/bin", "out": str(folder / "toolchain"), "gcc": "12",
           "sources": " ".join(str(p) for p in sorted((ROOT / "src/shim").glob("*.[ch]"))),
           "floor": " ".join(str(p) for p in sorted((ROOT / "lib/toolchain/floor").glob("*.c")))}
    subprocess.run(["/bin/sh", "-eu", ROOT / "lib/toolchain/make.sh"], cwd=folder, env=env, check=True)
    return folder / "toolchain"


def link(toolchain, folder, text, *args, by="c++"):
    source, made = folder / ("a.cc" if by == "c++" else "a.c"), folder / "a.so"
    source.write_text(text)
    env = {"PATH": "/usr/bin:/bin"}
    subprocess.run([toolchain / "bin" / by, "-O2", "-fPIC", "-c", source, "-o", folder / "a.o"], env=env, check=True)
    subprocess.run([toolchain / "bin" / by, "-shared", folder / "a.o", "-o", made, *args], env=env, check=True)
    return made


def needs(made):
    """Names that the object gets from others, with their versions."""
    out = subprocess.run(["objdump", "-T", made], check=True, capture_output=True, text=True).stdout
    return {match[2]: match[1] for match in re.finditer(r"\*UND\*\s+[0-9a-f]+\s+\(?([\w.]*)\)?\s+(\S+)", out)}


def test_lengths(toolchain, tmp_path):
    made = link(toolchain, tmp_path, LENGTH)
    found = needs(made)
    assert "_ZSt28__throw_bad_array_new_lengthv" not in found and found["__cxa_throw_bad_array_new_length"] == "CXXABI_1.3.8"
    assert not [v for v in found.values() if v.startswith("GLIBCXX_3.4.") and int(v.rsplit(".", 1)[1]) > 20]
    length = ctypes.CDLL(str(made)).length
    assert length(ctypes.c_ulong(1 << 62)) == 1 and length(ctypes.c_ulong(3)) == 0


def test_threads(toolchain, tmp_path):
    made = link(toolchain, tmp_path, THREADS)
    assert "__libc_single_threaded" not in needs(made)
    assert ctypes.CDLL(str(made)).shared() == 9


@pytest.mark.parametrize("by", ["cc", "c++"])
def test_numbers(toolchain, tmp_path, by):
    made = link(toolchain, tmp_path, NUMBERS, "-Wl,-z,defs", by=by)
    found = needs(made)
    assert not [name for name in found if "isoc23" in name] and found["__isoc99_vsscanf"] == "GLIBC_2.7"
    (tmp_path / "number").write_text("300\n")
    numbers = ctypes.CDLL(str(made)).numbers
    numbers.restype = ctypes.c_long
    assert numbers(str(tmp_path / "number").encode()) == 21316


@pytest.mark.parametrize("by", ["cc", "c++"])
def test_what_needs_nothing_gets_nothing(toolchain, tmp_path, by):
    made = link(toolchain, tmp_path, PLAIN if by == "c++" else "int plain(void) { return 3; }", "-Wl,-z,defs", by=by)
    assert not {"__cxa_throw_bad_array_new_length", "__libc_single_threaded", "strtol"} & set(needs(made))
    told = subprocess.run(["nm", made], check=True, capture_output=True, text=True).stdout
    assert "bad_array" not in told and "single_threaded" not in told and "isoc23" not in told
    assert ctypes.CDLL(str(made)).plain() == 3


def test_all_of_them_are_hidden(toolchain, tmp_path):
    made = link(toolchain, tmp_path, LENGTH + THREADS)
    told = subprocess.run(["objdump", "-T", made], check=True, capture_output=True, text=True).stdout
    defined = [line.split()[-1] for line in told.splitlines() if ".text" in line or ".bss" in line or ".data" in line]
    assert "length" in defined and not [n for n in defined if "bad_array" in n or "single_threaded" in n]


def test_the_same_bytes_each_time(toolchain, tmp_path):
    """Of the archive, whenever it is made: it is part of a store object."""
    env = dict(os.environ, out=str(tmp_path / "again"), gcc="12", sources=" ".join(str(p) for p in (ROOT / "src/shim").glob("*.[ch]")),
               floor=" ".join(str(p) for p in sorted((ROOT / "lib/toolchain/floor").glob("*.c"))))
    for file in (ROOT / "lib/toolchain/floor").glob("*.c"):
        os.utime(file)
    subprocess.run(["/bin/sh", "-eu", ROOT / "lib/toolchain/make.sh"], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "again/lib/floor.a").read_bytes() == (toolchain / "lib/floor.a").read_bytes()
