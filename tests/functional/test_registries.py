"""The one test that uses the registries: real recipes from the lock to wheels that pip installs.

Skipped, by name, where the machine's index can't be reached or FORGE_OFFLINE_TESTS is set.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Real:
    """The project's own recipes and lock in a folder of their own; the machine's registries."""

    def __init__(self, folder, program):
        self.folder = folder
        self.program = str(program)
        shutil.copytree(ROOT / "recipes", folder / "recipes")
        shutil.copytree(ROOT / "tests/recipes", folder / "tests/recipes")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("FORGE_")}
        self.env["FORGE_LIB"] = str(ROOT / "lib")

    def forge(self, *args, status=0, store="store"):
        got = subprocess.run([self.program, *args], cwd=self.folder, env=self.env | {"FORGE_STORE": store},
                             capture_output=True, text=True, timeout=1500)
        assert got.returncode == status, got.stdout + got.stderr
        return got.stdout, got.stderr


@pytest.fixture(scope="module")
def real(tmp_path_factory, build):
    if os.environ.get("FORGE_OFFLINE_TESTS"):
        pytest.skip("FORGE_OFFLINE_TESTS is set")
    folder = tmp_path_factory.mktemp("real")
    made = Real(folder, build / "forge")
    probe = subprocess.run([made.program, "lock", "recipes/markupsafe.lua"], cwd=folder, capture_output=True,
                           text=True, env=made.env | {"FORGE_STORE": "probe"})
    if probe.returncode != 0 and ("connect" in probe.stderr or "resolve" in probe.stderr):
        pytest.skip("the registries can't be reached: " + probe.stderr.strip())
    yield made
    subprocess.run(["chmod", "-R", "u+w", folder], check=False)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def markupsafe(real):
    out, _ = real.forge("realise", "recipes/markupsafe.lua")
    return pathlib.Path(out.strip())


def test_the_lock_is_what_lock_would_write(real):
    lock = real.folder / "recipes/forge.lock"
    before = lock.read_bytes()
    recipes = sorted(str(p.relative_to(real.folder)) for p in (real.folder / "recipes").glob("*.lua"))
    real.forge("lock", *recipes)
    assert lock.read_bytes() == before == (ROOT / "recipes/forge.lock").read_bytes()


def test_a_c_extension(markupsafe):
    assert markupsafe.name.startswith("markupsafe-") and "cp313-cp313-manylinux_2_" in markupsafe.name
    with zipfile.ZipFile(markupsafe) as z:
        assert z.testzip() is None
        assert any(n.endswith(".so") for n in z.namelist())
        assert z.namelist()[-1].endswith(".dist-info/RECORD")
        assert {i.date_time for i in z.infolist()} == {(1980, 1, 2, 0, 0, 0)}


def test_again_does_nothing(real, markupsafe):
    out, err = real.forge("realise", "--offline", "recipes/markupsafe.lua")
    assert out.strip() == str(markupsafe) and err == ""


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def test_another_store_gives_the_same_bytes(real, markupsafe):
    out, _ = real.forge("realise", "recipes/markupsafe.lua", store="other")
    assert out.strip() != str(markupsafe) and digest(out.strip()) == digest(markupsafe)


def test_cuda_without_torch(real):
    out, _ = real.forge("realise", "tests/recipes/cuda-saxpy.lua")
    with zipfile.ZipFile(out.strip()) as z:
        [name] = [n for n in z.namelist() if n.endswith(".so")]
        binary = z.extract(name, real.folder / "so")
    sections = subprocess.run(["readelf", "-SW", binary], capture_output=True, text=True, check=True).stdout
    assert ".nv_fatbin" in sections
    # -lineinfo writes the sources' times into the device code: they must not be today's
    again, _ = real.forge("realise", "tests/recipes/cuda-saxpy.lua", store="other")
    assert again.strip() != out.strip() and digest(again.strip()) == digest(out.strip())


def test_pip_installs_it_from_the_index(real, markupsafe, server, build, tmp_path):
    pip = pathlib.Path(os.environ.get("FORGE_TOOLS", build / "tools")) / "bin/pip"
    if not pip.exists():
        pytest.skip("no pip (make deps-test)")
    real.forge("export", str(tmp_path / "index"))
    url = server(tmp_path / "index")
    subprocess.run([pip, "download", "-q", "--isolated", "--no-cache-dir", "--index-url", url + "simple/", "--no-deps",
                    "--python-version", "3.13", "--only-binary=:all:", "--platform", "manylinux_2_40_x86_64",
                    "--platform", markupsafe.name.rsplit("-", 1)[1][:-4], "-d", tmp_path, "markupsafe"], check=True)
    assert (tmp_path / markupsafe.name).read_bytes() == markupsafe.read_bytes()


def test_the_records_say_what_it_took(real, markupsafe):
    records = json.loads(real.forge("log", "--json", "--lines", "500")[0])
    raw = [r for r in records if r["name"].endswith("-raw") and r["what"] == "build"]
    assert raw and all(r["cpu_ms"] > 0 and r["peak_memory"] > 1 << 20 for r in raw)
