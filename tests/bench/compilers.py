"""Builds that compile with this machine's own gcc behind the shim, in stores that differ in what they hold."""
import shutil
import subprocess
import sys

import places
from measure import Skip, run

sys.path.insert(1, str(places.ROOT / "tests/functional"))

import real_compilers as real  # noqa: E402

RECIPE = """
local forge = require "forge"
return forge.derivation {
  name = "NAME", what = "build", builder = "/bin/sh", args = { "-euc", [==[
SCRIPT]==] },
  world = { mounts = { { at = "/", layers = { forge.path "base" } }, { at = "/toolchain", layers = { forge.path "toolchain" } } } },
  env = { PATH = "/toolchain/bin:/bin:/usr/bin", SOURCE_DATE_EPOCH = "315619200" },
}
"""


class Compilers:
    def __init__(self, work):
        if not real.have_gcc() or not places.BUSYBOX.exists():
            raise Skip("no gcc 12, or no /bin/busybox (busybox-static)")
        self.recipes = work / "compilers"
        self.env = places.forge_env(work)
        self.count = 0
        shim = work / "shim"
        sources = sorted((places.ROOT / "src/shim").glob("*.c"))
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-static", f"-I{places.ROOT / 'src'}", *sources, "-o", shim], check=True)
        self.recipes.mkdir()
        real.make_gcc(self, shim)

    def base(self):
        """What real_compilers puts its files into."""
        bin_ = self.recipes / "base/bin"
        if not bin_.exists():
            bin_.mkdir(parents=True)
            shutil.copy(places.BUSYBOX, bin_ / "busybox")
            for name in ("mkdir", "seq"):
                (bin_ / name).symlink_to("busybox")
        return bin_.parent

    def build(self, store, script, *args):
        """Run the script in a build that has never been; what it took."""
        self.count += 1
        name = f"b{self.count}"
        recipe = self.recipes / f"{name}.lua"
        recipe.write_text(RECIPE.replace("NAME", name).replace("SCRIPT", script + "echo > $out\n"))
        return run([places.FORGE, "realise", "-q", "--jobs", "1", "--store", store, *args, recipe], env=self.env)


PLACE = "--no-compile-store"


def per(runs, without, times):
    """Milliseconds of wall time and of CPU time for each of so many, by two runs that differ in them alone."""
    return (runs.wall - without.wall) * 1000 / times, (runs.cpu - without.cpu) * 1000 / times
