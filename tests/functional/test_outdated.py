"""`forge outdated` against an index of the test's own."""
import json

import pytest

from made import Index


@pytest.fixture
def index(project, server):
    index = Index(project, server)
    index.listed = [index.file]
    return index


def publish(index, *files):
    """List these files too; the page alone is asked for."""
    index.listed += files
    links = "".join(f'<a href="../../files/{name}">{name}</a>' for name in index.listed)
    (index.root / "simple/alpha/index.html").write_text(f"<!DOCTYPE html><body>{links}")


def rows(index, *args):
    return json.loads(index.project.run("outdated", "--json", *args)[0])


def test_a_newer_release(index):
    lock = index.lock.read_text()
    assert rows(index, index.recipe) == []
    _, err = index.project.run("outdated", index.recipe)
    assert err == "everything is the newest\n"
    publish(index, "alpha-2.0rc1-py3-none-any.whl", "alpha-3.0-cp39-cp39-manylinux_2_17_x86_64.whl", "alpha-4.0.tar.gz",
            "alpha-0.9-py3-none-any.whl")
    assert rows(index, index.recipe) == []
    publish(index, "alpha-1.0.1-py3-none-any.whl", "alpha-1.10-py3-none-any.whl")
    assert rows(index, index.recipe) == [
        {"recipe": index.recipe, "name": "alpha", "locked": "1.0", "newest": "1.10", "how": "pinned"}]
    assert index.lock.read_text() == lock
    assert not (index.project.store / "db.sqlite").exists()


def test_all_recipes_of_the_folder(index):
    publish(index, "alpha-1.1-py3-none-any.whl")
    text = open(index.recipe).read().replace("alpha==1.0", "alpha").replace(", alone = true", "")
    (index.project.recipes / "y.lua").write_text(text)
    lock = index.lock.read_text()
    index.lock.write_text(lock.replace('\n}}', ',\n"wheels 3.13 alpha":' + json.dumps({"files": [index.file]}) + "\n}}"))
    assert [(row["recipe"], row["how"]) for row in rows(index)] == [("recipes/x.lua", "pinned"), ("recipes/y.lua", "locked")]


def test_what_a_call_excludes_is_not_asked_for(index):
    """The lock lacks what only an excluded variant needs."""
    publish(index, "alpha-1.1-py3-none-any.whl")
    path = index.project.recipe("""
      local function target(name, requirement, because)
        return {
          name = name, recipe = "x", version = "1", axes = {},
          tell = function() return { label = "1", excluded = because } end,
          derive = function()
            local list = forge.wheels.get { python = "3.13", requires = { requirement }, alone = true }
            return { { role = "out", drv = list[1].folder } }
          end,
        }
      end
      return { targets = { target("a", "beta==1.0", "it is not built"), target("b", "alpha==1.0") } }""")
    assert [(row["name"], row["newest"]) for row in rows(index, path)] == [("alpha", "1.1")]


def test_what_is_not_locked(index):
    index.lock.unlink()
    index.project.refuses("outdated", "recipes/x.lua", status=1, says=["lacks the wheels", "run: forge lock recipes/x.lua"])


def test_no_recipes(project):
    project.recipes.rmdir()
    _, err = project.run("outdated", status=2)
    assert "there are no recipes in ./recipes" in err
