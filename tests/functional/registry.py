"""Images that tests make, Debian's docker-registry on loopback to push them to, and a scripted one."""
import gzip
import http.client
import io
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.parse

import pytest

from conftest import ROOT
from made import sha256

OCI = "application/vnd.oci.image."
DOCKER = "application/vnd.docker."
TYPES = {  # of layer, configuration, manifest, index
    "oci": (OCI + "layer.v1.tar", OCI + "config.v1+json", OCI + "manifest.v1+json", OCI + "index.v1+json"),
    "docker": (DOCKER + "image.rootfs.diff.tar", DOCKER + "container.image.v1+json",
               DOCKER + "distribution.manifest.v2+json", DOCKER + "distribution.manifest.list.v2+json"),
}


def digest(data):
    return "sha256:" + sha256(data)


def zstd(data):
    """A zstd frame of blocks as they are (RFC 8878): no compressor is needed to test a reader."""
    out = bytearray(b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little"))
    for at in range(0, max(len(data), 1), 1 << 17):
        block = data[at:at + (1 << 17)]
        last = at + len(block) >= len(data)
        out += (last | len(block) << 3).to_bytes(3, "little") + block
    return bytes(out)


PACK = {"": bytes, "gzip": lambda tar: gzip.compress(tar, mtime=0), "zstd": zstd}


def tar(members):
    """{name: content}: bytes for a file (a tuple with its mode: an executable), "folder", "-> target", "= hard link's
    target", "device"."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as t:
        for name, content in members.items():
            m = tarfile.TarInfo(name)
            if isinstance(content, tuple):
                content, m.mode = content
            if isinstance(content, bytes):
                m.size = len(content)
                t.addfile(m, io.BytesIO(content))
                continue
            what, _, target = content.partition(" ")
            m.type = {"folder": tarfile.DIRTYPE, "->": tarfile.SYMTYPE, "=": tarfile.LNKTYPE, "device": tarfile.CHRTYPE}[what]
            m.linkname = target
            t.addfile(m)
    return out.getvalue()


class Image:
    """layers: what tar() takes, or (that, "gzip" | "zstd" | ""), the lowest first."""

    def __init__(self, *layers, kind="oci", platform=("linux", "amd64")):
        self.layer_type, self.config_type, self.type, self.index_type = TYPES[kind]
        self.blobs, described, ids = {}, [], []
        for layer in layers:
            members, packed = layer if isinstance(layer, tuple) else (layer, "gzip")
            plain = tar(members) if isinstance(members, dict) else members
            data = PACK[packed](plain)
            ending = "" if not packed else ("+" if kind == "oci" else ".") + packed
            described.append(self.blob(data, self.layer_type + ending))
            ids.append(digest(plain))
        self.os, self.architecture = platform
        self.config = {"os": self.os, "architecture": self.architecture, "rootfs": {"type": "layers", "diff_ids": ids}}
        self.content = {"schemaVersion": 2, "mediaType": self.type, "layers": described}
        self.seal()

    def blob(self, data, media_type):
        self.blobs[digest(data)] = data
        return {"mediaType": media_type, "digest": digest(data), "size": len(data)}

    def seal(self, **change):
        """Write configuration and manifest, after a change to either."""
        self.content = self.content | change
        self.content["config"] = change["config"] if "config" in change else \
            self.blob(json.dumps(self.config).encode(), self.config_type)
        self.manifest = json.dumps(self.content).encode()
        self.digest = digest(self.manifest)
        return self

    def layers(self):
        return self.content["layers"]

    def index(self, *others):
        """The text of an index of this image and others."""
        return json.dumps({"schemaVersion": 2, "mediaType": self.index_type, "manifests": [
            {"mediaType": i.type, "digest": i.digest, "size": len(i.manifest),
             "platform": {"os": i.os, "architecture": i.architecture}} for i in (*others, self)]}).encode()


def find_program():
    """Debian's docker-registry, as `make deps-test` unpacks it: installed, its package starts a service."""
    return shutil.which("docker-registry", path=f"{os.environ.get('FORGE_TOOLS', '')}/usr/bin:{os.environ['PATH']}")


class Registry:
    """docker-registry on a port of its own.  Images are pushed with plain requests."""

    def __init__(self, folder):
        folder.mkdir()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.host = f"127.0.0.1:{s.getsockname()[1]}"
        config = folder / "config.yml"
        config.write_text(f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {folder}/data}}}}\n"
                          f"http: {{addr: {self.host}}}\n")
        self.process = subprocess.Popen([find_program(), "serve", config], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                if self.request("GET", "/v2/")[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise AssertionError("docker-registry does not answer")

    def request(self, method, path, body=None, headers=None):
        c = http.client.HTTPConnection(self.host, timeout=60)
        c.request(method, path, body, headers or {})
        answer = c.getresponse()
        answer.read()
        c.close()
        return answer.status, answer.headers

    def push_blob(self, name, data):
        status, headers = self.request("POST", f"/v2/{name}/blobs/uploads/")
        assert status == 202
        place = urllib.parse.urlsplit(headers["Location"])
        status, _ = self.request("PUT", f"{place.path}?{place.query}&digest={digest(data)}", data,
                                 {"Content-Type": "application/octet-stream"})
        assert status == 201

    def push(self, name, tag, image, index=None):
        for data in image.blobs.values():
            self.push_blob(name, data)
        for reference, text, kind in [(image.digest if index else tag, image.manifest, image.type), (tag, index, image.index_type)]:
            if text:
                assert self.request("PUT", f"/v2/{name}/manifests/{reference}", text, {"Content-Type": kind})[0] == 201
        return f"{self.host}/{name}:{tag}"

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)


@pytest.fixture(scope="session")
def registry(tmp_path_factory):
    if not find_program():
        pytest.skip("no docker-registry")
    made = Registry(tmp_path_factory.mktemp("registry") / "data")
    yield made
    made.stop()


class Scripted:
    """tests/support/httpd.py as a registry: files at the paths that the API has, and a script that spoils them."""

    def __init__(self, folder, script=None):
        self.folder, self.lines = folder, folder.parent / (folder.name + ".log")
        folder.mkdir(exist_ok=True)
        file = folder.parent / (folder.name + ".json")
        file.write_text(json.dumps(script or {}))
        self.process = subprocess.Popen([sys.executable, ROOT / "tests/support/httpd.py", folder, "--script", file, "--log",
                                         self.lines], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.host = f"127.0.0.1:{self.process.stdout.readline().split()[1]}"

    def log(self):
        """The requests so far: (path, headers)."""
        if not self.lines.exists():
            return []
        return [(r["path"], r["headers"]) for r in map(json.loads, self.lines.read_text().splitlines())]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


def lay_out(folder, name, tag, image, index=None):
    """What a registry answers for an image, as files."""
    at = folder / "v2" / name
    for part in "manifests", "blobs":
        (at / part).mkdir(parents=True, exist_ok=True)
    (at / "manifests" / tag).write_bytes(index or image.manifest)
    (at / "manifests" / image.digest).write_bytes(image.manifest)
    for key, data in image.blobs.items():
        (at / "blobs" / key).write_bytes(data)


@pytest.fixture
def scripted(tmp_path):
    """scripted(image, script, index=…) -> a registry that has it as test/image:1."""
    started = []

    def start(image=None, script=None, index=None):
        folder = tmp_path / f"www{len(started)}"
        folder.mkdir()
        if image:
            lay_out(folder, "test/image", "1", image, index)
        started.append(Scripted(folder, script))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def busybox(*names):
    """A layer with busybox under these names."""
    program = pathlib.Path("/bin/busybox").read_bytes()
    return {"bin": "folder", "bin/busybox": (program, 0o755), **{f"bin/{name}": "-> busybox" for name in names}}


def recipe(project, image, more="", then="return image()"):
    return project.recipe(f'local image = forge.oci {{ image = "{image}"{more} }}\n{then}')


# What a build says that has an image at its "/".
SHELL = """
return forge.derivation {
  name = "said", builder = "/bin/sh", args = { "-euc", script }, what = "build", env = { PATH = "/bin" },
  world = forge.world.compose { base = image(), parts = {} },
}
"""


def tree(folder):
    """{path: content} of a root file system, as tar() takes it."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            found[name] = "folder" if path.is_dir() else path.read_bytes()
    return found
