"""Recipes and command lines that are wrong: one line that says what, where, and what was likely meant."""
import os

import pytest

from made import make_wheel

WHEEL = 'return forge.wheel { name = "x", version = "1.0", %s }'
LINE = "recipes/x.lua:16: "  # the first after the prelude


@pytest.mark.parametrize("text, says", [
    # syntax
    ('return forge.wheel {\n  name = "x"\n  version = "1.0"\n}', ["recipes/x.lua:18: ", "'}' expected", "line 16"]),
    ('return "open', [LINE, "unfinished string"]),
    ("return \x1bLua", [LINE, "unexpected symbol"]),
    # no end, no bottom, no room
    ("while true do end", [LINE, "the recipe does not end: stopped after 500000000 instructions"]),
    ('return ("a"):rep(30):find(("a-"):rep(30) .. "b")', [LINE, "the recipe does not end"]),
    ("local function f() return 1 + f() end\nreturn f()", [LINE, "stack overflow"]),
    ('local t = {}\nfor i = 1, 100000 do t[i] = ("x"):rep(100000) .. i end',
     ["recipes/x.lua:17: ", "the recipe uses more than 256 MiB of memory"]),
    ('local s = "x"\nfor _ = 1, 34 do s = s .. s end', ["recipes/x.lua:17: ", "more than 256 MiB of memory"]),
    ('return ("x"):rep(10000000000)', [LINE, "too large"]),
    # names that are not there
    (WHEEL % "verson = 1", [LINE, "forge.wheel: there is no field 'verson' (did you mean 'version'?)"]),
    (WHEEL % "zzzzzzzz = 1", [LINE, "there is no field 'zzzzzzzz'; there is aliases, base, build,"]),
    (WHEEL % "test = { imprt = 'x' }", [LINE, "there is no field 'imprt' (did you mean 'import'?)"]),
    (WHEEL % "label = forge.label.local_versoin 'x'", [LINE, "forge.label: there is no function 'local_versoin' (did you mean 'local_version'?)"]),
    ('return forge.whele { }', [LINE, "forge: there is no function 'whele' (did you mean 'wheel'?)"]),
    ('return frge.wheel { }', [LINE, "there is no 'frge' in a recipe"]),
    ('return forge.derivation { name = "x", bulder = "/x" }',
     [LINE, "derivation: there is no field 'bulder' (did you mean 'builder'?)"]),
    ('return require "frge"', [LINE, "there is no 'frge': neither lib/frge.lua nor frge.lua beside the recipe"]),
    ('return io.open "x"', [LINE, "there is no 'io' in a recipe"]),
    # types and values
    ('return forge.wheel { name = "x", version = 1.0 }', [LINE, "'version' must be a string, not a number"]),
    ('return forge.wheel { name = "x" }', [LINE, "'version' is missing (a string)"]),
    (WHEEL % 'requires = "setuptools"', [LINE, "'requires' must be a list of strings or a function, not a string"]),
    (WHEEL % 'matrix = { archs = { "80" } }', [LINE, "matrix: 'archs' must be a list of strings, not a string"]),
    (WHEEL % 'matrix = { python = { 3.13 } }', [LINE, "matrix: the values of 'python' are strings, not a number"]),
    ('return sh("a", "true", { timeout = "soon" })', ["recipes/x.lua:14: ", "'soon' is no amount"]),
    ('return forge.path "../../etc"', [LINE, 'forge.path "../../etc"', "beneath the recipe's folder"]),
    ('return forge.path "absent"', [LINE, "absent: No such file"]),
    ('return forge.fetch { from = "url", name = "f", urls = { "http://x/" }, sha256 = "12" }',
     [LINE, 'fetch f: "12" is not a SHA-256 hash']),
    # errors of its own
    ('error "mine"', [LINE, "mine"]),
    ('error "two\\nlines"', [LINE, "two lines"]),
    ("error {}", ["recipes/x.lua: ", "an error that is a table"]),
    # the wrong result
    ("", ["recipes/x.lua: ", "returns a derivation or what forge.wheel gives, not nothing"]),
    ("return 42", ["recipes/x.lua: ", "not a number"]),
    ("return { 1, 2 }", ["recipes/x.lua: ", "not such a table"]),
    ('return { targets = "all" }', ["recipes/x.lua: ", "not such a table"]),
])
def test_recipes(project, text, says):
    project.recipe(text)
    project.refuses("realise", "recipes/x.lua", status=1, says=says)


def test_an_error_in_a_module_beside_the_recipe_has_its_own_place(project):
    (project.recipes / "mine.lua").write_text('local forge = require "forge"\nreturn forge.wheel { nme = "x" }\n')
    project.recipe('return require "mine"')
    project.refuses("realise", "recipes/x.lua", status=1, says=["recipes/mine.lua:2: ", "(did you mean 'name'?)"])


def test_files_that_are_no_recipe(project):
    project.base()
    (project.recipes / "compiled.lua").write_bytes(b"\x1bLua\x54\x00")
    (project.recipes / "large.lua").write_bytes(b"-- comment\n" * 1000000)
    os.mkfifo(project.recipes / "fifo.lua")
    for name, status, says in [
        ("recipes/absent.lua", 1, "recipes/absent.lua: No such file"),
        ("absent/x.lua", 1, "absent/x.lua: No such file"),
        ("recipes", 2, "recipes is a folder, not a recipe"),
        ("recipes/", 2, "recipes/ is a folder, not a recipe"),
        ("recipes/compiled.lua", 1, "recipes/compiled.lua: this is compiled Lua"),
        ("recipes/large.lua", 1, "recipes/large.lua: longer than"),
        ("recipes/fifo.lua", 1, "recipes/fifo.lua: it is not a file"),
    ]:
        project.refuses("realise", name, status=status, says=[says])


VARIANTS = 'return forge.wheel { name = "x", version = "1.0", matrix = { python = { "3.13" }, archs = { { "80" }, { "90" } } }, ' \
           'exclude = { { archs = { "90" }, because = "too new" } } }'


@pytest.mark.parametrize("args, says", [
    (["relise", "recipes/x.lua"], ['there is no command "relise"; did you mean "realise"?']),
    (["zzzzz"], ['there is no command "zzzzz"; see forge help']),
    (["help", "relise"], ['did you mean "realise"?']),
    (["--quiet", "realise", "recipes/x.lua"], ["options come after the command: forge COMMAND --quiet"]),
    (["realise"], ["usage: forge realise RECIPE", "forge realise --help"]),
    (["export"], ["usage: forge export DIR"]),
    (["realise", "--memry", "1G", "recipes/x.lua"], ["there is no option --memry here; did you mean --memory?"]),
    (["realise", "--zzzzzzzz", "recipes/x.lua"], ["there is no option --zzzzzzzz here; see --help"]),
    (["realise", "--offline=yes", "recipes/x.lua"], ["--offline takes no value"]),
    (["realise", "recipes/x.lua", "--memory"], ["--memory needs a value: SIZE"]),
    (["realise", "--memory", "lots", "recipes/x.lua"], ['--memory: "lots" is not a size', "K, M, G or T"]),
    (["realise", "--memory", "99999999999T", "recipes/x.lua"], ["--memory", "is not a size"]),
    (["realise", "-j", "-3", "recipes/x.lua"], ['--jobs: "-3" is not a number']),
    (["realise", "--set", "version", "recipes/x.lua"], ["--set version: write --set field=value"]),
    (["realise", "--variant", "arch=80", "recipes/x.lua"], ['no axis "arch"; did you mean "archs"?']),
    (["realise", "--variant", "colour=red", "recipes/x.lua"], ['no axis "colour"; it has archs, python']),
    (["realise", "--variant", "archs=70", "recipes/x.lua"], ['the recipe has no archs "70"; did you mean "80"?']),
    (["realise", "--variant", "archs=1000", "recipes/x.lua"], ['the recipe has no archs "1000"; it has 80, 90']),
    (["realise", "--variant", "archs=90", "recipes/x.lua"], ['the recipe excludes "cp313-sm90": too new']),
    (["realise", "--profile", "python31", "recipes/x.lua"], ['no profile "python31"; did you mean "python313"?']),
    (["show", "--profile", "zzz", "recipes/x.lua"], ['no profile "zzz"; it has all, default, python313']),
    (["realise", "--env", "X", "recipes/x.lua"], ["--env X: write --env name=value"]),
    (["realise", "--variant", "cp313-sm70", "recipes/x.lua"], ['no variant "cp313-sm70"; did you mean "cp313-sm80"?']),
    (["realise", "--variant", "zzz", "recipes/x.lua"], ['no variant "zzz"; forge show lists them']),
    (["realise", "--variant", "cp313-sm90", "recipes/x.lua"], ['the recipe excludes "cp313-sm90": too new']),
])
def test_command_lines(project, args, says):
    project.recipe(VARIANTS)
    project.refuses(*args, status=2, says=says)


def test_setting_a_field_that_is_not_there(project):
    project.recipe(VARIANTS)
    project.refuses("realise", "--set", "verson=2", "recipes/x.lua", status=1,
                    says=["--set: there is no field 'verson' (did you mean 'version'?)"])


# --- export -----------------------------------------------------------------------------------------------------

def test_exporting_nothing(project):
    project.refuses("export", "out", status=1, says=["no wheel was realised", str(project.store), "forge realise"])
    assert not (project.folder / "out").exists()


@pytest.fixture
def with_wheel(project):
    """A project in whose store one wheel was realised."""
    project.base()
    (project.recipes / "made").write_bytes(make_wheel("pkg", "1.0", {"pkg.py": b"x = 1\n"}))
    project.object('return sh("pkg", "mkdir $out; cp " .. forge.path "made" .. " $out/pkg-1.0-py3-none-any.whl")')
    return project


def test_exporting_into_a_folder_of_someone_else(with_wheel):
    folder = with_wheel.folder / "mine"
    folder.mkdir()
    (folder / "letter").write_text("dear")
    with_wheel.refuses("export", "mine", status=2, says=["mine holds something that forge did not write", "empty it"])
    assert [p.name for p in folder.iterdir()] == ["letter"]
    with_wheel.refuses("export", str(with_wheel.store), status=2, says=["that forge did not write"])
    (folder / "letter").unlink()
    with_wheel.run("export", "mine")
    assert (folder / "simple/pkg/index.html").exists()


def test_exporting_where_nothing_can_be_written(with_wheel):
    (with_wheel.folder / "file").write_text("")
    for folder, why in [("file", "Not a directory"), ("file/below", "Not a directory"),
                        ("/proc/index", "can't make the folder /proc/index")]:
        with_wheel.refuses("export", folder, status=1, says=[f"can't write an index to {folder}: ", why])
    assert sorted(p.name for p in with_wheel.folder.iterdir()) == ["file", "good", "home", "recipes", "store"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_exporting_where_one_may_not(with_wheel):
    folder = with_wheel.folder / "closed"
    folder.mkdir(mode=0o555)
    with_wheel.refuses("export", "closed/index", status=1, says=["closed/index", "Permission denied"])
    assert list(folder.iterdir()) == []


def test_a_store_that_is_none(project):
    (project.folder / "file").write_text("")
    project.recipe('return sh("a", "echo > $out")')
    for folder in ("file", "/proc/store"):
        project.refuses("realise", "--store", folder, "recipes/x.lua", status=1, says=["the store ", folder])
