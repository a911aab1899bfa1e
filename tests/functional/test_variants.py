"""Variants from the command line: chosen, excluded, impossible, failing beside others, told as a table."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from test_index_by_variant import TARGETS, lua, variant

ROOT = pathlib.Path(__file__).resolve().parents[2]


# --- recipes of forge.wheel, evaluated by the project's own lock ------------------------------------------------

def fake_wheel(name, version):
    file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    return file, {"from": "pypi", "name": name, "version": version, "file": file, "size": 1, "sha256": "0" * 64}


@pytest.fixture
def locked(project):
    """The project's lock with torches that were never there: 2.10.0 of CUDA 12.8, 2.12.0 that has no Python 3.13."""
    entries = json.loads((ROOT / "recipes/forge.lock").read_text())["entries"]
    entries["sdist x 1.0"] = fake_wheel("x", "1.0")[1] | {"requires": [], "build_requires": []}
    for torch, runtime in (("2.10.0", "nvidia-cuda-runtime-cu12"), ("2.11.0", "nvidia-cuda-runtime")):
        needs = dict([fake_wheel("torch", torch + "+x"), fake_wheel(runtime, "12.8.90" if "12" in runtime else "13.0.96")])
        entries |= {"pypi " + file: entry for file, entry in needs.items()}
        for python in ("3.13",):
            for more in ("", "setuptools==80.9.0 "):
                entries[f"wheels {python} {more}torch=={torch}"] = {
                    "files": sorted([*needs, *(["setuptools-80.9.0-py3-none-any.whl"] if more else [])])}
        entries[f"tags torch {torch}"] = {"tags": ["cp311-cp311", "cp313-cp313"]}
    entries["tags torch 2.12.0"] = {"tags": ["cp311-cp311", "cp314-cp314t"]}
    (project.recipes / "forge.lock").write_text(json.dumps({"version": 1, "entries": entries}))
    return project


WHEEL = 'return forge.wheel { name = "x", version = "1.0", requires = { "setuptools==80.9.0" }, %s }'
TORCHES = ('matrix = { python = { "3.13" }, torch = { "2.11.0", "2.10.0", "2.12.0" }, cuda = { "13.0" }, flavour = { "a", "b" } }, '
           'label = forge.label.local_version "cu{cuda}torch{torch}{flavour}", '
           'exclude = { { torch = "2.11.0", flavour = "b", because = "no b yet" } }')


def show(project, text, *args):
    project.recipe(text)
    return {v["variant"]: v for v in json.loads(project.run("show", "--json", *args, "recipes/x.lua")[0])}


def test_show_tells_all_of_each_variant(locked):
    shown = show(locked, WHEEL % TORCHES)
    assert list(shown) == [f"cp313-torch{t}-cu130-flavour{f}" for t in ("2.11", "2.10", "2.12") for f in "ab"]
    first = shown["cp313-torch2.11-cu130-flavoura"]
    assert first["state"] == "to build" and first["fetch"] > 90 and first["build"] > 5 and first["default"]
    assert first["label"] == "1.0+cu130torch2.11a" and first["wheel"] == "x-1.0+cu130torch2.11a-*.whl"
    assert first["axes"] == {"python": "3.13", "torch": "2.11.0", "cuda": "13.0", "flavour": "a"}
    assert first["profiles"] == ["all", "default", "python313", "pytorch211", "stable"]
    excluded = shown["cp313-torch2.11-cu130-flavourb"]
    assert (excluded["state"], excluded["because"]) == ("excluded", "no b yet") and excluded["profiles"] == []
    assert shown["cp313-torch2.10-cu130-flavourb"]["state"] == "impossible"
    assert shown["cp313-torch2.10-cu130-flavourb"]["because"] == "torch 2.10.0 is built for CUDA 12.8; this variant has 13.0"
    assert shown["cp313-torch2.12-cu130-flavoura"]["because"] == \
        "torch 2.12.0 has no wheels for Python 3.13: it has them for 3.11, 3.14t"
    out, _ = locked.run("show", "recipes/x.lua")
    assert re.search(r"^  VARIANT +LABEL +WHEEL +STATE$", out, re.M)
    assert re.search(r"^\* cp313-torch2.11-cu130-flavoura +1.0\+cu130torch2.11a +x-1.0\+cu130torch2.11a-\*.whl +to build \(\d+ to fetch, \d+ steps\)$", out, re.M)
    assert re.search(r"^  cp313-torch2.11-cu130-flavourb .* excluded: no b yet$", out, re.M)
    assert re.search(r"^  cp313-torch2.10-cu130-flavoura .* impossible: torch 2.10.0 is built for CUDA 12.8; ", out, re.M)
    assert out.splitlines()[-2:] == ["6 variants: 1 to build, 1 excluded, 4 impossible",
                                     "profiles: all, default, python313, pytorch210, pytorch211, pytorch212, stable"]
    assert "\033" not in out
    assert list(show(locked, WHEEL % TORCHES, "--profile", "pytorch211")) == ["cp313-torch2.11-cu130-flavoura"]
    assert len(show(locked, WHEEL % TORCHES, "--variant", "flavour=a")) == 3


def test_show_dims_what_can_not_be_had(locked):
    """On a terminal, unless NO_COLOR is set."""
    locked.recipe(WHEEL % TORCHES)
    for env, dimmed in ({}, 5), ({"NO_COLOR": "1"}, 0), ({"TERM": "dumb"}, 0):
        ours, theirs = os.openpty()
        base = {k: v for k, v in locked.env.items() if k not in ("NO_COLOR", "TERM")} | {"TERM": "xterm"}
        subprocess.run([locked.program, "show", "recipes/x.lua"], stdout=theirs, env=base | env, cwd=locked.folder, check=True)
        os.close(theirs)
        lines = os.read(ours, 1 << 16).decode().splitlines()
        os.close(ours)
        assert sum(line.startswith("\033[2m") and line.endswith("\033[0m") for line in lines) == dimmed
        assert sum("\033" in line for line in lines) == dimmed and len(lines) == 9


def test_a_wheel_from_git_takes_what_it_needs_from_the_lock(locked):
    """Where the recipe says nothing else: for its build, and for its test."""
    path = locked.recipes / "forge.lock"
    lock = json.loads(path.read_text())
    lock["entries"]["git file:///x v1 subdir=python"] = {
        "from": "git", "url": "file:///x", "rev": "1" * 40, "submodules": False, "narHash": "sha256-" + "A" * 43 + "=",
        "build_requires": ["its-build"], "requires": ["its-run>=1"]}
    path.write_text(json.dumps(lock))
    text = ('return forge.wheel { name = "x", version = "1.0", source = forge.git { url = "file:///x", rev = "v1" }, '
            'subdir = "././/python//", matrix = { torch = { "2.11.0" }, cuda = { "13.0" } }, %s test = { import = "x" } }')
    for more, asked in (("", "its-build"), ('requires = { "setuptools==80.9.0" },', "its-run>=1")):
        locked.recipe(text % more)
        locked.refuses("realise", "--dry-run", "recipes/x.lua", status=1, says=[
            f"forge.lock lacks the wheels for Python 3.13 of {asked}, torch==2.11.0 (run: forge lock "])


def planned(project, *args):
    return {step["name"]: step["drv"] for step in json.loads(project.run("realise", "--dry-run", "--json", *args, "recipes/x.lua")[0])
            if step["what"] in ("build", "finish")}


def test_impossible_variants_are_left_out_of_sets_and_refused_alone(locked):
    locked.recipe(WHEEL % TORCHES)
    only = planned(locked, "--variant", "cp313-torch2.11-cu130-flavoura")
    assert planned(locked, "--all") == planned(locked, "--profile", "stable") == planned(locked) == only
    locked.refuses("realise", "--variant", "torch=2.10.0,flavour=a", "recipes/x.lua", status=1,
                   says=["recipes/x.lua: cp313-torch2.10-cu130-flavoura: torch 2.10.0 is built for CUDA 12.8; this variant has 13.0"])
    locked.refuses("realise", "--profile", "pytorch212", "recipes/x.lua", status=1,
                   says=["recipes/x.lua: none of these 2 variants can be built; ", "torch 2.12.0 has no wheels for Python 3.13"])
    locked.recipe(WHEEL % 'matrix = { python = { "3.13" }, cuda = { "13.0" }, archs = { { "60" } } }')
    locked.refuses("realise", "recipes/x.lua", status=1, says=["sm60: nvcc of CUDA 13.0 does not know sm_60: it knows 75, 80,"])


# Functions of the variant that raise, or give something else, for one of the two.
RAISING = [
    ('env = function(v) if v.flavour == "b" then error("not b") end return {} end', "recipes/x.lua:16: not b"),
    ('requires = function(v) if v.flavour == "b" then return 3 end return { "setuptools==80.9.0" } end',
     "recipes/x.lua:16: forge.wheel: 'requires' must be a list of strings or nothing, not a number"),
    ('env = function(v) return v.flavour == "b" and v.colour or {} end', "variant: there is no axis 'colour'"),
    ('prepare = function(v) if v.flavour == "b" then return false end end',
     "recipes/x.lua:16: forge.wheel: 'prepare' must be a string or nothing, not a boolean"),
    ('exclude = function(v) if v.flavour == "b" then return {} end end',
     "recipes/x.lua:16: forge.wheel: 'exclude' must be a string or true or false or nothing, not such a table"),
]
# Functions that are asked while a variant is evaluated: each raises, or gives something else than it should.
FUNCTIONS = [
    *((f'{field} = function(v) error("mine") end', ["recipes/x.lua:16: mine"])
      for field in "base requires runtime env prepare build install exclude".split()),
    ('label = forge.label.local_version(function(v) error("mine") end)', ["recipes/x.lua:16: mine"]),
    ('exclude = { function(v) error("mine") end }', ["recipes/x.lua:16: mine"]),
    ('patches = { { "x.patch", when = function(v) error("mine") end } }', ["recipes/x.lua:16: mine"]),
    ('env = function() error({}) end', ["recipes/x.lua: the recipe raised an error that is a table"]),
    ('env = function() error() end', ["recipes/x.lua: the recipe raised an error that is a nil"]),
    ('base = function() return 3 end', ["recipes/x.lua:16: forge.wheel: 'base' must be a derivation or what forge.path gives, not a number"]),
    ('base = function() end', ["'base' must be a derivation or what forge.path gives, not nothing"]),
    ('base = function() return "/usr" end', ["recipes/x.lua:16: forge.wheel: 'base' must be a derivation or what forge.path gives"]),
    ('runtime = function() return "numpy" end', ["recipes/x.lua:16: forge.wheel: 'runtime' must be a list of strings or nothing, not a string"]),
    ('build = function() return {} end', ["recipes/x.lua:16: forge.wheel: 'build' must be a string or nothing, not such a table"]),
    ('install = function() return 3 end', ["recipes/x.lua:16: forge.wheel: 'install' must be a string or nothing, not a number"]),
    ('env = function() return "X=1" end', ["recipes/x.lua:16: forge.wheel: 'env' must be a table or nothing, not a string"]),
    ('env = function() return { X = true } end', ['env.X is true or false: write the text the build expects']),
    ('env = function() return { "X=1" } end', ["env is a table of names, not a list"]),
    ('env = function() return { ["A B"] = "1" } end', ["'A B' is not a name for an environment variable"]),
    ('patches = { { "x.patch", when = function() return "yes" end } }',
     ["recipes/x.lua:16: patches: 'when' must be true or false or nothing, not a string"]),
    ('jobs = { PATH = {} }', ["jobs: 'PATH' has a value already"]),
    ('jobs = { X = {} }, env = function() return { X = "1" } end', ["jobs: 'X' has a value already"]),
    ('jobs = { ["A B"] = {} }', ["'A B' is not a name for an environment variable"]),
    ('jobs = { out = {} }', ["forge sets env.out itself"]),
    ('jobs = { {} }', ["inert is a table of names, not a list"]),
]


@pytest.mark.parametrize("field, says", FUNCTIONS)
def test_functions_that_raise_or_give_something_else(locked, field, says):
    requires = "" if field.startswith("requires") else ', requires = { "setuptools==80.9.0" }'
    locked.recipe(ONE % (field + requires))
    (locked.recipes / "x.patch").write_text("")
    locked.refuses("realise", "recipes/x.lua", status=1, says=says)


ONE = 'return forge.wheel { name = "x", version = "1.0", matrix = { python = { "3.13" } }, %s }'
FLAVOURS = ('return forge.wheel { name = "x", version = "1.0", matrix = { python = { "3.13" }, flavour = { "a", "b" } }, '
            'label = forge.label.local_version(function(v) return v.flavour end), %s }')


@pytest.mark.parametrize("field, says", RAISING)
def test_a_variant_is_evaluated_only_when_it_is_asked_for(locked, field, says):
    requires = "" if field.startswith("requires") else ', requires = { "setuptools==80.9.0" }'
    locked.recipe(FLAVOURS % (field + requires))
    whole = planned(locked)
    assert planned(locked, "--variant", "flavour=a") == whole and list(whole).count("x-1.0-raw") == 1
    locked.refuses("realise", "--all", "recipes/x.lua", status=1, says=[says, "recipes/x.lua", "(variant cp313-flavourb)"])
    locked.refuses("realise", "--variant", "cp313-flavourb", "recipes/x.lua", status=1, says=[says])


def test_a_label_is_asked_only_of_variants_that_are_asked_for(locked):
    locked.recipe(FLAVOURS.replace("return v.flavour end", 'if v.flavour == "b" then error("no label") end return "a" end')
                  % 'requires = { "setuptools==80.9.0" }')
    assert len(planned(locked)) == 2
    locked.refuses("show", "recipes/x.lua", status=1, says=["recipes/x.lua:16: no label (variant cp313-flavourb)"])


@pytest.mark.parametrize("text, args, says", [
    ('matrix = {}', [], ["recipes/x.lua:16: matrix: it has no axes"]),
    ('matrix = { python = {} }', [], ["recipes/x.lua:16: matrix: 'python' has no values"]),
    ('matrix = { pyhton = { "3.13" } }', [], ["recipes/x.lua:16: matrix: there is no axis 'pyhton' (did you mean 'python'?)"]),
    ('matrix = { python = { "2.7" } }', [], ["recipes/x.lua:16: python: there is no version '2.7'"]),
    ('matrix = { torch = { "9.9.9" } }', [], ["recipes/forge.lock lacks the tags of the wheels of torch 9.9.9 (run: forge lock recipes/x.lua)"]),
    ('matrix = { python = { "3.13" } }, exclude = { { python = "3.31", because = "new" } }', [],
     ["recipes/x.lua:16: exclude[1] excludes nothing: python has no value '3.31' (did you mean '3.13'?)"]),
    ('matrix = { python = { "3.13" } }, exclude = { { python = "3.13", because = "no" } }', [], ["it excludes them all"]),
    ('matrix = { python = { "3.13" } }, exclude = function() return "no" end', ["--profile", "all"],
     ['--profile: "all" selects no variant']),
    ('matrix = { python = { "3.13" } }, profiles = { p = { pyton = "3.13" } }', [],
     ["recipes/x.lua:16: profiles.p: there is no axis 'pyton' (did you mean 'python'?)"]),
    ('matrix = { python = { "3.13" } }, profiles = { p = function(v) return 1 end }', ["--profile", "p"],
     ["recipes/x.lua:16: profiles: 'p' must be true or false or nothing, not a number"]),
    ('matrix = { python = { "3.13" } }, profiles = { p = function(v) error("mine") end }', ["--profile", "p"],
     ["recipes/x.lua:16: mine"]),
    ('matrix = { python = { "3.13" } }, profiles = { p = function(v) return v.colour end }', ["--profile", "p"],
     ["variant: there is no axis 'colour'"]),
    ('matrix = { archs = { { "80" }, { "90" } } }', [],
     ["recipes/x.lua:16: matrix: sm80 and sm90 would both be x 1.0: tell them apart by the label"]),
    ('matrix = { archs = { { "80" }, { "90" } } }, label = forge.label.local_version(function() return "same" end)', ["--all"],
     ["recipes/x.lua: sm80 and sm90 would both be x-1.0+same-*.whl: tell them apart by the label"]),
    ('label = forge.label.local_version(function() return 3 end)', [], ["recipes/x.lua:16: forge.label: 'local' must be a string, not a number"]),
    ('aliases = { X = "archs" }, matrix = { python = { "3.13" } }', [], ["recipes/x.lua:16: aliases.X: there is no axis or field 'archs'"]),
    ('env = { LEVEL = "1" }', ["--env", "LEVLE=2"], ["recipes/x.lua:16: --env: nothing in the recipe reads 'LEVLE' (did you mean 'LEVEL'?)"]),
    ('env = function() return { LEVEL = "1" } end', ["--env", "LEVLE=2"], ["nothing in the recipe reads 'LEVLE' (did you mean 'LEVEL'?)"]),
    ('jobs = { MAX_JOBS = {} }', ["--env", "MAX_JOBS=2"], ["'MAX_JOBS' is filled in by the scheduler"]),
])
def test_bad_input(locked, text, args, says):
    locked.recipe(WHEEL % text)
    locked.refuses("realise", *args, "recipes/x.lua", status=1, says=says)


def test_env_chooses_by_alias(locked):
    text = ('matrix = { python = { "3.13" }, cuda = { "13.0" }, archs = { { "80" } } }, label = forge.label.local_version "{sm}", '
            'aliases = { TORCH_CUDA_ARCH_LIST = "archs" }, env = function(v) return { ARCHS = v.archs:join ";", LEVEL = "1" } end')
    [shown] = show(locked, WHEEL % text, "--env", "TORCH_CUDA_ARCH_LIST=9.0a;10.0").values()
    assert shown["variant"] == "cp313-cu130-sm90a_100" and shown["label"] == "1.0+sm90asm100"
    drvs = [planned(locked, *args)["x-1.0-raw"] for args in ([], ["--env", "LEVEL=1"], ["--env", "LEVEL=2"])]
    assert drvs[0] == drvs[1] != drvs[2]


# --- variants that are really made, by hand ---------------------------------------------------------------------

def three(project, *, broken=None, label=True, python=("3.13", "3.13", "3.13")):
    made = [variant(project, "pkg", {"python": p, "flavour": f}, *(["local", f] if label else []))
            for p, f in zip(python, ("one", "two", "three"))]
    if broken is not None:
        made[broken]["folder"] += "-missing"
    return made


def realise(project, variants, *args, status=0):
    return project.run("realise", *args, project.recipe(TARGETS % lua(variants)), status=status)


def test_one_failure_does_not_stop_the_others(project):
    variants = three(project, broken=1)
    out, err = realise(project, variants, "--all", status=100)
    assert [pathlib.Path(line).name for line in out.splitlines()] == ["pkg-1.0+one-py3-none-any.whl", "pkg-1.0+three-py3-none-any.whl"]
    rows = [line.split() for line in err.splitlines()]
    at = rows.index(["VARIANT", "RESULT", "TIME", "SIZE"])
    one, two, last = rows[at + 1:at + 4]
    assert one[:2] == ["pkg-local-313-one", "built"] and one[-1] == "pkg-1.0+one-py3-none-any.whl" and one[-3].isdigit()
    assert two[:2] == ["pkg-local-313-two-missing", "failed"] and pathlib.Path(two[-1]).read_text().startswith("cp: ")
    assert last[:2] == ["pkg-local-313-three", "built"]
    assert err.splitlines()[-1].startswith("forge: 1 of 3 variants failed; the first: raw-pkg-local-313-two-missing: ")
    project.ends_well()
    out, err = realise(project, variants, "--json", "--variant", "pkg-local-313-one", "--variant", "pkg-local-313-two-missing", status=100)
    records = json.loads(out)
    assert [r["state"] for r in records] == ["from store", "failed"]
    assert records[0]["size"] > 0 and "path" not in records[1] and "the build exited with status 1" in records[1]["error"]
    assert pathlib.Path(records[1]["log"]).exists()
    names = sorted(p.name for p in (project.store / "roots").iterdir())
    assert names == ["pkg-1.0-pkg-local-313-one", "pkg-1.0-pkg-local-313-three"]


def test_fail_fast(project):
    """With one job at once the first failure is the last that happens."""
    variants = three(project, broken=0)
    _, err = realise(project, variants, "--all", "--fail-fast", "-j", "1", status=100)
    assert len(re.findall(r"^pkg-\S+ +not built ", err, re.M)) == 2
    assert {b["name"]: b["status"] for b in project.builds()} == {"raw-pkg-local-313-one-missing": 100}
    assert "forge: 3 of 3 variants failed; the first: " in err


def test_all_there_already(project):
    variants = three(project)
    first, _ = realise(project, variants, "--all")
    again, err = realise(project, variants, "--all")
    assert again == first and err.count("from store") == 3 and "built" not in err
    assert realise(project, variants, "--all", "--quiet") == (first, "")


def test_a_single_variant_has_no_table_and_its_own_status(project):
    variants = three(project, broken=0)
    _, err = realise(project, variants, status=100)
    assert "VARIANT" not in err and "variants failed" not in err


def test_one_recipe_that_fails_does_not_stop_the_next(project):
    bad = project.recipe('return sh("bad", "exit 1")', "bad.lua")
    good = project.recipe('return sh("good", "echo > $out")', "good.lua")
    out, err = project.run("realise", bad, good, status=100)
    assert out.endswith("-good\n") and err.splitlines()[-1] == "forge: 1 of 2 recipes failed"
    out, err = project.run("realise", "--fail-fast", bad, good, status=100)
    assert out == "" and "the build exited with status 1" in err.splitlines()[-1]


def test_two_variants_of_one_name_are_refused_before_anything_is_built(project):
    variants = three(project, label=False)
    project.recipe(TARGETS % lua(variants))
    for command in (["realise", "--all"], ["show"]):
        line = project.refuses(*command, "recipes/x.lua", status=1, says=["pkg-none-313-one and pkg-none-313-two would both be pkg-1.0-*.whl"])
        assert "tell them apart by the label" in line
    assert [b["name"] for b in project.builds()] == ["good"]


def test_pure_wheels_of_several_pythons_are_refused_when_they_are_there(project):
    """The names differ by what only the built wheels tell; these are py3-none-any, each with another content."""
    variants = three(project, label=False, python=("3.13", "3.11", "3.12"))
    _, err = realise(project, variants, "--all", status=1)
    assert err.splitlines()[-1] == ("forge: pkg-none-313-one and pkg-none-311-two are different wheels of one name, "
                                    "pkg-1.0-py3-none-any.whl: tell them apart by the label")
    assert not (project.store / "roots").exists() or not list((project.store / "roots").iterdir())


def test_show_names_the_wheel_that_is_in_the_store(project):
    variants = three(project)
    realise(project, variants, "--variant", "flavour=two")
    shown = {v["axes"]["flavour"]: v for v in json.loads(project.run("show", "--json", "recipes/x.lua")[0])}
    assert shown["two"]["state"] == "in the store" and shown["two"]["wheel"] == "pkg-1.0+two-py3-none-any.whl"
    assert shown["one"]["state"] == "to build" and shown["one"]["wheel"] == "pkg-1.0+one-*.whl"
    out, _ = project.run("show", "recipes/x.lua")
    assert re.search(r"pkg-1.0\+two-py3-none-any.whl +in the store$", out, re.M)


# Enough of them to be evaluated by several processes: see cmd_show.c.
MANY = ('local function flavours() local all = {} for i = 1, 100 do all[i] = ("%%03d"):format(i) end return all end '
        'return forge.wheel { name = "x", version = "1.0", requires = { "setuptools==80.9.0" }, '
        'matrix = { python = { "3.13" }, torch = { "2.11.0", "2.10.0" }, cuda = { "13.0" }, flavour = flavours() }, '
        'label = forge.label.local_version(function(v) %s return "f" .. v.flavour .. "t" .. v.torch end), '
        'exclude = { { flavour = "055", because = "no 055 yet" } }, '
        'env = function(v) if v.flavour == "077" then error "no 077" end return { FLAVOUR = v.flavour } end }')


def test_show_of_many_variants(locked):
    """As each shows by itself: built, impossible, excluded, wrong."""
    all_of_them = show(locked, MANY % "")
    assert len(all_of_them) == 200 and [v["default"] for v in all_of_them.values()] == [True] + [False] * 199
    assert [v["axes"]["flavour"] for v in all_of_them.values()] == [f"{i:03}" for i in range(1, 101)] * 2
    for flavour, state in (("001", "to build"), ("077", "error"), ("100", "to build")):
        few = show(locked, MANY % "", "--variant", f"flavour={flavour}")
        assert few == {name: v for name, v in all_of_them.items() if v["axes"]["flavour"] == flavour}
        assert few[f"cp313-torch2.11-cu130-flavour{flavour}"]["state"] == state
    assert all_of_them["cp313-torch2.11-cu130-flavour055"]["because"] == "no 055 yet"
    assert all_of_them["cp313-torch2.10-cu130-flavour001"]["state"] == "impossible"
    assert "no 077" in all_of_them["cp313-torch2.11-cu130-flavour077"]["because"]
    table, _ = locked.run("show", "recipes/x.lua")
    assert table.splitlines()[-2] == "200 variants: 98 to build, 2 excluded, 99 impossible, 1 error"
    assert len(table.splitlines()) == 203 and table.splitlines()[1].startswith("* cp313-torch2.11-cu130-flavour001 ")
    both = json.loads(locked.run("show", "--json", "recipes/x.lua", "recipes/x.lua")[0])
    assert both == list(all_of_them.values()) * 2


def test_what_raises_among_many_variants_is_told_once(locked):
    locked.recipe(MANY % 'if v.flavour > "060" then error("no label for " .. v.flavour) end')
    locked.refuses("show", "recipes/x.lua", status=1, says=["no label for 061 (variant cp313-torch2.11-cu130-flavour061)"])


@pytest.mark.skipif(os.cpu_count() < 2, reason="one processor: one process")
def test_a_process_of_many_that_is_killed(locked):
    """Each of the processes is busy for a while when one is killed; nothing is shown of what the others found."""
    locked.recipe(MANY % 'if v.flavour == "001" then for i = 1, 100000000 do end end')
    forge = locked.start("show", "recipes/x.lua")
    children, until = pathlib.Path(f"/proc/{forge.pid}/task/{forge.pid}/children"), time.monotonic() + 20
    while not children.read_text() and time.monotonic() < until:
        time.sleep(0.005)
    os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
    out, err = forge.communicate(timeout=60)
    assert forge.returncode == 1 and out == "" and err == "forge: a worker of forge was killed by signal 9 (Killed)\n"


def test_two_of_many_variants_of_one_name(locked):
    locked.recipe(MANY % 'if v.flavour == "099" then return "f001t" .. v.torch end')
    locked.refuses("show", "recipes/x.lua", status=1,
                   says=["cp313-torch2.11-cu130-flavour001 and cp313-torch2.11-cu130-flavour099 would both be"])


def test_show_of_several_recipes(project):
    """Each under its name; one that can't be shown does not keep the others from it."""
    text = TARGETS % lua(three(project))
    project.recipe(text)
    project.recipe(text.replace('"pkg"', '"other"'), "bare.lua")
    (project.recipes / "bad.lua").write_text("return 1 +")
    out, err = project.run("show", "recipes/x.lua", "recipes/bare.lua")
    assert [line for line in out.splitlines() if line.startswith("recipes/")] == ["recipes/x.lua", "recipes/bare.lua"] and err == ""
    shown = json.loads(project.run("show", "--json", "recipes/x.lua", "recipes/bare.lua")[0])
    assert [v["recipe"] for v in shown] == ["pkg"] * 3 + ["other"] * 3
    out, err = project.run("show", "recipes/bad.lua", "recipes/x.lua", status=1)
    assert "pkg-1.0+one" in out
    first, last = err.splitlines()
    assert first.startswith("forge: recipes/bad.lua:1: ") and last == "forge: 1 of 2 recipes can't be shown"
    shown, err = project.run("show", "--json", "recipes/bad.lua", "recipes/x.lua", status=1)
    assert len(json.loads(shown)) == 3 and len(err.splitlines()) == 2
    assert project.run("show", "--json", "recipes/bad.lua", status=1)[0] == ""


def possible_pairs(project, text):
    (project.folder / "tests/cuda-torch.lua").write_text(text)
    shown = json.loads(project.run("show", "--json", "tests/cuda-torch.lua")[0])
    assert {v["state"] for v in shown} == {"to build", "impossible"}
    for v in shown:
        if v["state"] == "impossible":
            assert re.fullmatch(r"torch [\d.]+ is built for CUDA [\d.]+; this variant has [\d.]+", v["because"])
    return {(v["axes"]["torch"], v["axes"]["cuda"]) for v in shown if v["state"] == "to build"}


def test_a_torch_goes_with_the_cuda_that_its_wheels_are_built_for(project):
    """By a lock that was made from the index; another minor version of CUDA only where the recipe says so."""
    shutil.copytree(ROOT / "tests/recipes", project.folder / "tests")
    text = (project.folder / "tests/cuda-torch.lua").read_text()
    own = {("2.15.0", "13.2"), ("2.14.0", "13.0"), ("2.6.0", "12.4")}
    assert possible_pairs(project, text) == own
    other = text.replace("  requires =", "  other_cuda_minor = true,\n  requires =", 1)
    assert other != text
    assert possible_pairs(project, other) == own | {("2.15.0", "13.0"), ("2.14.0", "13.2")}


def test_shipped_recipes_show_their_whole_matrix(project):
    shutil.copytree(ROOT / "recipes", project.folder / "shipped")
    for recipe in sorted((project.folder / "shipped").glob("*.lua")):
        shown = json.loads(project.run("show", "--json", str(recipe))[0])
        assert shown and all(v["state"] == "to build" or v.get("because") for v in shown), shown
        assert next(v for v in shown if v["default"])["state"] == "to build"
        assert len({v["wheel"] for v in shown}) >= len({json.dumps(v["axes"].get("archs")) for v in shown})
