"""Builds that fail, archives and wheels that are none, disks that are full (more of it in test_realise.py)."""
import os

import pytest

from made import make_tar, make_wheel

FINISH = """
return forge.derivation {
  name = "pkg-1.0", what = "finish", system = "builtin", builder = "builtin:finish",
  env = { src = raw, dist = "pkg", python = "3.13", epoch = "315619200", version = "1.0", label_kind = "none",
          label_text = "" },
}
"""
NAME = "pkg-1.0-py3-none-any.whl"
INFO = "pkg-1.0.dist-info/"
FILES = {"pkg.py": b"x = 1\n"}
GOOD = make_wheel("pkg", "1.0", FILES)


@pytest.mark.parametrize("script, more, status, says", [
    ("exit 3", "", 100, ["a: the build exited with status 3"]),
    ("kill -9 $$", "", 100, ["a: the build was killed by signal 9"]),
    ("absent", "", 100, ["a: the build exited with status 127"]),
    ("true", "", 100, ["a: the build made no output $out"]),
    ("mkdir $out; mkfifo $out/pipe", "", 100, ["a: output $out", "pipe: a device, pipe or socket"]),
    ("sleep 100", 'timeout = "1s"', 101, ["a: the build was ended after its limit of 1 s (the recipe's timeout)"]),
    ("x=$(yes | head -c 300000000); echo $x", 'memory = "64MiB"', 100,
     ["a: the build was ended at its memory ceiling of 64 MiB (the recipe's memory)"]),
    # the shell may give up before the ceiling was seen: then its own status is told
    ("f() { f | f & f; }; f", 'timeout = "60s"', 100, ["a: the build "]),
    ("echo", 'builder = "/bin/absent"', 1, ["a: ", "can't run the builder", "/bin/absent", "not in the world"]),
    ("echo", 'system = "builtin", builder = "builtin:absent"', 1, ["a: there is no builder builtin:absent"]),
])
def test_builds(project, script, more, status, says):
    project.recipe(f'return sh("a", "{script}", {{ {more} }})')
    project.refuses("realise", "recipes/x.lua", status=status, says=says)
    if status >= 100:
        assert [b["status"] for b in project.builds() if b["name"] == "a"] == [status]


def test_a_derivation_without_a_world(project):
    project.recipe('return forge.derivation { name = "a", builder = "/bin/sh" }')
    project.refuses("realise", "recipes/x.lua", status=1, says=["a: a sandboxed build needs a world"])


# --- what should be a wheel -------------------------------------------------------------------------------------

def finished(project, files, script="true"):
    """A recipe that finishes what a build left: these files, and what the script makes beside them."""
    project.base()
    steps = "mkdir $out"
    for i, (name, data) in enumerate(files.items()):
        (project.recipes / f"made{i}").write_bytes(data)
        steps += f'; cp " .. forge.path "made{i}" .. " $out/{name}'
    project.recipe(f'local raw = sh("pkg-1.0-raw", "{steps}; {script}")' + FINISH)


def spoilt(**changes):
    return make_wheel("pkg", "1.0", FILES, **changes)


@pytest.mark.parametrize("files, says", [
    ({}, ["the build left no wheel: its output holds no file *.whl"]),
    ({"pkg.txt": b""}, ["the build left no wheel"]),
    ({NAME: GOOD, "pkg-1.0-py2-none-any.whl": GOOD}, ["the build left two wheels", NAME, "pkg-1.0-py2-none-any.whl"]),
    ({NAME: b"no zip at all " * 100}, [NAME, "not a zip file"]),
    ({NAME: b""}, [NAME, "not a zip file"]),
    ({NAME: GOOD[:len(GOOD) // 2]}, [NAME, "not a zip file"]),
    ({NAME: GOOD[:-5]}, [NAME, "not a zip file"]),
    ({NAME: GOOD.replace(b"x = 1", b"y = 1")}, [NAME, "pkg.py: its CRC is wrong"]),
    ({"pkg.whl": GOOD}, ["pkg.whl: a wheel's name is name-version-python-abi-platform.whl"]),
    ({"other-1.0-py3-none-any.whl": GOOD}, ["METADATA is of pkg 1.0, the file name of other 1.0"]),
    ({"pkg-2.0-py3-none-any.whl": GOOD}, ["METADATA is of pkg 1.0, the file name of pkg 2.0"]),
    ({"pkg-2.0-py3-none-any.whl": make_wheel("pkg", "2.0")}, ["the wheel's version is 2.0, the recipe's 1.0"]),
    ({"pkg-1.0-cp311-cp311-linux_x86_64.whl": GOOD}, ["cp311"]),
    ({NAME: spoilt(after={"pkg.py": b"x = 2\n"})}, [NAME, "pkg.py has sha256=", "RECORD says sha256="]),
    ({NAME: spoilt(after={"pkg.py": b"x = 10\n"})}, [NAME, "pkg.py is 7 bytes, RECORD says 6"]),
    ({NAME: spoilt(after={"more.py": b""})}, [NAME, "more.py is not listed in RECORD"]),
    ({NAME: spoilt(drop=["pkg.py"])}, [NAME, "RECORD lists pkg.py, which the wheel does not hold"]),
    ({NAME: spoilt(drop=[INFO + "RECORD"])}, [NAME, f"no file {INFO}RECORD"]),
    ({NAME: spoilt(drop=[INFO + "WHEEL"])}, [NAME, f"no file {INFO}WHEEL"]),
    ({NAME: spoilt(drop=[INFO + "METADATA"])}, [NAME, f"no file {INFO}METADATA"]),
    ({NAME: spoilt(after={"../../escape": b""})}, [NAME, '".."']),
    ({NAME: spoilt(after={"/etc/absolute": b""})}, [NAME, "absolute"]),
])
def test_wheels(project, files, says):
    finished(project, files)
    project.refuses("realise", "recipes/x.lua", status=100, says=["pkg-1.0: "] + says)
    assert [b["status"] for b in project.builds("finish")] == [100]
    finished(project, {NAME: GOOD})
    assert project.run("realise", "recipes/x.lua")[0].strip().endswith("-pkg-1.0/" + NAME)
    project.ends_well()


@pytest.mark.parametrize("script, says", [
    (f"ln -s /etc/passwd $out/{NAME}", [NAME, "a symbolic link where a file is wanted"]),
    (f"mkdir $out/{NAME}", [NAME, "not a regular file"]),
    ("rm -r $out; echo > $out", ["the build's output is a file, not a folder that holds a wheel"]),
])
def test_wheels_that_are_no_files(project, script, says):
    finished(project, {}, script)
    project.refuses("realise", "recipes/x.lua", status=100, says=["pkg-1.0: "] + says)


# --- what should be an archive ----------------------------------------------------------------------------------

NOISE = os.urandom(100000)


@pytest.mark.parametrize("data, says", [
    (b"", "too short for an archive"),
    (NOISE, "a.tar.gz: "),
    (make_tar({"a/b": NOISE})[:50000], "a.tar.gz: gzip: the data is cut off"),
    (make_tar({"a/b": NOISE}, "w")[:50000], "a.tar.gz: the archive is cut off"),
    (make_tar({"../b": b""}), 'a.tar.gz: ../b: the name has a ".."'),
    (make_tar({"/etc/b": b""}), "/etc/b"),
], ids=["empty", "noise", "gzip cut off", "tar cut off", "leaves", "absolute"])
def test_archives(project, data, says):
    project.base()
    (project.recipes / "a.tar.gz").write_bytes(data)
    project.recipe('return forge.derivation { name = "src", what = "unpack", system = "builtin", builder = "builtin:unpack", '
                   'env = { src = forge.path "a.tar.gz" } }')
    project.refuses("realise", "recipes/x.lua", status=1, says=["src: ", says])


# --- full disks (fetching: test_bad_index.py) -------------------------------------------------------------------

UNPACK = ('return forge.derivation { name = "src", what = "unpack", system = "builtin", builder = "builtin:unpack", '
          'env = { src = forge.path "big" } }')


@pytest.mark.parametrize("text, big, status, says", [
    ('return sh("fill", "dd if=/dev/zero of=$out bs=1M count=100")', None, 100, ["fill: the build exited with status 1"]),
    ('return sh("fill", "yes > $out || true; exit 0")', None, 1, ["fill: ", "No space left on device"]),
    (UNPACK, make_tar({f"a/{i}": bytes(10 << 20) for i in range(8)}), 1, ["src: big: ", "No space left on device"]),
    ('return sh("a", "cp " .. forge.path "big" .. " $out")', bytes(40 << 20), 1, ["the disk is full", "/disk/store/", "No space left on device"]),
], ids=["build", "output", "unpack", "source"])
def test_a_full_disk(project, small_disk, text, big, status, says):
    project.use_store(small_disk / "store")
    project.base()
    if big:
        (project.recipes / "big").write_bytes(big)
    project.recipe(text)
    project.refuses("realise", "recipes/x.lua", status=status, says=says)
    project.use_store(project.folder / "store")
    if big:
        project.run("realise", "recipes/x.lua")
        project.ends_well()
