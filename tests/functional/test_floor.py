"""What shared objects are linked with so that older systems can load them (lib/toolchain/floor), made by the machine's
own gcc 12 and called through the shim as lib/toolchain/make.sh lays it out.

No older system is here: that one would load them is told by the versions that they ask for, and that they do what they
should with the older versions, by running them."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import real_compilers as real

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOOR = ROOT / "lib/toolchain/floor"
pytestmark = pytest.mark.skipif(not real.have_gcc(), reason="no gcc 12")
NEWEST = {"GLIBC": (2, 17), "GLIBCXX": (3, 4, 22), "CXXABI": (1, 3, 9)}

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
COUNTS = '#include <memory>\nextern "C" int shared() { auto a = std::make_shared<int>(7), b = a; return *b + (int)a.use_count(); }\n'
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
MATHS = """
#include <math.h>
#ifdef __cplusplus
extern "C"
#endif
double maths(double x, float y) {
  return exp(x) + exp2(x) + log(x) + log2(x) + pow(x, y) + hypot(x, y) + fmod(x, y) + expf(y) + logf(y) + powf(y, 3) + hypotf(y, y) + lgamma(x);
}
"""
# Of this one the older version is another function: it takes the numbers themselves.
ORDER = "#define _GNU_SOURCE\n#include <math.h>\nint order(double a, double b) { return totalorder(&a, &b); }\n"
VECTORS = "#include <math.h>\nvoid vectors(double *x) { for (int i = 0; i < 64; i++) x[i] = exp(x[i]); }\n"
THREADS = """
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
using namespace std::chrono;
extern "C" int threads() {
  std::mutex m;
  std::timed_mutex t;
  std::shared_timed_mutex s;
  std::condition_variable ready;
  bool is = false, timed = true, waited = true;
  std::thread other([&] { std::lock_guard<std::mutex> l(m); is = true; ready.notify_one(); });
  { std::unique_lock<std::mutex> l(m); while (!is) ready.wait(l); }
  other.join();
  auto before = steady_clock::now();
  { std::unique_lock<std::mutex> l(m); timed = ready.wait_until(l, before + milliseconds(50), [] { return false; }); }
  t.lock();
  s.lock();
  std::thread([&] { waited = t.try_lock_until(before + milliseconds(100)) || s.try_lock_until(before + milliseconds(150)) ||
    s.try_lock_shared_until(before + milliseconds(200)); }).join();
  bool long_enough = steady_clock::now() - before >= milliseconds(200);
  t.unlock();
  s.unlock();
  bool got = t.try_lock_for(seconds(5)) && s.try_lock_for(seconds(5));
  return is + 2 * !timed + 4 * !waited + 8 * long_enough + 16 * got;
}
"""
# An odd clock or time is an error, as in glibc.
CLOCKS = """
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
int clocks(void) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  struct timespec past = { 1, 0 }, odd = { 1, 1000000000 };
  pthread_mutex_lock(&m);
  return pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &odd) == EINVAL && pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL &&
    pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &past) == ETIMEDOUT && pthread_mutex_clocklock(&m, CLOCK_REALTIME, &past) == ETIMEDOUT;
}
"""
# A condition with the clock that is waited by; a wait for ever, which must be one wait.
CONDITIONS = """
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t plain = PTHREAD_COND_INITIALIZER;
static int ready;
static void *wake(void *arg) { usleep(50000); pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&plain); pthread_mutex_unlock(&m); return arg; }
int monotonic(void) {
  pthread_condattr_t a;
  pthread_cond_t c;
  struct timespec t;
  pthread_condattr_init(&a);
  pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
  pthread_cond_init(&c, &a);
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += 50000000;
  if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
  pthread_mutex_lock(&m);
  int rc = pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &t);
  pthread_mutex_unlock(&m);
  return rc == ETIMEDOUT;
}
int forever(void) {
  pthread_t thread;
  struct timespec never = { LONG_MAX, 0 };
  int waits = 0;
  ready = 0;
  pthread_create(&thread, 0, wake, 0);
  pthread_mutex_lock(&m);
  for (; !ready && waits < 1000; waits++) if (pthread_cond_clockwait(&plain, &m, CLOCK_MONOTONIC, &never)) return -1;
  pthread_mutex_unlock(&m);
  pthread_join(thread, 0);
  return waits;
}
"""
# As on a system that has no such waits.
OLD = """
#ifdef __cplusplus
extern "C"
#endif
__attribute__((visibility("hidden"))) void *dlsym(void *handle, const char *name) { return 0; }
"""
MOVED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static void begin(void) { sem_init(&sem, 0, 0); }
static void *post(void *arg) { pthread_once(&once, begin); sem_post(&sem); return arg; }
int moved(const char *name) {
  pthread_t t;
  void *got = 0, *self = dlopen(0, RTLD_NOW);
  Dl_info info;
  int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || close(fd) || shm_unlink(name) || !self || !dlsym(self, "malloc") || !dladdr((void *)moved, &info) || dlclose(self)) return -1;
  if (pthread_create(&t, 0, post, &t) || pthread_join(t, &got) || sem_wait(&sem)) return -2;
  return got == &t;
}
"""
STATS = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
long long stats(const char *path, const char *link, const char *pipe) {
  struct stat a, b, c, d;
  struct stat64 e;
  if (stat(path, &a) || lstat(link, &b) || fstatat(AT_FDCWD, link, &c, 0) || fstat(0, &d) || stat64(path, &e) || mknod(pipe, S_IFIFO | 0600, 0)) return -1;
  return a.st_size == e.st_size && a.st_ino == c.st_ino && S_ISLNK(b.st_mode) && lstat(pipe, &d) == 0 && S_ISFIFO(d.st_mode) &&
    stat("/nothing", &a) == -1 ? a.st_size : -2;
}
"""
STREAMS = """
#include <sstream>
struct own : std::ostringstream { own() { *this << 7; } };
extern "C" int streams() {
  std::ostringstream out;
  std::stringstream both;
  std::wstringstream wide;
  std::istringstream in;
  int a = 0, b = 0;
  out << 4;
  both << 38;
  both >> a;
  in.str("5");
  in >> b;
  wide << L"x";
  return a + b + (out.str() == "4") + 10 * (wide.str() == L"x") + 100 * in.fail() + 1000 * (own().str() == "7");
}
"""
POINTERS = """
#include <exception>
static int alive;
struct fault { fault() { alive++; } fault(const fault &) { alive++; } ~fault() { alive--; } };
extern "C" int pointers() {
  int caught = 0;
  {
    std::exception_ptr a, b;
    try { throw fault(); } catch (...) { a = std::current_exception(); }
    b = a;
    { std::exception_ptr c = b, d; d = c; a = nullptr; }
    try { std::rethrow_exception(b); } catch (const fault &) { caught = alive; }
    std::exception_ptr e = b;
    b = nullptr;
    caught += 10 * (alive == 1 && e);
  }
  return caught + 100 * (alive == 0);
}
"""
PLAIN = 'extern "C" int plain() { return 3; }\n'


def make(script, env, folder):
    subprocess.run(["/bin/sh", "-eu", ROOT / "lib/toolchain" / script], cwd=folder, env={"PATH": "/usr/bin:/bin", **env}, check=True)


def make_floor(out, folder):
    members = re.findall(r'^local (c|cxx) = \{(.*)\}$', (ROOT / "lib/forge/floor.lua").read_text(), re.M)
    sources = {kind: [FLOOR / f"{name}.c" for name in re.findall(r'"(\w+)"', names)] for kind, names in members}
    assert sorted(sum(sources.values(), [])) == sorted(FLOOR.glob("*.c"))
    make("floor/make.sh", {"out": str(out), "at": str(out), "stub": str(FLOOR / "stub.awk"),
                           **{kind: " ".join(map(str, paths)) for kind, paths in sources.items()}}, folder)


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("floor")
    out = folder / "toolchain"
    make("make.sh", {"out": str(out), "gcc": "12", "sources": " ".join(str(p) for p in sorted((ROOT / "src/shim").glob("*.[ch]")))}, folder)
    make_floor(out / "floor", folder)
    return out


def link(toolchain, folder, text, *args, by="c++", flags=(), before=()):
    source, made = folder / ("a.cc" if by == "c++" else "a.c"), folder / "a.so"
    source.write_text(text)
    env = {"PATH": "/usr/bin:/bin"}
    subprocess.run([toolchain / "bin" / by, "-O2", "-fPIC", *flags, "-c", source, "-o", folder / "a.o"], env=env, check=True)
    subprocess.run([toolchain / "bin" / by, "-shared", *before, folder / "a.o", "-o", made, "-Wl,-z,defs", *args], env=env, check=True)
    return made


def needs(made):
    """Names that the object gets from others, with their versions."""
    out = subprocess.run(["objdump", "-T", made], check=True, capture_output=True, text=True).stdout
    return {match[2]: match[1] for match in re.finditer(r"\*UND\*\s+[0-9a-f]+\s+\(?([\w.]*)\)?\s+(\S+)", out)}


def libraries(made):
    out = subprocess.run(["readelf", "-dW", made], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"NEEDED.*\[(.*)\]", out))


def load(made, *named):
    """Loaded, once it is seen that it asks for nothing new and that of its own names only those are seen."""
    for name, version in needs(made).items():
        family, _, number = version.partition("_")
        newest = NEWEST.get(family)
        assert not newest or tuple(map(int, number.split("."))) <= newest, f"{name}@{version}"
    told = subprocess.run(["nm", "-D", "--defined-only", made], check=True, capture_output=True, text=True).stdout
    strong = {line.split()[-1] for line in told.splitlines() if line.split()[-2] in "TDB"}
    assert strong <= set(named) | {"_init", "_fini", "_end", "_edata", "__bss_start"}
    return ctypes.CDLL(str(made))


def test_lengths(toolchain, tmp_path):
    made = link(toolchain, tmp_path, LENGTH)
    found = needs(made)
    assert "_ZSt28__throw_bad_array_new_lengthv" not in found and found["__cxa_throw_bad_array_new_length"] == "CXXABI_1.3.8"
    length = load(made, "length").length
    assert length(ctypes.c_ulong(1 << 62)) == 1 and length(ctypes.c_ulong(3)) == 0


def test_pointers_that_count(toolchain, tmp_path):
    made = link(toolchain, tmp_path, COUNTS)
    assert "__libc_single_threaded" not in needs(made)
    assert load(made, "shared").shared() == 9


@pytest.mark.parametrize("by", ["cc", "c++"])
def test_numbers(toolchain, tmp_path, by):
    made = link(toolchain, tmp_path, NUMBERS, by=by)
    found = needs(made)
    assert not [name for name in found if "isoc23" in name] and found["__isoc99_vsscanf"] == "GLIBC_2.7"
    (tmp_path / "number").write_text("300\n")
    numbers = load(made, "numbers").numbers
    numbers.restype = ctypes.c_long
    assert numbers(str(tmp_path / "number").encode()) == 21316


@pytest.mark.parametrize("by, before, after", [("cc", [], ["-lm"]), ("c++", [], []), ("c++", ["-lm"], ["-lm"])])
def test_mathematics(toolchain, tmp_path, by, before, after):
    made = link(toolchain, tmp_path, MATHS, *after, by=by, before=before)
    found = needs(made)
    assert {found[name] for name in ("exp", "log", "pow", "hypot", "fmod", "expf")} == {"GLIBC_2.2.5"} and "libm.so.6" in libraries(made)
    maths = load(made, "maths").maths
    maths.restype, maths.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_float]
    subprocess.run(["/usr/bin/gcc-12", "-x", "c", "-O2", "-fPIC", "-shared", "-o", tmp_path / "usual.so", "-", "-lm"], input=MATHS,
                   text=True, check=True)
    other = ctypes.CDLL(str(tmp_path / "usual.so")).maths
    other.restype, other.argtypes = maths.restype, maths.argtypes
    assert maths(7.25, 2.5) == other(7.25, 2.5) > 1000


def test_a_function_that_became_another_one(toolchain, tmp_path):
    made = link(toolchain, tmp_path, ORDER, "-lm", by="cc")
    assert needs(made)["totalorder"] == "GLIBC_2.31"
    order = ctypes.CDLL(str(made)).order
    order.argtypes = [ctypes.c_double, ctypes.c_double]
    assert order(-0.0, 0.0) == 1 and order(2.0, 1.0) == 0


def test_mathematics_of_vectors(toolchain, tmp_path):
    made = link(toolchain, tmp_path, VECTORS, "-lm", by="cc", flags=["-O3", "-ffast-math"])
    assert [name for name in needs(made) if name.startswith("_ZGV")] and "libmvec.so.1" in libraries(made)
    many = (ctypes.c_double * 64)(*([1.0] * 64))
    ctypes.CDLL(str(made)).vectors(many)
    assert all(abs(x - 2.718281828) < 1e-8 for x in many)


@pytest.mark.parametrize("old", ["", OLD], ids=["new", "old"])
def test_threads(toolchain, tmp_path, old):
    made = link(toolchain, tmp_path, THREADS + old, flags=["-std=c++17"])
    assert needs(made)["pthread_mutex_timedlock"] == "GLIBC_2.2.5" and "libpthread.so.0" in libraries(made)
    assert not [name for name in needs(made) if "clock" in name and name.startswith("pthread")]
    assert load(made, "threads").threads() == 31


def test_waiting_for_conditions(toolchain, tmp_path):
    made = load(link(toolchain, tmp_path, CONDITIONS, by="cc"), "monotonic", "forever")
    assert made.monotonic() == 1 and made.forever() in (1, 2)


def test_waiting_for_ever_without_the_clock(toolchain, tmp_path):
    assert load(link(toolchain, tmp_path, CONDITIONS + OLD, by="cc"), "monotonic", "forever").forever() in (1, 2)


def test_a_libstdcxx_that_is_linked_in(toolchain, tmp_path):
    made = link(toolchain, tmp_path, THREADS, "-static-libstdc++", flags=["-std=c++17"])
    assert "libstdc++.so.6" not in libraries(made)
    new = {name: version for name, version in needs(made).items() if version.startswith("GLIBC_2.") and int(version.split(".")[1]) > 18}
    assert set(new) <= {"_dl_find_object", "arc4random", "getentropy"} and ctypes.CDLL(str(made)).threads() == 31


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_other_linkers(toolchain, tmp_path, linker):
    if not shutil.which(f"ld.{linker}"):
        pytest.skip(f"no ld.{linker}")
    made = link(toolchain, tmp_path, THREADS, f"-fuse-ld={linker}", flags=["-std=c++17"])
    assert load(made, "threads").threads() == 31


@pytest.mark.parametrize("old", ["", OLD], ids=["new", "old"])
def test_odd_clocks(toolchain, tmp_path, old):
    made = link(toolchain, tmp_path, CLOCKS + old, by="cc")
    assert "pthread_mutex_clocklock" not in needs(made) and load(made, "clocks").clocks() == 1


OWN = """
#include <sys/stat.h>
int fstat64(int fd, struct stat64 *to) { return 77; }
int own(struct stat64 *to) { struct stat s; return stat("/", &s) == 0 ? fstat64(0, to) : -1; }
"""


def test_an_object_with_a_function_of_its_own(toolchain, tmp_path):
    """Of that name, beside others of the same member of the archive."""
    made = link(toolchain, tmp_path, OWN, by="cc", flags=["-D_GNU_SOURCE", "-fvisibility=hidden"])
    told = subprocess.run(["nm", made], check=True, capture_output=True, text=True).stdout
    assert re.search(r" t fstat64$", told, re.M) and re.search(r" [tw] stat$", told, re.M)


@pytest.mark.parametrize("after", [[], ["-pthread", "-ldl", "-lrt"], ["-nodefaultlibs", "-lpthread", "-ldl", "-lc"]])
def test_what_moved_into_libc(toolchain, tmp_path, after):
    made = link(toolchain, tmp_path, MOVED, *after, by="cc")
    assert {"libpthread.so.0", "libdl.so.2", "librt.so.1"} <= libraries(made)
    assert load(made, "moved").moved(f"/forge-floor-{os.getpid()}".encode()) == 1


def test_files(toolchain, tmp_path):
    made = link(toolchain, tmp_path, STATS, by="cc")
    assert needs(made)["__xstat"] == "GLIBC_2.2.5"
    (tmp_path / "file").write_text("12345")
    (tmp_path / "link").symlink_to("file")
    stats = load(made, "stats").stats
    assert stats(*(str(tmp_path / name).encode() for name in ("file", "link", "pipe"))) == 5


@pytest.mark.parametrize("abi", ["0", "1"])
def test_streams(toolchain, tmp_path, abi):
    made = link(toolchain, tmp_path, STREAMS, flags=[f"-D_GLIBCXX_USE_CXX11_ABI={abi}"])
    assert load(made, "streams").streams() == 1054


def test_pointers_to_exceptions(toolchain, tmp_path):
    made = link(toolchain, tmp_path, POINTERS)
    assert not [name for name in needs(made) if "_M_addref" in name or "_M_release" in name]
    assert load(made, "pointers").pointers() == 111


@pytest.mark.parametrize("by", ["cc", "c++"])
def test_what_needs_nothing_gets_nothing(toolchain, tmp_path, by):
    made = link(toolchain, tmp_path, PLAIN if by == "c++" else "int plain(void) { return 3; }", by=by)
    told = subprocess.run(["nm", made], check=True, capture_output=True, text=True).stdout
    assert not re.search("bad_array|single_threaded|isoc23|stat|clock|pthread|forge", told)
    assert not {"libpthread.so.0", "libdl.so.2", "librt.so.1"} & libraries(made)
    assert load(made, "plain").plain() == 3


def test_a_program_is_left_alone(toolchain, tmp_path):
    (tmp_path / "a.c").write_text("#include <pthread.h>\nint main(void) { return pthread_once(0, 0) == 0; }\n")
    subprocess.run([toolchain / "bin/cc", tmp_path / "a.c", "-o", tmp_path / "a"], env={"PATH": "/usr/bin:/bin"}, check=True)
    assert needs(tmp_path / "a")["pthread_once"] == "GLIBC_2.34"


def test_the_same_bytes_each_time(toolchain, tmp_path):
    """Whenever it is made: it is an object of the store."""
    make_floor(tmp_path / "again", tmp_path)
    names = sorted(p.name for p in (toolchain / "floor").iterdir())
    assert names == ["c++.a", "c.a", "libc.so", "libdl.so.2", "libm.so", "libm.so.6", "libpthread.so.0", "librt.so.1", "libstdc++.so"]
    for name in set(names) - {"libc.so", "libm.so", "libstdc++.so"}: # which say where it stands
        assert (tmp_path / "again" / name).read_bytes() == (toolchain / "floor" / name).read_bytes()
