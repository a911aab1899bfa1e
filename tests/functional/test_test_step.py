"""The test step's own program: the wheel stands among what it needs, as an installer would have put it."""
import importlib.util
import pathlib
import subprocess
import sys
import zipfile

import pytest


@pytest.fixture
def step(root, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("test_step", root / "lib/build/test.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SITE", tmp_path / "site")
    monkeypatch.setattr(module, "NEEDS", tmp_path / "needs")
    return module


def test_requirements_stand_beside_the_wheel(step, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", ["first"])
    for name in "nvidia/lib/libx.so", "shared/theirs.py", "shared/both.py", "alone.py":
        path = step.NEEDS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("theirs")
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("own/own.so", "own")
        wheel.writestr("shared/both.py", "ours")
    step.install(tmp_path / "a.whl")
    step.beside(step.SITE, step.NEEDS)
    assert (step.SITE / "own/../nvidia/lib/libx.so").read_text() == "theirs"
    assert (step.SITE / "shared/theirs.py").read_text() == "theirs" and (step.SITE / "shared/both.py").read_text() == "ours"
    assert (step.SITE / "alone.py").resolve() == step.NEEDS / "alone.py"
    assert (step.NEEDS / "shared/both.py").read_text() == "theirs"  # nothing of theirs was written


@pytest.mark.parametrize("name, said", [("test_step_own", None), ("test_step_needed", "which is not the wheel's")])
def test_only_the_wheels_own_modules_count(step, tmp_path, monkeypatch, name, said):
    monkeypatch.setattr(sys, "path", ["the program's folder", *sys.path])
    for variable, value in {"FORGE_WHEEL": tmp_path, "FORGE_IMPORT": name, "FORGE_RUN": "", "out": tmp_path / "verdict"}.items():
        monkeypatch.setenv(variable, str(value))
    step.NEEDS.mkdir()
    (step.NEEDS / "test_step_needed.py").write_text("")
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("test_step_own.py", "")
    if said:
        with pytest.raises(SystemExit, match=said):
            step.main()
    else:
        step.main()
    assert (tmp_path / "verdict").exists() == (not said)


def test_nothing_is_needed(step):
    step.SITE.mkdir()
    step.beside(step.SITE, step.NEEDS)
    assert not list(step.SITE.iterdir())


METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: 1\nRequires-Dist: {}\nRequires-Dist: never; python_version < '3'\n"
OTHERS = {"theirs/__init__.py": "import zzz", "half/__init__.py": "", "is_there-2.dist-info/METADATA": METADATA.format("is-there", "not-the-wheels"),
          "nameless-1.dist-info/METADATA": "Metadata-Version: 2.1\n"}


@pytest.mark.parametrize("code, asked, needs, run, said", [
    ("import own.deeper", "own", "Is_There", "", "the wheel has no module own.deeper"),
    ("", "own_extension", "Is_There", "", "the wheel has no module own_extension"),
    ("", "absent.part", "Is_There", "", "the wheel has no module absent"),
    ("import einops.layers", "own", "Is_There", "", "the wheel needs einops and does not say so: name the project that has it in test.requires"),
    ("import half.gone", "own", "Is_There", "", "the wheel needs half.gone and does not say so: name the project that has it in test.requires"),
    ("import tvm_ffi", "own", "Apache.tvm-ffi>=1", "", "the wheel needs Apache.tvm-ffi, which the test is without: name all that it needs in runtime"),
    ("", "own", "Apache.tvm-ffi>=1", "import pytest_x", "test.run imports pytest_x: name the project that has it in test.requires"),
    ("import theirs", "own", "Is_There", "",
     "{site}/theirs/__init__.py imports zzz, which it should have asked for: name the project that has it in test.requires"),
    ("raise ModuleNotFoundError('install foo')", "own", "Is_There", "", None),
])
def test_a_module_that_is_not_there(step, tmp_path, code, asked, needs, run, said):
    """Tried as the step is: a Python of its own."""
    for path, text in OTHERS.items():
        (step.NEEDS / path).parent.mkdir(parents=True, exist_ok=True)
        (step.NEEDS / path).write_text(text)
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("own/__init__.py", code)
        wheel.writestr("a-1.dist-info/METADATA", METADATA.format("a", needs))
    program = tmp_path / "step.py"
    text = pathlib.Path(step.__file__).read_text()
    program.write_text(text.replace("/build/site-packages", str(step.SITE)).replace("/env/site-packages", str(step.NEEDS)))
    got = subprocess.run([sys.executable, "-B", program], capture_output=True, text=True, check=False, cwd=tmp_path, env={
        "FORGE_WHEEL": str(tmp_path), "FORGE_IMPORT": asked, "FORGE_RUN": run, "out": str(tmp_path / "verdict")})
    assert got.returncode == 1 and not (tmp_path / "verdict").exists()
    assert got.stderr.splitlines()[-1] == (said.format(site=step.SITE) if said else "ModuleNotFoundError: install foo")
    assert "Traceback" in got.stderr
