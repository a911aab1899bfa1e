"""The compile store with the real shim, in a world of busybox whose gcc is a script."""
import signal
import time

import pytest

from compiling import WORLD, compiles, notes

PLACE = "--no-compile-store"

# Files s1.c … are compiled side by side, and the objects are the output.
MANY = ("mkdir w; cd w; for i in 1 2 3 4 5 6; do echo int s$i = $i\\\\;$kind > s$i.c; done; "
        "for i in 1 2 3 4 5 6; do cc -O2 -c s$i.c -o s$i.o & done; wait; cat s1.o s2.o s3.o s4.o s5.o s6.o > $out")


def many(name, kind=""):
    return WORLD + f'return build("{name}", "{MANY}", {{ kind = "{kind}" }})'


def test_a_second_build_compiles_nothing(compiling):
    first = compiling.object(many("one"))
    assert first.read_text() == "".join(f"object of\nint s{i} = {i};\n" for i in range(1, 7))
    assert notes(compiling) == ["miss"] * 6
    second = compiling.object(many("two"))
    assert second.read_bytes() == first.read_bytes()
    assert notes(compiling) == ["hit"] * 6 + ["miss"] * 6
    assert {c["name"] for c in compiles(compiling)} == {f"w/s{i}.c" for i in range(1, 7)}
    third = compiling.object(many("three"), PLACE)
    assert third.read_bytes() == first.read_bytes()
    assert len(compiles(compiling)) == 12
    out, _ = compiling.run("log", "--compiles", "w/s1.c")
    assert [line.split()[3] for line in out.splitlines()] == ["hit", "miss"]
    compiling.ends_well()


def test_messages_come_back(compiling):
    text = WORLD + 'return build("NAME", "echo x > a.c; cc -c a.c -o a.o 2> $out")'
    for name in ("one", "two"):
        assert compiling.object(text.replace("NAME", name)).read_text() == "a.c: a warning\n"
    assert notes(compiling) == ["hit", "miss"]


def test_a_wrong_source(compiling):
    text = WORLD + 'return build("wrong", "echo fail > a.c; cc -c a.c -o a.o")'
    _, err = compiling.realise(text, status=100)
    assert "a.c:1: error: it says fail" in err and "exited with status 3" in err
    [record] = compiles(compiling)
    assert record["note"].startswith("in place: forge's own compile exited with status 3")
    compiling.ends_well()


def test_what_is_no_compile_runs_at_once(compiling):
    text = WORLD + 'return build("link", "echo x > a.o; cc a.o -o $out")'
    assert compiling.object(text).read_text() == "object of\nx\n"
    assert compiles(compiling) == []


def test_builds_with_a_compile_store_see_many_jobs(compiling):
    text = WORLD + 'return build("NAME", "test $MAX_JOBS = COUNT; echo > $out")'
    compiling.realise(text.replace("NAME", "a").replace("COUNT", "28"), "--cores", "7", "--memory", "3GiB")
    compiling.realise(text.replace("NAME", "b").replace("COUNT", "3"), PLACE, "--cores", "7", "--memory", "3GiB")


def test_the_limits_hold_for_compiles(compiling):
    compiling.realise(many("one", "slow"), "--jobs", "2")
    ran = sorted((c["start_ms"], c["end_ms"]) for c in compiles(compiling))
    at_once = max(sum(1 for other in ran if other[0] <= one[0] < other[1]) for one in ran)
    assert len(ran) == 6 and at_once == 2
    compiling.ends_well()


def test_two_builds_at_once_compile_once(compiling):
    text = WORLD + f"""
        local a = build("one", "{MANY}", {{ kind = "slow" }})
        local b = build("two", "{MANY}", {{ kind = "slow" }})
        return build("both", "cat " .. a .. " " .. b .. " > $out")"""
    assert compiling.object(text, "--jobs", "4").read_text().count("object of") == 12
    assert notes(compiling) == ["hit"] * 6 + ["miss"] * 6
    compiling.ends_well()


def test_two_forges_at_once_compile_once(compiling):
    started = [compiling.start("realise", compiling.recipe(many(name, "slow"), f"{name}.lua"), "--jobs", "2")
               for name in ("one", "two")]
    for process in started:
        _, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
    assert notes(compiling) == ["hit"] * 6 + ["miss"] * 6
    compiling.ends_well()


@pytest.mark.parametrize("signo", [signal.SIGKILL, signal.SIGINT])
def test_what_was_compiled_is_there_after_the_end(compiling, signo):
    process = compiling.start("realise", compiling.recipe(many("one", "slow")), "--jobs", "1")
    deadline = time.monotonic() + 60
    while len(compiles(compiling)) < 4:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signo)
    process.communicate(timeout=30)
    assert process.returncode in (-9, 130)
    before = len(compiles(compiling))
    compiling.realise(many("one", "slow"))
    after = [c["note"] for c in compiles(compiling)][:6]
    # Kept in batches of a second: an end without warning costs what was made since.
    assert after.count("hit") >= before - 2 and (signo == signal.SIGKILL or after.count("hit") == before)
    compiling.ends_well()
