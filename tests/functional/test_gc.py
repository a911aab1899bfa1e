"""forge gc: what stays and what goes, beside builds that run, and what it says where it can't."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import time

import pytest
from compiling import notes
from made import make_wheel
from test_compile import many

CHAIN = """
local input = sh("input", "echo input > $out")
local user = sh("user", "echo " .. input .. " > $out")
return sh("%s", "cat " .. input .. " > $out; echo " .. user .. " >> $out")
"""
# As forge.wheel has it: a result and a verdict on it.
TESTED = """
return { targets = { { name = "only", recipe = "tested", version = "1", label = "", axes = {},
  derive = function()
  local wheel = sh("wheel", "echo wheel > $out; echo other > $dev", { outputs = { "out", "dev" } })
  return { { role = "wheel", drv = wheel }, { role = "test", drv = sh("verdict", "cat " .. wheel .. " > $out") } }
end } } }
"""


def gc(project, *args, **more):
    """What it did or would do."""
    return json.loads(project.run("gc", "--json", *args, **more)[0])


def names(project):
    """Of all objects, without their digests; derivations, sources and the world are not told."""
    found = (path.name[33:] for path in (project.store / "objects").iterdir())
    return sorted(n for n in found if not n.endswith(".drv") and n not in ("base", "toolchain"))


def execute(project, sql, *values):
    with sqlite3.connect(project.store / "db.sqlite") as db:
        db.execute(sql, values)
    db.close()


def set_used(project, name, days_ago):
    now = int(time.time())
    execute(project, "update path set registered = 1, used = ? where base like ?", now - days_ago * 86400, f"%-{name}")


def test_results_stay_with_what_they_refer_to(project):
    kept = project.object(CHAIN % "kept")
    text = kept.read_text()
    project.object('return sh("other", "echo other > $out")')
    (project.store / "roots/other").unlink()
    assert names(project) == ["input", "kept", "other", "user"]
    out, err = project.run("gc")
    assert re.fullmatch(r"\d+ objects removed, \d+(\.\d)? [kM]B freed; 3 left, [\d.]+ k?B\n", out) and err == ""
    # "user" is named in the result, and "input" in "user"
    assert names(project) == ["input", "kept", "user"] and kept.read_text() == text
    assert not list((project.store / "objects").glob("*.drv"))
    project.ends_well()
    out, err = project.realise(CHAIN % "kept")
    assert out.strip() == str(kept) and err == ""
    assert project.run("gc")[0].startswith("0 objects removed, 0 B freed; 3 left")
    project.goes_on()


def test_a_result_whose_link_is_removed_is_let_go(project):
    text = 'return sh("a", "echo a > $out")'
    project.realise(text)
    assert gc(project)["left"] == 1
    (project.store / "roots/a").unlink()
    done = gc(project)
    assert done["roots"] == ["a"] and done["removed"] == 1 and done["left"] == 0 and done["left_bytes"] == 0
    assert names(project) == [] and len(project.builds()) == 1
    assert project.object(text).read_text() == "a\n"
    assert len(project.builds()) == 2
    project.ends_well()


def test_verdicts_and_other_outputs_stay_too(project):
    project.realise(TESTED)
    assert sorted(p.name for p in (project.store / "roots").iterdir()) == [
        "tested-1-only", "tested-1-only.test", "tested-1-only.wheel.out"]
    project.run("gc")
    out, err = project.realise(TESTED, "--dry-run")
    assert {line.split()[0] for line in out.splitlines()} == {"valid"}, out
    assert len(project.builds()) == 2


def test_a_dry_run_tells_and_changes_nothing(project):
    project.object(CHAIN % "kept")
    (project.store / "roots/kept").unlink()
    (project.store / "roots/nowhere").symlink_to("../objects/dc04vv14dak1c1r48qa0m23vr9jy8sm0-never")
    (project.store / "objects/left").write_text("12345")
    for name, days in (("input", 1), ("user", 2), ("kept", 3)):
        set_used(project, name, days)
    before = sorted((project.store / "objects").iterdir())
    lines = project.run("gc", "-n")[0].splitlines()
    assert lines[:3] == ["root     kept (its link or its object is gone)",
                         "root     nowhere (its link or its object is gone)", "5 B      left (left by a crash)"]
    day = time.strftime("%Y-%m-%d", time.localtime(time.time() - 3 * 86400))
    assert re.fullmatch(rf"\d+ B    [0-9a-z]{{32}}-kept \(used {day}\)", lines[3])
    assert [line.split()[2][33:] for line in lines[3:6]] == ["kept", "user", "input"]
    assert re.fullmatch(rf"{len(lines) - 3} objects would be removed, .* would be freed; 0 left, 0 B", lines[-1])
    plan = gc(project, "--dry-run")
    assert len(plan["objects"]) == plan["removed"] == len(before) and plan["roots"] == ["kept", "nowhere"]
    assert plan["objects"][0] == {"path": "/forge/store/left", "bytes": 5}
    assert sum(o["bytes"] for o in plan["objects"]) == plan["bytes"]
    assert sorted((project.store / "objects").iterdir()) == before and (project.store / "roots/nowhere").is_symlink()
    done = gc(project)
    assert (done["removed"], done["bytes"], done["left"]) == (plan["removed"], plan["bytes"], plan["left"])
    assert list((project.store / "objects").iterdir()) == [] and not (project.store / "roots/nowhere").is_symlink()
    assert "objects" not in done


def test_the_least_recently_used_goes_first(project):
    for name in ("a", "b", "c", "root"):
        project.realise(f'return sh("{name}", "yes {name} | head -c 100000 > $out")')
        if name != "root":
            (project.store / f"roots/{name}").unlink()
    gc(project, "--max-size", "1T")
    assert names(project) == ["a", "b", "c", "root"]
    execute(project, "update path set registered = 1, used = 1")  # sources and derivations are the oldest
    for name, days in (("a", 1), ("b", 3), ("c", 2), ("root", 9)):
        set_used(project, name, days)
    assert gc(project, "--max-size", "310k")["left_bytes"] <= 310 << 10
    assert names(project) == ["a", "c", "root"]
    # a result that is found there again is used by that
    assert project.realise('return sh("c", "yes c | head -c 100000 > $out")', "--dry-run")[0].startswith("valid")
    project.realise('return sh("c", "yes c | head -c 100000 > $out")')
    (project.store / "roots/c").unlink()
    out, err = project.run("gc", "--max-size=210k")
    assert names(project) == ["c", "root"] and err == ""
    _, err = project.run("gc", "--max-size=5000")
    assert names(project) == ["root"]
    assert err == "what is left is more than --max-size: roots and running forges need it\n"
    assert project.run("gc", "--max-size=5000", "-q")[1] == ""
    project.ends_well()


def test_compiles_stay_unless_a_size_is_given(compiling):
    compiling.realise(many("one"))
    (compiling.store / "roots/one").unlink()
    assert gc(compiling)["left"] == 6
    assert names(compiling) == [f"compile-s{i}.c" for i in range(1, 7)]
    compiling.realise(many("two"))
    assert notes(compiling) == ["hit"] * 6 + ["miss"] * 6
    compiling.ends_well()
    gc(compiling, "--max-size", "0")
    assert names(compiling) == ["two"]
    compiling.realise(many("three"))
    assert notes(compiling) == ["hit"] * 6 + ["miss"] * 12
    compiling.ends_well()


def test_builds_that_run_keep_what_they_use(project):
    """Two forges build, a third collects all the while: nothing that they need goes, and nothing is made twice."""
    text = """
      local old = sh("old", "echo old > $out")
      local steps = {}
      for i = 1, 8 do
        steps[i] = sh("step" .. i .. "%s", "sleep 0.2; cat " .. (steps[i - 1] or old) .. " > $out; echo " .. i .. " >> $out")
      end
      return sh("last%s", "cat " .. old .. " " .. steps[8] .. " > $out")"""
    project.realise('return sh("old", "echo old > $out")')
    (project.store / "roots/old").unlink()
    builds = [project.start("realise", project.recipe(text % (name, name), f"{name}.lua"), "-j1") for name in "xy"]
    rounds = 0
    while any(p.poll() is None for p in builds):
        project.run("gc", "--max-size", "0")
        rounds += 1
    for process, name in zip(builds, "xy"):
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert pathlib.Path(out.strip()).read_text() == "old\n" * 2 + "".join(f"{i}\n" for i in range(1, 9))
    assert rounds > 3
    made = [b["name"] for b in project.builds() if b["name"] != "old"]  # that may have gone before they found it
    assert len(made) == len(set(made)) == 18
    project.ends_well()
    gc(project)
    assert names(project) == ["lastx", "lasty"]


def test_a_build_is_not_waited_for(project):
    process = project.start("realise", project.recipe('return sh("long", "sleep 987")'))
    while not list((project.store / "log").glob("*")) if (project.store / "log").exists() else True:
        time.sleep(0.05)
        assert process.poll() is None
    began = time.monotonic()
    done = gc(project)
    assert time.monotonic() - began < 20 and process.poll() is None
    assert done["left"] > 0  # its derivation and its world
    process.terminate()
    process.communicate(timeout=60)
    assert gc(project)["left"] == 0


def test_killed_at_any_time(project):
    """What is left is whole, and the next one does the rest."""
    text = """
      local list = "ls"
      for i = 1, 10 do
        list = list .. " " .. sh("input%d-" .. i, "mkdir $out; for f in $(seq 50); do echo > $out/$f; done")
      end
      return sh("all%d", list .. " | wc -l > $out")"""
    for k in range(8):
        project.realise(text % (k, k))
        process = project.start("gc", "--max-size", "0")
        time.sleep(0.004 * k)
        process.kill()
        process.communicate(timeout=60)
        got = subprocess.run([project.store_tool, "verify", project.store], capture_output=True, text=True)
        assert got.returncode == 0, got.stdout
        gc(project, "--max-size", "0")
        assert names(project) == [f"all{i}" for i in range(k + 1)]
        project.ends_well()


# --- what it refuses ----------------------------------------------------------------------------------------------

def test_a_missing_store_is_not_made(project):
    for args in ([], ["-n"], ["--json"]):
        _, err = project.run("gc", *args, status=1)
        assert err == f"forge: there is no store {project.store} (name another with --store DIR or $FORGE_STORE)\n"
    assert not project.store.exists()
    project.store.mkdir()
    assert "there is no store" in project.run("gc", status=1)[1]
    assert list(project.store.iterdir()) == []
    (project.folder / "file").write_text("")
    assert "can't open it: Not a directory" in project.run("gc", "--store", "file", status=1)[1]


@pytest.mark.parametrize("args, says", [
    (["--max-size", "much"], ["--max-size", '"much" is not a size']),
    (["--max-size", "-1"], ['"-1" is not a size']),
    (["--max-size=10GX"], ['"10GX" is not a size']),
    (["--max-size=99999999999999999999"], ["is not a size"]),
    (["--max-size="], ['"" is not a size']),
    (["--max-size"], ["--max-size needs a value: SIZE"]),
    (["--max-sise=1"], ["did you mean --max-size?"]),
    (["word"], ["usage: forge gc"]),
])
def test_words_that_make_no_sense(project, args, says):
    project.refuses("gc", *args, status=2, says=says)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_store(project):
    project.realise(CHAIN % "kept")
    subprocess.run(["mount", "--bind", project.store, project.store], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", project.store], check=True)
    try:
        _, err = project.run("gc", status=1)
        assert err.startswith(f"forge: the store {project.store} can't be written (name another ")
        assert err.endswith("Read-only file system\n") and err.count("\n") == 1
        assert gc(project, "-n")["left"] == 3
    finally:
        subprocess.run(["umount", project.store], check=True)
    assert gc(project)["left"] == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="being another user needs root")
def test_anothers_store(project):
    project.realise(CHAIN % "kept")
    for folder in [project.folder, *project.folder.parents][:4]:
        folder.chmod(folder.stat().st_mode | 0o055)
    copy = project.folder / "forge"
    copy.write_bytes(pathlib.Path(project.program).read_bytes())
    copy.chmod(0o755)
    project.program = str(copy)
    _, err = project.run("gc", status=1, user=65534, group=65534, extra_groups=[])
    assert re.fullmatch(rf"forge: the store {project.store} can't be written \(.*Permission denied\n", err)
    assert gc(project, "-n", user=65534, group=65534, extra_groups=[])["left"] == 3
    project.ends_well()


def test_an_older_store_is_brought_up_to_date(project):
    path = project.object(CHAIN % "kept")
    execute(project, "alter table path drop column used")
    execute(project, "drop table manifest")
    execute(project, "pragma user_version = 2")
    assert gc(project)["left"] == 3 and path.exists()
    project.ends_well()


def test_a_bound_where_objects_share_their_files(project):
    """What goes first frees next to nothing, as the others have its large file too: it goes on until the bound is kept."""
    large = b"".join(b"%d" % i for i in range(200000))
    for i in range(3):
        (project.recipes / f"w{i}-1-py3-none-any.whl").write_bytes(make_wheel(f"w{i}", "1", {"large": large}))
        project.object(f"""return forge.derivation {{ name = "unpacked-{i}", system = "builtin", builder = "builtin:unpack-wheel",
                       what = "unpack", env = {{ src = forge.path "w{i}-1-py3-none-any.whl" }} }}""")
    for root in (project.store / "roots").iterdir():
        root.unlink()
    for i in range(3):
        set_used(project, f"unpacked-{i}", 30 - i)
        set_used(project, f"w{i}-1-py3-none-any.whl", 50)
    [inode] = {path.stat().st_ino for path in (project.store / "objects").glob("*/site-packages/large")}
    out, _ = project.run("gc", "--max-size", "500k", "--dry-run")
    assert re.match(r"at least \d+ objects would be removed", out.splitlines()[-1])
    left = gc(project, "--max-size", "500k")
    assert left["left_bytes"] < 500000
    assert not list((project.store / "objects").glob("*/site-packages/large")) and not list((project.store / "links").iterdir())
    project.ends_well()
