"""Builds that mean harm, and compilers that fail in every way: the build gets the compiler's error or its own; forge
and the store stay well, and the next build compiles as if nothing had been."""
import pathlib
import shutil
import signal
import struct
import subprocess
import time

import pytest

from compiling import building, compiles, good_compile, notes, running, source

STORE = "--compile-store"
MARK = "98761.25"  # seconds: how long a compiler sleeps that must be ended, and how its process is known


@pytest.fixture
def guest(compiling, root, static_program):
    """The world has a program that speaks to the service as no compiler does."""
    program = static_program("guest", [root / "tests/support/compile_guest.c"])
    shutil.copy(program, compiling.base() / "bin/guest")
    return compiling


def fails(project, script, status=100, says="", more=""):
    """The build fails as it would without a compile store: its status, one line.  All is well after it."""
    project.recipe(building("bad", script, more))
    line = project.refuses("realise", "recipes/x.lua", STORE, status=status, says=["bad: ", says])
    assert not running(MARK)
    good_compile(project)
    return line


def makes(project, script, more=""):
    """The build is made; the result's text.  All is well after it."""
    got = project.object(building("odd", script, more), STORE)
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
    return peak(project.start("realise", "recipes/x.lua", STORE))


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
