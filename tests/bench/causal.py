"""The build itself: causal-conv1d through forge against setup.py bdist_wheel by hand in the same world.

By hand, as root: the same layers laid over one another by mount and entered by chroot, the same environment (with
the compilers' wrappers on PATH and MAX_JOBS), the source copied and patched, then setup.py bdist_wheel.  No sandbox,
no log, no taking of outputs, no finishing.  On forge's side the time is that of the build and of the finish step, from
its own records; fetching, unpacking and the import test are neither side's.  Some minutes for each run.
"""
import json
import os
import subprocess

import places
from measure import Run, Skip, Watch, compare, run
from unpack import fresh

TITLE = "causal-conv1d : setup.py bdist_wheel by hand in the same world"
TARGET = 1.03
RECIPE = "recipes/causal-conv1d.lua"
NAME = "causal-conv1d-1.6.2.post1"
SHARE = ["--cores", "2", "--memory", "8GiB"]  # what build_tool says as well: MAX_JOBS is made from it

# $1: the new root.  Mounted in a namespace of its own, so that all is gone when this ends.
BY_HAND = """
set -eu
mount --make-rprivate /
root=$1; shift
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/forge/store" "$root/build/home"
mount --bind "$PWD" "$root/forge/store"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" /usr/bin/env -i "$@" /bin/sh -euc '
cd /build
cp -R "$FORGE_SOURCE" src
chmod -R u+w src
cd src
for file in $FORGE_PATCHES; do patch -s -p1 --fuzz=0 -i "$file"; done
python setup.py -q bdist_wheel
'
"""


def object_of(path):
    """A store path (or a folder in one) as a name below objects/."""
    return path.removeprefix("/forge/store/")


class World:
    """The world of a build, laid out by hand below `folder`."""

    def __init__(self, work, store, recipe):
        told = subprocess.run([places.tool("build_tool"), "environment", "lib", recipe, store, NAME + "-raw"],
                              cwd=places.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        self.env = json.loads(told)
        self.world = json.loads(self.env.pop("world"))
        self.objects, self.folder = store / "objects", work / "by-hand"

    def _overlays(self, own):
        """Shell lines that lay the mounts: the root has a writable layer, in which the others' places are made."""
        lines = [f"mkdir -p {self.folder}/root {self.folder}/upper {self.folder}/work"]
        for mount in self.world["mounts"]:
            layers = [own[mount["at"]]] if mount["at"] in own else []
            layers += [object_of(layer) for layer in mount["layers"]]
            lower = ":".join(layer for layer in dict.fromkeys(layers) if (self.objects / layer).is_dir())
            at = f"{self.folder}/root{mount['at']}".rstrip("/")
            more = f",upperdir={self.folder}/upper,workdir={self.folder}/work" if mount["at"] == "/" else ""
            if not more and ":" not in lower:
                lines.append(f"mkdir -p {at}; mount --bind {lower} {at}")
            else:
                lines.append(f"mkdir -p {at}; mount -t overlay -o lowerdir={lower}{more} overlay {at}")
        return lines

    def _files(self):
        """Files and links; those below another mount than the root get there before it, through a layer of theirs."""
        mounts = [m["at"] for m in self.world["mounts"] if m["at"] != "/"]
        made = [("files", p, t) for p, t in self.world.get("files", {}).items()]
        made += [("links", p, t) for p, t in self.world.get("links", {}).items()]
        for kind, path, text in made:
            at = max((m for m in mounts if path.startswith(m + "/")), key=len, default="/")
            layer = self.folder / "layers" / at.strip("/").replace("/", "_")
            to = layer / os.path.relpath(path, at)
            to.parent.mkdir(parents=True, exist_ok=True)
            if kind == "files":
                to.write_text(text)
            else:
                to.symlink_to(text)
            yield at, layer

    def build(self):
        places.remove(self.folder)
        self.folder.mkdir()
        own = {at: str(layer) for at, layer in self._files()}
        overlays = "\n".join(self._overlays(own))
        env = [f"{name}={value}" for name, value in self.env.items()]
        script = overlays + BY_HAND
        done = run(["unshare", "-m", "sh", "-euc", script, "sh", self.folder / "root", *env], cwd=self.objects)
        places.remove(self.folder)
        return done


def told_by_log(store, env, *more):
    return json.loads(subprocess.run([places.FORGE, "log", "--json", "--store", store, *more], env=env, check=True,
                                     capture_output=True, text=True).stdout)


def steps(store, env):
    """Wall and CPU time of the newest build and finish step, in seconds, from forge's records.

    The compiles run beside their build, so their CPU time is counted by itself.
    """
    told = told_by_log(store, env)
    compiles = told_by_log(store, env, "--compiles", NAME + "-raw")
    wall, cpu = 0, sum(c["cpu_ms"] for c in compiles if c["what"] == "compile")
    for what, name in (("build", NAME + "-raw"), ("finish", NAME)):
        step = next(s for s in told if s["what"] == what and s["name"] == name and s["status"] == 0)
        wall += step["end_ms"] - step["start_ms"]
        cpu += step["cpu_ms"]
    return wall / 1000, cpu / 1000


def prepare(store, env, recipe):
    """Everything that the build needs, but not the build: that is told to fail."""
    done = subprocess.run([places.FORGE, "realise", "--keep-going", "--set", "build=exit 1", "--store", store, recipe],
                          cwd=places.ROOT, env=env, capture_output=True, text=True)
    if done.returncode != 100:
        raise RuntimeError(f"preparing: status {done.returncode}\n{done.stderr[-2000:]}")


def measure(work, pairs=None, recipe=RECIPE, **_):
    if os.geteuid() != 0:
        raise Skip("laying out the world by hand needs root")
    env, store, ready = places.forge_env(work), work / "causal-store", work / "ready"
    prepare(ready, env, recipe)
    by_hand, peaks = World(work, ready, recipe), []

    def ours():
        fresh(ready, store)
        with Watch(places.FORGE) as watch:
            run([places.FORGE, "realise", "--offline", *SHARE, "--store", store, recipe], cwd=places.ROOT, env=env)
        peaks.append(watch.peak)
        wall, cpu = steps(store, env)
        places.remove(store)
        return Run(wall, cpu, watch.peak)

    result = compare(ours, by_hand.build, pairs or 1)
    result.memory = max(peaks)
    return result
