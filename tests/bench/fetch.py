"""Fetching the wheels of the torch environment against curl --parallel on the same URLs.

They come from an index on loopback that is as fast as a gigabit line, so that the figure does not hang on what the
network does meanwhile: `registry` is the same from the machine's own index.  curl only writes what it gets; forge
also hashes it, makes it durable and registers it.
"""
import places
import wheels as them
from measure import Skip, compare, run

TITLE = "fetch 39 wheels, 2.8 GB : curl --parallel"
TARGET = 1.15
RATE = 125_000_000  # bytes a second


def against_curl(work, recipe, urls, more, pairs, note):
    places.need("curl")
    store, folder, config = work / "fetch-store", work / "curl", work / "curl.conf"
    config.write_text("".join(f'url = "{url}"\noutput = "{folder / file}"\n' for file, url in urls.items()))

    def ours():
        done = run(recipe.command("fetch", store, *more), env=recipe.env)
        places.remove(store)
        return done

    def theirs():
        folder.mkdir()
        done = run(["curl", "--parallel", "-sSfL", "--config", config])
        places.remove(folder)
        return done

    return compare(ours, theirs, pairs, note)


def measure(work, wheels, pairs=None, **_):
    local = them.held(wheels)
    missing = len(them.entries()) - len(local)
    if missing:
        raise Skip(f"{missing} of the wheels are not in {wheels} (--wheels names a store that has them)")
    index = them.Index(local, RATE)
    try:
        return against_curl(work, them.Recipe(work), index.urls(), ["--index", index.url], pairs or 3,
                            f"from loopback at {RATE // 1000000} MB/s")
    finally:
        index.shutdown()
