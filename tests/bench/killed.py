"""What kill -9 costs: five of flash-attn's kernels, killed in the midst of them and begun again, against built in one go.

What forge was at when it was killed is lost: one compile on each core, side by side.  So the longest compile's time (of
its steps on a core, without their waiting) is taken off what the two runs took together; the note has all of it.  Ten minutes for each pair.
"""
import shutil
import subprocess
import time

import causal
import places
from measure import Run, Watch, compare
from unpack import fresh

TITLE = "flash-attn (5 kernels) killed by -9 and begun again, but for a compile : built in one go"
TARGET = 1.03
NAME = "flash-attn-2.8.3"
KILLED_AFTER = 90  # seconds
# Of 72 kernels the forward ones of one type without masks, of all widths but the largest.  What is linked of them can't
# be imported, so the recipe's test fails in the end, on both sides.
TEST = "\n  test  = {"
FEWER = """
  prepare = [[sed -i -E '/flash_(bwd|fwd_split|.*_causal|.*hdim256|.*_bf16_).*sm80[.]cu/d' setup.py
[ "$(grep -c 'sm80[.]cu' setup.py)" = 5 ]
]],"""


def recipe_below(folder):
    recipes = folder / "recipes"
    shutil.copytree(places.ROOT / "recipes", recipes)
    recipe = recipes / "flash-attn.lua"
    recipe.write_text(recipe.read_text().replace(TEST, FEWER + TEST))
    return recipe


def measure(work, pairs=None, **_):
    env, store, ready, told = places.forge_env(work), work / "killed-store", work / "ready", []
    recipe = recipe_below(work)
    command = [places.FORGE, "realise", "--offline", "--cores", "2", "--store", store, recipe]
    causal.prepare(ready, env, recipe)

    def begin(killed_after=None):
        """To the end, or to where it is killed: how many seconds it took."""
        before = time.monotonic()
        with subprocess.Popen(command, cwd=places.ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(killed_after)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            else:
                if killed_after:
                    raise RuntimeError(f"forge realise ended before it was killed, with status {process.returncode}")
        return time.monotonic() - before

    def built(*kills):
        fresh(ready, store)
        with Watch(places.FORGE) as watch:
            wall = sum(begin(after) for after in (*kills, None))
        steps = [(s["what"], s["name"]) for s in causal.told_by_log(store, env) if s["status"] == 0]
        if ("build", NAME + "-raw") not in steps or ("finish", NAME) not in steps:
            raise RuntimeError(f"{NAME} was not built")
        compiles = [c for c in causal.told_by_log(store, env, "--compiles", "-n", "1000", NAME + "-raw") if c["what"] == "compile"]
        places.remove(store)
        longest = max(c["cpu_ms"] for c in compiles) / 1000
        if kills:
            told.append(f"{wall:.1f} s with the lost ones, a compile took up to {longest:.1f} s")
        return Run(wall - (longest if kills else 0), sum(c["cpu_ms"] for c in compiles) / 1000, watch.peak)

    result = compare(lambda: built(KILLED_AFTER), built, pairs or 1)
    result.note = "; ".join(told)
    return result
