"""Git sources: against repositories that the tests make, served by `git http-backend`, `git daemon` and as files."""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from made import sha256

LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(b'')}\nsize 12345\n"


class Repo:
    """A repository, with a branch `main`."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *args, **more):
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null",
               "GIT_CONFIG_SYSTEM": "/dev/null", "LC_ALL": "C"}
        for who in "AUTHOR", "COMMITTER":
            env |= {f"GIT_{who}_NAME": "t", f"GIT_{who}_EMAIL": "t@t", f"GIT_{who}_DATE": "2020-01-01T00:00:00Z"}
        got = subprocess.run(["git", "-c", "protocol.file.allow=always", *args], cwd=self.folder, env=env,
                             capture_output=True, **more)
        assert got.returncode == 0, got.stderr
        return got.stdout.decode().strip()

    def write(self, files):
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def commit(self, files=(), message="x"):
        """The commit of these files beside those that are there."""
        self.write(dict(files))
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def module(self, path, url, commit, name=None):
        """A submodule as a tree and .gitmodules have it; nothing is cloned."""
        with open(self.folder / ".gitmodules", "a") as f:
            f.write(f'[submodule "{name or path}"]\n\tpath = {path}\n\turl = {url}\n')
        self.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
        self.git("add", ".gitmodules")
        self.git("commit", "-q", "-m", "module")
        return self.git("rev-parse", "HEAD")

    def raw_tree(self, entries):
        """A commit of a tree that git itself would not make: [(mode, name, content or object)]."""
        data = b""
        for mode, name, content in entries:
            oid = content if len(content) == 40 else self.git("hash-object", "-w", "--stdin", input=content.encode())
            data += mode.encode() + b" " + name.encode() + b"\0" + bytes.fromhex(oid)
        tree = self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", input=data)
        commit = self.git("commit-tree", tree, "-m", "raw")
        self.git("update-ref", "refs/heads/main", commit)
        return commit


@pytest.fixture
def repos(tmp_path):
    return lambda name: Repo(tmp_path / "git" / name)


class Web:
    """The repositories served over HTTP."""

    def __init__(self, folder, *options):
        self.file, self.lines = folder / "web-script", folder / "web-log"
        self.script({})
        (folder / "git").mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "tests/support/git_httpd.py", folder / "git", "--log", self.lines, "--script", self.file,
             *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.host = f"127.0.0.1:{self.process.stdout.readline().split()[1]}"
        self.url = f"http://{self.host}"

    def script(self, script):
        self.file.write_text(json.dumps(script))

    def log(self):
        """The requests since the last call."""
        text = self.lines.read_text() if self.lines.exists() else ""
        self.lines.write_text("")
        return text.splitlines()

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


@pytest.fixture
def web(tmp_path):
    made = Web(tmp_path)
    yield made
    made.stop()


def recipe(project, url, rev, submodules="false", name="x.lua"):
    return project.recipe(f'return forge.fetch(forge.locked {{ kind = "git", url = "{url}", rev = "{rev}", '
                          f'submodules = {submodules} }})', name)


def take(project, url, rev, submodules="false"):
    """Lock and realise: the folder."""
    path = recipe(project, url, rev, submodules)
    project.run("lock", path)
    [line] = project.run("realise", path)[0].splitlines()
    project.ends_well()
    return pathlib.Path(line)


def entry(project):
    entries = json.loads((project.recipes / "forge.lock").read_text())["entries"]
    [found] = [e for key, e in entries.items() if key.startswith("git ")]
    return found


def refused(project, url, rev, says, submodules="true", status=1, **more):
    return project.refuses("lock", recipe(project, url, rev, submodules), status=status, says=says, **more)


def tree(folder):
    """{path: (kind, content)} of all below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("folder", "")
        else:
            found[name] = ("program" if path.stat().st_mode & 0o100 else "file", path.read_text())
    return found


def test_content_is_what_gits_objects_hold(project, repos):
    """No .git, no line ends, no $Id$, no export-subst, no export-ignore; modes and links kept; an LFS pointer stays and
    is told; the hash in the lock is that of the NAR."""
    repo = repos("a")
    repo.write({"run.sh": "#!/bin/sh\n", "deep/er/x": "x"})
    (repo.folder / "run.sh").chmod(0o755)
    (repo.folder / "link").symlink_to("deep/er/x")
    (repo.folder / "dangling").symlink_to("nowhere")
    commit = repo.commit({
        "id.txt": "$Id$ $Format:%H$\n", "crlf.txt": "one\ntwo\n", "ignored": "still there\n", "big.bin": LFS,
        ".gitattributes": "id.txt ident export-subst\ncrlf.txt text eol=crlf\nignored export-ignore\nbig.bin filter=lfs\n"})
    repo.git("tag", "-a", "v1", "-m", "v1")
    url = f"file://{repo.folder}"
    path = recipe(project, url, "v1")
    _, err = project.run("lock", path)
    assert "big.bin is a pointer of Git LFS" in err
    folder = take(project, url, "v1")
    assert tree(folder) == {
        "run.sh": ("program", "#!/bin/sh\n"), "deep": ("folder", ""), "deep/er": ("folder", ""),
        "deep/er/x": ("file", "x"), "link": ("link", "deep/er/x"), "dangling": ("link", "nowhere"),
        "id.txt": ("file", "$Id$ $Format:%H$\n"), "crlf.txt": ("file", "one\ntwo\n"),
        "ignored": ("file", "still there\n"), "big.bin": ("file", LFS),
        ".gitattributes": ("file", (repo.folder / ".gitattributes").read_text())}
    locked = entry(project)
    assert locked == {"from": "git", "url": url, "rev": commit, "submodules": False, "narHash": locked["narHash"]}
    assert folder.name.endswith(f"-a-{commit[:12]}")
    if shutil.which("nix-hash"):
        got = subprocess.run(["nix-hash", "--type", "sha256", folder], capture_output=True, text=True).stdout
        assert base64.b64decode(locked["narHash"].removeprefix("sha256-")).hex() == got.strip()


def test_over_http_once(project, repos, web):
    """A second lock and a realise transfer nothing; nor does a lock of another submodule set that has all it needs."""
    inner = repos("deps/inner").commit({"i": "inner"})
    deep = repos("deps/deep").commit({"d": "deep"})
    middle = repos("deps/middle").module("third/deep", "./../deep", deep)
    outer = repos("outer")
    outer.commit({"o": "outer"})
    outer.module("sub/inner", "../deps/inner", inner)
    outer.module("sub/middle", f"{web.url}/deps/middle", middle, name="mid")
    outer.git("tag", "v1")
    folder = take(project, f"{web.url}/outer", "v1", "true")
    assert {"o", "sub/inner/i", "sub/middle/third/deep/d"} <= set(tree(folder))
    sent = web.log()
    assert len([line for line in sent if line.startswith("POST")]) == 4
    project.run("lock", recipe(project, f"{web.url}/outer", "v1", "true"))
    project.run("realise", "recipes/x.lua")
    assert web.log() == []
    commit = entry(project)["rev"]
    (project.recipes / "forge.lock").unlink()
    assert tree(take(project, f"{web.url}/outer", commit, '{ "sub/inner" }'))["sub/middle"] == ("folder", "")
    (project.recipes / "forge.lock").unlink()
    names = set(tree(take(project, f"{web.url}/outer", commit, '{ "mid" }')))
    assert {"sub/inner", "sub/middle/.gitmodules", "sub/middle/third/deep"} <= names
    assert "sub/inner/i" not in names and "sub/middle/third/deep/d" not in names
    (project.recipes / "forge.lock").unlink()
    assert set(tree(take(project, f"{web.url}/outer", commit))) == {"o", ".gitmodules", "sub", "sub/inner", "sub/middle"}
    assert web.log() == []


def test_over_gits_own_protocol(project, repos, tmp_path):
    commit = repos("a").commit({"x": "x"})
    repos("b").commit()
    with open(os.devnull, "r+") as null:
        import socket
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        daemon = subprocess.Popen(["git", "daemon", f"--base-path={tmp_path}/git", "--export-all", "--listen=127.0.0.1",
                                   f"--port={port}", "--reuseaddr"], stdin=null, stdout=null, stderr=null,
                                  env=os.environ | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
                                                    "GIT_CONFIG_VALUE_0": "*"})
    try:
        for _ in range(200):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        assert tree(take(project, f"git://127.0.0.1:{port}/a", commit)) == {"x": ("file", "x")}
    finally:
        daemon.terminate()
        daemon.wait(timeout=20)


def test_a_commit_that_no_ref_names(project, repos, web):
    """The branch has gone on: the commit is found in its history."""
    repo = repos("a")
    first = repo.commit({"x": "1"})
    repo.commit({"x": "2"})
    assert tree(take(project, f"{web.url}/a", first))["x"] == ("file", "1")


def test_a_rewritten_tag(project, repos, web):
    """The lock keeps what it pinned while the server has it; then the error says what to do, and --update does it."""
    repo = repos("a")
    repo.commit({"x": "0"})
    old = repo.commit({"x": "1"})
    repo.git("tag", "v1")
    url = f"{web.url}/a"
    path = recipe(project, url, "v1")
    project.run("lock", path)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    new = repo.commit({"x": "2"})
    repo.git("tag", "-f", "v1")
    project.run("lock", path)
    assert entry(project)["rev"] == old
    shutil.rmtree(project.store / "cache/git")
    project.refuses("realise", path, status=1, says=[f"/a: it has no commit {old}", "rewritten", "forge lock --update"])
    project.refuses("lock", "--update=b", path, status=2, says=["--update=b", "nothing of that name"])
    assert entry(project)["rev"] == old
    project.run("lock", "--update=a", path)
    assert entry(project)["rev"] == new
    [folder] = project.run("realise", path)[0].splitlines()
    assert tree(pathlib.Path(folder))["x"] == ("file", "2")


def test_what_is_not_there(project, repos, web):
    repo = repos("a")
    repo.commit({"x": "1"})
    repo.git("tag", "v1.0")
    refused(project, f"{web.url}/a", "v1.1", ["/a: it has no tag or branch \"v1.1\"", "did you mean \"v1.0\"?"])
    refused(project, f"{web.url}/a", "0" * 40, ["/a: it has no commit 000000"])
    refused(project, f"{web.url}/a", repo.git("rev-parse", "HEAD")[:12], ["all its 40 digits"])
    refused(project, f"{web.url}/none", "v1", ["/none", "404"])
    refused(project, "http://127.0.0.1:9/a", "v1", ["http://127.0.0.1:9/a"])
    refused(project, "http://u:secret@127.0.0.1:9/a", "v1", ["http://127.0.0.1:9/a"])
    assert "secret" not in refused(project, "http://u:secret@127.0.0.1:9/a", "v1", [])


def test_a_submodule_whose_commit_is_not_there(project, repos, web):
    repos("inner").commit({"i": "1"})
    outer = repos("outer")
    outer.module("sub", "../inner", "1" * 40)
    line = refused(project, f"{web.url}/outer", "main", ["the submodule sub: ", "/inner: it has no commit 1111111"])
    assert "--update" not in line
    assert tree(take(project, f"{web.url}/outer", "main"))["sub"] == ("folder", "")
    refused(project, f"{web.url}/outer", "main", ['it has no submodule "subb"', 'did you mean "sub"?'],
            submodules='{ "subb" }')


def test_another_hash(project, repos):
    repo = repos("a")
    repo.commit({"x": "1"})
    path = recipe(project, f"file://{repo.folder}", "main")
    project.run("lock", path)
    lock = project.recipes / "forge.lock"
    was = entry(project)["narHash"]
    wrong = "sha256-" + base64.b64encode(hashlib.sha256(b"").digest()).decode()
    lock.write_text(lock.read_text().replace(was, wrong))
    project.refuses("realise", path, status=102, says=[wrong, was, entry(project)["rev"], "forge lock --update"])


@pytest.mark.parametrize("url, says", [
    ("ssh://git@127.0.0.1/a", ["ssh://127.0.0.1/a: ", "http, https, git and file", "FORGE_GIT_MIRROR"]),
    ("git@127.0.0.1:a/b", ["http, https, git and file"]),
    ("ext::sh -c touch% /tmp/x", ["url"]),
    ("ext::sh", ["http, https, git and file"]),
    ("--upload-pack=touch", ["url", "-"]),
    ("/etc", ["http, https, git and file"]),
    ("", ["url"]),
])
def test_urls_that_are_not_taken(project, url, says):
    refused(project, url, "v1", says)


@pytest.mark.parametrize("url, says", [
    ("ext::sh -c true", ["the submodule sub"]),
    ("ext::sh", ["the submodule sub", "http, https, git and file"]),
    ("--upload-pack=true", ["the submodule sub"]),
    ("ssh://git@127.0.0.1/x", ["the submodule sub", "http, https, git and file"]),
    ("file:///etc", ["the submodule sub", "one of this machine"]),
    ("/etc", ["the submodule sub", "http, https, git and file"]),
    ("../../../../x", ["the submodule sub", "above the repository's host"]),
])
def test_submodule_urls_that_are_not_taken(project, repos, web, url, says):
    outer = repos("outer")
    outer.module("sub", url, "1" * 40)
    refused(project, f"{web.url}/outer", "main", says)


def test_hostile_gitmodules(project, repos, tmp_path):
    """A link, a file git would not read, a submodule it does not name; an include is not followed."""
    outer = repos("outer")
    url = f"file://{outer.folder}"
    outer.commit({"x": ""})
    outer.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    outer.git("commit", "-qm", "x")
    refused(project, url, "main", ["the submodule sub: .gitmodules has no url for it"])
    outer.commit({".gitmodules": "[submodule"})
    outer.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    outer.git("commit", "-qm", "x")
    refused(project, url, "main", [".gitmodules:1: "])
    (tmp_path / "stolen").write_text('[submodule "sub"]\n\tpath = sub\n\turl = http://127.0.0.1:9/stolen\n')
    outer.write({".gitmodules": f"[include]\n\tpath = {tmp_path}/stolen\n"})
    outer.git("add", ".gitmodules")
    outer.git("commit", "-qm", "x")
    refused(project, url, "main", ["the submodule sub: .gitmodules has no url for it"])
    (outer.folder / ".gitmodules").unlink()
    (outer.folder / ".gitmodules").symlink_to(tmp_path / "stolen")
    outer.git("add", ".gitmodules")
    outer.git("commit", "-qm", "x")
    refused(project, url, "main", [".gitmodules: it is not a file"])


@pytest.mark.parametrize("entries, says", [
    ([("100644", "..", "x")], [".."]),
    ([("100644", ".git", "x")], [".git: git allows no such name"]),
    ([("100644", ".GIT", "x")], [".GIT: git allows no such name"]),
    ([("100644", "a/b", "x")], ["a/b: git allows no such name"]),
    ([("160000", "..", "1" * 40)], [".."]),
    ([("160000", ".git", "1" * 40)], [".git: git allows no such name"]),
    ([("100644", "a", "x"), ("100644", "a", "y")], ["a: git's tree has it twice"]),
    ([("120000", "a", "b"), ("160000", "a", "1" * 40)], ["a: git's tree has it twice"]),
    ([("120000", "out", "/etc/passwd")], ["out: "]),
    ([("120000", "out", "../x")], ["out: "]),
    ([("010644", "fifo", "x")], ["fifo: it is neither"]),
])
def test_hostile_trees(project, repos, entries, says):
    repo = repos("a")
    repo.raw_tree(entries)
    refused(project, f"file://{repo.folder}", "main", says, submodules="false")
    assert not (project.folder / "x").exists()


def test_submodules_of_themselves_end(project, repos):
    """Each commit names the one before as its submodule: nested deeper than forge goes."""
    repo = repos("a")
    commit = repo.commit({"x": ""})
    for _ in range(18):
        commit = repo.module("sub", "./.", commit)
        repo.write({".gitmodules": ""})
    refused(project, f"file://{repo.folder}", "main", ["more than", "in one another"])


def test_mirrors(project, repos, web, tmp_path):
    """The longest prefix is taken, from the variable and from forge.conf; submodules by their real URLs too; the lock
    does not change with them."""
    inner = repos("deps/inner").commit({"i": "inner"})
    outer = repos("outer")
    outer.commit({"o": ""})
    outer.module("sub", "../../deps/inner.git", inner)
    real = "https://forge.invalid/team/outer"
    shutil.move(tmp_path / "git/deps/inner", tmp_path / "git/deps/inner.git")
    config = project.folder / "home/.config/forge"
    config.mkdir(parents=True)
    (config / "forge.conf").write_text(f"# where the wall has a door\ngit-mirror = https://forge.invalid/ {web.url}/\n")
    project.env["FORGE_GIT_MIRROR"] = f"https://forge.invalid/team/=file://{tmp_path}/git/ https://forge=http://127.0.0.1:9/"
    assert "sub/i" in tree(take(project, real, "main", "true"))
    assert [line for line in web.log() if "outer" in line] == []
    assert entry(project)["url"] == real
    (config / "forge.conf").write_text("git-miror = a b\n")
    shutil.rmtree(project.store / "cache/git")
    (project.recipes / "forge.lock").unlink()
    refused(project, real, "main", ["home/.config/forge/forge.conf:1: ", '"git-miror"'])
    (config / "forge.conf").unlink()
    refused(project, real, "main", ["FORGE_GIT_MIRROR"], env={"FORGE_GIT_MIRROR": "nonsense"})


@pytest.fixture
def secure(tmp_path):
    """The same over https, as localhost; .cert is the authority."""
    cert, key = tmp_path / "cert", tmp_path / "key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,DNS:forge.invalid"],
                   check=True, capture_output=True)
    made = Web(tmp_path, "--tls", cert, key)
    made.port, made.cert = int(made.host.split(":")[1]), str(cert)
    yield made
    made.stop()


def test_certificates(project, repos, secure):
    """Those of the rest: the file that the environment names, and nothing without it."""
    repos("a").commit({"x": "1"})
    url = f"https://localhost:{secure.port}/a"
    refused(project, url, "main", ["/a: ", "certificate"], submodules="false")
    project.env["CURL_CA_BUNDLE"] = secure.cert
    assert "x" in tree(take(project, url, "main"))


@pytest.mark.parametrize("variable", ["https_proxy", "all_proxy"])
def test_a_proxy(project, repos, secure, tmp_path, variable):
    """Over https; plain http can't, and says so; a host of no_proxy is gone to itself."""
    repos("a").commit({"x": "1"})
    (tmp_path / "proxy").mkdir()
    proxy = Web(tmp_path / "proxy", "--connect", str(secure.port))
    try:
        project.env |= {variable: proxy.url, "CURL_CA_BUNDLE": secure.cert}
        assert "x" in tree(take(project, "https://forge.invalid/a", "main"))
        assert {line.split()[0] for line in proxy.log()} == {"CONNECT"}
        project.env["http_proxy"] = proxy.url
        refused(project, "http://forge.invalid/a", "main", ["http://forge.invalid/a: ", "over https only", "no_proxy"])
        (project.recipes / "forge.lock").unlink()
        project.env["no_proxy"] = "localhost"
        assert "x" in tree(take(project, f"https://localhost:{secure.port}/a", "main"))
        assert proxy.log() == []
    finally:
        proxy.stop()


def test_two_at_once(project, repos, web):
    repo = repos("a")
    repo.commit({f"f{i}": "x" * i for i in range(200)})
    path = recipe(project, f"{web.url}/a", "main")
    project.run("lock", path)
    shutil.rmtree(project.store / "cache/git")
    both = [project.start("realise", path) for _ in range(2)]
    outs = [p.communicate(timeout=120) for p in both]
    assert [p.returncode for p in both] == [0, 0], outs
    assert outs[0][0] == outs[1][0]
    project.ends_well()


def test_a_broken_mirror_is_made_anew(project, repos, web):
    repo = repos("a")
    commit = repo.commit({"x": "1" * 1000})
    path = recipe(project, f"{web.url}/a", commit)
    project.run("lock", path)
    [mirror] = [p for p in (project.store / "cache/git").iterdir() if p.is_dir()]
    for pack in (mirror / "objects/pack").glob("pack-*.pack"):
        pack.chmod(0o644)
        data = bytearray(pack.read_bytes())
        data[len(data) // 2:] = bytes(len(data) - len(data) // 2)
        pack.write_bytes(data)
    [folder] = project.run("realise", path)[0].splitlines()
    assert tree(pathlib.Path(folder)) == {"x": ("file", "1" * 1000)}
    shutil.rmtree(mirror / "objects")
    (project.recipes / "forge.lock").unlink()
    project.run("lock", path)


def test_stopped_while_it_waits(project, repos, web):
    """SIGINT while a server sends nothing: at once, status 130, nothing left."""
    repos("a").commit({"x": "1"})
    path = recipe(project, f"{web.url}/a", "main")
    project.run("lock", path)
    shutil.rmtree(project.store / "cache/git")
    web.script({"/a/": "stall"})
    web.log()
    process = project.start("realise", path)
    for _ in range(600):
        if web.log():
            break
        time.sleep(0.1)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and time.monotonic() - start < 20, err
    assert err.splitlines()[-1].startswith("forge: stopped")
    project.ends_well()
    web.script({})
    project.run("realise", path)


def test_servers_that_stall(project, repos, web):
    """One that sends the head of an answer, and one of the git protocol that takes a connection: each is left after a
    minute, with one line, while a lock is made as while what it names is fetched.  All three wait side by side."""
    repos("a").commit({"x": "1"})
    repos("b").commit({"x": "2"})
    first = recipe(project, f"{web.url}/a", "main", name="a.lua")
    project.run("lock", first)
    shutil.rmtree(project.store / "cache/git")
    lock = (project.recipes / "forge.lock").read_text()
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        silent = recipe(project, f"git://127.0.0.1:{mute.getsockname()[1]}/a", "main", name="silent.lua")
        web.script({"/a/": "stall", "/b/": "stall"})
        waiting = [project.start("realise", first), project.start("lock", recipe(project, f"{web.url}/b", "main", name="b.lua")),
                   project.start("lock", silent)]
        done = [(process.communicate(timeout=240)[1], process.returncode) for process in waiting]
    for (err, status), where in zip(done, (f"{web.url}/a", f"{web.url}/b", "git://127.0.0.1:")):
        assert status == 1, err
        assert [line for line in err.splitlines() if line.startswith("forge: ")] == err.splitlines()[-1:]
        assert where in err.splitlines()[-1] and "the server sent nothing for too long" in err.splitlines()[-1]
    assert (project.recipes / "forge.lock").read_text() == lock
    project.ends_well()
    web.script({})
    project.run("realise", first)


def test_offline(project, repos, web):
    repos("a").commit({"x": "1"})
    path = recipe(project, f"{web.url}/a", "main")
    project.run("lock", path)
    [folder] = project.run("realise", "--offline", path)[0].splitlines()
    assert tree(pathlib.Path(folder)) == {"x": ("file", "1")}
    repos("b").commit({"x": "2"})
    path = recipe(project, f"{web.url}/b", "main")
    project.run("lock", path)
    shutil.rmtree(project.store / "cache/git")
    project.refuses("realise", "--offline", path, status=1, says=["offline: would fetch", "/b"])


PYPROJECT = """[build-system]
requires = ["{0}-build"]
[project]
name = "x"
dynamic = ["version"]
dependencies = ["{0}_Run>=1", "no; extra == 'y'"]
"""


def needs(project, url, subdir=""):
    """Lock, and what the entry says that the package needs."""
    more = f', subdir = "{subdir}"' if subdir else ""
    path = project.recipe(f'return forge.fetch(forge.locked {{ kind = "git", url = "{url}", rev = "main"{more} }})')
    _, err = project.run("lock", path)
    found = entry(project)
    (project.recipes / "forge.lock").unlink()
    return found.get("build_requires"), found.get("requires"), err


def test_what_it_needs(project, repos, tmp_path):
    """As pyproject.toml says it, of the folder that is built."""
    repo = repos("a")
    repo.commit({"pyproject.toml": PYPROJECT.format("outer"), "python/x/pyproject.toml": PYPROJECT.format("inner"),
                 "old/setup.py": "", "dynamic/pyproject.toml": "[project]\nname = 'x'\ndynamic = ['dependencies']\n"})
    url = f"file://{repo.folder}"
    assert needs(project, url)[:2] == (["outer-build"], ["outer-run>=1"])
    assert needs(project, url, "python/x")[:2] == (["inner-build"], ["inner-run>=1"])
    # A setup.py tells what it needs only when it runs.
    for subdir, told in ("old", None), ("dynamic", ["setuptools>=40.8.0"]):
        built, run, err = needs(project, url, subdir)
        assert (built, run) == (told, None) and "warning" not in err
    project.ends_well()


@pytest.mark.parametrize("files, says", [
    ({"pyproject.toml": "[project\n"}, "pyproject.toml, line 1: a table's name lacks"),
    ({"pyproject.toml": "[project]\nname = 'x'\ndependencies = ['a @@ b']\n"}, "project.dependencies: requirement \"a @@ b\""),
    ({"pyproject.toml": "[build-system]\nrequires = ['a', 'b c!']\n"}, "pyproject.toml, build-system.requires: requirement \"b c!\""),
    ({"pyproject.toml": "[build-system]\nrequires = ['a\033]0;title\007 b']\n"}, "requirement \"a?]0;title? b\""),
    ({"pyproject.toml": "#" * (4 << 20) + "\n"}, "pyproject.toml: "),
    ({}, "pyproject.toml: "),
])
def test_what_it_needs_can_not_be_read(project, repos, files, says):
    """Told, but no error: the recipe can say it."""
    repo = repos("a")
    repo.write({"setup.py": "", **files})
    if not files:
        (repo.folder / "pyproject.toml").symlink_to("setup.py")
    repo.commit()
    built, run, err = needs(project, f"file://{repo.folder}")
    assert (built, run) == (None, None)
    [line] = [line for line in err.splitlines() if line.startswith("warning: ")]
    assert says in line and line.endswith("say it in the recipe, as requires and runtime")


def test_a_folder_that_can_not_be_opened(project, repos, tmp_path):
    """One that is not there yet (a patch or a further source may make it), or is no folder of the tree: told."""
    repo = repos("a")
    repo.commit({"setup.py": ""})
    (repo.folder / "link").symlink_to(".")
    repo.commit()
    url = f"file://{repo.folder}"
    for subdir in "python", "../..", "setup.py", "link", "a b":
        built, run, err = needs(project, url, subdir)
        assert (built, run) == (None, None)
        [line] = [line for line in err.splitlines() if line.startswith("warning: ")]
        assert subdir in line and line.endswith("say it in the recipe, as requires and runtime")
    for subdir in "", "a\\27b", "x" * 201:
        path = project.recipe(f'return forge.fetch(forge.locked {{ kind = "git", url = "{url}", rev = "main", subdir = "{subdir}" }})')
        project.refuses("lock", path, status=1, says='field "subdir" can\'t be')


def test_prune(project, repos):
    """What no recipe of the lock asks for goes; all of them must be named, with what they load."""
    repo = repos("a")
    repo.commit({"f": "1"})
    text = 'return forge.fetch(forge.locked {{ kind = "git", url = "file://{0}", rev = "{1}" }})'.format
    repo.git("branch", "other")
    repo.git("branch", "old")
    lock = project.recipes / "forge.lock"
    both = [project.recipe('require "part"\n' + text(repo.folder, "main")), project.recipe(text(repo.folder, "other"), "y.lua")]
    project.recipe("return {}", "part.lua")
    gone = project.recipe(text(repo.folder, "old"), "z.lua")
    project.run("lock", *both, gone)
    keys = [f"git file://{repo.folder} {rev}" for rev in ("main", "old", "other")]
    assert list(json.loads(lock.read_text())["entries"]) == [*keys, "~"]
    before = lock.read_bytes()
    project.refuses("lock", "--prune", *both, status=2, says=["--prune: ", "/z.lua shares the lock: name it too, or"])
    project.refuses("lock", "--prune", "--set", "version=1", *both, status=2, says=["--prune: not with --set or --env"])
    assert lock.read_bytes() == before
    project.refuses("lock", "--prune", "--update=nothing", *both, gone, status=2, says=["--update=nothing: "])
    pathlib.Path(gone).unlink()
    for link in ".#y.lua", "link.lua":  # an editor's, and what is no recipe
        (project.recipes / link).symlink_to("y.lua")
    _, err = project.run("lock", "--prune", both[0], "recipes/./y.lua")
    assert f"{lock}: 1 entry dropped" in err
    assert list(json.loads(lock.read_text())["entries"]) == [keys[0], keys[2], "~"]
    before = lock.stat()
    assert "0 entries dropped" in project.run("lock", "--prune", *both)[1]
    assert lock.stat().st_ino == before.st_ino


def test_prune_knows_modules_from_recipes(project):
    """A recipe that another loads has requests of its own, which the other did not make."""
    project.recipe('return require("forge").wheel { name = "x", version = "1.0", source = forge.path "src" }', "y.lua")
    (project.recipes / "src").mkdir()
    first = project.recipe('require "y"\nreturn sh("a", "echo > $out")')
    project.refuses("lock", "--prune", first, status=2, says=["--prune: ", "/y.lua shares the lock: name it too, or"])


def test_quiet_locking_says_nothing(project, repos):
    repo = repos("a")
    repo.commit({"f": "1"})
    assert project.run("lock", "--quiet", recipe(project, f"file://{repo.folder}", "main")) == ("", "")


def test_locks_merge(project, repos, tmp_path):
    """Two branches that each lock something merge, at any places and side by side; forge reads what comes out."""
    for name in "abcd":
        repos(name).commit({"x": name})
    here = Repo(tmp_path / "project")
    lock = project.recipes / "forge.lock"

    def locked(*names):
        shutil.rmtree(lock, ignore_errors=True)
        lock.write_text((here.folder / "forge.lock").read_text() if (here.folder / "forge.lock").exists() else
                        '{"version":1,"entries":{\n"~":null}}\n')
        for name in names:
            project.run("lock", recipe(project, f"file://{tmp_path}/git/{name}", "main"))
        here.commit({"forge.lock": lock.read_text()})

    here.commit({".gitattributes": (ROOT / ".gitattributes").read_text()})
    locked("b")
    here.git("checkout", "-q", "-b", "other")
    locked("d")
    here.git("checkout", "-q", "main")
    locked("a", "c")
    here.git("merge", "-q", "-m", "m", "other")
    text = (here.folder / "forge.lock").read_text()
    assert [line.split()[1][-1] for line in text.splitlines()[1:-1]] == list("abcd")
    lock.write_text(text)
    for name in "abcd":
        _, err = project.run("lock", recipe(project, f"file://{tmp_path}/git/{name}", "main"))
        assert "is up to date" in err
    assert lock.read_text() == text


def test_outdated_tags(project, repos, web):
    """A newer release, a branch that moved; a commit is never outdated; nothing is changed."""
    repo = repos("a")
    old = repo.commit({"x": "1"})
    for tag in "v1.2", "v1.9", "other-3":
        repo.git("tag", tag)
    path = project.recipe(f'''
        forge.locked {{ kind = "git", url = "{web.url}/a", rev = "v1.2" }}
        forge.locked {{ kind = "git", url = "{web.url}/a", rev = "{old}" }}
        return forge.fetch(forge.locked {{ kind = "git", url = "{web.url}/a", rev = "main" }})''')
    project.run("lock", path)
    new = repo.commit({"x": "2"})
    for tag in "v1.10", "v2.0rc1":
        repo.git("tag", tag)
    before = (project.recipes / "forge.lock").read_text()
    rows = json.loads(project.run("outdated", "--json", path)[0])
    assert rows == [{"recipe": path, "name": "a", "locked": old, "newest": new, "how": "moved"},
                    {"recipe": path, "name": "a", "locked": "v1.2", "newest": "v1.10", "how": "recipe"}]
    out, _ = project.run("outdated", path)
    assert out.splitlines()[0].split() == ["RECIPE", "NAME", "LOCKED", "NEWEST", "HOW"]
    assert out.splitlines()[2].split() == [path, "a", "v1.2", "v1.10", "recipe"]
    assert (project.recipes / "forge.lock").read_text() == before


JOINED = """
local url = "{url}"
local folder = require "forge.source".folder {{
  name = "x", version = "1", base = function() return forge.path "base" end,
  sources = {{
    main = forge.git {{ url = url .. "/main", rev = "main" }},
    lib  = {{ forge.git {{ url = url .. "/lib", rev = "main" }}, at = "{at}" }},
    {more}
  }},
}}
return folder"""


def test_several_sources(project, repos, web):
    """Where the main source has an empty folder or nothing, also one in another; not over what is there."""
    lib = repos("lib")
    lib.commit({"l.h": "lib"})
    main = repos("main")
    main.commit({"setup.py": "main", "csrc/x.c": "x"})
    main.module("csrc/lib", "../lib", lib.git("rev-parse", "HEAD"))
    (project.recipes / "own").mkdir()
    (project.recipes / "own/o").write_text("own")
    more = 'own = { forge.path "own", at = "csrc/lib/deeper/own" }'
    path = project.recipe(JOINED.format(url=web.url, at="csrc/lib", more=more))
    project.run("lock", path)
    [folder] = project.run("realise", path)[0].splitlines()
    found = tree(pathlib.Path(folder))
    assert {name: content for name, (kind, content) in found.items() if kind == "file" and name != ".gitmodules"} == {
        "setup.py": "main", "csrc/x.c": "x", "csrc/lib/l.h": "lib", "csrc/lib/deeper/own/o": "own"}
    for at, says in ("csrc", "csrc is there already, and not empty"), ("setup.py", "setup.py is there already"):
        path = project.recipe(JOINED.format(url=web.url, at=at, more=""))
        _, err = project.run("realise", path, status=100)
        assert f"sources: {says}" in err
        project.goes_on()
