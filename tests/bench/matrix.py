"""forge show on a recipe of several hundred variants: evaluated, planned against a store, printed; against evaluating
as many trivial derivations, which is little more than hashing them."""
import hashlib
import json

import places
from measure import compare, run

TITLE = "show a matrix : hash as many derivations"
TARGET = 1.5

PYTHONS = ["3.13"]
TORCHES = [f"2.{minor}.{patch}" for minor in range(11, 31) for patch in range(2)]
ARCHS = [["75"], ["80"], ["86"], ["89"], ["90"], ["100"], ["120"], ["80", "90"], ["80", "90", "100"], ["80", "90", "100", "120"]]
NEEDS = 40   # wheels that a torch brings with it, as torch 2.11 does

RECIPE = """
local forge = require "forge"
return forge.wheel {
  name = "many", version = "1.0",
  matrix = { python = %s, torch = %s, cuda = { "13.0" }, archs = %s },
  requires = { "setuptools==80.9.0" },
  env = function(v) return { ARCHS = v.archs:join ";" } end,
  label = forge.label.local_version "cu{cuda}{sm}torch{torch.full}",
  test = { import = "many" },
}
"""

# As many derivations with four inputs each.
PLAIN = """
local derivation = require("forge").derivation
local made = {}
for i = 1, %d do
  local inputs = {}
  for k = 1, 4 do
    local from = made[i - k * 7] or made[i - 1]
    inputs[k] = from and from .. "/lib" or "none"
  end
  made[i] = derivation { name = "trivial-" .. i, builder = "/bin/sh", args = { "-c", "echo " .. i .. " > $out" },
    env = { A = inputs[1], B = inputs[2], C = inputs[3], D = inputs[4] } }
end
return made[#made]
"""


def lua(value):
    return "{" + ", ".join(lua(v) if isinstance(v, list) else f'"{v}"' for v in value) + "}"


def wheel_entry(name, version):
    file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    return file, {"from": "pypi", "name": name, "version": version, "file": file, "size": 1,
                  "sha256": hashlib.sha256(file.encode()).hexdigest()}


def lock():
    """The project's own, with made-up torches, each with wheels of its own."""
    entries = json.loads((places.ROOT / "recipes/forge.lock").read_text())["entries"]
    entries["sdist many 1.0"] = wheel_entry("many", "1.0")[1] | {"requires": [], "build_requires": []}
    tools = ["setuptools-80.9.0-py3-none-any.whl"]
    for torch in TORCHES:
        pairs = [wheel_entry(f"library-{i}", f"{torch}.{i}") for i in range(NEEDS)]
        pairs += [wheel_entry("torch", torch), wheel_entry("nvidia-cuda-runtime", "13.0." + torch.replace(".", ""))]
        entries |= {"pypi " + file: entry for file, entry in pairs}
        files = [file for file, _ in pairs]
        entries["tags torch " + torch] = {"tags": ["cp313-cp313"]}
        for python in PYTHONS:
            entries[f"wheels {python} torch=={torch}"] = {"files": files}
            entries[f"wheels {python} setuptools==80.9.0 torch=={torch}"] = {"files": [*files, *tools]}
    return json.dumps({"version": 1, "entries": entries})


def measure(work, pairs=None, **_):
    cells = len(PYTHONS) * len(TORCHES) * len(ARCHS)
    (work / "many.lua").write_text(RECIPE % (lua(PYTHONS), lua(TORCHES), lua(ARCHS)))
    (work / "forge.lock").write_text(lock())
    counted = run_count(work)
    (work / "plain.lua").write_text(PLAIN % counted)
    ours = [places.FORGE, "show", "--json", "--store", work / "store", work / "many.lua"]
    theirs = [places.tool("lua_tool"), places.ROOT / "lib", work / "plain.lua", "quiet"]
    env = places.forge_env(work)
    return compare(lambda: run(ours, env=env), lambda: run(theirs, env=env), pairs or 15,
                   note=f"{cells} variants, {counted} derivations")


def run_count(work):
    """How many derivations the whole matrix has."""
    import subprocess
    out = subprocess.run([places.FORGE, "realise", "--dry-run", "--json", "--all", "--store", work / "store", work / "many.lua"],
                         env=places.forge_env(work), check=True, capture_output=True).stdout
    return len(json.loads(out))
