"""forge lint: each thing that it finds, in a recipe that has it, and nothing in one that has not."""
import json
import shutil

import pytest

from conftest import ROOT
from made import make_tar, sha256
from test_variants import locked  # noqa: F401 (a fixture)

GOOD = """
local forge = require "forge"
return forge.wheel {
  name = "x", version = "1.0",
  source = forge.path "src",
  matrix = { python = { "3.13" }, torch = { "2.11.0" }, cuda = { "13.0" } },
  requires = { "setuptools==80.9.0" },
  jobs = { MAX_JOBS = {} },
  env = function(v) return { X_CUDA_ARCHS = "90", X_FORCE = "TRUE" } end,
  label = forge.label.local_version "cu{cuda}torch{torch}",
  test = { import = "x" },
}
"""
SETUP = 'import os\nARCHS = os.environ["X_CUDA_ARCHS"]\nif os.environ.get("X_FORCE") == "TRUE": pass\n'


@pytest.fixture
def linted(locked):
    """Lint a recipe of a package whose source is SETUP; GOOD with these texts replaced."""
    (locked.recipes / "src").mkdir()
    (locked.recipes / "src/setup.py").write_text(SETUP)

    def lint(*changes, args=(), status=1):
        text = GOOD
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (locked.recipes / "x.lua").write_text(text)
        return lines(locked, *args, status=status)

    lint.project = locked
    return lint


def lines(project, *args, status):
    """What is found, as lines; the store stays valid."""
    out, err = project.run("lint", *args, "recipes/x.lua", status=status)
    found = out.splitlines()
    if status:
        assert err.splitlines()[-1] == f"forge: {len(found)} finding{'' if len(found) == 1 else 's'}"
    project.ends_well()
    return found


def test_a_clean_recipe(linted):
    assert linted(status=0) == []
    assert linted.project.run("lint", "recipes/x.lua") == ("", "")
    assert json.loads(linted.project.run("lint", "--json", "recipes/x.lua")[0]) == {"findings": [], "left_out": []}


ADD = ("  test = ", "  %s,\n  test = ")


def added(field):
    return ADD[0], ADD[1] % field


# What is changed in GOOD, and what is found then: the line and the text.
FINDINGS = {
    "variable": ([('X_CUDA_ARCHS = "90"', 'X_CUDAARCHS = "90"')], [
        "9: nothing in the source reads X_CUDAARCHS: write X_CUDA_ARCHS, which occurs there, or remove it"]),
    "no name is near": ([('X_FORCE = "TRUE"', 'ZZZ_TOP = "1"')], [
        "9: nothing in the source reads ZZZ_TOP: remove it"]),
    "jobs": ([("MAX_JOBS = {}", "MAX_JOB = {}")], ["8: nothing in the source reads MAX_JOB: remove it"]),
    "without torch nothing reads MAX_JOBS": ([(', torch = { "2.11.0" }', ""), ("torch{torch}", "")], [
        "8: nothing in the source reads MAX_JOBS: remove it"]),
    "label by variable": ([("local_version", 'env("X_LOCAL_VERSON",'), ('torch{torch}"', 'torch{torch}")')], [
        "10: nothing in the source reads X_LOCAL_VERSON: remove it"]),
    "of impossible variants nothing is asked": ([('"90", X', '"90", X_THIRD = v.torch == "2.10.0" and "1" or nil, X'),
                                                 ('{ "2.11.0" }', '{ "2.11.0", "2.10.0" }')], [
        "6: no variant with torch 2.10.0 is built (torch 2.10.0 is built for CUDA 12.8; this variant has 13.0): "
        "remove the value, or what keeps it out"]),
    "alias over env": ([added('aliases = { X_FORCE = "cuda" }')], [
        "11: the alias 'X_FORCE' hides the variable of env from --env: rename one of the two"]),
    "alias over jobs": ([added('aliases = { MAX_JOBS = "cuda" }')], [
        "11: the alias 'MAX_JOBS' hides the variable of jobs from --env: rename one of the two"]),
    "no label": ([('  label = forge.label.local_version "cu{cuda}torch{torch}",\n', "")], [
        "6: there is no label: the wheels for another torch would have the same name: "
        'add label = forge.label.local_version "cu{cuda}torch{torch}" or the like']),
    "no label for the CUDA": ([('  label = forge.label.local_version "cu{cuda}torch{torch}",\n', '  stable_abi = { "torch" },\n')], [
        "6: there is no label: the wheels for another cuda would have the same name: "
        'add label = forge.label.local_version "cu{cuda}torch{torch}" or the like']),
    "no test": ([('  test = { import = "x" },\n', "")], [
        '3: the test neither imports nor runs anything: add test = { import = "…" }']),
    "a test of nothing": ([('{ import = "x" }', '{ requires = {} }')], [
        '11: the test neither imports nor runs anything: add test = { import = "…" }']),
    "patch": ([added('patches = { { "patches/x/a.patch", when = function(v) return v.cuda == "12" end } }')], [
        "11: no variant uses patches/x/a.patch: mend its `when`, or remove it"]),
    "excluded": ([('python = { "3.13" }', 'python = { "3.13" }, flavour = { "a", "b" }'), ("torch{torch}", "torch{torch}{flavour}"),
                  added('exclude = { { flavour = "b", because = "no b" } }')], [
        "6: no variant with flavour b is built (no b): remove the value, or what keeps it out"]),
    "profile": ([('python = { "3.13" }', 'python = { "3.13" }, flavour = { "a", "b" }'), ("torch{torch}", "torch{torch}{flavour}"),
                 added('profiles = { none = function(v) return v.flavour == "c" end, some = { flavour = "b" } }')], [
        "11: profile 'none' selects no variant that is built: mend or remove it"]),
    "one name": ([('python = { "3.13" }', 'python = { "3.13" }, flavour = { "a", "b" }'),
                  ('"cu{cuda}torch{torch}"', '(function() return "same" end)')], [
        " cp313-torch2.11-cu130-flavoura and cp313-torch2.11-cu130-flavourb would both be x-1.0+same-*.whl: "
        "tell them apart by the label"]),
    "not locked": ([("setuptools==80.9.0", "setuptools==1.2.3")], [
        " recipes/forge.lock lacks the wheels for Python 3.13 of setuptools==1.2.3, torch==2.11.0 "
        "(run: forge lock recipes/x.lua) (variant cp313-torch2.11-cu130)"]),
    "git, not locked": ([('forge.path "src"', 'forge.git { url = "http://127.0.0.1:9/x", rev = "main" }')], [
        " recipes/forge.lock lacks main of http://127.0.0.1:9/x (run: forge lock recipes/x.lua) (variant cp313-torch2.11-cu130)"]),
    "raises": ([("return { X_CUDA", 'error("no") return { X_CUDA')], ["9: no (variant cp313-torch2.11-cu130)"]),
    "raises for several": ([('python = { "3.13" }', 'python = { "3.13" }, flavour = { "a", "b", "c" }'),
                            ("torch{torch}", "torch{torch}{flavour}"),
                            ("return { X_CUDA", 'if v.flavour ~= "b" then error("no") end return { X_CUDA')], [
        "9: no (variant cp313-torch2.11-cu130-flavoura, and 1 more)"]),
    "syntax": ([("return forge.wheel {", "return forge.wheel")], ["4: <eof> expected near 'name'"]),
}


@pytest.mark.parametrize("changes, found", FINDINGS.values(), ids=FINDINGS)
def test_findings(linted, changes, found):
    if "a.patch" in str(changes):
        patch_file(linted.project, "x/a.patch")
    assert linted(*changes) == [f"recipes/x.lua:{each}" for each in found]


def patch_file(project, name, text=""):
    file = project.recipes / "patches" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


FLAVOURS = [('python = { "3.13" }', 'python = { "3.13" }, flavour = { "a", "b" }'), ("torch{torch}", "torch{torch}{flavour}")]
UNKNOWN = 'X_FORCE = "TRUE", X_NEW = "1"'
CLEAN = {
    "read by a patch": [('X_FORCE = "TRUE"', UNKNOWN), added('patches = { "patches/x/a.patch" }')],
    "read by a step": [('X_FORCE = "TRUE"', UNKNOWN), added("prepare = 'test $X_NEW = 1'")],
    "read by a file that a step names": [('X_FORCE = "TRUE"', UNKNOWN), added("""build = 'sh ' .. forge.path "patches/x/a.patch" """)],
    "read by a text that a step names": [('X_FORCE = "TRUE"', UNKNOWN), added("""build = 'sh ' .. forge.text("a", "$X_NEW")""")],
    "read by setuptools": [('X_FORCE = "TRUE"', 'DIST_EXTRA_CONFIG = "1", CFLAGS = "-g", PYTHONWARNINGS = "ignore"')],
    "read by torch": [('X_FORCE = "TRUE"', 'TORCH_CUDA_ARCH_LIST = "9.0", NVCC_APPEND_FLAGS = "-v"')],
    "read by a Debian package": [('X_FORCE = "TRUE"', 'VERBOSE = "1"'), added('packages = { "cmake" }')],
    "an alias of no variable": [added('aliases = { X_ARCHITECTURES = "cuda" }')],
    "the stable ABI of both": [('  label = forge.label.local_version "cu{cuda}torch{torch}",\n', '  stable_abi = { "torch", "cuda" },\n')],
    "a test that runs": [('import = "x"', 'run = "1"')],
    "a patch for one variant": [*FLAVOURS, added('patches = { { "patches/x/a.patch", when = function(v) return v.flavour == "b" end } }')],
    "a value that is excluded with another": [*FLAVOURS, ('"3.13" }, f', '"3.13" }, k = { "1", "2" }, f'), ("{flavour}", "{flavour}{k}"),
                                              added('exclude = { { flavour = "b", k = "1", because = "no" } }')],
    "a profile of one": [*FLAVOURS, added('profiles = { some = { flavour = "b" } }')],
}


def with_cmake(project):
    """The lock answers for the usual base with cmake too."""
    lock = json.loads((project.recipes / "forge.lock").read_text())
    key, entry = min((k, e) for k, e in lock["entries"].items() if k.startswith("debian trixie base-files bash") and "libbz2-dev" not in k and "packages" in e)
    lock["entries"][key.replace(" coreutils", " cmake coreutils")] = entry
    (project.recipes / "forge.lock").write_text(json.dumps(lock))


@pytest.mark.parametrize("changes", CLEAN.values(), ids=CLEAN)
def test_clean_beside_it(linted, changes):
    if "a.patch" in str(changes):
        patch_file(linted.project, "x/a.patch", "+X_NEW")
    with_cmake(linted.project)
    assert linted(*changes, status=0) == []


def test_patch_files_that_nothing_applies(linted):
    for name in "x/used.patch", "x/b.patch", "x/notes.txt", "x-c.diff", "xy-d.patch", "x-y-e.patch", "other/f.patch":
        patch_file(linted.project, name)
    (linted.project.recipes / "x-y.lua").write_text('return { patches = { "patches/x-y-e.patch" } }')
    assert linted(added('patches = { "./patches/x/used.patch" }')) == [
        f"recipes/x.lua: {file} is applied by no recipe: name it in `patches`, or remove it"
        for file in ("patches/x-c.diff", "patches/x/b.patch")]


def test_findings_come_in_the_order_of_the_lines(linted):
    found = linted(('X_FORCE = "TRUE"', 'X_FORC = "TRUE"'), ('{ import = "x" }', "{}"), ("MAX_JOBS", "MIN_JOBS"))
    assert [line.split(":")[1] for line in found] == ["8", "9", "11"]


def test_json(linted):
    linted(('X_FORCE = "TRUE"', 'X_FORC = "TRUE"'), ('{ import = "x" }', "{}"))
    out, err = linted.project.run("lint", "--json", "recipes/x.lua", status=1)
    assert json.loads(out)["findings"] == [
        {"check": "variable", "file": "recipes/x.lua", "line": 9, "what": "nothing in the source reads X_FORC",
         "todo": "write X_FORCE, which occurs there, or remove it"},
        {"check": "test", "file": "recipes/x.lua", "line": 11, "what": "the test neither imports nor runs anything",
         "todo": 'add test = { import = "…" }'}]
    assert err == "forge: 2 findings\n"


def test_several_recipes(linted):
    linted(('X_FORCE = "TRUE"', 'X_FORC = "TRUE"'))
    (linted.project.recipes / "y.lua").write_text(GOOD)
    (linted.project.recipes / "z.lua").write_text("return 3")
    out, err = linted.project.run("lint", "recipes/z.lua", "recipes/y.lua", "recipes/x.lua", status=1)
    assert out.splitlines() == [
        "recipes/z.lua: a recipe returns a derivation or what forge.wheel gives, not a number",
        "recipes/x.lua:9: nothing in the source reads X_FORC: write X_FORCE, which occurs there, or remove it"]
    assert err == "forge: 2 findings\n"


def test_a_bare_derivation_has_nothing_to_be_found(project):
    assert project.run("lint", project.recipe('return sh("a", "true")')) == ("", "")


def test_command_lines(linted):
    linted(status=0)
    linted.project.refuses("lint", status=2, says=["usage: forge lint RECIPE"])
    linted.project.refuses("lint", "recipes/absent.lua", status=1, says=["recipes/absent.lua: No such file"])
    linted.project.refuses("lint", "recipes", status=2, says=["recipes is a folder, not a recipe"])
    linted.project.refuses("lint", "--all", "recipes/x.lua", status=2, says=["no option --all"])


# --- the source is fetched --------------------------------------------------------------------------------------

def from_sdist(linted, server, setup=SETUP):
    """The recipe with its source on an index."""
    project, name = linted.project, "x-1.0.tar.gz"
    data = make_tar({"x-1.0/setup.py": setup.encode()})
    folder = project.folder / "www"
    (folder / "simple/x").mkdir(parents=True)
    (folder / name).write_bytes(data)
    (folder / "simple/x/index.html").write_text(f'<!DOCTYPE html><body><a href="/{name}#sha256={sha256(data)}">{name}</a>')
    project.env["FORGE_INDEX"] = server(folder) + "simple/"
    lock = json.loads((project.recipes / "forge.lock").read_text())
    lock["entries"]["sdist x 1.0"] = {"from": "pypi", "name": "x", "version": "1.0", "file": name, "sha256": sha256(data),
                                      "size": len(data), "requires": [], "build_requires": []}
    (project.recipes / "forge.lock").write_text(json.dumps(lock))
    return ('forge.path "src"', "forge.sdist()")


LEFT_OUT = 'recipes/x.lua: left out: the check "variable": the source is not in the store, and nothing is fetched (--offline)\n'


def test_a_source_is_fetched_once(linted, server):
    project = linted.project
    change, wrong = from_sdist(linted, server), ('X_FORCE = "TRUE"', 'X_FORC = "TRUE"')
    (project.recipes / "x.lua").write_text(GOOD.replace(*change).replace(*wrong))
    assert project.run("lint", "--offline", "recipes/x.lua") == ("", LEFT_OUT)
    assert project.run("lint", "--offline", "--quiet", "recipes/x.lua") == ("", "")
    got = json.loads(project.run("lint", "--offline", "--json", "recipes/x.lua")[0])
    assert got == {"findings": [], "left_out": [{"check": "variable", "file": "recipes/x.lua", "because": LEFT_OUT.split(": ", 3)[3][:-1]}]}
    assert not project.store.exists()
    found = ["recipes/x.lua:9: nothing in the source reads X_FORC: write X_FORCE, which occurs there, or remove it"]
    assert lines(project, status=1) == found
    assert [b["name"] for b in project.builds("unpack")] == ["x-1.0-source"] and project.builds("build") == []
    project.env["FORGE_INDEX"] = "http://127.0.0.1:9/"
    assert lines(project, status=1) == lines(project, "--offline", status=1) == found


def test_what_is_clean_without_the_source_needs_none(linted, server):
    """No variable that only the source could read: nothing is fetched, nothing left out."""
    change = from_sdist(linted, server)
    text = GOOD.replace(*change).replace('X_CUDA_ARCHS = "90", X_FORCE = "TRUE"', 'TORCH_CUDA_ARCH_LIST = "9.0"')
    (linted.project.recipes / "x.lua").write_text(text)
    assert linted.project.run("lint", "--offline", "recipes/x.lua") == ("", "")
    assert linted.project.run("lint", "recipes/x.lua") == ("", "") and linted.project.builds("fetch") == []


def test_a_source_that_can_not_be_had(linted, server):
    """An error, not a finding; what was found before is told all the same."""
    project = linted.project
    change = from_sdist(linted, server)
    text = GOOD.replace(*change).replace('{ import = "x" }', "{}")
    (project.recipes / "x.lua").write_text(text)
    (project.folder / "www/x-1.0.tar.gz").write_bytes(b"something else")
    line = project.refuses("lint", "recipes/x.lua", status=102, says=["x-1.0.tar.gz"])
    assert "finding" not in line
    out, _ = project.run("lint", "recipes/x.lua", status=102)
    assert out.startswith("recipes/x.lua:11: the test neither")


def test_every_source_is_read(linted, server, tmp_path):
    """Of several sources each: none of them has all names; they are not joined for it."""
    project = linted.project
    sdist = from_sdist(linted, server, 'os.environ["X_CUDA_ARCHS"]')
    (project.recipes / "more").mkdir()
    (project.recipes / "more/CMakeLists.txt").write_text("set(X $ENV{X_FORCE})")
    both = (sdist[0], 'nil, sources = { main = forge.sdist(), lib = { forge.path "more", at = "lib" } }')
    assert linted(both, status=0) == []
    assert linted(both, ('X_FORCE = "TRUE"', 'X_FORC = "TRUE"')) == [
        "recipes/x.lua:9: nothing in the source reads X_FORC: write X_FORCE, which occurs there, or remove it"]
    assert linted.project.builds("build") == [] and len(linted.project.builds("unpack")) == 1


def test_a_source_of_the_recipes_own_making_is_left_out(linted):
    """Nothing is built for lint."""
    making = ('forge.path "src"', 'tostring(forge.derivation { name = "made", builder = "/bin/sh" })')
    assert linted(making, status=0) == []
    _, err = linted.project.run("lint", "recipes/x.lua")
    assert 'left out: the check "variable": the source is not one that lint can read' in err


# --- the project's own recipes ----------------------------------------------------------------------------------

def test_the_shipped_recipes_are_clean(project):
    shutil.copytree(ROOT / "recipes", project.folder / "shipped")
    recipes = sorted(str(path) for path in (project.folder / "shipped").glob("*.lua"))
    out, err = project.run("lint", "--offline", *recipes)
    assert recipes and out == "" and all("--offline" in line for line in err.splitlines())
