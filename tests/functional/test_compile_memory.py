"""Compiles that need more memory than was expected: their sum stays under --memory, and none of it fails a build."""
import os
import pathlib
import signal

from compiling import building, compiles, good_compile, running, source, wait_for

MIB = 1 << 20


def hold(mib, seconds, after=0):
    """An order for the compiler: have this much memory for so long; after: seconds without."""
    return f"//!compile eval 'sleep {after}; dd if=/dev/zero bs={mib}M count=1 2> /dev/null | {{ sleep {seconds}; cat > /dev/null; }}'"


def sources(count, *lines):
    return "".join(source(f"s{i}.c", f"int s{i};", *lines) for i in range(count))


def compile_all(count):
    names = " ".join(f"s{i}" for i in range(count))
    return (f"for n in {names}; do cc -c $n.c -o $n.o & done; wait\n" +
            "cat " + " ".join(f"s{i}.o" for i in range(count)) + " > $out\n")


def objects(count, *lines):
    return "".join("".join(line + "\n" for line in ("object of", f"int s{i};", *lines)) for i in range(count))


def known_as_small(project, count):
    """Compiles of these names were small the last time, so that all are begun at once."""
    project.realise(building("small", sources(count, "//!compile sleep 0.5") + compile_all(count)))
    assert [c["note"] for c in compiles(project)] == ["miss"] * count


def at_once(records):
    """The most memory that those had together that ran at the same time."""
    return max(sum(o["peak_memory"] for o in records if o["start_ms"] <= r["start_ms"] < o["end_ms"]) for r in records)


def test_the_sum_stays_under_the_limit(compiling):
    count, order = 4, hold(60, 5)
    known_as_small(compiling, count)
    made = compiling.object(building("large", sources(count, order) + compile_all(count)), "--jobs", "4",
                            "--memory", "150MiB")
    assert made.read_text() == objects(count, order)
    records = compiles(compiling)[:-count]
    kept = [r for r in records if r["note"] == "miss"]
    again = [r for r in records if r["note"] == "again: memory"]
    assert len(kept) == count and again and len(kept) + len(again) == len(records)
    assert all(r["peak_memory"] > 55 * MIB for r in kept) and at_once(kept) <= 150 * MIB
    out, _ = compiling.run("log", "--compiles")
    assert out.count(" again ") == len(again)
    # now they are known
    compiling.realise(building("known", sources(count, order, "int other;") + compile_all(count)), "--jobs", "4",
                      "--memory", "150MiB")
    records = compiles(compiling)[:count]
    assert [r["note"] for r in records] == ["miss"] * count and at_once(records) <= 150 * MIB
    good_compile(compiling)


def two_builds(order):
    parts = [f"local {name} = build('{name}', [==[\n{source(f's{i}.c', f'int {name};', order)}"
             f"cc -c s{i}.c -o x.o; cp x.o $out]==])\n" for i, name in enumerate("ab")]
    return building("x", "").split("return build")[0] + "".join(parts) + "return build('both', 'cat ' .. a .. ' ' .. b .. ' > $out')"


def test_two_builds_share_the_limit(compiling):
    """Builds and compiles that were small the last time, so that all are begun at once."""
    compiling.realise(two_builds("//!compile sleep 0.5"))
    made = compiling.object(two_builds(hold(80, 5, after=2)), "--jobs", "4", "--memory", "130MiB")
    assert made.read_text().count("object of\n") == 2
    records = compiles(compiling)[:-2]
    assert sorted(r["note"] for r in records) == ["again: memory", "miss", "miss"]
    good_compile(compiling)


def test_what_is_killed_beside_others_runs_again_alone(compiling):
    """As the kernel does it when the machine is short."""
    mark = f"6.0{os.getpid()}"
    script = source("a.c", "int a;", f"//!compile sleep {mark}") + source("b.c", "//!compile sleep 12") + (
        "cc -c b.c -o b.o & cc -c a.c -o a.o; wait; cp a.o $out\n")
    process = compiling.start("realise", compiling.recipe(building("killed", script)), "--jobs", "2")
    wait_for(lambda: running(mark), process)
    [sleep] = running(mark)
    [parent] = [line.split()[1] for line in pathlib.Path(f"/proc/{sleep}/status").read_text().splitlines()
                if line.startswith("PPid:")]
    os.kill(int(parent), signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    last, b, first = compiles(compiling)
    assert (first["name"], first["note"]) == ("a.c", "again: memory")
    assert (b["name"], b["note"], last["name"], last["note"]) == ("b.c", "miss", "a.c", "miss")
    assert last["start_ms"] >= b["end_ms"]
    good_compile(compiling)


def test_one_that_needs_more_than_there_is(compiling):
    """Again alone, with what the machine has; a line says so, and the next time it is begun so."""
    script = sources(2, "//!compile sleep 2") + source("s0.c", "int s0;", hold(200, 3)) + compile_all(2)
    out, err = compiling.realise(building("large", script), "--jobs", "2", "--memory", "100MiB")
    [line] = [line for line in err.splitlines() if "warning" in line]
    assert "s0.c: its compile needs more than there is for all (100 MiB, --memory): it runs again, alone" in line
    notes = [r["note"] for r in reversed(compiles(compiling)) if r["name"] == "s0.c"]
    assert notes[-1] == "miss" and set(notes[:-1]) == {"again: memory"}
    known = sources(2) + source("s0.c", "int other;", hold(200, 3)) + compile_all(2)
    out, err = compiling.realise(building("known", known), "--jobs", "2", "--memory", "100MiB")
    assert "warning" not in err and {c["note"] for c in compiles(compiling)[:2]} == {"miss"}
    good_compile(compiling)


def test_one_that_is_too_large_for_its_build(compiling):
    """Nor may the build have that much: it fails with the line that it has without a compile store."""
    script = source("a.c", hold(200, 4)) + "cc -c a.c -o a.o; cp a.o $out\n"
    compiling.recipe(building("bad", script, 'memory = "64MiB"'))
    compiling.refuses("realise", "recipes/x.lua", "--memory", "100MiB", status=100,
                      says=["bad: the build was ended at its memory ceiling of 64 MiB (the recipe's memory)"])
    good_compile(compiling)
