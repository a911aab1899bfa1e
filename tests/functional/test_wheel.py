"""The wheel room against Python's own readers and pip, by way of wheel_tool."""
import base64
import csv
import ctypes
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import zipfile

import pytest

TOOL = pathlib.Path(os.environ["FORGE_BUILD"]) / "tests/support/wheel_tool"
EPOCH = "1700000001"
NEEDS_PIP = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="no pip")
NEEDS_CC = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

PURE = {
    "fancy/__init__.py": "VALUE = 1\n",
    "fancy/cli.py": "def main():\n    print('hello from fancy')\n    return 0\n",
    "fancy-1.0.data/scripts/fancy-raw": "#!python\nprint('raw')\n",
    "fancy-1.0.dist-info/entry_points.txt": "[console_scripts]\nfancy-cli = fancy.cli:main\n",
}


def row_hash(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def make_wheel(folder, files, tag="py3-none-any", method=zipfile.ZIP_STORED, when=(2020, 2, 3, 4, 5, 6), shuffle=0):
    """A wheel as some build backend might leave it."""
    files = {name: data if isinstance(data, bytes) else data.encode() for name, data in files.items()}
    files["fancy-1.0.dist-info/METADATA"] = b"Metadata-Version: 2.1\nName: Fancy\nVersion: 1.0\nRequires-Python: >=3.8\n"
    files["fancy-1.0.dist-info/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    names = sorted(files)
    random.Random(shuffle).shuffle(names)
    record = "".join(f"{name},{row_hash(files[name])},{len(files[name])}\n" for name in names)
    files["fancy-1.0.dist-info/RECORD"] = (record + "fancy-1.0.dist-info/RECORD,,\n").encode()
    folder.mkdir(exist_ok=True)
    path = folder / f"Fancy-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w", method) as z:
        for name in names + ["fancy-1.0.dist-info/RECORD"]:
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = method
            entry.external_attr = (0o775 if "scripts" in name else 0o640) << 16
            z.writestr(entry, files[name])
    return path


def run(*args):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True)


def finish(source, target, *label):
    target.mkdir(exist_ok=True)
    got = run("finish", source, target, "fancy", "1.0", EPOCH, *label)
    assert got.returncode == 0, got.stderr
    return json.loads(got.stdout)


def finished(tmp_path, files=PURE, tag="py3-none-any", label=("local", "cu130torch2.11")):
    make_wheel(tmp_path / "from", files, tag)
    return tmp_path / "to" / finish(tmp_path / "from", tmp_path / "to", *label)["file"]


def check_record(z):
    names = z.namelist()
    rows = {row[0]: row for row in csv.reader(io.StringIO(z.read(names[-1]).decode()))}
    assert sorted(rows) == sorted(names)
    for name, (_, digest, size) in rows.items():
        if name == names[-1]:
            assert (digest, size) == ("", "")
        else:
            assert (digest, int(size)) == (row_hash(z.read(name)), len(z.read(name)))


def test_python_reads_it(tmp_path):
    path = finished(tmp_path)
    assert path.name == "fancy-1.0+cu130torch2.11-py3-none-any.whl"
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        names = z.namelist()
        info = [name for name in names if ".dist-info/" in name]
        assert names == sorted(set(names) - set(info)) + info
        assert info[-1].endswith("/RECORD") and info[:-1] == sorted(info[:-1])
        for entry in z.infolist():
            assert entry.date_time == (2023, 11, 14, 22, 13, 20)
            assert entry.extra == b"" and entry.flag_bits == 0 and entry.create_system == 3
            assert entry.external_attr >> 16 == (0o100755 if "scripts" in entry.filename else 0o100644)
        check_record(z)
        assert b"\nVersion: 1.0+cu130torch2.11\n" in z.read("fancy-1.0+cu130torch2.11.dist-info/METADATA")
    listed = subprocess.run([sys.executable, "-m", "zipfile", "-l", path], capture_output=True, text=True, check=True)
    assert "fancy/cli.py" in listed.stdout


def test_same_bytes_however_it_was_packed(tmp_path):
    seen = set()
    for i, method in enumerate([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED]):
        make_wheel(tmp_path / f"from{i}", PURE, method=method, when=(2000 + i, 1, 1, 0, 0, 0), shuffle=i)
        seen.add(finish(tmp_path / f"from{i}", tmp_path / f"to{i}")["sha256"])
    assert len(seen) == 1


def pip_install(wheel, target):
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-cache-dir",
                    "--disable-pip-version-check", "--root-user-action=ignore", "--target", target, wheel], check=True)


@NEEDS_PIP
@pytest.mark.parametrize("label,version", [
    (("local", "cu130torch2.11"), "1.0+cu130torch2.11"), (("build", "2110.130"), "1.0"), ((), "1.0")])
def test_pip_installs_it(tmp_path, label, version):
    path = finished(tmp_path, label=label)
    pip_install(path, tmp_path / "site")
    found, = importlib.metadata.distributions(path=[str(tmp_path / "site")])
    assert (found.metadata["Name"], found.version) == ("Fancy", version)
    ran = subprocess.run([sys.executable, "-c", "from fancy.cli import main; main()"], capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": str(tmp_path / "site")}, check=True)
    assert ran.stdout == "hello from fancy\n"


def compile_library(tmp_path, source):
    (tmp_path / "c.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", tmp_path / "c.so", tmp_path / "c.c"], check=True)
    return (tmp_path / "c.so").read_bytes()


@NEEDS_CC
@NEEDS_PIP
def test_a_real_library(tmp_path):
    library = compile_library(tmp_path, '#include <string.h>\nint twice(const char *s) { return 2 * (int)strlen(s); }\n')
    machine = os.uname().machine
    python = f"cp3{sys.version_info[1]}"
    make_wheel(tmp_path / "from", {**PURE, "fancy/c.so": library}, f"{python}-none-linux_{machine}")
    done = finish(tmp_path / "from", tmp_path / "to", "local", "cu130", f"3.{sys.version_info[1]}")
    assert done["platform"].startswith("manylinux_2_") and done["platform"].endswith(machine)
    pip_install(tmp_path / "to" / done["file"], tmp_path / "site")
    assert ctypes.CDLL(str(tmp_path / "site/fancy/c.so")).twice(b"abc") == 6
    with zipfile.ZipFile(tmp_path / "to" / done["file"]) as z:
        wheel = z.read("fancy-1.0+cu130.dist-info/WHEEL").decode()
    assert f"Tag: {python}-none-{done['platform']}\n" in wheel


@NEEDS_CC
def test_a_library_in_a_pure_wheel_is_refused(tmp_path):
    library = compile_library(tmp_path, "int one(void) { return 1; }\n")
    make_wheel(tmp_path / "from", {"fancy/c.so": library})
    (tmp_path / "to").mkdir()
    got = run("finish", tmp_path / "from", tmp_path / "to", "fancy", "1.0", EPOCH)
    assert got.returncode == 1 and "fancy/c.so" in got.stderr
    assert os.listdir(tmp_path / "to") == []


def test_large_files_in_little_memory(tmp_path):
    noise = random.Random(1).randbytes(1 << 16)
    files = {"fancy/even.bin": bytes(40 << 20), "fancy/noise.bin": noise * (12 << 4) + random.Random(2).randbytes(12 << 20)}
    make_wheel(tmp_path / "from", files, method=zipfile.ZIP_DEFLATED)
    done = finish(tmp_path / "from", tmp_path / "to")
    (tmp_path / "env").mkdir()
    got = run("install", tmp_path / "to" / done["file"], tmp_path / "env")
    assert got.returncode == 0, got.stderr
    with zipfile.ZipFile(tmp_path / "to" / done["file"]) as z:
        assert z.testzip() is None
        check_record(z)
    for name, data in files.items():
        assert (tmp_path / "env/site-packages" / name).read_bytes() == data
    if "asan" not in str(TOOL):  # the sanitizer keeps what was freed
        assert 0 < done["peak_kib"] < 65536
        assert 0 < json.loads(got.stdout)["peak_kib"] < 65536


def test_installed_as_metadata_wants_it(tmp_path):
    path = finished(tmp_path)
    env = tmp_path / "env"
    env.mkdir()
    assert run("install", path, env).returncode == 0
    found, = importlib.metadata.distributions(path=[str(env / "site-packages")])
    assert found.version == "1.0+cu130torch2.11"
    assert found.read_text("INSTALLER") == "forge\n"
    assert [e.name for e in found.entry_points] == ["fancy-cli"]
    paths = {str(f): f for f in found.files}
    assert {"../bin/fancy-cli", "../bin/fancy-raw", "fancy/cli.py"} <= set(paths)
    for f in found.files:
        data = f.locate().read_bytes()
        if f.hash:
            assert row_hash(data) == f"{f.hash.mode}={f.hash.value}" and f.size == len(data)
    ran = subprocess.run([sys.executable, env / "bin/fancy-cli"], capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": str(env / "site-packages")}, check=True)
    assert ran.stdout == "hello from fancy\n"
    assert (env / "bin/fancy-raw").read_text() == "#!/env/bin/python\nprint('raw')\n"
    assert os.access(env / "bin/fancy-cli", os.X_OK) and not os.access(env / "site-packages/fancy/cli.py", os.X_OK)


def test_a_changed_byte_is_found(tmp_path):
    path = make_wheel(tmp_path / "from", PURE)
    with zipfile.ZipFile(path) as z:
        files = {name: z.read(name) for name in z.namelist()}
    files["fancy/cli.py"] = files["fancy/cli.py"].replace(b"hello", b"jello")
    with zipfile.ZipFile(path, "w") as z:
        for name, data in files.items():
            z.writestr(zipfile.ZipInfo(name), data)
    for folder in ("env", "to"):
        (tmp_path / folder).mkdir()
    installed = run("install", path, tmp_path / "env")
    made = run("finish", tmp_path / "from", tmp_path / "to", "fancy", "1.0", EPOCH)
    for got in installed, made:
        assert got.returncode == 102 and "fancy/cli.py" in got.stderr and "RECORD" in got.stderr
    assert os.listdir(tmp_path / "to") == []


def test_what_builds_leave(tmp_path):
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    ask = ("finish", tmp_path / "from", tmp_path / "to", "fancy", "1.0", EPOCH)
    assert "no wheel" in run(*ask).stderr
    (tmp_path / "from/fancy-1.0-py3-none-any.whl").write_text("not a zip")
    got = run(*ask)
    assert got.returncode == 1 and got.stderr.startswith("fancy-1.0-py3-none-any.whl: ") and got.stderr.count("\n") == 1
    make_wheel(tmp_path / "from", PURE)
    got = run(*ask)
    assert got.returncode == 1 and "two wheels" in got.stderr
