"""Is every object from the compile store what the compiler gives in place?  For packages as they are: `make check-compiles`.

    check.py [PACKAGE …] [--store DIR]
    make check-compiles COMPILES="pillow --store /var/tmp/s"

Each package's own build makes some of its objects three times: in place (--no-compile-store), with a compile store that
has nothing yet, and with one that has it all.  The objects must be the same, misses first and then hits.  Without
packages all of them: that is where it counts how many commands there were.  A store that is named is kept; the scratch
one takes some 12 GB.
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from records import language, match, said

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FORGE = pathlib.Path(os.environ.get("FORGE_BUILD", ROOT / "build")).resolve() / "forge"
PACKAGES = sorted(path.stem for path in HERE.glob("*.lua") if path.stem != "objects")
ROUNDS = ["place", "made", "found"]
WANTED = {"C": 100, "C++": 50, "CUDA": 10, "all": 200}


class Forge:
    def __init__(self, store):
        self.store = store
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("FORGE_")} | {"FORGE_LIB": str(ROOT / "lib")}

    def run(self, *args):
        return subprocess.run([FORGE, *args, "--store", self.store], env=self.env, stdout=subprocess.PIPE, text=True)

    def realise(self, packages, variant):
        """{package: the path of what its build lists}; one that fails has said so, and is not in it."""
        more = ["--no-compile-store"] if variant == "place" else []
        out = self.run("realise", "--variant", variant, *more, *(HERE / f"{name}.lua" for name in packages)).stdout
        # <hash>-<package>-<round>
        return {path.name[33:].removesuffix(f"-{variant}"): path for path in map(pathlib.Path, out.splitlines())}

    def log(self, *args):
        return json.loads(self.run("log", "--json", "--lines", "100000", *args).stdout)

    def compiles(self, path):
        """The records of whole compiles of the build that made this."""
        builds = {record.get("drv") for record in self.log() if record.get("path", "").endswith("/" + path.name)}
        return [record for record in self.log("--compiles") if record["what"] == "compile" and record.get("drv") in builds]


def read_list(path):
    """{file: SHA-256}"""
    return {file: digest for digest, file in (line.split("  ", 1) for line in path.read_text().splitlines())}


@dataclasses.dataclass
class Command:
    """What made one object; its language, and what was done the first and the second time."""
    language: str
    first: str
    again: str
    equal: bool

    def is_stored(self):
        return self.first.startswith("miss") and self.again == "hit"

    def is_known(self):
        """Not stored, for a reason that holds again; or one like an earlier command of the same build."""
        return self.first == self.again and not self.first.startswith("miss")


@dataclasses.dataclass
class Package:
    name: str
    commands: list = dataclasses.field(default_factory=list)
    problems: list = dataclasses.field(default_factory=list)
    reasons: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    others: list = dataclasses.field(default_factory=lambda: [collections.Counter(), collections.Counter()])

    def count(self, test):
        return sum(map(bool, map(test, self.commands)))

    def passed(self, of="all"):
        return self.count(lambda c: c.equal and c.is_stored() and of in (c.language, "all"))


def compare(package, lists, records):
    """lists, records: of each round.  Fills the package."""
    made, found = (match([f for f in lists["place"] if f.endswith(".o")], records[which]) for which in ("made", "found"))
    for file in sorted(set().union(*lists.values())):
        equal = len({lists[which].get(file) for which in ROUNDS}) == 1
        if not equal:
            package.problems.append(f"{file} is not the same: " +
                                    ", ".join(f"{which} {str(lists[which].get(file))[:12]}" for which in ROUNDS))
        if not file.endswith(".o"):
            continue
        if file not in made or file not in found:
            package.problems.append(f"{file}: forge was not asked for it")
            continue
        command = Command(language(made[file]["name"]), said(made[file])[0], said(found[file])[0], equal)
        package.commands.append(command)
        if equal and not command.is_stored() and not command.is_known():
            package.problems.append(f"{file}: {made[file]['note']}, then {found[file]['note']}")
    kept = {id(record) for record in (*made.values(), *found.values())}
    for others, which in zip(package.others, ("made", "found")):
        others.update(said(record)[0] for record in records[which] if id(record) not in kept)
    for record in records["made"]:
        what, why = said(record)
        if why:
            package.reasons[what, why, id(record) in kept] += 1


def show(packages):
    line = "{:26}{:>9}{:>6}{:>6}{:>6}{:>8}{:>6}{:>10}{:>7}{:>8}".format
    print(line("", "commands", "C", "C++", "CUDA", "misses", "hits", "in place", "equal", "failed"))
    rows = []
    for p in packages:
        row = [len(p.commands), *(p.count(lambda c: c.language == of) for of in ("C", "C++", "CUDA")),
               p.count(lambda c: c.first.startswith("miss")), p.count(lambda c: c.again == "hit"),
               p.count(lambda c: c.first == "in place"), p.count(lambda c: c.equal), len(p.problems)]
        print(line(p.name, *row))
        rows.append(row)
    print(line("all", *map(sum, zip(*rows))) + "\n")


def show_reasons(packages):
    reasons = sum((p.reasons for p in packages), collections.Counter())
    for k, when in enumerate(("first", "second")):
        others = sum((p.others[k] for p in packages), collections.Counter())
        told = ", ".join(f"{count} {what}" for what, count in sorted(others.items()))
        print(f"commands of which no object stays (a configuration's tests), the {when} time: {others.total()} ({told})")
    print("not stored or not taken apart, those whose objects stay and others, by reason:")
    for what, why in sorted({key[:2] for key in reasons}):
        print(f"{reasons[what, why, True]:>6}{reasons[what, why, False]:>6}  {what}: {why}")


def check(forge, names):
    packages, made = [Package(name) for name in names], {}
    for which in ROUNDS:
        began = time.monotonic()
        made[which] = forge.realise(names, which)
        print(f"{which}: {time.monotonic() - began:.0f} s", flush=True)
    for p in packages:
        missing = [which for which in ROUNDS if p.name not in made[which]]
        if missing:
            p.problems.append(f"its build failed: {', '.join(missing)}")
            continue
        compare(p, {which: read_list(made[which][p.name]) for which in ROUNDS},
                {which: forge.compiles(made[which][p.name]) for which in ("made", "found")})
        if not p.commands:
            p.problems.append("its build left no objects")
    return packages


def main():
    parser = argparse.ArgumentParser(prog="check.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, []], metavar="PACKAGE", help=", ".join(PACKAGES))
    parser.add_argument("--store", type=pathlib.Path, help="where it is built; no compile of these packages may be in it")
    o = parser.parse_args()
    scratch = None if o.store else tempfile.TemporaryDirectory(prefix="forge-compiles-")
    packages = check(Forge(o.store or pathlib.Path(scratch.name) / "store"), o.packages or PACKAGES)
    show(packages)
    show_reasons(packages)
    for p in packages:
        for problem in p.problems:
            print(f"FAILED {p.name}: {problem}")
    passed, failed = sum(p.passed() for p in packages), sum(len(p.problems) for p in packages)
    for of, least in WANTED.items() if not o.packages else ():
        there = sum(p.passed(of) for p in packages)
        if there < least:
            print(f"FAILED: {there} commands ({of}) went through the store, at least {least} have to")
            failed += 1
    if scratch:
        subprocess.run(["chmod", "-R", "u+w", scratch.name], check=False)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
