"""Builds that mean harm, and compilers that fail in every way: the build gets the compiler's error or its own; forge
and the store stay well, and the next build compiles as if nothing had been."""
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import time

import pytest

from compiling import building, compiles, good_compile, notes, running, source, wait_for

A_C = source("a.c", "int a;")
MARK = f"98761.{os.getpid()}"  # seconds: how long a compiler sleeps that must be ended, and how its process is known


@pytest.fixture
def guest(compiling, root, static_program):
    """The world has a program that speaks to the service as no compiler does."""
    program = static_program("guest", [root / "tests/support/compile_guest.c"])
    shutil.copy(program, compiling.base() / "bin/guest")
    return compiling


def fails(project, script, status=100, says="", more=""):
    """The build fails as it would without a compile store: its status, one line.  All is well after it."""
    project.recipe(building("bad", script, more))
    line = project.refuses("realise", "recipes/x.lua", status=status, says=["bad: ", says])
    assert not running(MARK)
    good_compile(project)
    return line


def makes(project, script, more=""):
    """The build is made; the result's text.  All is well after it."""
    got = project.object(building("odd", script, more))
    text = got.read_text(errors="replace")
    records = compiles(project)
    project.ends_well()
    good_compile(project)
    return text, [c["note"] for c in records]


# --- what comes over the socket -----------------------------------------------------------------------------------

def request(cwd="/build", argv=("cc", "-c", "a.c"), env=(), version=1, length=None, tool="cc", argc=None):
    texts = [tool, cwd, str(len(argv)) if argc is None else argc, *argv, str(len(env)), *env]
    body = b"".join(text.encode() + b"\0" for text in texts)
    return b"FRGC" + struct.pack("<II", version, 12 + len(body) if length is None else length) + body


NONSENSE = {
    "words": b"GET / HTTP/1.1\r\n\r\n",
    "zeros": bytes(4096),
    "version": request(version=2),
    "4gib": request(length=0xffffffff),
    "nothing": request(length=12),
    "short": request(length=3),
    "more": request() + b"more",
    "longer": request()[:-1] + b"x",
    "tool": request(tool="ld"),
    "cwd": request(cwd="/build/../etc"),
    "relative": request(cwd="build"),
    "argc": request(argc="99999999"),
    "none": request(argc="0"),
    "signed": request(argc="+1"),
    "fewer": request(argc="2"),
    "nameless": request(env=("=x",)),
    "twice": request(env=("LANG=C", "LANG=D")),
    "half": request()[:-7],   # and silence: forge waits for some time
    "silence": b"",
}


def test_nonsense(guest):
    """It is broken off, without a frame, and those that ask soundly are served."""
    (guest.base() / "bytes").mkdir()
    for name, data in NONSENSE.items():
        (guest.base() / "bytes" / name).write_bytes(data)
    script = ("mkdir got; for f in /bytes/*; do guest send 100 < $f > got/${f#/bytes/} & done\n" +
              source("a.c", "int a;") + "cc -c a.c -o a.o; wait; cd got; grep . * > $out\n")
    text, records = makes(guest, script)
    assert text == "".join(f"{name}:ended\n" for name in sorted(NONSENSE))
    assert records == ["miss"]


def peak(process):
    """The most memory that a forge that does well has had at its end, in MiB."""
    most = 0
    while process.poll() is None:
        for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                most = int(line.split()[1])
        time.sleep(0.02)
    _, err = process.communicate()
    assert process.returncode == 0, err
    return most // 1024


def flood(project, what, sent):
    """Forge's most memory when a build does this and then compiles."""
    project.recipe(building("odd", sent + what + source("a.c", "int a;") + "cc -c a.c -o a.o; cp a.o $out\n"))
    return peak(project.start("realise", "recipes/x.lua"))


# Each writes what is sent into the file "sent".
SILENCE = "true > sent\n"
HALF = r"{ printf 'FRGC\1\0\0\0\0\0\20\0'; dd if=/dev/zero bs=1M count=1 | head -c 1048560; } > sent" + "\n"
SLOW = source("slow.c", "slow") + "guest request /build -c slow.c -o slow.o > sent\n"
LONG = f"guest request /build -c a.c -o a.o $(yes -W{'0' * 48} | head -n 16000) > sent\n"
LOUD = source("loud.c", "//!compile dd if=/dev/zero bs=1M count=3 >&2") + """cc -c loud.c -o loud.o 2> /dev/null
guest request /build -c loud.c -o loud.o > sent
"""


@pytest.mark.parametrize("sent, what", [
    (SILENCE, "guest hold 3000 2 < sent\n"),
    (HALF, "guest hold 3000 2 < sent\n"),
    (SLOW, "guest hold 1500 3 < sent\n"),
    (LONG, "guest hold 1000 4 < sent\n"),
    (LOUD, "guest hold 1000 4 < sent\n"),
    (HALF, "guest knock 2000 < sent\n"),
    (SLOW, "guest knock 3000 < sent\n"),
], ids=["silent", "half", "compiles", "long", "unread", "half knocks", "compile knocks"])
def test_flood(guest, sent, what):
    most = flood(guest, what, sent)
    assert "miss" in notes(guest)
    good_compile(guest)
    sanitized = b"__asan_init" in pathlib.Path(guest.program).read_bytes()
    assert sanitized or most < 120, f"forge had {most} MiB"


def test_flood_of_a_forge_with_few_descriptors(guest):
    """It waits for some to come free, and does not spin meanwhile."""
    guest.recipe(building("odd", SILENCE + "guest hold 1000 3 < sent\n" + A_C + "cc -c a.c -o a.o; cp a.o $out\n"))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    guest.run("realise", "recipes/x.lua",
              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2
    assert notes(guest) == ["miss"]
    good_compile(guest)


def test_a_shim_without_forge(compiling):
    """The socket is there and nobody listens: one line, and the build ends with it."""
    (compiling.base() / "forge").mkdir()
    (compiling.base() / "forge/compile").write_text("")
    script = source("a.c", "int a;") + "cc -c a.c -o a.o 2> said || echo status $? >> said; cp said $out\n"
    got = compiling.object(building("alone", script), "--no-compile-store").read_text().splitlines()
    assert len(got) == 2 and got[1] == "status 1"
    assert got[0].startswith("forge: the compile service is gone; nobody listens at /forge/compile")
    compiling.ends_well()


# --- paths and files ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("script, text, note", [
    ("cc -xc -c /etc/passwd -o a.o", "root:x:0:0:root", "miss"),  # the sandbox's own, as in place
    ("cc -xc -c ../../../../etc/passwd -o a.o", "root:x:0:0:root", "miss"),
    ("cc -xc -c /proc/sys/kernel/ostype -o a.o", "Linux", "in place: the source /proc/sys/kernel/ostype is not in the build's"),
    ("cc -xc -c ../proc/sys/../sys/kernel/ostype -o a.o", "Linux", "in place: the source ../proc/sys"),
    ("cp a.c /tmp/a.c; cc -c /tmp/a.c -o a.o", "int a;", "in place: the source /tmp/a.c is not in"),
    ("cd /tmp; cp /build/a.c b.c; cc -c b.c -o /build/a.o; cd /build", "int a;", "in place: its working folder is not in"),
    ("cp a.c $out.c; cc -c $out.c -o a.o; rm $out.c", "int a;", "in place: the source /forge/store/"),
    ("cc -I/tmp/inc -c a.c -o a.o", "int a;", "in place: -I /tmp/inc is not in"),
    ("cc -I../proc/self -c a.c -o a.o", "int a;", "in place: -I ../proc/self is not in"),
    ("cc -c a.c -o /tmp/x.o; cp /tmp/x.o a.o", "int a;", "miss"),
    ("cc -c a.c -o ../../tmp/./x.o; cp /tmp/x.o a.o", "int a;", "miss"),
    ("cc -c a.c -o $out; cp $out a.o; rm $out", "int a;", "miss"),
    ("cc -c a.c -o /proc/self/fd/1 > a.o", "int a;", "in place: its object does not go into a file"),
    ("cc -c a.c -o /dev/stdout | cat > a.o", "int a;", "in place: its object does not go into a file"),
    ("n=$(printf 'b\n\033[31m.c'); cp a.c \"$n\"; cc -c \"$n\" -o a.o", "int a;", "in place: its source has an odd name"),
    ("n=$(printf 'b\n.o'); cc -c a.c -o \"$n\"; cp \"$n\" a.o", "int a;", "miss"),
    ("n=$(printf 'b\n\033[31m.c'); cp a.c \"$n\"; cc -o a.o -c \"$n\"", "int a;", "in place: its source has an odd name"),
    ("n=$(printf 'b\r\033[31m\302\233'); cc -fodd -c a.c -o \"$n\"; cp \"$n\" a.o", "int a;", "in place: forge does not know"),
    ("cc -c a.c -\"$(printf 'f\n\033x')\" -o a.o", "int a;", "in place: forge does not know the option -f??x"),
])
def test_paths(compiling, script, text, note):
    made, records = makes(compiling, A_C + script + "\ncp a.o $out\n")
    assert made.startswith("object of\n") and text in made
    assert len(records) == 1 and records[0].startswith(note)
    out, _ = compiling.run("log", "--compiles")
    assert all(line.isprintable() for line in out.split("\n")) and len(out.splitlines()) == 3 + note.startswith("in place")


@pytest.mark.parametrize("script, text, note", [
    ("ln -s a.c l.c; cc -c l.c -o a.o", "int a;", "in place: /build/l.c is reached through a link"),
    ("mkdir d; cp a.c d; ln -s d e; cc -c e/a.c -o a.o", "int a;", "in place: /build/e/a.c is reached through a link"),
    ("ln -s a.c h.h; echo '//!include h.h' >> a.c; cc -c a.c -o a.o", "int a;", "in place: /build/h.h is reached through a link"),
    ("ln -s /dev/null l.c; cc -c l.c -o a.o", "object of\n", "in place: /build/l.c is reached through a link"),
    ("ln a.c h.c; cc -c h.c -o a.o", "int a;", "miss"),
    ("mkfifo f.c; while :; do cat a.c > f.c; sleep 0.3; done & cc -c f.c -o a.o; kill $!", "int a;", "in place: /build/f.c is no plain file"),
    ("ln -s /nowhere a.o; cc -c a.c -o a.o", "int a;", "miss"),
    ("echo old > old; ln old a.o; cc -c a.c -o a.o; grep -q old old", "int a;", "miss"),
])
def test_links(compiling, script, text, note):
    made, records = makes(compiling, A_C + script + "\ncp a.o $out\n")
    assert text in made
    assert len(records) == 1 and records[0].startswith(note)


@pytest.mark.parametrize("script", [
    "ln -s SECRET l.c; cc -c l.c -o a.o",
    "ln -s SECRET h.h; echo '//!include h.h || exit 1' > a.c; cc -c a.c -o a.o",
    "mkdir d.c; cc -c d.c -o a.o",
    "echo 'int a;' > a.c; chmod 000 a.c; cc -c a.c -o a.o",
    "ln -s l.c l.c; cc -c l.c -o a.o",
    "ln -s /proc/1/root/SECRET l.c; cc -c l.c -o a.o",
    "ln -s / root; cc -c root/SECRET -o a.o",
])
def test_files_that_are_not_there(compiling, script):
    """Links to the host's files among them: neither the build nor forge for it can read them."""
    secret = compiling.folder / "secret.c"
    secret.write_text("int secret;\n")
    secret.chmod(0o644)
    fails(compiling, script.replace("SECRET", str(secret)) + "\ncp a.o $out\n", says="exited with status 1")
    assert "miss" in notes(compiling) and len(compiles(compiling)) == 3
    assert subprocess.run(["grep", "-r", "int secret", compiling.store]).returncode == 1


def test_files_that_change(compiling):
    """What is kept under a key was made from what the key was taken over, however the build writes meanwhile."""
    texts = ["int first;", "long second_one;"]
    script = source("a.c", "//!include h.h", "int a;") + f"""echo '{texts[0]}' > h.h
while :; do echo '{texts[0]}' > h.h; echo '{texts[1]}' > h.h; rm h.h; echo '{texts[0]}' > n; mv n h.h; done &
for i in 1 2 3 4 5 6 7 8; do cc -c a.c -o $i.o || true; done
kill $!; echo > $out
"""
    for i in range(2):
        compiling.realise(building(f"changes{i}", script))
    assert len(compiles(compiling)) == 16
    for i, text in enumerate(["", *texts]):
        script = source("a.c", "//!include h.h", "int a;") + f"printf '%s' '{text}' > h.h; cc -c a.c -o a.o; cp a.o $out\n"
        # what the compiler makes in place
        wanted = compiling.object(building(f"place{i}", script)).read_text()
        assert text in wanted
        assert compiling.object(building(f"store{i}", script)).read_text() == wanted
    good_compile(compiling)


# --- compilers ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("order, says, note", [
    ("kill -SEGV $$", "exited with status 139", "in place: forge's own compile was killed by signal 11"),
    ("kill -KILL $$", "exited with status 137", "in place: forge's own compile was killed by signal 9"),
    ("kill -STOP $$ & exit 7", "exited with status 7", "in place: forge's own compile exited with status 7"),
    ("exit 255", "exited with status 255", "in place: forge's own compile exited with status 255"),
])
def test_a_compiler_that_crashes(compiling, order, says, note):
    fails(compiling, source("a.c", "//!compile eval '" + order + "'") + "cc -c a.c -o a.o; exit $?\n", says=says)
    records = [c["note"] for c in compiles(compiling)]
    assert records[:2] == ["hit", "miss"] and records[2].startswith(note)


def test_a_preprocessor_that_crashes(compiling):
    fails(compiling, source("a.c", "//!kill -SEGV $$") + "cc -c a.c -o a.o; exit $?\n", says="exited with status 139")
    assert compiles(compiling)[2]["note"].startswith("in place: forge's own compile was killed by signal 11")


@pytest.mark.parametrize("order", ["sleep", "compile sleep"])
def test_a_compiler_that_hangs(compiling, order):
    fails(compiling, source("a.c", f"//!{order} {MARK}") + "cc -c a.c -o a.o & cc -c a.c -o b.o; wait\n", status=101,
          says="was ended after its limit of 4 s", more='timeout = "4s"')


def test_a_compiler_that_leaves_processes(compiling):
    script = source("a.c", f"//!compile eval 'sleep {MARK} > /dev/null 2>&1 &'") + "cc -c a.c -o a.o; cp a.o $out\n"
    made, records = makes(compiling, script)
    assert made.startswith("object of\n") and records == ["miss"] and not running(MARK)


LIMIT = 4 << 20  # of messages that are kept


@pytest.mark.parametrize("where", ["", " >&2"])
@pytest.mark.parametrize("size, note", [
    (LIMIT - 4096, "miss"), (LIMIT + 1, "in place: std"), (40 << 20, "in place: std")], ids=["under", "over", "far over"])
def test_a_compiler_that_prints(compiling, where, size, note):
    order = f"//!compile eval 'dd if=/dev/zero bs={size} count=1{where} 2> /dev/null'"
    script = source("a.c", order) + "cc -c a.c -o a.o > o 2> e; wc -c < o > n; wc -c < e >> n; cat n a.o > $out\n"
    made, records = makes(compiling, script)
    out, err, *rest = made.splitlines()
    warning = len("a.c: a warning\n")
    assert (int(out), int(err)) == ((0, size + warning) if where else (size, warning)) and rest[0] == "object of"
    assert len(records) == 1 and records[0].startswith(note)


@pytest.mark.parametrize("order, text", [
    ("echo x > /usr/new; echo x > /usr/bin/new", "int a;"),
    ("echo x > /tmp/new; ln -s /etc/passwd /tmp/l", "int a;"),
    ("echo x > /out/more; mkdir /out/d; ln -s /etc/passwd /out/l", "int a;"),
    ("mkdir /forge/store/d; echo x > /forge/store/f; echo x > /dev/shm/f", "int a;"),
    ("chmod 4755 /usr/bin/gcc-12; echo x > /usr/bin/gcc-12; echo x > /toolchain/bin/cc", "int a;"),
    ("chmod 777 /build/a.c; rm -f /build/a.c; mv /build /b", "int a;"),
])
def test_a_compiler_that_writes_elsewhere(compiling, order, text):
    """Forge's own sees the build's folder and the world read-only; what it leaves besides the object goes with it."""
    script = source("a.c", f"//!compile eval '{{ {order}; }} 2> /dev/null'", "int a;") + (
        "sed() { cat; }\ncc -c a.c -o a.o; { ls; cat a.c a.o; ls /tmp; } > $out\n")
    made, records = makes(compiling, script)
    assert records == ["miss"] and "\nobject of\n" in made
    lines = made.splitlines()
    assert lines[:2] == ["a.c", "a.o"] and lines.count("int a;") == 2 and "new" not in lines and "x" not in lines


def test_a_compiler_that_writes_into_the_build(compiling):
    """That is for the build itself to see: what a result does not hold is not kept under its name."""
    script = source("a.c", "//!compile eval 'echo x 2> /dev/null > /build/new'", "int a;") + "cc -c a.c -o a.o; cat new a.o > $out\n"
    made, records = makes(compiling, script)
    assert made.startswith("x\nobject of\n") and records == ["in place: /build/new is opened for writing"]


@pytest.mark.parametrize("order", [
    "ln -s /etc/passwd $out; exit 0", "mkdir $out; exit 0", "mkfifo $out; exit 0", "exit 0", "rm -r /out; exit 0",
])
def test_a_compiler_that_leaves_no_object(compiling, order):
    """In place it may do so; nothing of it is kept."""
    script = source("a.c", f"//!compile eval '{order}'") + "cc -c a.c -o a.o 2> /dev/null; echo made > $out\n"
    made, records = makes(compiling, script)
    assert made == "made\n" and records[0].startswith(
        ("in place: the compiler left no", "in place: what the compiler reads can't be watched"))


@pytest.mark.parametrize("order", [
    "dd if=/dev/zero of=$out.more bs=1M count=100 || exit 9",
    "dd if=/dev/zero of=/tmp/f bs=1M count=100 || exit 9",
])
def test_a_full_disk(compiling, small_disk, order):
    compiling.use_store(small_disk / "store")
    compiling.recipe(building("bad", source("a.c", f"//!compile eval '{order}'") + "cc -c a.c -o a.o; exit $?\n"))
    compiling.refuses("realise", "recipes/x.lua", status=100, says=["bad: the build exited with status 9"])
    good_compile(compiling)


def test_a_disk_too_small_for_the_store(compiling, small_disk):
    """There is room for an object, not for its copy in the store: the build makes its own."""
    compiling.use_store(small_disk / "store")
    script = source("a.c", "//!compile eval 'dd if=/dev/zero of=$out bs=1M count=11 2> /dev/null; exit'")
    made, [note] = makes(compiling, script + "cc -c a.c -o a.o; wc -c < a.o > $out\n")
    assert int(made) == 11 << 20 and note.startswith("in place: ") and "No space left" in note


# --- ends ---------------------------------------------------------------------------------------------------------

HANGS = source("a.c", f"//!compile sleep {MARK}")


def test_a_build_that_is_killed_while_it_compiles(compiling):
    script = HANGS + "cp a.c b.c; cc -c a.c -o a.o & cc -c b.c -o b.o & sleep 2; kill -KILL $$\n"
    fails(compiling, script, says="was killed by signal 9")


@pytest.mark.parametrize("signo, status", [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_forge_is_ended_while_it_compiles(compiling, signo, status):
    """No process outlives it; what the next one finds is sound, and what is left is removed."""
    compiling.recipe(building("x", HANGS + "cp a.c b.c; cc -c a.c -o a.o & cc -c b.c -o b.o; wait; echo > $out\n"))
    process = compiling.start("realise", "recipes/x.lua", "--jobs", "2")
    wait_for(lambda: running(MARK), process)
    process.send_signal(signo)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status and err.count("forge: ") == (signo == signal.SIGINT)
    deadline = time.monotonic() + 30
    while running(MARK):
        assert time.monotonic() < deadline, "a compiler outlives forge"
        time.sleep(0.1)
    if signo == signal.SIGINT:
        compiling.ends_well()
    good_compile(compiling)


def test_another_forge_takes_over(compiling):
    """Of two that want the same compile the one that makes it is killed."""
    slow = source("a.c", "slow", "//!compile sleep 3") + "cc -c a.c -o a.o; cp a.o $out\n"
    maker = compiling.start("realise", compiling.recipe(building("one", slow), "one.lua"))
    wait_for(lambda: list((compiling.store / "tmp").glob("*-run")), maker)
    other = compiling.start("realise", compiling.recipe(building("two", slow), "two.lua"))
    time.sleep(1)
    maker.kill()
    maker.communicate()
    out, err = other.communicate(timeout=100)
    assert other.returncode == 0, err
    assert pathlib.Path(out.strip()).read_text().startswith("object of\nslow\n")
    assert notes(compiling) == ["miss"]
    good_compile(compiling)
