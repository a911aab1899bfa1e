"""forge realise on derivations that need nothing but a static program: what is built, when, and how it fails."""
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest


def test_builds_once_and_prints_the_object(project):
    text = 'return sh("hello", "echo hi > $out")'
    path = project.object(text)
    assert path.read_text() == "hi\n"
    assert re.fullmatch(r"[0-9a-z]{32}-hello", path.name)
    assert path.stat().st_mode & 0o7777 == 0o444 and path.stat().st_mtime == 1
    out, err = project.realise(text)
    assert out.strip() == str(path) and err == ""
    assert len(project.builds()) == 1
    project.ends_well()


def test_the_environment_is_what_was_declared(project):
    path = project.object('return sh("env", "env | grep -v ^out= | sort > $out; pwd >> $out; id -u >> $out; umask >> $out", '
                          '{ env = { B = "two words", A = "1" } })', env={"SECRET": "s", "LANG": "de_DE"})
    lines = path.read_text().splitlines()
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    for name in ("SHLVL", "OLDPWD", "PWD", "_"):
        seen.pop(name, None)  # the shell's own
    for name in ("builder", "name", "system"):
        seen.pop(name, None)
    assert seen == {"A": "1", "B": "two words", "PATH": "/bin", "HOME": "/build/home", "LC_ALL": "C.UTF-8",
                    "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "315619200", "TMPDIR": "/tmp", "TZ": "UTC"}
    assert lines[-3:] == ["/build", "1000", "0022"]


def test_inputs_are_seen_and_referred_to(project):
    path = project.object('local a = sh("a", "echo one > $out")\n'
                          'return sh("b", "cat " .. a .. " > $out; echo " .. a .. " >> $out")')
    first, second = path.read_text().splitlines()
    assert first == "one" and re.fullmatch(r"/forge/store/[0-9a-z]{32}-a", second)
    assert (project.store / "objects" / second.rsplit("/", 1)[1]).read_text() == "one\n"


def test_early_cutoff(project):
    chain = 'local a = sh("a", "%s echo same > $out")\nreturn sh("b", "cat " .. a .. " > $out; echo b >> $out")'
    path = project.object(chain % "")
    again = project.object(chain % ": another script;")
    assert path == again
    assert sorted(b["name"] for b in project.builds()) == ["a", "a", "b"]


def test_dry_run_builds_nothing(project):
    text = 'local a = sh("a", "echo > $out")\nreturn sh("b", "cat " .. a .. " > $out")'
    out, _ = project.realise(text, "--dry-run")
    assert out.splitlines() == ["build  a (not built before)", "build  b (needs a)"]
    assert not (project.store / "objects").exists() or not list((project.store / "objects").iterdir())
    plan = json.loads(project.realise(text, "--dry-run", "--json")[0])
    assert [(s["name"], s["state"]) for s in plan] == [("a", "build"), ("b", "build")]


def test_a_failed_build_shows_its_last_lines(project):
    _, err = project.realise('return sh("bad", "for i in $(seq 100); do echo line $i; done; exit 3")', status=100)
    assert "line 100" in err and "line 76" in err and "line 75" not in err
    assert "bad: the build exited with status 3" in err
    log = pathlib.Path(re.search(r"the whole log: (.*)", err).group(1))
    assert log.read_text().splitlines()[0] == "line 1"
    assert project.run("log", "bad")[0] == log.read_text()
    project.ends_well()


def test_control_bytes_of_a_log_do_not_reach_the_terminal(project):
    _, err = project.realise(r'return sh("bad", "printf \"\\033]0;owned\\007\\n\"; exit 1")', status=100)
    assert "\033" not in err and "owned" in err


def test_keep_failed(project):
    _, err = project.realise('return sh("bad", "echo mine > /build/left; exit 1")', "--keep-failed", status=100)
    folder = pathlib.Path(re.search(r"its folder is kept in (.*)", err).group(1))
    assert any(p.read_text() == "mine\n" for p in folder.rglob("left"))


def test_keep_going(project):
    text = ('local bad = sh("bad", "sleep 0.2; exit 1")\n'
            'local after = sh("after", "cat " .. bad .. " > $out")\n'
            'local good = sh("good", "sleep 1; echo > $out")\n'
            'return sh("all", "cat " .. after .. " " .. good .. " > $out")')
    project.realise(text, "--keep-going", "-j", "2", status=100)
    assert {b["name"]: b["status"] for b in project.builds()} == {"bad": 100, "good": 0}
    project.realise(text, "-j", "2", status=100)
    assert [b["name"] for b in project.builds()].count("good") == 1


def test_a_timeout(project):
    began = time.monotonic()
    _, err = project.realise('return sh("slow", "sleep 100", { timeout = "1s" })', status=101)
    assert time.monotonic() - began < 30
    assert "slow: the build was ended after its limit of 1 s" in err
    project.ends_well()


def test_a_memory_ceiling(project):
    _, err = project.realise('return sh("fat", "x=$(yes | head -c 60000000); echo $x > $out", { memory = "64MiB" })',
                             status=100)
    assert "fat: the build was ended at its memory ceiling of 64 MiB" in err
    project.ends_well()


def test_forks_without_end(project):
    _, err = project.realise('return sh("bomb", "f() { f | f & f; }; f", { timeout = "60s" })', status=100)
    assert "bomb:" in err
    project.ends_well()


def test_no_output(project):
    _, err = project.realise('return sh("none", "true")', status=100)
    assert "none: the build made no output $out" in err


def test_what_is_written_elsewhere_is_gone(project):
    text = ('return sh("w", "echo x > /bin/new 2>/dev/null || true; echo x > /tmp/t; mkdir -p /forge/store/other; '
            'echo > $out")')
    project.realise(text)
    names = {p.name for p in (project.store / "objects").iterdir()}
    assert not any("other" in name for name in names)
    assert not (project.recipes / "base/bin/new").exists()
    project.ends_well()


def test_a_reference_to_itself_is_refused(project):
    _, err = project.realise('return sh("self", "mkdir $out; echo 12345 $out > $out/file")', status=100)
    assert re.search(r"its own path /forge/store/\S+-self, .* at byte 19 of self/file", err), err
    project.ends_well()


@pytest.mark.parametrize("made, says", [
    ("mkdir $out; mkfifo $out/p", "/p: a device, pipe or socket"),
    ("mkfifo $out", "a device, pipe or socket"),
])
def test_odd_files_in_an_output_are_refused(project, made, says):
    _, err = project.realise(f'return sh("odd", "{made}")', status=100)
    assert re.search(says, err)
    project.ends_well()


def test_links_out_of_an_output_are_kept_as_links(project):
    path = project.object('return sh("l", "mkdir $out; ln -s /etc/passwd $out/x; ln -s ../../.. $out/y")')
    assert os.readlink(path / "x") == "/etc/passwd" and os.readlink(path / "y") == "../../.."


def test_a_wanted_host_is_named(project):
    _, err = project.realise('return sh("net", "wget -q -O $out http://example.invalid/x")', status=100)
    assert "example.invalid" in err


def test_two_names_are_two_objects(project):
    one = project.object('return sh("one", "echo same > $out")')
    two = project.object('return sh("two", "echo same > $out")')
    assert one.name.endswith("-one") and two.name.endswith("-two")


def test_several_outputs(project):
    out, _ = project.realise('return sh("two", "echo a > $out; echo b > $dev", { outputs = { "out", "dev" } })')
    assert len(list((project.store / "objects").glob("*-two*"))) >= 2


def running(project):
    """Processes whose command line names this project's store."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            continue
        if b"sleep\x00987" in line or (str(project.store).encode() in line and int(pid) != os.getpid()):
            found.append((pid, line))
    return found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_leaves_nothing(project, how):
    recipe = project.recipe('local a = sh("a", "echo a > $out")\n'
                            'return sh("long", "cat " .. a .. "; echo up; sleep 987 & sleep 987")')
    process = project.start("realise", recipe)
    for _ in range(600):
        if any("sleep" in str(line) for _, line in running(project)):
            break
        time.sleep(0.05)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if how != signal.SIGKILL else -9), err
    for _ in range(100):
        if not running(project):
            break
        time.sleep(0.05)
    assert running(project) == []
    assert str(project.store) not in pathlib.Path("/proc/self/mountinfo").read_text()
    # the same command goes on: `a` is there, and what was left is taken away
    project.recipe('local a = sh("a", "echo a > $out")\nreturn sh("short", "cat " .. a .. " > $out")')
    project.run("realise", recipe)
    assert [b["name"] for b in project.builds()].count("a") == 1
    project.ends_well()


def test_two_forges_build_it_once(project):
    recipe = project.recipe('return sh("once", "sleep 1; echo > $out")')
    both = [project.start("realise", recipe) for _ in range(2)]
    outs = [p.communicate(timeout=60) for p in both]
    assert [p.returncode for p in both] == [0, 0], outs
    assert outs[0][0] == outs[1][0]
    assert len(project.builds()) == 1


def test_jobs_run_side_by_side(project):
    text = ('local l = {}\nfor i = 1, 4 do l[i] = sh("p" .. i, "sleep 1; echo " .. i .. " > $out") end\n'
            'return sh("all", "cat " .. table.concat({ tostring(l[1]), tostring(l[2]), tostring(l[3]), '
            'tostring(l[4]) }, " ") .. " > $out")')
    project.realise(text, "-j", "4")
    four = [b for b in project.builds() if b["name"].startswith("p")]
    assert max(b["start_ms"] for b in four) < min(b["end_ms"] for b in four)


def test_the_next_build_does_not_wait_for_the_disk(project):
    """A build ends; while its output is copied and made durable, the next one runs (but two never run at a time)."""
    text = ('local big = sh("big", "yes 0123456789 | head -c 60000000 > $out")\nlocal l = {}\n'
            'for i = 1, 3 do l[i] = tostring(sh("n" .. i, "echo " .. i .. " > $out")) end\n'
            'return sh("all", "echo " .. big .. " " .. table.concat(l, " ") .. " > $out")')
    project.realise(text, "-j", "1")
    took = {b["name"]: b for b in project.builds()}
    assert took["n1"]["start_ms"] < took["big"]["end_ms"] <= took["all"]["start_ms"]
    project.ends_well()


def test_inert_variables_follow_the_options_and_no_hash(project):
    text = 'return sh("i", "echo $MAX_JOBS > /build/x; echo same > $out", { inert = { MAX_JOBS = { memory = 1073741824 } } })'
    path = project.object(text, "--cores", "7", "--memory", "3GiB")
    assert path.read_text() == "same\n"
    text = text.replace('"echo', '"test $MAX_JOBS = 3; echo').replace('"i"', '"j"')
    project.base().joinpath("bin/test").symlink_to("busybox")
    project.realise(text, "--cores", "7", "--memory", "3GiB")


# --- fetching -------------------------------------------------------------------------------------------------

def fetched(url, digest, name="f.txt"):
    return (f'return forge.fetch {{ from = "url", name = "{name}", urls = {{ "{url}" }}, sha256 = "{digest}" }}')


def digest(data):
    return hashlib.sha256(data).hexdigest()


def test_fetch_and_wrong_hash(project, server, tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "www/f.txt").write_bytes(b"data")
    url = server(tmp_path / "www") + "f.txt"
    assert project.object(fetched(url, digest(b"data"))).read_bytes() == b"data"
    _, err = project.realise(fetched(url, digest(b"other")), status=102)
    assert digest(b"data") in err and digest(b"other") in err
    assert len(err.strip().splitlines()[-1]) < 400
    assert not [p for p in (project.store / "objects").glob("*-f.txt") if p.read_bytes() != b"data"]
    project.ends_well()


def test_what_is_large_is_started_first(project, tmp_path):
    sizes = {"small": 10, "large": 100000, "middle": 1000}
    fetch = []
    for name, size in sizes.items():
        data = name[0].encode() * size
        (tmp_path / name).write_bytes(data)
        fetch.append(f'forge.fetch {{ from = "url", name = "{name}", urls = {{ "file://{tmp_path / name}" }}, '
                     f'sha256 = "{digest(data)}", size = {size} }}')
    files = f'local files = {{ {", ".join(fetch)} }}\nlocal l = {{}}\n'
    project.realise(files + 'for i, f in ipairs(files) do l[i] = tostring(f) end\n'
                    'return sh("fetched", "cat " .. table.concat(l, " ") .. " > $out")')
    project.realise(files + 'for i, f in ipairs(files) do l[i] = tostring(sh("use-" .. f.name, "cat " .. f .. " > $out")) end\n'
                    'return sh("all", "cat " .. table.concat(l, " ") .. " > $out")', "-j", "1")
    started = sorted((b["start_ms"], b["name"]) for b in project.builds() if b["name"].startswith("use-"))
    assert [name for _, name in started] == ["use-large", "use-middle", "use-small"]


@pytest.mark.parametrize("steps, status", [
    ([{"status": 500}, {"status": 500}, {}], 0),
    ([{"close_after": 100000}, {}], 0),
    ([{"status": 404}], 1),
    ([{"body": "something else"}], 102),
])
def test_a_server_that_misbehaves(project, server, tmp_path, steps, status):
    data = b"x" * 300000
    (tmp_path / "www").mkdir()
    (tmp_path / "www/f.txt").write_bytes(data)
    url = server(tmp_path / "www", {"/f.txt": steps}) + "f.txt"
    _, err = project.realise(fetched(url, digest(data)), status=status)
    if status:
        assert "f.txt" in err
    project.ends_well()


def test_offline_names_what_it_would_fetch(project):
    _, err = project.realise(fetched("http://127.0.0.1:9/f.txt", digest(b"")), "--offline", status=1)
    assert "f.txt" in err and "offline" in err


def test_file_urls(project, tmp_path):
    (tmp_path / "local.txt").write_bytes(b"here")
    assert project.object(fetched(f"file://{tmp_path}/local.txt", digest(b"here")), "--offline").read_bytes() == b"here"


# --- stores that can't be used ----------------------------------------------------------------------------------

def test_a_store_of_a_newer_forge(project):
    import sqlite3
    project.realise('return sh("a", "echo > $out")')
    with sqlite3.connect(project.store / "db.sqlite") as db:
        db.execute("pragma user_version = 9999")
    _, err = project.realise('return sh("b", "echo > $out")', status=1)
    assert "newer" in err and str(project.store) in err


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_store(project):
    text = 'return sh("a", "echo > $out")'
    path = project.object(text)
    subprocess.run(["mount", "--bind", project.store, project.store], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", project.store], check=True)
    try:
        _, err = project.realise('return sh("b", "echo > $out")', status=1)
        assert str(project.store) in err and "read-only" in err.lower()
        assert project.run("show", project.recipe(text))[0]
    finally:
        subprocess.run(["umount", project.store], check=True)
    assert project.object(text) == path


@pytest.mark.parametrize("text, status", [
    ('return sh("fill", "dd if=/dev/zero of=$out bs=1M count=100")', 100),
    (fetched("file:///dev/null-big", "0" * 64), 1),
])
def test_a_full_disk(project, small_disk, tmp_path, text, status):
    project.use_store(small_disk / "store")
    big = tmp_path / "big"
    big.write_bytes(os.urandom(1 << 20) * 40)
    text = text.replace("/dev/null-big", str(big)).replace("0" * 64, digest(big.read_bytes()))
    _, err = project.realise(text, status=status)
    assert "space" in err.lower()
    project.ends_well()
    assert project.object('return sh("small", "echo ok > $out")').read_text() == "ok\n"


# --- kernels that give no sandbox -------------------------------------------------------------------------------

@pytest.mark.skipif(os.geteuid() != 0, reason="making a namespace without namespaces needs root")
def test_no_user_namespaces(project):
    recipe = project.recipe('return sh("a", "echo > $out")')
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    got = subprocess.run(["unshare", "-Ur", "sh", "-c", script, "sh", project.program, "realise", recipe],
                         cwd=project.folder, env=project.env, capture_output=True, text=True)
    assert got.returncode == 1
    assert "namespace" in got.stderr and "max_user_namespaces" in got.stderr
