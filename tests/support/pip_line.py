"""What to do with a wheel: `pip_line.py SIMPLE`, with the records of `forge realise --json` on standard input.

A wheel that was compiled against torch loads with that torch only, which its metadata does not say: the
line names it.
"""
import json
import os
import pathlib
import sys


def axes(record):
    return record.get("axes", {})


def requirements(record):
    file = pathlib.Path(record["wheel"]).name
    name, version = file.split("-")[:2]
    yield f"{name.replace('_', '-')}=={version}"
    if "torch" in axes(record):
        yield f"torch=={axes(record)['torch']}"


def main(simple):
    [record] = json.load(sys.stdin)
    python = axes(record).get("python", "3")
    here = "%d.%d" % sys.version_info[:2]
    print("the wheel")
    print("  path      " + record["wheel"])
    size = os.path.getsize(record["wheel"])
    print(f"  size      {size / 1e6:.1f} MB ({size} bytes)")
    print(f"\ninstall it in a Python {python}, from the index that was made of it")
    print(f"  pip install --extra-index-url {pathlib.Path(simple).resolve().as_uri()} {' '.join(requirements(record))}")
    if not f"{here}.".startswith(f"{python}."):
        print(f"  (pip takes a wheel only into the Python that it was built for; {sys.executable} here is {here})")


if __name__ == "__main__":
    main(sys.argv[1])
