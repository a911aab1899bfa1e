"""forge.cuda.redist: a release's JSON by its pinned hash, its components in the lock, each fetched by its own; over
loopback, from a small tree like NVIDIA's that the test makes."""
import json

import pytest

from made import make_tar, sha256

RELEASE = "13.0.2"
COMPONENTS = {  # what stands in each archive, below its one top folder
    "cuda_nvcc": ("13.0.88", {"bin/nvcc": b"the nvcc\n", "LICENSE": b"nvcc's\n"}),
    "libnvvm": ("13.0.88", {"nvvm/bin/cicc": b"the cicc\n", "LICENSE": b"nvvm's\n"}),
    "cuda_cudart": ("13.0.96", {"include/cuda_runtime.h": b"#pragma once\n"}),
}
LAY = """
local redist = require "forge.cuda_redist"
local cuda = redist.layers { release = "RELEASE", sha256 = "HASH", urls = { URLS }, components = { "libnvvm", "cuda_nvcc" } }
return sh("laid", "cat /cuda/bin/nvcc /cuda/nvvm/bin/cicc > $out",
          { world = forge.world.compose { base = forge.path "base", parts = { { mounts = { ["/cuda"] = cuda } } } } })
"""


class Redist:
    """A folder as NVIDIA's, served; a recipe that lays two of its components at /cuda."""

    def __init__(self, project, server):
        self.project, self.server = project, server
        self.root = project.folder / "www"
        self.lock = project.recipes / "forge.lock"
        self.listed = {"release_date": "2025-09-09", "release_label": RELEASE, "release_product": "cuda"}
        for name, (version, files) in COMPONENTS.items():
            path = f"{name}/linux-x86_64/{name}-linux-x86_64-{version}-archive.tar.xz"
            data = make_tar({f"{name}-archive/{file}": text for file, text in files.items()}, "w:xz")
            (self.root / path).parent.mkdir(parents=True)
            (self.root / path).write_bytes(data)
            self.listed[name] = {"name": name, "license": "x", "version": version, "linux-x86_64": {
                "relative_path": path, "sha256": sha256(data), "md5": "0" * 32, "size": str(len(data))}}
        self.url = server(self.root)
        self.write()

    def write(self, text=None, pinned=None):
        """Put the JSON there, and a recipe that names its hash (or another one)."""
        text = json.dumps(self.listed) if text is None else text
        (self.root / f"redistrib_{RELEASE}.json").write_text(text)
        self.recipe(pinned or sha256(text.encode()), self.url)

    def recipe(self, pinned, *urls):
        self.pinned = pinned
        text = LAY.replace("RELEASE", RELEASE).replace("HASH", pinned)
        self.project.recipe(text.replace("URLS", ", ".join(f'"{url}"' for url in urls)))

    def entries(self):
        return json.loads(self.lock.read_text())["entries"]

    def lock_refuses(self, status, *says):
        self.project.refuses("lock", "recipes/x.lua", status=status, says=["recipes/x.lua", *says])
        assert not self.lock.exists()

    def made(self):
        [line] = self.project.run("realise", "recipes/x.lua")[0].splitlines()
        with open(line) as f:
            assert f.read() == "the nvcc\nthe cicc\n"
        self.project.ends_well()


@pytest.fixture
def redist(project, server):
    return Redist(project, server)


def test_components_are_locked_fetched_and_laid(redist):
    redist.project.run("lock", "recipes/x.lua")
    [(key, entry)] = [(k, e) for k, e in redist.entries().items() if k != "~"]
    assert key == f"redist {RELEASE} {redist.pinned} cuda_nvcc libnvvm"
    assert [c["name"] for c in entry["components"]] == ["cuda_nvcc", "libnvvm"]
    for c in entry["components"]:
        listed = redist.listed[c["name"]]["linux-x86_64"]
        assert c == {"name": c["name"], "version": "13.0.88", "path": listed["relative_path"], "sha256": listed["sha256"],
                     "size": int(listed["size"])}
    assert "127.0.0.1" not in redist.lock.read_text()
    redist.made()
    # where it comes from is no part of what it is: another folder serves as well, and the first that answers
    before = redist.lock.read_bytes()
    redist.recipe(redist.pinned, "http://127.0.0.1:9/", redist.server(redist.root))
    redist.project.run("lock", "recipes/x.lua")
    assert redist.lock.read_bytes() == before
    redist.project.use_store(redist.project.folder / "store2")
    redist.made()


def test_what_is_not_locked(redist):
    redist.project.refuses("realise", "recipes/x.lua", status=1, says=[
        "recipes/forge.lock lacks cuda_nvcc libnvvm of NVIDIA's CUDA 13.0.2 (run: forge lock recipes/x.lua)"])


@pytest.mark.parametrize("spoil", [lambda data: data[:-1] + b"x", lambda data: b"<html>log in</html>" + data[19:], lambda data: data[:100]],
                         ids=["changed", "a page", "cut off"])
def test_a_component_with_a_wrong_hash(redist, spoil):
    redist.project.run("lock", "recipes/x.lua")
    listed = redist.listed["cuda_nvcc"]["linux-x86_64"]
    file = redist.root / listed["relative_path"]
    good = file.read_bytes()
    file.write_bytes(spoil(good))
    redist.project.refuses("realise", "recipes/x.lua", status=102, says=[file.name, "wanted sha256 " + listed["sha256"]])
    assert not [p for p in (redist.project.store / "objects").iterdir() if p.name.endswith(file.name)]
    file.write_bytes(good)
    redist.made()


def test_a_list_with_another_hash(redist):
    redist.write(pinned="0" * 64)
    redist.lock_refuses(102, "redistrib_13.0.2.json", "wanted sha256 " + "0" * 64)
    redist.write()
    redist.project.run("lock", "recipes/x.lua")
    redist.made()


def change(component, field, value):
    def apply(listed):
        listed[component]["linux-x86_64"][field] = value
    return apply


def drop(component, field):
    def apply(listed):
        del listed[component][field]
    return apply


@pytest.mark.parametrize("spoil, says", [
    (change("libnvvm", "relative_path", "../libnvvm.tar.xz"), ["component 2", '"path" leads out of the release\'s folder']),
    (change("libnvvm", "relative_path", "/etc/passwd"), ["component 2", '"path" leads out']),
    (change("libnvvm", "sha256", "0123"), ["component 2", '"sha256" is not 64 hexadecimal digits']),
    (change("libnvvm", "size", "many"), ["component 2", '"size" is not a number of bytes']),
    (change("libnvvm", "relative_path", None), ["component 2", '"path" is missing']),
    (drop("libnvvm", "linux-x86_64"), ["its component libnvvm has no files for linux-x86_64"]),
    (drop("libnvvm", "version"), ["component 2", '"version" is missing']),
    (lambda listed: listed.pop("libnvvm"), ['it lists no component "libnvvm"']),
    (lambda listed: listed.update(release_label="13.0.1"), ["it lists release 13.0.1, not 13.0.2"]),
    (lambda listed: (listed.pop("release_label"), listed["cuda_nvcc"].update(version="12.9.1")), ["it lists release 12.9.1, not 13.0.2"]),
    (lambda listed: listed.update(cuda_nvcc="x"), ['it lists no component "cuda_nvcc"']),
])
def test_a_list_that_does_not_serve(redist, spoil, says):
    spoil(redist.listed)
    redist.write()
    redist.lock_refuses(1, *says)


@pytest.mark.parametrize("text", [lambda text: text[:len(text) // 2], lambda text: "", lambda text: "<html>log in</html>", lambda text: text + "}"],
                         ids=["cut off", "empty", "a page", "more"])
def test_a_list_that_is_no_json(redist, text):
    redist.write(text(json.dumps(redist.listed)))
    redist.lock_refuses(1, "redistrib_13.0.2.json: not JSON")


def test_a_list_that_is_not_there(redist):
    (redist.root / f"redistrib_{RELEASE}.json").unlink()
    redist.lock_refuses(1, "redistrib_13.0.2.json", "404")


def test_an_archive_that_leads_out(redist):
    """Its hash is right: what it holds is still not trusted."""
    data = make_tar({"a/../../out": b"x"}, "w:xz")
    listed = redist.listed["cuda_nvcc"]["linux-x86_64"]
    (redist.root / listed["relative_path"]).write_bytes(data)
    listed |= {"sha256": sha256(data), "size": len(data)}
    redist.write()
    redist.project.run("lock", "recipes/x.lua")
    redist.project.refuses("realise", "recipes/x.lua", status=1, says=["cuda_nvcc", ".."])
