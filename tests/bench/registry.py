"""Fetching the wheels of the torch environment from the index that this machine uses, against curl --parallel."""
import urllib.error

import fetch
import wheels as them
from measure import Skip

TITLE = fetch.TITLE + ", from the machine's own index"
TARGET = fetch.TARGET


def measure(work, pairs=None, **_):
    index = them.default_index()
    try:
        urls = them.urls_of(index)
    except (urllib.error.URLError, TimeoutError, ValueError) as why:
        raise Skip(f"the index can't be reached: {why}") from why
    return fetch.against_curl(work, them.Recipe(work), urls, ["--index", index], pairs or 2, "")
