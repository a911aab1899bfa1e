"""`forge lock` against an index and a Debian archive of the test's own, by way of lock_tool."""
import base64
import hashlib
import io
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
TOOL = pathlib.Path(os.environ["FORGE_BUILD"]) / "tests/support/lock_tool"
HTTPD = HERE.parent / "support/httpd.py"
WHEELS = {"kind": "wheels", "python": "3.13", "requires": ["Alpha >= 1"]}
PINS = {"kind": "wheels", "python": "3.13", "requires": ["alpha==1.0"], "deps": False}
SDIST = {"kind": "sdist", "name": "alpha", "version": "1.0"}
DEBIAN = {"kind": "debian", "suite": "trixie", "packages": ["app"]}

# Notes how it was called, and answers as it was told to.
UV = """#!/bin/sh
{ printf '%s\\n' "$@"; echo "--"; env; echo "--"; cat; } > "$HOME/uv-call"
case " $* " in *" --python "*) [ -e "$HOME/uv-picky" ] && { echo "Querying Python at x failed" >&2; exit 2; };; esac
cat "$HOME/uv-says" >&2
cat "$HOME/uv-answer"
exit "$(cat "$HOME/uv-status")"
"""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def make_wheel(name, version, files, tag="py3-none-any"):
    info = f"{name}-{version}.dist-info"
    files = dict(files)
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: {tag}\n"
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()}"
        f",{len(text)}\n" for path, text in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o755 if "/scripts/" in path else 0o644) << 16
            z.writestr(entry, text)
    return out.getvalue()


def make_sdist(name, version, files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            t.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


class World:
    """An index, an archive, a HOME, a store and a lock."""

    def __init__(self, folder):
        self.folder = folder
        self.root = folder / "www"
        self.lock = folder / "forge.lock"
        self.log = folder / "log"
        self.home = folder / "home"
        self.home.mkdir()
        self.files = {}
        self.httpd = None
        self.index_form = "html"
        self.script = folder / "script"
        self.script.write_text("{}")
        self.uv(answer="")
        self.publish("uv", "uv-9.9.9-py3-none-manylinux_2_17_x86_64.whl",
                     make_wheel("uv", "9.9.9", {"uv-9.9.9.data/scripts/uv": UV},
                                "py3-none-manylinux_2_17_x86_64"))

    def uv(self, answer, says="", status=0):
        (self.home / "uv-answer").write_text(answer)
        (self.home / "uv-says").write_text(says)
        (self.home / "uv-status").write_text(str(status))

    def publish(self, project, name, data, stated=None):
        """Put a file on the index; stated: the hash the page tells (None: the true one, "": none)."""
        files = self.root / "files"
        files.mkdir(parents=True, exist_ok=True)
        (files / name).write_bytes(data)
        self.files.setdefault(project, {})[name] = sha256(data) if stated is None else stated
        page = self.root / "simple" / project
        page.mkdir(parents=True, exist_ok=True)
        for old in page.iterdir():
            old.unlink()
        if self.index_form == "json":
            rows = [{"filename": n, "url": f"../../files/{n}", "hashes": {"sha256": h} if h else {},
                     "size": (files / n).stat().st_size} for n, h in self.files[project].items()]
            (page / "index.json").write_text(json.dumps(
                {"meta": {"api-version": "1.1"}, "name": project, "files": rows}))
        else:
            rows = [f'<a href="../../files/{n}{"#sha256=" + h if h else ""}">{n}</a><br>'
                    for n, h in self.files[project].items()]
            (page / "index.html").write_text("<!DOCTYPE html><body>" + "".join(rows))
        return sha256(data)

    def serve(self):
        self.httpd = subprocess.Popen(
            [sys.executable, HTTPD, self.root, "--log", self.log, "--script", self.script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.httpd.stdout.readline().split()[1]}/"

    def stop(self):
        if self.httpd:
            self.httpd.stdin.close()
            self.httpd.wait(10)
            self.httpd = None

    def asked(self):
        """Paths asked for since the last call."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        self.log.write_text("")
        return [(line["method"], line["path"]) for line in lines if "path" in line]

    def run(self, *requests, options=(), status=0, env=()):
        if not self.httpd:
            self.serve()
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.home), "FORGE_INDEX": self.url + "simple/",
            "FORGE_DEBIAN_MIRROR": self.url + "debian/", "UV_INDEX_URL": "http://127.0.0.1:1/", "PIP_INDEX_URL": "x",
            "FORGE_DEBIAN_KEYRING": str(self.folder / "keyring.gpg"), "ASAN_OPTIONS": "detect_leaks=1",
            **dict(env)}
        got = subprocess.run(
            [TOOL, *options, self.folder / "store", self.lock], capture_output=True, text=True,
            input="".join(json.dumps(r) + "\n" for r in requests), env=environment, timeout=120)
        assert got.returncode == status, got.stderr
        if status:
            errors = [line for line in got.stderr.splitlines() if line.startswith("error: ")]
            assert len(errors) == 1, got.stderr
            return errors[0]
        return [json.loads(line) for line in got.stdout.splitlines()]

    def entries(self):
        entries = json.loads(self.lock.read_text())["entries"]
        assert entries.pop("~") is None
        return entries


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.stop()


def pin(name, version, *hashes):
    return f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{h}" for h in hashes) + "\n"


def publish_alpha(world):
    native = make_wheel("alpha", "1.0", {"a.py": "1"}, "cp313-cp313-manylinux_2_28_x86_64")
    plain = make_wheel("alpha", "1.0", {"a.py": "2"})
    return [world.publish("alpha", "alpha-1.0-cp313-cp313-manylinux_2_28_x86_64.whl", native),
            world.publish("alpha", "alpha-1.0-py3-none-any.whl", plain)], len(native)


@pytest.mark.parametrize("form", ["html", "json"])
def test_wheels_through_uv(world, form):
    world.index_form = form
    hashes, size = publish_alpha(world)
    world.uv(pin("alpha", "1.0", *hashes))
    [[entry]] = world.run(WHEELS)
    assert entry == {"from": "pypi", "name": "alpha", "version": "1.0", "sha256": hashes[0], "size": size,
                     "file": "alpha-1.0-cp313-cp313-manylinux_2_28_x86_64.whl"}
    entries = world.entries()
    assert sorted(entries) == ["pypi alpha-1.0-cp313-cp313-manylinux_2_28_x86_64.whl",
                               "pypi uv-9.9.9-py3-none-manylinux_2_17_x86_64.whl", "tool uv",
                               "wheels 3.13 alpha>=1"]
    assert "127.0.0.1" not in world.lock.read_text()
    argv, environment, given = (world.home / "uv-call").read_text().split("--\n", 2)[:3]
    assert given == "alpha>=1\n"
    assert "--no-config\n" in argv and "--generate-hashes\n" in argv and world.url + "simple/\n" in argv
    assert "UV_INDEX_URL" not in environment and "PIP_INDEX_URL" not in environment
    # every file is held below the store, the pinned uv as an object of it
    assert [p.name for p in (world.folder / "store/objects").iterdir()
            if p.name.endswith("-uv-9.9.9-py3-none-manylinux_2_17_x86_64.whl")]


def test_free_threaded(world):
    """uv is told what it can be told, and asks the rest of its stand-in for an interpreter."""
    name = "alpha-1.0-cp314-cp314t-manylinux_2_28_x86_64.whl"
    digest = world.publish("alpha", name, make_wheel("alpha", "1.0", {"a.py": "1"}, "cp314-cp314t-manylinux_2_28_x86_64"))
    other = "alpha-1.0-cp314-cp314-manylinux_2_28_x86_64.whl"
    world.publish("alpha", other, make_wheel("alpha", "1.0", {"a.py": "2"}, "cp314-cp314-manylinux_2_28_x86_64"))
    world.uv(pin("alpha", "1.0", *world.files["alpha"].values()))
    [[entry]] = world.run({**WHEELS, "python": "3.14t"})
    assert (entry["file"], entry["sha256"]) == (name, digest)
    argv = (world.home / "uv-call").read_text().split("--\n")[0].splitlines()
    assert argv[argv.index("--python-version") + 1] == "3.14"
    stand_in = json.loads(subprocess.run([argv[argv.index("--python") + 1]], capture_output=True, check=True).stdout)
    assert stand_in["gil_disabled"] is True and stand_in["markers"]["python_version"] == "3.14"
    [[entry]] = world.run({**WHEELS, "python": "3.14"})
    assert entry["file"] == other
    argv = (world.home / "uv-call").read_text().split("--\n")[0].splitlines()
    stand_in = json.loads(subprocess.run([argv[argv.index("--python") + 1]], capture_output=True, check=True).stdout)
    assert stand_in["gil_disabled"] is False


def test_again_changes_nothing_and_asks_nobody(world):
    hashes, _ = publish_alpha(world)
    world.uv(pin("alpha", "1.0", *hashes))
    world.run(WHEELS, PINS)
    before, text = world.lock.stat(), world.lock.read_bytes()
    world.asked()
    (world.home / "uv-call").unlink()
    world.run(PINS, WHEELS)
    assert world.asked() == [] and not (world.home / "uv-call").exists()
    assert (world.lock.stat().st_ino, world.lock.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    world.run(WHEELS, PINS, options=["--update"])
    assert world.lock.read_bytes() == text


def test_update_of_one_name(world):
    """Only what the name concerns is resolved again; uv is told what to keep, and itself stays."""
    hashes, _ = publish_alpha(world)
    beta = world.publish("beta", "beta-1.0-py3-none-any.whl", make_wheel("beta", "1.0", {"b.py": "1"}))
    both = {**WHEELS, "requires": ["alpha", "Beta"]}
    world.uv(pin("alpha", "1.0", *hashes) + pin("beta", "1.0", beta))
    world.run(both)
    world.uv(pin("alpha", "1.0", *hashes))
    world.run(WHEELS)
    (world.home / "uv-call").unlink()
    before = world.lock.read_bytes()
    world.run(both, WHEELS, options=["--update=gamma"])
    assert not (world.home / "uv-call").exists() and world.lock.read_bytes() == before
    newer = world.publish("beta", "beta-2.0-py3-none-any.whl", make_wheel("beta", "2.0", {"b.py": "1"}))
    world.uv(pin("alpha", "1.0", *hashes) + pin("beta", "2.0", newer))
    world.run(both, WHEELS, options=["--update=BETA"])
    argv, _, given = (world.home / "uv-call").read_text().split("--\n", 2)[:3]
    assert given == "alpha\nbeta\n" and "--upgrade-package\nBETA\n" in argv
    [kept] = [line for line in argv.splitlines() if "/keep-" in line]
    assert not pathlib.Path(kept).exists()
    assert world.entries()["wheels 3.13 alpha beta"]["files"][1] == "beta-2.0-py3-none-any.whl"
    world.run(both, WHEELS, options=["--update=alpha"])


def test_pinned_uv_stays_until_update(world):
    hashes, _ = publish_alpha(world)
    world.uv(pin("alpha", "1.0", *hashes))
    world.run(WHEELS)
    newer = make_wheel("uv", "10.0.0", {"uv-10.0.0.data/scripts/uv": UV}, "py3-none-manylinux_2_17_x86_64")
    world.publish("uv", "uv-10.0.0-py3-none-manylinux_2_17_x86_64.whl", newer)
    world.run({**WHEELS, "requires": ["alpha"]})
    assert world.entries()["tool uv"]["file"].startswith("uv-9.9.9-")
    world.run(WHEELS, options=["--update"])
    assert world.entries()["tool uv"]["file"].startswith("uv-10.0.0-")
    assert not [key for key in world.entries() if key.startswith("pypi uv-9.9.9-")]


def test_uv_that_wants_a_real_interpreter(world):
    hashes, _ = publish_alpha(world)
    world.uv(pin("alpha", "1.0", *hashes))
    (world.home / "uv-picky").touch()
    [[entry]] = world.run(WHEELS)
    assert entry["sha256"] == hashes[0]
    assert "--python\n" not in (world.home / "uv-call").read_text()


def test_pins_need_no_uv(world):
    hashes, _ = publish_alpha(world)
    [[entry]] = world.run(PINS)
    assert entry["sha256"] == hashes[0]
    assert "tool uv" not in world.entries()
    message = world.run({**PINS, "requires": ["alpha>=1"]}, status=1)
    assert "with deps = false each requirement is name==version" in message


def test_page_without_hashes(world):
    data = make_wheel("alpha", "1.0", {})
    world.publish("alpha", "alpha-1.0-py3-none-any.whl", data, stated="")
    [[entry]] = world.run(PINS)
    assert (entry["sha256"], entry["size"]) == (sha256(data), len(data))


def test_server_that_does_not_say_the_size(world):
    data = make_wheel("alpha", "1.0", {})
    world.publish("alpha", "alpha-1.0-py3-none-any.whl", data)
    world.script.write_text(json.dumps({"/files/alpha-1.0-py3-none-any.whl": [{"length": "none"}]}))
    [[entry]] = world.run(PINS)
    assert (entry["sha256"], entry["size"]) == (sha256(data), len(data))


def test_what_uv_says_is_passed_on(world):
    publish_alpha(world)
    world.uv("", "  × No solution found\n  ╰─▶ because alpha is odd\n", 1)
    message = world.run(WHEELS, status=1)
    assert "locking the wheels for Python 3.13 of alpha>=1: uv exited with status 1" in message
    assert "× No solution found ╰─▶ because alpha is odd" in message
    assert not world.lock.exists()


@pytest.mark.parametrize("answer,says", [
    ("alpha==1.0\n", "alpha 1.0 has no hash"),
    (pin("alpha", "1.0", "0" * 64), "no wheel of alpha 1.0 for CPython 3.13"),
    (pin("beta", "1.0", "0" * 64), "404"),
    ("<html>", "uv's answer, line 1"),
])
def test_answers_of_uv_that_do_not_serve(world, answer, says):
    publish_alpha(world)
    world.uv(answer)
    assert says in world.run(WHEELS, status=1)
    assert not world.lock.exists()


def test_uv_is_held_to_its_hash(world):
    hashes, _ = publish_alpha(world)
    world.uv(pin("alpha", "1.0", *hashes))
    name = "uv-9.9.9-py3-none-manylinux_2_17_x86_64.whl"
    (world.root / "files" / name).write_bytes(b"another")
    assert "sha256" in world.run(WHEELS, status=102)
    assert not [p for p in (world.folder / "store/objects").iterdir()]


def test_sdist(world):
    data = make_sdist("alpha", "1.0", {
        "PKG-INFO": "Metadata-Version: 2.1\nName: alpha\nVersion: 1.0\nRequires-Dist: Beta_X>=2\n"
                    "Requires-Dist: pytest; extra == 'test'\n",
        "pyproject.toml": '[build-system]\nrequires = [\n  "setuptools>=61", # why\n]\n', "alpha.py": ""})
    world.publish("alpha", "alpha-1.0.tar.gz", data)
    [entry] = world.run(SDIST)
    assert entry == {"from": "pypi", "name": "alpha", "version": "1.0", "file": "alpha-1.0.tar.gz",
                     "sha256": sha256(data), "size": len(data), "requires": ["beta-x>=2"],
                     "build_requires": ["setuptools>=61"]}
    assert world.entries()["sdist alpha 1.0"] == entry


def test_sdists_that_do_not_serve(world):
    world.publish("alpha", "alpha-1.0.tar.gz", b"not an archive")
    assert "alpha-1.0.tar.gz" in world.run(SDIST, status=1)
    assert "no source archive of alpha 2.0" in world.run({**SDIST, "version": "2.0"}, status=1)
    world.publish("alpha", "alpha-1.0.tar.gz", b"other bytes", stated="0" * 64)
    assert "0" * 64 in world.run(SDIST, status=102)
    assert not world.lock.exists()


def test_tags(world):
    for name in ("alpha-1.0+cu124-cp313-cp313-linux_x86_64.whl", "alpha-1.0-cp314-cp314t-manylinux_2_28_x86_64.whl",
                 "alpha-1.0-cp312-cp312-win_amd64.whl", "alpha-1.1-cp311-cp311-linux_x86_64.whl", "alpha-1.0.tar.gz"):
        world.publish("alpha", name, b"x")
    tags = {"kind": "tags", "name": "alpha", "version": "1.0"}
    assert world.run(tags) == [["cp313-cp313", "cp314-cp314t"]]
    assert world.entries() == {"tags alpha 1.0": {"tags": ["cp313-cp313", "cp314-cp314t"]}}
    assert [path for _, path in world.asked()] == ["/simple/alpha/"]
    world.run(tags)
    assert world.asked() == []
    assert "the index has no wheel of alpha 2.0 for x86_64 Linux" in world.run({**tags, "version": "2.0"}, status=1)
    world.publish("alpha", "alpha-1.0-cp315-cp315-linux_x86_64.whl", b"x")
    world.asked()
    world.run(tags, options=["--update=beta"])
    assert world.asked() == []
    assert world.run(tags, options=["--update=Alpha"]) == [["cp313-cp313", "cp314-cp314t", "cp315-cp315"]]


# --- Debian ------------------------------------------------------------------------------------

def gpg(home, *args, data=None):
    return subprocess.run(["gpg", "--homedir", home, "--batch", "--quiet", "--pinentry-mode", "loopback",
                           "--passphrase", "", *args], input=data, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A folder of gpg's with two keys, archive@ and stranger@, gone with its agent."""
    if not shutil.which("gpg"):
        pytest.skip("gpg is not installed")
    home = tmp_path_factory.mktemp("gpg")
    home.chmod(0o700)
    for who in ("archive", "stranger"):
        gpg(home, "--quick-generate-key", f"{who}@example.org", "ed25519", "sign", "never")
    yield home
    subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], capture_output=True)


def stanza(name, version="1.0", depends=""):
    return (f"Package: {name}\nVersion: {version}\nArchitecture: amd64\n"
            + (f"Depends: {depends}\n" if depends else "")
            + f"Filename: pool/main/{name[0]}/{name}_{version}_amd64.deb\nSize: 7\nSHA256: {sha256(name.encode())}\n\n")


def release_text(lists, **fields):
    head = {"Origin": "Test", "Suite": "stable", "Codename": "trixie", "Acquire-By-Hash": "yes",
            "No-Support-for-Architecture-all": "Packages", **fields}
    return ("".join(f"{key.replace('_', '-')}: {value}\n" for key, value in head.items() if value) + "SHA256:\n"
            + "".join(f" {sha256(data)} {len(data)} {path}\n" for path, data in lists.items()))


def publish_debian(world, keys, packages, signers=("archive",), suite="trixie", sources=None, **fields):
    """A signed suite with these Packages and Sources (None: without), each only packed and by its hash."""
    dist = world.root / "debian/dists" / suite
    shutil.rmtree(dist, ignore_errors=True)
    lists = {}
    for plain, text in (("main/binary-amd64/Packages", packages), ("main/source/Sources", sources)):
        if text is not None:
            lists |= {plain: text.encode(), plain + ".xz": lzma.compress(text.encode())}
            by_hash = (dist / plain).parent / "by-hash/SHA256"
            by_hash.mkdir(parents=True)
            (by_hash / sha256(lists[plain + ".xz"])).write_bytes(lists[plain + ".xz"])
    users = [word for who in signers for word in ("--local-user", f"{who}@example.org")]
    (dist / "InRelease").write_bytes(gpg(keys, "--clearsign", *users, data=release_text(lists, **fields).encode()))
    (world.folder / "keyring.gpg").write_bytes(gpg(keys, "--export", "archive@example.org"))
    return dist


APP = stanza("app", "1:2.0-1", "lib (>= 1)") + stanza("lib") + stanza("odd")


def test_debian_closure(world, keys):
    publish_debian(world, keys, APP)
    [answer] = world.run(DEBIAN)
    assert [e["package"] for e in answer] == ["app", "lib"]
    assert answer[0] == {"from": "debian", "suite": "trixie", "package": "app", "version": "1:2.0-1",
                         "path": "pool/main/a/app_1:2.0-1_amd64.deb", "sha256": sha256(b"app"), "size": 7}
    assert world.entries()["debian trixie app"] == {"packages": ["app=1:2.0-1", "lib=1.0"]}
    paths = [path for _, path in world.asked()]
    assert paths[0].endswith("/InRelease") and "/by-hash/SHA256/" in paths[1] and len(paths) == 2
    # one state of the archive for all of a run
    publish_debian(world, keys, APP)
    world.run({**DEBIAN, "packages": ["lib"]}, {**DEBIAN, "packages": ["odd"]})
    assert [path for _, path in world.asked()] == paths[:1]
    # the list is kept under its hash, and looked at anew only through InRelease
    world.run(DEBIAN, options=["--update"])
    assert [path for _, path in world.asked()] == paths[:1]
    world.run(DEBIAN)
    assert world.asked() == []


def test_debian_update(world, keys):
    publish_debian(world, keys, APP)
    world.run(DEBIAN)
    publish_debian(world, keys, APP.replace("1:2.0-1", "1:2.0-2"))
    assert world.run(DEBIAN)[0][0]["version"] == "1:2.0-1"
    assert world.run(DEBIAN, options=["--update"])[0][0]["version"] == "1:2.0-2"
    assert sorted(world.entries()) == ["debian trixie app", "debian trixie app=1:2.0-2", "debian trixie lib=1.0"]


def test_debian_cached_list_is_not_trusted(world, keys):
    publish_debian(world, keys, APP)
    world.run(DEBIAN)
    [cached] = (world.folder / "store/cache/debian").glob("Packages-*")
    cached.write_text(cached.read_text().replace(sha256(b"app"), sha256(b"evil")))
    assert world.run(DEBIAN, options=["--update"])[0][0]["sha256"] == sha256(b"app")


def test_debian_signed_by_old_and_new_key(world, keys):
    publish_debian(world, keys, APP, signers=("stranger", "archive"))
    assert len(world.run(DEBIAN)[0]) == 2


def tamper(change):
    def apply(dist):
        file = dist / "InRelease"
        file.write_bytes(change(file.read_bytes()))
    return apply


EVIL = release_text({"main/binary-amd64/Packages": b"evil"}).encode()


@pytest.mark.parametrize("change,says", [
    (tamper(lambda b: b.replace(b"Origin: Test", b"Origin: Tess")), "its signature is wrong"),
    (tamper(lambda b: EVIL + b), "it is not a signed text"),
    (tamper(lambda b: EVIL), "it is not a signed text"),
    (tamper(lambda b: b.split(b"-----BEGIN PGP SIGNATURE")[0]), "InRelease"),
    (tamper(lambda b: b""), "it is not a signed text"),
    (tamper(lambda b: b[:200]), "InRelease"),
    (tamper(lambda b: b + b), "it is not one signed text"),
])
def test_debian_tampered_release(world, keys, change, says):
    change(publish_debian(world, keys, APP))
    message = world.run(DEBIAN, status=1)
    assert "Debian trixie InRelease" in message and says in message
    assert not world.lock.exists()


@pytest.mark.parametrize("first", ["archive", "stranger"])
def test_debian_two_signed_texts(world, keys, first):
    dist = publish_debian(world, keys, APP)
    good = (dist / "InRelease").read_bytes()
    evil = gpg(keys, "--clearsign", "--local-user", "stranger@example.org", data=EVIL)
    (dist / "InRelease").write_bytes(good + evil if first == "archive" else evil + good)
    assert "it is not one signed text" in world.run(DEBIAN, status=1)


def test_debian_text_around_the_signed_one_is_not_read(world, keys):
    dist = publish_debian(world, keys, APP)
    file = dist / "InRelease"
    file.write_bytes(file.read_bytes() + EVIL)
    assert len(world.run(DEBIAN)[0]) == 2


@pytest.mark.parametrize("fields,says", [
    ({"signers": ("stranger",)}, "signed by no key of the keyring"),
    ({"Suite": "stable", "Codename": "bookworm"}, "that of \"bookworm\" (\"stable\"), not of \"trixie\""),
    ({"Valid_Until": "Sat, 01 Jan 2022 00:00:00 UTC"}, "was valid until Sat, 01 Jan 2022"),
])
def test_debian_signed_but_refused(world, keys, fields, says):
    publish_debian(world, keys, APP, **fields)
    assert says in world.run(DEBIAN, status=1)


def test_debian_out_of_date_where_that_is_allowed(world, keys):
    publish_debian(world, keys, APP, Valid_Until="Sat, 01 Jan 2022 00:00:00 UTC")
    assert len(world.run(DEBIAN, env={"FORGE_DEBIAN_CHECK_VALID_UNTIL": "no"})[0]) == 2
    publish_debian(world, keys, APP, Valid_Until="soon")
    no = {"FORGE_DEBIAN_CHECK_VALID_UNTIL": "no"}
    assert 'that is no date: "soon"' in world.run(DEBIAN, options=["--update"], status=1, env=no)


def test_debian_tampered_list(world, keys):
    dist = publish_debian(world, keys, APP)
    [packed] = (dist / "main/binary-amd64/by-hash/SHA256").iterdir()
    packed.write_bytes(lzma.compress(APP.replace("lib", "evil").encode()))
    assert packed.name in world.run(DEBIAN, status=102)
    assert list((world.folder / "store/cache/debian").glob("*")) == []


def test_debian_no_keyring(world, keys):
    publish_debian(world, keys, APP)
    message = world.run(DEBIAN, status=1, env={"FORGE_DEBIAN_KEYRING": "/nonexistent.gpg"})
    assert "install the package debian-archive-keyring" in message


@pytest.mark.parametrize("request_, says", [
    ({**DEBIAN, "packages": ["ap"]}, "there is no package \"ap\""),
    ({**DEBIAN, "packages": ["lbi"]}, "there is no package \"lbi\""),
    ({**DEBIAN, "components": ["non-free"]}, "is the component \"non-free\" there?"),
    ({**DEBIAN, "suite": "sid"}, "404"),
])
def test_debian_what_is_not_there(world, keys, request_, says):
    publish_debian(world, keys, APP)
    assert says in world.run(request_, status=1)


def test_debian_path_out_of_the_pool(world, keys):
    publish_debian(world, keys, APP.replace("pool/main/a/", "pool/../../a/"))
    assert "\"path\" leads out of the mirror" in world.run(DEBIAN, status=1)
    assert not world.lock.exists()


# --- Debian's source packages --------------------------------------------------------------------

SOURCE = {"kind": "debian-source", "suite": "trixie", "source": "tool"}


def source_stanza(name, version, tarball, data=b"tar"):
    return (f"Package: {name}\nBinary: {name}\nVersion: {version}\nChecksums-Sha256:\n"
            f" {sha256(b'dsc')} 3 {name}_{version}.dsc\n {sha256(data)} {len(data)} {tarball}\n"
            f"Directory: pool/main/{name[0]}/{name}\n\n")


TOOL_SOURCE = source_stanza("tool", "3.1-2", "tool_3.1.orig.tar.xz") + source_stanza("odd", "1", "odd_1.tar.xz")


def publish_sources(world, keys, text=TOOL_SOURCE, **fields):
    return publish_debian(world, keys, None, sources=text, **fields)


def test_source_package(world, keys):
    publish_sources(world, keys)
    [entry] = world.run(SOURCE)
    assert entry == {"from": "debian", "suite": "trixie", "source": "tool", "version": "3.1-2", "sha256": sha256(b"tar"),
                     "path": "pool/main/t/tool/tool_3.1.orig.tar.xz", "size": 3}
    assert world.entries() == {"debian-source trixie tool": entry}
    paths = [path for _, path in world.asked()]
    assert paths[0].endswith("/InRelease") and "/main/source/by-hash/SHA256/" in paths[1] and len(paths) == 2
    before = world.lock.read_bytes()
    world.run(SOURCE)
    world.run(SOURCE, options=["--update=app"])
    assert world.asked() == [] and world.lock.read_bytes() == before
    publish_sources(world, keys, TOOL_SOURCE + source_stanza("tool", "3.10-1", "tool_3.10.orig.tar.gz"))
    assert world.run(SOURCE)[0]["version"] == "3.1-2"
    assert world.run(SOURCE, options=["--update=tool"])[0]["version"] == "3.10-1"


@pytest.mark.parametrize("text,says", [
    (source_stanza("tools", "3.1-2", "tool_3.1.orig.tar.xz"), 'there is no source package "tool"'),
    ("", 'there is no source package "tool"'),
    (TOOL_SOURCE.replace(sha256(b"tar"), "none"), "tool 3.1-2 gives no sha256 of tool_3.1.orig.tar.xz"),
    (TOOL_SOURCE[:TOOL_SOURCE.index("Checksums")], "tool 3.1-2 has no Directory"),
    (source_stanza("tool", "3.1", "tool_3.1.tar.xz"), "tool 3.1 is Debian's own"),
    (TOOL_SOURCE.replace("pool/main/t", "pool/../../t"), '"path" leads out of the mirror'),
])
def test_source_packages_that_do_not_serve(world, keys, text, says):
    publish_sources(world, keys, text)
    message = world.run(SOURCE, status=1)
    assert "locking the Debian source package tool of trixie" in message and says in message
    assert not world.lock.exists()


def test_sources_that_are_cut_off_or_changed(world, keys):
    dist = publish_sources(world, keys)
    [packed] = (dist / "main/source/by-hash/SHA256").iterdir()
    whole = packed.read_bytes()
    for bytes_ in (whole[:-9], whole + b"x", lzma.compress(TOOL_SOURCE.replace("3.1", "3.2").encode())):
        packed.write_bytes(bytes_)
        assert packed.name in world.run(SOURCE, status=102)
    assert list((world.folder / "store/cache/debian").glob("*")) == []


def test_suite_without_sources(world, keys):
    publish_debian(world, keys, APP)
    assert "Debian trixie has no main/source/Sources" in world.run(SOURCE, status=1)
