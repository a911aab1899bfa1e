"""What README.md says is true: its commands are run, its recipe is evaluated, its tables are compared."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from test_export import FINISH, make_wheel, tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
QUOTED = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S))


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.M | re.S)


def commands(program):
    """The lines of the sh blocks that call it, without their comments."""
    lines = [line.split(" # ")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if shlex.split(line)[:1] == [program]]


@pytest.fixture
def here(project, build):
    """A folder like the project's own: build/forge, the recipes with their lock, and ./store for the store."""
    shutil.copytree(ROOT / "recipes", project.recipes, dirs_exist_ok=True)
    (project.folder / "build").mkdir()
    (project.folder / "build/forge").symlink_to(build / "forge")
    del project.env["FORGE_STORE"]
    return project


def test_the_blocks_are_found():
    assert len(blocks("sh")) == 2 and len(blocks("lua")) == 1
    assert commands("make") == ["make quickstart", "make check"]
    assert len(commands("build/forge")) == 8 and len(commands("pip")) == 1


def test_the_recipe_is_that_of_the_file(here):
    """Written as the README has it, it comes to the same wheel as recipes/markupsafe.lua, by the real lock."""
    def wheel_steps():
        plan = json.loads(here.run("realise", "--dry-run", "--json", "recipes/markupsafe.lua")[0])
        return [step["drv"] for step in plan if step["what"] != "test"]

    steps = wheel_steps()
    [text] = blocks("lua")
    (here.recipes / "markupsafe.lua").write_text(text)
    out, err = here.run("show", "recipes/markupsafe.lua")
    assert re.search(r"^\* cp313 .*to build", out, re.M), out + err
    assert len(steps) > 50 and wheel_steps() == steps


def run_line(line, here, **env):
    got = subprocess.run(["/bin/sh", "-c", line], cwd=here.folder, env=here.env | {"PWD": str(here.folder)} | env,
                         capture_output=True, text=True, timeout=100)
    assert got.returncode == 0, f"{line}\n{got.stdout}{got.stderr}"
    return got.stdout


def test_forge_lines_work(here, build):
    """In their order, in one folder.  A wheel that took no network stands in for the real one: builds of the
    README's recipes are only planned."""
    wheel = make_wheel(here.base() / "wheels", "markupsafe", "3.0.3")
    text = FINISH.format(name="markupsafe", version="3.0.3", file=wheel.name, kind="none", text="")
    here.realise(text.replace('"mkdir $out', '"echo built for the README; mkdir $out'))
    shown = {}
    for line in commands("build/forge"):
        if " realise " in line and "--dry-run" not in line:
            line = line.replace(" realise ", " realise --dry-run ")
        line = line.replace(" lint ", " lint --offline ")
        shown[shlex.split(line)[1]] = run_line(line, here)
    assert "cp313-torch2.11-cu130-sm80" in shown["show"]
    assert re.search(r"^build +flash-attn-2.8.3-raw \(", shown["realise"], re.M)
    assert shown["log"] == "built for the README\n"
    assert (here.folder / "build/index/files" / wheel.name).exists()
    [pip] = commands("pip")
    pip = pip.replace("pip install", f"{tool(build, 'pip')} install -q --isolated --no-cache-dir --target to")
    run_line(pip, here)
    assert (here.folder / "to/markupsafe/__init__.py").exists()


def table():
    """{command: words} of the README's table of commands."""
    rows = re.findall(r"^\| `forge (\w+)(?: ([^`]*))?` \|", README, re.M)
    assert len(rows) > 4
    return dict(rows)


def test_the_table_has_the_commands_that_there_are(project):
    listed = re.findall(r"^  (\w+) +[A-Z]", project.run("help")[0], re.M)
    assert listed == list(table())


@pytest.mark.parametrize("command", table())
def test_a_commands_words_are_those_of_its_help(command, project):
    out, _ = project.run("help", command)
    first = out.splitlines()[0]
    assert first.replace(" [options]", "") == f"forge {command} {table()[command]}".strip()
    assert project.run(command, "--help")[0] == out


def options_in(texts):
    return {word for text in texts for word in re.findall(r"--[a-z-]+", text)}


def test_options_that_are_named_exist(project):
    known = options_in(project.run("help", command)[0] for command in table())
    named = options_in(text for text in QUOTED if not text.startswith("BENCH="))
    assert named and named <= known, named - known
    known = options_in([(ROOT / "tests/bench/bench.py").read_text()])
    named = options_in(text for text in QUOTED if text.startswith("BENCH="))
    assert named <= known, named - known


def test_make_goals_that_are_named_exist():
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    got = subprocess.run(["make", "--no-print-directory", "help"], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    known = re.findall(r"^  ([a-z-]+) ", got.stdout, re.M)
    named = {text.split()[1] for text in QUOTED + commands("make") if text.startswith("make ")}
    assert {"quickstart", "check", "help"} <= named and named <= set(known), named - set(known)


def test_the_builds_environment_is_what_is_said(project):
    said = re.search(r"`(HOME PATH [^`]*)`", README).group(1).split()
    path = project.object('return sh("env", "env | grep -v ^out= > $out")')
    seen = dict(line.split("=", 1) for line in path.read_text().splitlines())
    for name in ("SHLVL", "PWD", "_"):
        seen.pop(name, None)  # the shell's own
    assert set(seen) == {word.split("=")[0] for word in said}
    assert all(seen[name] == value for name, value in (word.split("=") for word in said if "=" in word))


def test_the_quickstart_tells_its_steps_and_a_pip_line_that_works(here, build, tmp_path):
    """Its script, on a wheel that takes no network; the packages and the program are there."""
    wheel = make_wheel(here.base() / "wheels", "two_words", "3.0")
    recipe = here.recipe(FINISH.format(name="two_words", version="3.0", file=wheel.name, kind="none", text=""))
    quickstart = [ROOT / "tests/support/quickstart.sh", "build", recipe]
    env = here.env | {"MAKE": "true", "PYTHON": sys.executable}
    first, second = (subprocess.run(quickstart, cwd=here.folder, env=env, stdout=subprocess.PIPE, text=True,
                                    check=True).stdout for _ in range(2))
    assert re.findall(r"^  (\w+) +[0-9.]+ s   (.*)$", first, re.M)[2:-1] == [("build", "raw-two_words"), ("finish", "two_words-3.0")]
    assert re.search(r"^  realise +[0-9.]+ s   nothing to do", second, re.M)
    [path] = re.findall(r"^  path +(.*\.whl)$", first, re.M)
    assert pathlib.Path(path).exists()
    [line] = re.findall(r"^  (pip install --extra-index-url file://\S+ two-words==3.0)$", second, re.M)
    line = line.replace("--extra-index-url", "--index-url")  # no network
    run_line(line.replace("pip", f"{tool(build, 'pip')} -q --isolated --no-cache-dir", 1) + " --target to", here)
    assert (here.folder / "to/two_words").is_dir()


def test_a_failed_quickstart_ends_there(here):
    env = here.env | {"MAKE": "true", "PYTHON": sys.executable}
    got = subprocess.run([ROOT / "tests/support/quickstart.sh", "build", here.recipe('return sh("bad", "exit 1")')],
                         cwd=here.folder, env=env, capture_output=True, text=True)
    assert got.returncode == 100 and got.stdout == ""


def test_the_pip_line_names_the_torch_that_it_was_compiled_against(tmp_path):
    wheel = tmp_path / "a_b-1.0+cu130torch2.11-cp313-cp313-linux_x86_64.whl"
    wheel.write_bytes(b"x" * 1_260_000)
    record = [{"wheel": str(wheel), "axes": {"python": "2.7", "torch": "2.11.0", "cuda": "13.0"}}]
    got = subprocess.run([sys.executable, ROOT / "tests/support/pip_line.py", "/an index/simple"], input=json.dumps(record),
                         capture_output=True, text=True, check=True).stdout
    assert "  size      1.3 MB (1260000 bytes)\n" in got
    assert "  pip install --extra-index-url file:///an%20index/simple a-b==1.0+cu130torch2.11 torch==2.11.0\n" in got
    assert "in a Python 2.7," in got and "here is 3." in got
