"""A program under test on a terminal of its own: what it writes, and what a person then sees."""
import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time

SEQUENCE = re.compile(r"\033\[(\??)([0-9;]*)([A-Za-z])")


class Screen:
    """A terminal that knows what a live display may use: lines, colours, wrapping off and on, up, erase below.
    Anything else is an error."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.column = [""], 0, 0  # all lines since the beginning: nothing scrolls away
        self.wraps = True
        self.widest = 0
        self.colours = 0

    def feed(self, text):
        at = 0
        while at < len(text):
            found = SEQUENCE.match(text, at)
            if found:
                self.sequence(*found.groups())
                at = found.end()
                continue
            self.put(text[at])
            at += 1

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append("")
        else:
            assert char.isprintable(), f"{char!r} reaches the terminal"
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[:self.column] + char + line[self.column + 1:]
            self.column += 1
            self.widest = max(self.widest, self.column) if not self.wraps else self.widest

    def sequence(self, private, numbers, letter):
        if private:
            assert (numbers, letter) in (("7", "l"), ("7", "h"))
            self.wraps = letter == "h"
        elif letter == "A":
            self.row -= int(numbers)
            assert len(self.lines) - 1 - self.row < self.rows, "moved up beyond the screen"
        elif letter == "J":
            del self.lines[self.row + 1:]
            self.lines[self.row] = self.lines[self.row][:self.column]
        else:
            assert letter == "m", f"what is ESC[{numbers}{letter}?"
            self.colours += 1

    def text(self):
        return "\n".join(self.lines).rstrip("\n")


class Terminal:
    """Run a program with its standard error (and input) on a terminal; frames: the screen after each write."""

    def __init__(self, command, columns=80, rows=24, env=None, cwd=None):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdin=slave, stderr=slave, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=own_terminal)
        os.close(slave)
        self.screen = Screen(columns, rows)
        self.raw, self.frames = "", []

    def read(self, until=lambda screen: False, timeout=60):
        """Take what comes until the screen is as wanted, or the program ends."""
        end = time.monotonic() + timeout
        while not until(self.screen.text()):
            assert select.select([self.master], [], [], max(end - time.monotonic(), 0))[0], \
                f"nothing more came; the screen is\n{self.screen.text()}"
            try:
                data = os.read(self.master, 1 << 20).decode()
            except OSError:  # EIO: nobody has the other side open any more
                return
            self.raw += data
            self.screen.feed(data)
            self.frames.append(self.screen.text())

    def type(self, keys):
        os.write(self.master, keys)

    def end(self, status=0):
        """Wait for the program; (what it wrote to standard output, the screen as it was left)."""
        self.read()
        out = self.process.communicate(timeout=60)[0]
        os.close(self.master)
        assert self.process.returncode == status, f"{self.process.returncode}\n{self.screen.text()}"
        return out, self.screen.text()
