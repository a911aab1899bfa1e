"""500 trivial builds, each in a sandbox of its own, one at a time: forge and nix, both with a static busybox as
/bin/sh and nothing else, both into an empty store on the same file system."""
import shutil

import places
from measure import Skip, compare, run

TITLE = "500 sandboxed builds, one at a time : nix-build -j1, sandbox on"
TARGET = 0.5


def measure(work, pairs=None, **_):
    nix = places.Nix(work)
    if not places.BUSYBOX.exists():
        raise Skip(f"no {places.BUSYBOX} (busybox-static)")
    recipes, store = work / "trivial/recipes", work / "trivial/store"
    (recipes / "base/bin").mkdir(parents=True)
    shutil.copy(places.BUSYBOX, recipes / "base/bin/busybox")
    (recipes / "base/bin/sh").symlink_to("busybox")
    shutil.copy(places.HERE / "trivial.lua", recipes)

    def ours():
        places.remove(store)
        return run([places.FORGE, "realise", "-j1", "--store", store, recipes / "trivial.lua"],
                   env=places.forge_env(work))

    def theirs():
        nix.clear()
        return run(nix.build(places.HERE / "trivial.nix") + ["-j1"], env=nix.env)

    return compare(ours, theirs, pairs or 3)
