"""Unpacking the wheels of the torch environment (4.8 GB), each into an object of its own, against unzip -q of one
after another.  Both read the same files.  forge also hashes, scans and registers what it unpacks."""
import shutil

import places
import wheels as them
from measure import compare, run

TITLE = "unpack 39 wheels, 4.8 GB : unzip -q, one after another"
TARGET = 0.6

LOOP = 'out=$1; shift; for w; do unzip -q "$w" -d "$out/${w##*/}" || exit 1; done'


def fresh(fetched, store):
    """A store with what was fetched and nothing more: the objects are linked, the database is copied."""
    places.remove(store)
    run(["cp", "-al", fetched, store])
    for file in store.glob("db.sqlite*"):
        file.unlink()
        shutil.copy(fetched / file.name, file)


def measure(work, wheels, pairs=None, **_):
    places.need("unzip")
    recipe, fetched, store, out = them.Recipe(work), work / "fetched", work / "unpack-store", work / "unzip"
    recipe.fill(fetched, wheels)
    files = sorted(them.held(fetched).values())

    def ours():
        fresh(fetched, store)
        done = run(recipe.command("unpack", store, "--offline"), env=recipe.env)
        places.remove(store)
        return done

    def theirs():
        out.mkdir()
        done = run(["sh", "-c", LOOP, "sh", out, *files])
        places.remove(out)
        return done

    return compare(ours, theirs, pairs or 3)
