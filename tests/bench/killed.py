"""What kill -9 costs: ten of flash-attn's kernels, killed in the midst of them and begun again, against built in one go.

What forge was at when it was killed is lost: one compile on each core, side by side.  So the longest compile's time is
taken off what the two runs took together; the note has all of it.  Half an hour for each pair.
"""
import shutil
import subprocess
import time

import causal
import places
from measure import Run, Watch, compare
from unpack import fresh

TITLE = "flash-attn (10 kernels) killed by -9 and begun again, but for a compile : built in one go"
TARGET = 1.03
NAME = "flash-attn-2.8.3"
KILLED_AFTER = 150  # seconds
# Of 72 kernels the forward ones without masks, of all widths but the largest; what is linked of them can't be imported.
TEST = '  test  = { import = "flash_attn", run = "import flash_attn_2_cuda", gpu = "tests/flash-attn-forward.py" },'
FEWER = """  prepare = [[sed -i -E '/flash_(bwd|fwd_split|.*_causal|.*hdim256).*sm80[.]cu/d' setup.py
[ "$(grep -c 'sm80[.]cu' setup.py)" = 10 ]
]],"""


def recipe_below(folder):
    recipes = folder / "recipes"
    shutil.copytree(places.ROOT / "recipes", recipes)
    recipe = recipes / "flash-attn.lua"
    text = recipe.read_text()
    if TEST not in text:
        raise RuntimeError("recipes/flash-attn.lua has another test")
    recipe.write_text(text.replace(TEST, FEWER))
    return recipe


def measure(work, pairs=None, **_):
    env, store, ready, told = places.forge_env(work), work / "killed-store", work / "ready", []
    recipe = recipe_below(work)
    command = [places.FORGE, "realise", "--offline", *causal.SHARE, "--store", store, recipe]
    causal.prepare(ready, env, recipe)

    def begin(killed_after=None):
        """To the end, or to where it is killed: how many seconds it took."""
        before = time.monotonic()
        with subprocess.Popen(command, cwd=places.ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                status = process.wait(killed_after)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return time.monotonic() - before
        if status or killed_after:
            raise RuntimeError(f"forge realise: status {status}" + (", before it was killed" if killed_after else ""))
        return time.monotonic() - before

    def built(*kills):
        fresh(ready, store)
        with Watch(places.FORGE) as watch:
            wall = sum(begin(after) for after in (*kills, None))
        compiles = [c for c in causal.told_by_log(store, env, "--compiles", "-n", "1000", NAME + "-raw") if c["what"] == "compile"]
        places.remove(store)
        longest = max(c["end_ms"] - c["start_ms"] for c in compiles) / 1000
        if kills:
            told.append(f"{wall:.1f} s with the lost ones, a compile took up to {longest:.1f} s")
        return Run(wall - (longest if kills else 0), sum(c["cpu_ms"] for c in compiles) / 1000, watch.peak)

    result = compare(lambda: built(KILLED_AFTER), built, pairs or 1)
    result.note = "; ".join(told)
    return result
