"""Nothing to do: a recipe of about 190 derivations whose results are there, against nix-build of one derivation
that is built.

flash-attn takes hours to build, so its outputs are put into the store as small files (build_tool fill): forge
evaluates and hashes every derivation, looks its results up, and keeps them, as it would after a real build.
"""
import subprocess

import places
from measure import compare, run

TITLE = "nothing to do: realise flash-attn : nix-build of one"
TARGET = 2.0


def measure(work, pairs=None, **_):
    nix = places.Nix(work)
    store, env = work / "noop-store", places.forge_env(work)
    recipe = "recipes/flash-attn.lua"
    filled = subprocess.run([places.tool("build_tool"), "fill", "lib", recipe, store], cwd=places.ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    ours = [places.FORGE, "realise", "--offline", "--store", store, recipe]
    theirs = nix.build(places.HERE / "one.nix")
    run(theirs, env=nix.env)
    return compare(lambda: run(ours, cwd=places.ROOT, env=env), lambda: run(theirs, env=nix.env), pairs or 30,
                   f"{filled[0]} derivations; the outputs of {filled[1]} are stand-ins, registered as if built")
