"""Checks that no compiler makes: `lint.py ROOM…` with the rooms in the order of their dependence.

- an include that points against the order of the rooms (STYLE: arrows point up only);
- a third-party header outside its room;
- functions that are forbidden: unbounded copies, shells, shared static buffers;
- a registry's host name anywhere in the tree.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEVELS = [["core"], ["drv", "archive"], ["lua", "store", "fetch", "sandbox", "wheel"],
          ["lock", "world", "cache", "compile", "index"], ["build"], ["audit", "lint"], ["cli"]]
OWNERS = {
    "openssl/": "core", "jansson.h": "core", "archive.h": "archive", "archive_entry.h": "archive",
    "zstd.h": "archive", "zlib.h": "archive", "lua.h": "lua", "lauxlib.h": "lua",
    "lualib.h": "lua", "sqlite3.h": "store", "curl/": "fetch", "git2.h": "fetch",
    "seccomp.h": "sandbox", "libelf.h": "wheel", "gelf.h": "wheel", "elf.h": "wheel",
    "libdeflate.h": "wheel", "solv/": "lock",
}
FORBIDDEN = ("strcpy strcat sprintf vsprintf gets strtok localtime gmtime asctime ctime system "
             "popen tmpnam mktemp alloca exit printf").split()


def level(room):
    return next((i for i, rooms in enumerate(LEVELS) if room in rooms), None)


def check_includes(path, room, line, text):
    found = re.match(r'\s*#\s*include\s+([<"])([^>"]+)', text)
    if not found:
        return
    name = found.group(2)
    for prefix, owner in OWNERS.items():
        if found.group(1) == "<" and name.startswith(prefix) and room != owner:
            yield f"{path}:{line}: <{name}> belongs to {owner}/"
    target = name.split("/")[0] if "/" in name else None
    if found.group(1) == '"' and target and target != room and level(target) is not None:
        if level(room) is None or level(target) >= level(room):
            yield f"{path}:{line}: {room}/ must not see {target}/"


def check_functions(path, room, line, text):
    code = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    for name in FORBIDDEN:
        if name in ("exit", "printf") and room == "cli":
            continue
        if re.search(rf"(?<![\w.>]){name}\s*\(", code) and "__attribute__" not in code:
            yield f"{path}:{line}: {name}() is forbidden here"


def without_comments(text):
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)


def check_sources():
    for path in sorted((ROOT / "src").glob("*/*.[ch]")):
        room = path.parent.name
        shown = path.relative_to(ROOT)
        for number, text in enumerate(without_comments(path.read_text()).splitlines(), 1):
            yield from check_includes(shown, room, number, text)
            if room != "shim":
                yield from check_functions(shown, room, number, text)


def registry_hosts():
    """The hosts this machine's own clients use; learned, so that none is written here."""
    hosts = set()
    for which in ("pypi", "debian"):
        url = subprocess.run([sys.executable, ROOT / "tests/support/defaults.py", which],
                             capture_output=True, text=True).stdout.strip()
        found = re.match(r"https?://(?:[^@/]*@)?([^/:]+)", url)
        if found:
            hosts.add(found.group(1))
    try:
        from pip._internal.models.index import PyPI
        hosts |= {PyPI.netloc, PyPI.file_storage_domain}
    except ImportError:
        pass
    return hosts - {"127.0.0.1", "localhost", ""}


def check_hosts():
    for host in registry_hosts():
        got = subprocess.run(["git", "grep", "-lIF", "--", host], cwd=ROOT, capture_output=True, text=True)
        for name in got.stdout.split():
            yield f"{name}: names a registry's host (DESIGN 6)"


def main(rooms):
    unknown = [r for r in rooms if level(r) is None]
    order = [level(r) for r in rooms if level(r) is not None]
    problems = [f"Makefile: room {r} is not in the order" for r in unknown]
    if order != sorted(order):
        problems.append("Makefile: ROOMS is not in the order of dependence")
    problems += list(check_sources()) + list(check_hosts())
    for problem in problems:
        print(problem)
    print(f"lint: {1 if not problems else 0} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
