"""The test step: install the wheel of $FORGE_WHEEL, import its modules, run the recipe's lines, write a verdict.

FORGE_WHEEL   a folder with the one finished wheel
FORGE_IMPORT  modules to import, with spaces between; empty: the wheel's top-level modules
FORGE_RUN     Python to run after that
out           the verdict: what was imported and run, without times, so that it is the same each time
"""
import importlib
import os
import re
import shutil
import site
import sys
import traceback
import zipfile
from importlib import metadata
from pathlib import Path

SITE = Path("/build/site-packages")
NEEDS = Path("/env/site-packages")


def install(wheel):
    """Unpack as installers do: purelib and platlib of the .data folder belong beside the rest."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(SITE)
    for data in SITE.glob("*.data"):
        for kind in ("purelib", "platlib"):
            for entry in data.glob(kind + "/*"):
                shutil.copytree(entry, SITE / entry.name, dirs_exist_ok=True) if entry.is_dir() \
                    else shutil.copy(entry, SITE / entry.name)
    site.addsitedir(str(SITE))
    # Ahead of anything of the same name among the requirements.
    sys.path.remove(str(SITE))
    sys.path.insert(0, str(SITE))


def beside(own, needs):
    """What it needs appears beside it, as where both are installed: libraries look for one another by $ORIGIN."""
    for entry in needs.iterdir() if needs.is_dir() else ():
        mine = own / entry.name
        if not mine.exists():
            mine.symlink_to(entry)
        elif mine.is_dir() and entry.is_dir():
            beside(mine, entry)


def top_level():
    """Modules and packages at the top of what was installed; not private ones."""
    names = set()
    for entry in SITE.iterdir():
        if entry.is_dir() and any(entry.glob("*.py")) and entry.name.isidentifier():
            names.add(entry.name)
        elif entry.is_file() and (entry.suffix == ".py" or entry.name.endswith(".so")):
            names.add(entry.name.split(".")[0])
    return sorted(name for name in names if not name.startswith("_"))


def plain(name):
    """A project's name in one spelling (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def importer(error):
    """The file with the import that failed."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return [file for file in files if not file.startswith("<frozen ")][-1]


def is_own(path):
    """Is it the wheel's? What stands beside it is behind links."""
    return Path(path).resolve().is_relative_to(SITE)


def missing():
    """The projects that the wheel says it needs, whatever the system, and that are not there."""
    needs = [need for path in SITE.glob("*.dist-info") if is_own(path) for need in metadata.Distribution.at(path).requires or ()]
    there = {plain(other.metadata["Name"] or "") for other in metadata.distributions(path=[str(NEEDS)])}
    names = {re.match(r"[\w.-]*", need).group() for need in needs if ";" not in need}
    return sorted(name for name in names if plain(name) not in there)


def advice(error, asked):
    """What to do about a module that was not found; asked: those that the test names."""
    name, file = error.name, importer(error)
    own = {path.name.split(".")[0] for path in SITE.iterdir() if is_own(path)}
    if name.partition(".")[0] in own or any((each + ".").startswith(name + ".") for each in asked):
        return f"the wheel has no module {name}"
    if file == "test.run":
        return f"test.run imports {name}: name the project that has it in test.requires"
    if not is_own(file):
        return f"{file} imports {name}, which it should have asked for: name the project that has it in test.requires"
    if lacks := missing():
        return f"the wheel needs {', '.join(lacks)}, which the test is without: name all that it needs in runtime"
    return f"the wheel needs {name} and does not say so: name the project that has it in test.requires"


def run_test(wheel, modules):
    lines = [f"wheel {wheel.name}"]
    beside(SITE, NEEDS)
    for name in modules:
        module = importlib.import_module(name)
        file = getattr(module, "__file__", None)
        if file and not is_own(file):
            sys.exit(f"import {name} found {file}, which is not the wheel's")
        lines.append(f"import {name}")
        print(lines[-1], flush=True)
    run = os.environ["FORGE_RUN"]
    if run:
        exec(compile(run, "test.run", "exec"), {"__name__": "__main__"})
        lines.append("run ok")
    Path(os.environ["out"]).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    sys.path.pop(0)
    [wheel] = Path(os.environ["FORGE_WHEEL"]).glob("*.whl")
    install(wheel)
    modules = os.environ["FORGE_IMPORT"].split() or top_level()
    if not modules:
        sys.exit(f"{wheel.name} holds no module to import: name one in test.import")
    try:
        run_test(wheel, modules)
    except ModuleNotFoundError as error:
        if not error.name:
            raise
        traceback.print_exc()
        sys.exit(advice(error, modules))


if __name__ == "__main__":
    main()
