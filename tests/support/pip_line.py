"""What to do with a wheel: `pip_line.py INDEXES`, with the records of `forge realise --json` on standard input.

INDEXES: what `forge export` printed, an index a line.  A wheel that was compiled against torch loads with that torch
only, which its metadata does not say: the line names it, and the index of that torch and CUDA.
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


def index_of(record, indexes):
    """The one for this torch and CUDA (.../cu130-torch2.11/simple), else the first."""
    torch, cuda = axes(record).get("torch"), axes(record).get("cuda")
    words = ["cu" + cuda.replace(".", "") if cuda else "cpu"] + (["torch" + ".".join(torch.split(".")[:2])] if torch else [])
    own = [index for index in indexes if pathlib.Path(index).parent.name == "-".join(words)]
    return (own or indexes)[0]


def main(indexes):
    [record] = json.load(sys.stdin)
    simple = index_of(record, indexes)
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
    main(sys.argv[1].splitlines())
