"""Evaluating 10,000 derivations with three inputs each, nothing written: the same in Lua and as a Nix expression."""
import places
from measure import compare, run

TITLE = "evaluate 10,000 derivations : nix-instantiate --readonly-mode"
TARGET = 0.5


def measure(work, pairs=None, **_):
    nix = places.Nix(work)
    ours = [places.tool("lua_tool"), places.ROOT / "lib", places.HERE / "10k.lua", "quiet"]
    theirs = ["nix-instantiate", "--store", "dummy://", "--readonly-mode", places.HERE / "10k.nix"]
    return compare(lambda: run(ours, env=places.forge_env(work)), lambda: run(theirs, env=nix.env), pairs or 15)
