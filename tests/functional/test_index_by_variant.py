"""forge export by variant: one index for each torch and CUDA, and what pip and uv choose from them and from a flat one."""
import itertools
import json
import os
import shutil
import subprocess

import pytest

from test_export import make_wheel, tool

# Variants made by hand, each of one small wheel that says which it is.
TARGETS = """
local function wheel(v)
  local raw = sh("raw-" .. v.folder, "mkdir $out; cp /wheels/" .. v.folder .. "/* $out/")
  return forge.derivation { name = v.recipe .. "-" .. v.version, what = "finish", system = "builtin",
    builder = "builtin:finish", env = { src = raw, dist = v.recipe, version = v.version, python = v.axes.python or "3.13",
    label_kind = v.kind, label_text = v.text, epoch = "315619200" } }
end
local targets = {}
for i, v in ipairs(%s) do
  targets[i] = { name = v.folder, recipe = v.recipe, version = v.version, axes = v.axes, stable_abi = v.stable_abi,
    label = v.version .. (v.kind == "local" and "+" or v.kind == "build" and "-" or "") .. v.text,
    derive = function() return { { role = "wheel", drv = wheel(v) } } end }
end
return { targets = targets }
"""

PYTHONS, TORCHES = ("3.11", "3.13"), ("2.9.0", "2.11.0")


def lua(value):
    """A Lua table of a JSON value."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {lua(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(map(lua, value)) + "}"
    return json.dumps(value)


def variant(project, recipe, axes, kind="none", text="", tag="py3-none-any", stable_abi=()):
    folder = "-".join([recipe, kind, *(str(v).replace(".", "") for v in axes.values())])
    make_wheel(project.base() / "wheels", recipe, "1.0")  # the folder
    make_wheel(project.base() / "wheels" / folder, recipe, "1.0", tag=tag, text=f"which = '{folder}'\n")
    return {"folder": folder, "recipe": recipe, "version": "1.0", "axes": axes, "kind": kind, "text": text,
            "stable_abi": list(stable_abi)}


def matrix(project, recipe, label):
    """A wheel for each Python and torch."""
    for python, torch in itertools.product(PYTHONS, TORCHES):
        kind, text = label(torch)
        digits = python.replace(".", "")
        yield variant(project, recipe, {"python": python, "torch": torch, "cuda": "13.0"}, kind, text, f"cp{digits}-none-any")


def realise(project, variants):
    recipe = project.recipe(TARGETS % lua(variants))
    return project.run("realise", "--all", recipe)


def short(torch):
    return ".".join(torch.split(".")[:2])


@pytest.fixture
def exported(project, tmp_path):
    """pkg by local version, tagged by build tag, each for two Pythons and two torches; plain without a torch; steady
    with torch's stable ABI; cuda for two CUDAs, and only for one."""
    variants = [
        *matrix(project, "pkg", lambda torch: ("local", f"cu130torch{short(torch)}")),
        *matrix(project, "tagged", lambda torch: ("build", torch.replace(".", "") + ".130")),
        variant(project, "plain", {"python": "3.13"}),
        variant(project, "steady", {"torch": "2.9.0", "cuda": "13.0"}, "local", "cu130", stable_abi=["torch"]),
        variant(project, "cuda", {"cuda": "13.0"}, "local", "cu130"),
        variant(project, "cuda", {"cuda": "12.4"}, "local", "cu124"),
        variant(project, "one", {"cuda": "12.4"}, "local", "cu124"),
        variant(project, "cpuonly", {"torch": "2.11.0"}, "local", "cpu"),
    ]
    realise(project, variants)
    folder = tmp_path / "index"
    out, _ = project.run("export", str(folder))
    return folder, out.splitlines()


def projects(folder, index):
    return [p["name"] for p in json.loads((folder / index / "index.json").read_text())["projects"]]


def files(folder, index, project):
    page = json.loads((folder / index / project / "index.json").read_text())
    return [f["filename"] for f in page["files"]]


def test_one_index_for_each_torch_and_cuda(exported):
    folder, out = exported
    indexes = ["simple", "cpu-torch2.11/simple", "cu124/simple", "cu130/simple", "cu130-torch2.11/simple",
               "cu130-torch2.9/simple"]
    assert sorted(out) == sorted(f"{folder}/{index}" for index in indexes) and out[0] == f"{folder}/simple"
    assert projects(folder, "simple") == ["one", "plain", "steady"]
    assert projects(folder, "cpu-torch2.11/simple") == ["cpuonly"]
    assert projects(folder, "cu124/simple") == ["cuda", "one"] and projects(folder, "cu130/simple") == ["cuda"]
    assert projects(folder, "cu130-torch2.11/simple") == ["pkg", "tagged"]
    assert projects(folder, "cu130-torch2.9/simple") == ["pkg", "steady", "tagged"]
    assert files(folder, "cu130-torch2.9/simple", "pkg") == [
        f"pkg-1.0+cu130torch2.9-cp{p}-none-any.whl" for p in ("311", "313")]
    assert files(folder, "cu130-torch2.11/simple", "tagged") == [
        f"tagged-1.0-2110.130-cp{p}-none-any.whl" for p in ("311", "313")]
    for index in indexes:
        for name in projects(folder, index):
            page = json.loads((folder / index / name / "index.json").read_text())
            assert all((folder / index / name / f["url"].replace("%2B", "+")).resolve().exists() for f in page["files"])


def test_exported_again_it_is_up_to_date(exported, project):
    folder, out = exported
    again, err = project.run("export", str(folder))
    assert again.splitlines() == out and "up to date" in err
    got = json.loads(project.run("export", "--json", str(folder))[0])
    assert [f"{folder}/{index}" for index in got["indexes"]] == out


def with_pip(build, url, name, python, to):
    subprocess.run([tool(build, "pip"), "install", "-q", "--isolated", "--no-cache-dir", "--no-deps", "--index-url", url,
                    "--python-version", python, "--only-binary", ":all:", "--target", to, name], check=True)


def with_uv(build, url, name, python, to):
    subprocess.run([tool(build, "uv"), "pip", "install", "-q", "--no-config", "--no-cache", "--no-deps", "--default-index", url,
                    "--python-version", python, "--target", to, name], check=True,
                   env={"PATH": os.environ["PATH"], "HOME": str(to.parent)})


def which(to, name):
    space = {}
    exec((to / name / "__init__.py").read_text(), space)
    return space["which"]


@pytest.mark.parametrize("install", [with_pip, with_uv])
def test_each_index_gives_the_wheel_for_the_python(exported, server, build, tmp_path, install):
    folder, _ = exported
    url = server(folder)
    for number, (name, python, torch) in enumerate(itertools.product(("pkg", "tagged"), PYTHONS, TORCHES)):
        to = tmp_path / f"to{number}"
        install(build, f"{url}cu130-torch{short(torch)}/simple/", name, python, to)
        assert which(to, name).split("-")[2:] == [python.replace(".", ""), torch.replace(".", ""), "130"]
    install(build, f"{url}simple/", "steady", "3.13", tmp_path / "steady")
    assert which(tmp_path / "steady", "steady") == "steady-local-290-130"


@pytest.fixture
def flat(exported, tmp_path):
    """One index over all of files/, as one would write it without groups."""
    folder, _ = exported
    for name in ("pkg", "tagged"):
        page = tmp_path / "flat/simple" / name
        page.mkdir(parents=True)
        links = [f'<a href="../../files/{f.name.replace("+", "%2B")}">{f.name}</a>' for f in sorted(folder.glob(f"files/{name}-*.whl"))]
        assert len(links) == len(PYTHONS) * len(TORCHES)
        (page / "index.html").write_text("<!DOCTYPE html><body>" + "<br>".join(links))
    shutil.copytree(folder / "files", tmp_path / "flat/files")
    return tmp_path / "flat"


@pytest.mark.parametrize("install", [with_pip, with_uv])
def test_a_flat_index_chooses_the_highest_label_whatever_torch_there_is(flat, server, build, tmp_path, install):
    """A local version and a build tag sort and never select: who has torch 2.9 is given the wheel for 2.11."""
    url = server(flat)
    for name in ("pkg", "tagged"):
        install(build, url + "simple/", name, "3.13", tmp_path / name)
        assert which(tmp_path / name, name).split("-")[2:] == ["313", "2110", "130"]


def test_the_line_for_pip_names_the_index_of_the_torch(exported, root):
    folder, out = exported
    wheel = folder / "files/pkg-1.0+cu130torch2.9-cp313-none-any.whl"
    record = [{"wheel": str(wheel), "axes": {"python": "3.13", "torch": "2.9.0", "cuda": "13.0"}}]
    got = subprocess.run(["/usr/bin/env", "python3", root / "tests/support/pip_line.py", "\n".join(out)], check=True, text=True,
                         input=json.dumps(record), capture_output=True).stdout
    assert f"--extra-index-url file://{folder}/cu130-torch2.9/simple pkg==1.0+cu130torch2.9 torch==2.9.0" in got
