"""Measuring two commands against one another.

The machine's speed changes while it is measured: other work, clocks, caches.  So what counts is a ratio of two runs
that followed one another, and of such pairs the median: A B A B …, the order turned in every other pair.
"""
import dataclasses
import os
import pathlib
import statistics
import subprocess
import threading
import time


class Skip(Exception):
    """The figure can't be measured here; the text says why."""


@dataclasses.dataclass
class Run:
    wall: float    # seconds
    cpu: float     # seconds, of the command and all it waited for
    memory: int    # bytes: the largest resident set of any of its processes


def run(command, **more):
    """Run a command to its end; it has to succeed.  Its output is dropped, its errors are shown if it fails."""
    with open(os.devnull, "w") as null, open(os.memfd_create("stderr"), "r+", errors="replace") as err:
        before = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=null, stderr=err, **more)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - before
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            err.seek(0)
            words = " ".join(str(word) for word in command)
            raise RuntimeError(f"{words[:300]}: status {process.returncode}\n{err.read()[-2000:]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


class Watch:
    """The largest resident set of processes that run one program, looked at while they run (a build's compilers are
    descendants of forge as well, so that what wait4 tells is not forge's own)."""

    def __init__(self, program):
        self.program = os.path.realpath(program)
        self.peak = 0
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()

    def _look(self):
        while not self.end.wait(1):  # seldom: looking takes time that the builds want, and VmHWM forgets nothing
            for folder in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    if os.readlink(folder / "exe") == self.program:
                        self.peak = max(self.peak, _peak_of(folder))
                except OSError:
                    pass


def _peak_of(folder):
    for line in (folder / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


@dataclasses.dataclass
class Result:
    pairs: list           # of (forge's Run, the peer's Run)
    note: str = ""        # what a reader must know to judge it
    memory: int = None    # forge's own peak, where it is not the largest of its runs

    def ratio(self, what="wall"):
        return [getattr(a, what) / getattr(b, what) for a, b in self.pairs]

    def peak(self):
        return self.memory if self.memory is not None else max(a.memory for a, _ in self.pairs)


@dataclasses.dataclass
class Each:
    """How long one thing takes, in milliseconds of wall time and of CPU time; a value for each time it was measured."""
    what: str
    target: float = None  # of the wall time's median
    wall: list = dataclasses.field(default_factory=list)
    cpu: list = dataclasses.field(default_factory=list)

    def add(self, wall, cpu):
        self.wall.append(wall)
        self.cpu.append(cpu)

    def median(self):
        return statistics.median(self.wall)

    def good(self):
        return self.target is None or self.median() <= self.target


@dataclasses.dataclass
class Times:
    """A figure that is no ratio."""
    each: list            # of Each
    note: str = ""
    memory: int = 0       # forge's own peak; 0: not looked at


def compare(ours, theirs, pairs, note=""):
    """Both are functions that give a Run; what they do around it is not measured."""
    done = []
    for i in range(pairs):
        if i % 2 == 0:
            a, b = ours(), theirs()
        else:
            b, a = theirs(), ours()
        done.append((a, b))
    return Result(done, note)


def median(values):
    return statistics.median(values)
