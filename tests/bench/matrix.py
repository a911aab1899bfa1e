"""forge show on a recipe of several hundred variants: its lock read, every variant evaluated, planned against a store
and printed; against making and hashing as many derivations of the same form with the primitives alone."""
import hashlib
import json
import subprocess

import places
from measure import compare, run

TITLE = "show a matrix : hash as many derivations"
TARGET = 1.5

PYTHONS = ["3.13"]
TORCHES = [f"2.{minor}.{patch}" for minor in range(11, 61) for patch in range(2)]
ARCHS = [["80"], ["90"], ["80", "90"], ["80", "90", "100", "120"]]
NEEDS = 40   # wheels that a torch brings with it, as torch 2.11 does; here no two torches share any

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

# The same derivations written down with the primitives alone: no lock, no library, no store.
PLAIN = """
local forge = require "forge"
local derivation, fetch = forge.derivation, forge.fetch
local last
local function unpacked(name, version)
  local file = name .. "-" .. version .. "-py3-none-any.whl"
  local entry = { from = "pypi", name = name, version = version, file = file, size = 1, sha256 = ("%%064x"):format(#name) }
  return derivation { name = name .. "-" .. version, what = "unpack", system = "builtin", builder = "builtin:unpack-wheel",
    env = { src = fetch(entry) } }
end
for _, torch in ipairs(%s) do
  local site, bin = {}, {}
  for i = 1, %d do
    local folder = unpacked("library-" .. i, torch)
    site[i], bin[i] = folder .. "/site-packages", folder .. "/bin"
  end
  local world = { mounts = { { at = "/cuda", layers = site }, { at = "/env/bin", layers = bin }, { at = "/env/site-packages", layers = site } } }
  for _, archs in ipairs(%s) do
    local raw = derivation { name = "many-1.0-raw", what = "build", builder = "/bin/sh", args = { "-eu", "build" },
      env = { ARCHS = table.concat(archs, ";"), CUDA_HOME = "/cuda", PATH = "/env/bin:/bin" }, world = world }
    local wheel = derivation { name = "many-1.0", system = "builtin", builder = "builtin:finish", env = { src = raw } }
    last = derivation { name = "many-1.0-test", builder = "/env/bin/python", args = { "-B" }, env = { FORGE_WHEEL = wheel },
      world = world }
  end
end
return last
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


def plain():
    return PLAIN % (lua(TORCHES), NEEDS + 2, lua(ARCHS))


def count(work):
    """How many derivations the whole matrix has."""
    command = [places.FORGE, "realise", "--dry-run", "--json", "--all", "--store", work / "store", work / "many.lua"]
    return len(json.loads(subprocess.run(command, env=places.forge_env(work), check=True, capture_output=True).stdout))


def measure(work, pairs=None, **_):
    cells = len(PYTHONS) * len(TORCHES) * len(ARCHS)
    (work / "many.lua").write_text(RECIPE % (lua(PYTHONS), lua(TORCHES), lua(ARCHS)))
    (work / "forge.lock").write_text(lock())
    (work / "plain.lua").write_text(plain())
    ours = [places.FORGE, "show", "--json", "--store", work / "store", work / "many.lua"]
    theirs = [places.tool("lua_tool"), places.ROOT / "lib", work / "plain.lua", "quiet"]
    env = places.forge_env(work)
    return compare(lambda: run(ours, env=env), lambda: run(theirs, env=env), pairs or 15,
                   note=f"{cells} variants, {count(work)} derivations")
