"""As causal, for two GPU architectures: by hand nvcc makes their code one after the other."""
import shutil

import causal
import places

TITLE = "causal-conv1d for two architectures : setup.py bdist_wheel by hand in the same world"
TARGET = 1.0
ONE, TWO = '{ { "90" } }', '{ { "80", "90" } }'


def measure(work, pairs=None, **_):
    recipes = work / "recipes"
    shutil.copytree(places.ROOT / "recipes", recipes)
    recipe = recipes / "causal-conv1d.lua"
    text = recipe.read_text()
    if ONE not in text:
        raise RuntimeError(f"{causal.RECIPE} has no variant of one architecture")
    recipe.write_text(text.replace(ONE, TWO))
    return causal.measure(work, pairs, recipe)
