"""Locks and indexes that are wrong, cut off, or lie: what came is named, kept out of the store, and asked for again."""
import pytest

from made import Index, sha256


@pytest.fixture
def index(project, server):
    return Index(project, server)


# --- the lock ---------------------------------------------------------------------------------------------------

def test_a_lock_that_lacks_an_entry(index):
    for text in (None, '{"version":1,"entries":{}}'):
        index.lock.unlink(missing_ok=True)
        if text:
            index.lock.write_text(text)
        index.refused(status=1, says=["recipes/x.lua:16: ", "recipes/forge.lock lacks the wheels for Python 3.13 of alpha==1.0",
                                      "run: forge lock recipes/x.lua"])
    index.write_lock()
    index.made()


def test_a_lock_that_lacks_the_sdist_of_a_wheel(project):
    project.recipe('return forge.wheel { name = "alpha", version = "1.0" }')
    project.refuses("realise", "recipes/x.lua", status=1, says=["recipes/forge.lock lacks the sdist of alpha 1.0",
                                                                "run: forge lock recipes/x.lua"])


@pytest.mark.parametrize("spoil, says", [
    (lambda text: text[:len(text) // 2], ["recipes/forge.lock: not JSON: line 2", "version control", "forge lock"]),
    (lambda text: "", ["recipes/forge.lock: not JSON", "version control"]),
    (lambda text: "<html>\n", ["recipes/forge.lock: not JSON: line 1"]),
    (lambda text: "[]", ["recipes/forge.lock:1: ", '"version"']),
    (lambda text: text.replace('"version":1', '"version":2', 1), ["recipes/forge.lock:1: ", "not a lock of this forge"]),
    (lambda text: text.replace('"sha256": "', '"sha256": "zz'), ["recipes/forge.lock:2: ", "pypi alpha-1.0", '"sha256" is not']),
    (lambda text: text.replace('"sha256"', '"sha512"'), ["recipes/forge.lock:2: ", '"sha256" is missing']),
    (lambda text: text.replace('"file": "alpha', '"file": "../alpha'), ["recipes/forge.lock:2: ", '"file" is not']),
    (lambda text: text.replace('["alpha', '["beta'), ["recipes/forge.lock:3: ", 'names "pypi beta-1.0', "no entry"]),
])
def test_a_lock_that_is_spoilt(index, spoil, says):
    text = index.write_lock()
    assert spoil(text) != text
    index.lock.write_text(spoil(text))
    index.refused(status=1, says=says)
    index.write_lock()
    index.made()


def test_a_lock_with_a_wrong_hash(index):
    wrong = sha256(b"another file")
    index.write_lock(sha256=wrong)
    index.refused(status=102, says=[index.file, f"wanted sha256 {wrong}, got {index.hash}", "--index", "forge lock --update"])
    assert not list((index.project.store / "objects").glob("*.whl"))
    index.write_lock()
    index.made()


def test_a_lock_with_a_wrong_size(index):
    index.write_lock(size=5)
    index.refused(status=1, says=[index.file, f"{len(index.data)} bytes came where 5 were expected"])
    index.write_lock()
    index.made()


# --- the index --------------------------------------------------------------------------------------------------

OTHER = "other bytes than were locked"


@pytest.mark.parametrize("path, step, status, says", [
    ("page", {"status": 404}, 1, ["project alpha", "the server answered 404", "it has no such project"]),
    ("link", {"status": 404}, 1, ["the server answered 404", "lists it and does not have it"]),
    ("page", {"status": 403}, 1, ["project alpha", "the server answered 403"]),
    ("page", {"body": "<html>please log in</html>", "type": "text/html"}, 1,
     ["does not list it for alpha", "another index (--index)"]),
    ("page", {"body": "\x01\x02", "type": "text/html"}, 1, ["project alpha", "neither HTML nor JSON of a package index"]),
    ("page", {"body": '{"meta":{"api-version":"1.0"},"name":"alpha","fil', "type": "application/vnd.pypi.simple.v1+json"}, 1,
     ["project alpha", "not JSON: line 1, column 49"]),
    ("page", {"body": "{}", "type": "application/vnd.pypi.simple.v1+json"}, 1, ["project alpha", "JSON without a list of files"]),
    ("page", {"garbage": "nonsense\n"}, 1, ["project alpha", "does not speak HTTP"]),
    ("page", {"status": 301, "headers": {"Location": "ftp://127.0.0.1/"}}, 1, ["project alpha", "protocol that may not be used"]),
    ("link", {"body": OTHER}, 102, [f"got {sha256(OTHER.encode())}"]),
    ("link", {"body": "<html>please log in</html>", "type": "text/html"}, 102, ["wanted sha256", "got"]),
    ("link", {"body": OTHER, "repeat": 100000}, 102, ["wanted sha256"]),
])
def test_an_index_that_is_wrong(index, path, step, status, says):
    index.serve({getattr(index, path): [step]})
    index.refused(status=status, says=[index.file] + says)
    assert not list((index.project.store / "objects").glob("*.whl"))
    index.serve()
    index.made()


@pytest.mark.parametrize("path", ["page", "link"])
@pytest.mark.parametrize("steps", [
    [{"status": 500}, {"status": 500}, {}],
    [{"close_after": 60}, {}],
    [{"reset_after": 60}, {"status": 429, "headers": {"Retry-After": "0"}}, {}],
], ids=["500 twice", "half-way", "reset"])
def test_an_index_that_recovers(index, path, steps):
    index.serve({getattr(index, path): steps})
    index.made()


def test_an_index_that_says_one_form_and_sends_the_other(index):
    as_json = "application/vnd.pypi.simple.v1+json"
    for body, kind in [(index.html, as_json), (index.json(), "text/html"), (index.json(), as_json), (index.html, "text/html")]:
        index.serve({index.page: [{"body": body, "type": kind}]})
        index.made()
        index.project.use_store(index.project.folder / f"store of {kind[:4]}{body[:2]}".replace("<", ""))


def test_an_index_that_stays_away(index):
    """What was fetched before is there, and only what is missing is asked for."""
    index.serve({index.page: [{"status": 500}]})
    index.refused(status=1, says=[index.file, "project alpha", "the server answered 500"])
    index.serve()
    index.made()
    index.project.env["FORGE_INDEX"] = "http://127.0.0.1:9/"
    index.made()


@pytest.mark.parametrize("url", ["not a url", "ftp://127.0.0.1/"])
def test_an_index_that_is_no_url(index, url):
    index.project.env["FORGE_INDEX"] = url
    index.refused(status=1, says=[index.file, "FORGE_INDEX"])


def test_offline(index):
    index.refused("--offline", status=1, says=[index.file, "offline"])
    index.made()
    index.project.run("realise", "--offline", index.recipe)


def test_a_full_disk_while_fetching(project, server, small_disk):
    project.use_store(small_disk / "store")
    index = Index(project, server, size=40 << 20)
    index.refused(status=1, says=[index.file, "No space left on device"])
    index.serve({index.link: [{"length": "none"}]})
    index.refused(status=1, says=[index.file, "No space left on device"])
    project.use_store(project.folder / "store")
    index.made()
