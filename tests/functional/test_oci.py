"""Images as bases: pushed to a real registry on loopback, and answered by one that misbehaves."""
import json
import pathlib
import shutil

import pytest

from made import sha256
from registry import SHELL, Image, busybox, digest, lay_out, recipe, registry, scripted, tree  # noqa: F401 (fixtures)

SMALL = {"etc": "folder", "etc/os": b"one\n"}
MORE = {"etc": "folder", "etc/more": b"two\n"}


def entry(project):
    entries = json.loads((project.recipes / "forge.lock").read_text())["entries"]
    [found] = [e for key, e in entries.items() if key.startswith("oci ")]
    return found


def take(project, path):
    """Lock and realise: the one result."""
    project.run("lock", path)
    [line] = project.run("realise", path)[0].splitlines()
    project.ends_well()
    return pathlib.Path(line)


def refused(project, name, says, status=1, command="lock", more="", **kind):
    return project.refuses(command, recipe(project, name, more), status=status, says=says, **kind)


def test_a_world(project, registry):
    """A build in an image of three layers, in each of the compressions, with whiteouts and a set-id program."""
    image = Image(
        {**busybox("sh", "cat", "ls", "stat"), "etc": "folder", "etc/motd": b"old\n", "gone": b"1", "var/cache/a": b"1"},
        ({"etc/motd": b"new\n", ".wh.gone": b"", "var": "folder", "var/cache": "folder", "var/cache/.wh..wh..opq": b"",
          "var/cache/b": b"2", "dev/null": "device", "bin/su": (b"#!/bin/sh\n", 0o4755)}, "zstd"),
        ({"etc/issue": "= etc/motd"}, ""))
    name = registry.push("team/base", "1.0", image)
    script = 'local script = "cat /etc/motd /etc/issue > $out; ls /var/cache >> $out; stat -c %a /bin/su >> $out; ls / >> $out"\n'
    said = take(project, recipe(project, name, then=script + SHELL)).read_text().split()
    assert said[:4] == ["new", "new", "b", "555"]
    assert {"bin", "etc", "var"} <= set(said[4:]) and "gone" not in said
    assert entry(project) == {
        "from": "oci", "image": name.rsplit(":", 1)[0], "digest": image.digest, "manifest": image.digest,
        "layers": [{k: layer[k] for k in ("mediaType", "digest", "size")} | {"diffId": id}
                   for layer, id in zip(image.layers(), image.config["rootfs"]["diff_ids"])]}
    [unpack] = project.builds("unpack")
    assert unpack["name"] == "oci-base"
    assert "1 devices and fifos" in project.run("log", "oci-base")[0]


def test_layers_over_one_another(project, registry):
    image = Image(
        {"a/x": b"1", "b": b"1", "c": "-> b", "d/deep/er": b"1", "e": b"1"},
        {"a": b"now a file", "b": "folder", "b/in": b"2", "c": "folder", "c/in": b"2", "d/.wh.deep": b"", "e2": "= e", ".wh.e": b""},
        {"a": "folder", "a/y": b"3", "l": "-> /c", "l/through": b"3"}, kind="docker")
    name = registry.push("team/over", "latest", image)
    assert tree(take(project, recipe(project, name))) == {
        "a": "folder", "a/y": b"3", "b": "folder", "b/in": b"2", "c": "folder", "c/in": b"2", "c/through": b"3",
        "d": "folder", "e2": b"1", "l": "-> /c"}


def test_an_index(project, registry):
    """Of several platforms that for linux/amd64 is taken; either digest may stand in the recipe, beside the tag or alone."""
    for kind in "oci", "docker":
        image = Image(SMALL, {"kind": kind.encode()}, kind=kind)
        others = [Image({"x": b""}, kind=kind, platform=p) for p in [("linux", "arm64"), ("windows", "amd64"), ("unknown", "unknown")]]
        repository = f"team/{kind}"
        for each in others:
            registry.push(repository, each.digest, each)
        index = image.index(*others)
        name = registry.push(repository, "1", image, index)
        folder = take(project, recipe(project, name))
        assert tree(folder)["kind"] == kind.encode()
        got = entry(project)
        assert (got["digest"], got["manifest"]) == (digest(index), image.digest)
        for named, wanted in [(name, digest(index)), (name, image.digest), (name[:-2], digest(index)), (name[:-2], image.digest)]:
            (project.recipes / "forge.lock").unlink()
            assert take(project, recipe(project, named, f', digest = "{wanted}"')) == folder
            assert entry(project)["manifest"] == image.digest
        (project.recipes / "forge.lock").unlink()
        refused(project, name, ["the tag 1 is " + digest(index) + " now", others[0].digest, "leave the tag out"], status=102,
                more=f', digest = "{others[0].digest}"')


def test_layers_are_fetched_once(project, scripted):
    """Two images that share a layer, in one run and after it; another image of the same repository later."""
    one, two = Image(SMALL, MORE), Image(SMALL, {"etc/two": b"2"})
    server = scripted(one)
    lay_out(server.folder, "test/other", "1", two)
    text = f"""
    local function part(name) return forge.oci {{ image = "{server.host}/test/" .. name .. ":1" }}() end
    return sh("both", "ls /one/etc /two/etc > $out", {{ world = {{ mounts = {{ {{ at = "/", layers = {{ forge.path "base" }} }},
      {{ at = "/one", layers = {{ tostring(part "image") }} }}, {{ at = "/two", layers = {{ tostring(part "other") }} }} }} }} }})
    """
    assert take(project, project.recipe(text)).read_text().split() == ["/one/etc:", "more", "os", "/two/etc:", "os", "two"]
    asked = [path for path, _ in server.log() if "/blobs/" in path]
    shared = one.layers()[0]["digest"]
    assert len([path for path in asked if path.endswith(shared)]) == 1
    assert len(asked) == 2 + 3  # configurations when it was locked, then layers
    project.run("realise", "recipes/x.lua")
    project.run("lock", "recipes/x.lua")
    assert len(server.log()) == 2 * 2 + 3


def test_a_tag_that_moves(project, registry):
    """The lock keeps what it pinned; outdated tells, --update=NAME takes what the tag is now."""
    first, second = Image(SMALL), Image(MORE)
    name = registry.push("team/moving", "1", first)
    path = recipe(project, name)
    project.run("lock", path)
    assert project.run("outdated", path)[0] == ""
    registry.push("team/moving", "1", second)
    project.run("lock", path)
    assert entry(project)["digest"] == first.digest
    [row] = json.loads(project.run("outdated", "--json", path)[0])
    assert (row["name"], row["locked"], row["newest"], row["how"]) == (name[:-2], first.digest, second.digest, "moved")
    project.refuses("lock", "--update=other", path, status=2, says=["--update=other", "nothing of that name"])
    project.run("lock", "--update=moving", path)
    assert entry(project)["digest"] == second.digest
    assert tree(take(project, path)) == {"etc": "folder", "etc/more": b"two\n"}


def test_evaluation_needs_no_network(project, scripted):
    server = scripted(Image(SMALL))
    path = recipe(project, f"{server.host}/test/image:1")
    folder = take(project, path)
    server.stop()
    assert project.run("realise", path)[0].strip() == str(folder)
    shutil.copy(project.recipes / "forge.lock", project.folder / "lock")
    project.use_store(project.folder / "store2")
    out, _ = project.run("realise", "--dry-run", path)
    assert "layer-" in out
    line = refused(project, f"{server.host}/test/image:1", ["the layer " + Image(SMALL).layers()[0]["digest"][7:19], "test/image"],
                   command="realise")
    assert server.host in line


def challenge(server, realm=None):
    place = realm or f"http://{server}/token"
    return {"status": 401, "headers": {"WWW-Authenticate": f'Basic realm="x", Bearer realm="{place}",service="reg, istry",'
                                                           'scope="repository:test/image:pull"'}}


def test_a_token(project, scripted):
    """Asked for once, as the challenge says; sent with every request of the repository from then on, and to nobody else:
    neither to who gives tokens nor to the store of blobs that the registry leads to."""
    image = Image(SMALL, MORE)
    store = scripted(image)
    tokens = scripted(None, {"/token": [{"body": json.dumps({"token": "secret-1", "expires_in": 60})}]})
    blobs = {f"/v2/test/image/blobs/{layer['digest']}": [{"status": 307, "headers": {
        "Location": f"http://{store.host}/v2/test/image/blobs/{layer['digest']}?signed=1"}}] for layer in image.layers()}
    script = {"/v2/test/image/manifests/1": [challenge(tokens.host), {}],
              f"/v2/test/image/blobs/{image.layers()[0]['digest']}": [challenge(tokens.host)] +
              blobs.pop(f"/v2/test/image/blobs/{image.layers()[0]['digest']}"), **blobs}
    server = scripted(image, script)
    assert tree(take(project, recipe(project, f"{server.host}/test/image:1"))) == {
        "etc": "folder", "etc/os": b"one\n", "etc/more": b"two\n"}
    asked = server.log()
    sent = [headers.get("authorization") for path, headers in asked if "/manifests/" in path]
    assert sent == [None, "Bearer secret-1"]
    config = [headers for path, headers in asked if path.endswith(image.content["config"]["digest"])]
    assert [h.get("authorization") for h in config] == ["Bearer secret-1"]
    layer = [headers.get("authorization") for path, headers in asked if path.endswith(image.layers()[0]["digest"])]
    assert layer == [None, "Bearer secret-1"]
    query = "?service=reg%2C%20istry&scope=repository%3Atest%2Fimage%3Apull"
    assert [path for path, _ in tokens.log()] == ["/token" + query] * 2  # one for lock, one for realise
    assert len(store.log()) == 2
    assert not any("authorization" in headers for _, headers in tokens.log() + store.log())


def test_a_user_of_netrc(project, scripted):
    """Who gives tokens is told the user that ~/.netrc has for its host, nobody else is."""
    tokens = scripted(None, {"/token": [{"body": json.dumps({"access_token": "t"})}]})
    server = scripted(Image(SMALL), {"/v2/test/image/manifests/1": [challenge(tokens.host.replace("127.0.0.1", "localhost")), {}]})
    netrc = project.folder / "home/.netrc"
    netrc.write_text("machine localhost login me password pw\n")
    netrc.chmod(0o600)
    project.run("lock", recipe(project, f"{server.host}/test/image:1"))
    assert [headers.get("authorization") for _, headers in tokens.log()] == ["Basic bWU6cHc="]
    assert {headers.get("authorization") for _, headers in server.log()} == {None, "Bearer t"}


@pytest.mark.parametrize("steps, says", [
    ([{"status": 401}], ["answered 401", "nothing that forge can give"]),
    ([{"status": 401, "headers": {"WWW-Authenticate": 'Basic realm="x"'}}], ["answered 401", "~/.netrc"]),
    ([{"status": 401, "headers": {"WWW-Authenticate": '=,"'}}], ["answered 401", "WWW-Authenticate header can't be read"]),
    ([{"status": 401, "headers": {"WWW-Authenticate": "Bearer service=x"}}], ["answered 401", "no place that a token may come from"]),
    ([{"status": 401, "headers": {"WWW-Authenticate": 'Bearer realm="file:///etc/passwd"'}}], ["no place that a token may come from"]),
    ([challenge("", "http://127.0.0.1:9/token")], ["the registry's token", "(/token)"]),
    ([challenge("", "TOKENS/denied")], ["the registry's token", "answered 403 (/denied)"]),
    ([challenge("", "TOKENS/page")], ["the registry's token", "not JSON"]),
    ([challenge("", "TOKENS/none")], ["the registry's token", "holds no token"]),
    ([challenge("", "TOKENS/header")], ["the registry's token", "holds no token"]),
    ([challenge("", "TOKENS/huge")], ["the registry's token", "more than the 65536 bytes"]),
    ([challenge("", "TOKENS/good")], ["answered 401 to a token it has just given", "~/.netrc"]),
    ([{"status": 403}], ["answered 403"]),
    ([{"status": 404}], ["answered 404", "no such image", "oci-mirror"]),
    ([{"body": "x", "repeat": 5 << 20, "chunked": True}], ["its manifest", "more than the 4194304 bytes"]),
    ([{"body": "<html>"}], ["the manifest", "not JSON"]),
    ([{"body": "{}"}], ["neither that of an image nor an index"]),
    ([{"body": '{"schemaVersion":1,"name":"x","fsLayers":[]}'}], ["old form (schema 1)"]),
    ([{"body": '{"manifests":[],"layers":[]}'}], ["neither that of an image nor an index"]),
    ([{"body": '{"manifests":[{"platform":{"os":"linux","architecture":"arm64"}}]}'}], ["not for linux/amd64 (the index has linux/arm64)"]),
    ([{"body": '{"manifests":[]}'}], ["not for linux/amd64", "no platforms"]),
    ([{"body": '{"manifests":[{"platform":{"os":"linux","architecture":"amd64"},"digest":"sha512:00","size":3}]}'}],
     ['"sha512:00" is no digest']),
])
def test_a_registry_that_refuses(project, scripted, steps, says):
    tokens = scripted(None, {
        "/denied": [{"status": 403}], "/page": [{"body": "<html>"}], "/none": [{"body": '{"token":3}'}],
        "/header": [{"body": '{"token":"a\\r\\nx: y"}'}], "/huge": [{"body": "x", "repeat": 1 << 17}], "/good": [{"body": '{"token":"t"}'}]})
    steps = json.loads(json.dumps(steps).replace("TOKENS", f"http://{tokens.host}"))
    server = scripted(None, {"/v2/test/image/manifests/1": steps})
    name = f"{server.host}/test/image:1"
    refused(project, name, ["locking the image " + name, *says])
    assert not (project.recipes / "forge.lock").exists()
    assert len(tokens.log()) <= 1


@pytest.mark.parametrize("change, says", [
    ({"layers": []}, "not 1 to 512 layers"),
    ({"layers": [{"mediaType": "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip", "digest": "sha256:" + "0" * 64, "size": 1}]},
     "layer 1: the registry does not have it"),
    ({"layers": [{"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "digest": "sha256:" + "0" * 64, "size": 1}]},
     "layer 1: \"application/vnd.cncf.helm.chart.content.v1.tar+gzip\" is no layer"),
    ({"layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": "sha256:" + "0" * 64, "size": -1}]}, "layer 1: its size"),
    ({"layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": "md5:0", "size": 1}]}, "\"md5:0\" is no digest"),
    ({"config": {"digest": "sha256:" + "0" * 64, "size": 1 << 30}}, "config: its size"),
    ({"config": {}}, "config: it has no digest"),
])
def test_manifests_that_are_wrong(project, scripted, change, says):
    image = Image(SMALL).seal(**change)
    refused(project, f"{scripted(image).host}/test/image:1", [says])


def test_configurations_that_are_wrong(project, scripted):
    for change, says in [({"architecture": "arm64"}, "not for linux/amd64 (it is for linux/arm64)"),
                         ({"rootfs": {"diff_ids": []}}, "does not name 1 layers"),
                         ({"rootfs": {"diff_ids": ["sha256:x"]}}, "configuration's layer 1: ")]:
        image = Image(SMALL)
        image.config |= change
        refused(project, f"{scripted(image.seal()).host}/test/image:1", [says])
    image = Image(SMALL)
    right = image.content["config"]["digest"]
    wrong = image.blobs[right] + b" "
    image.blobs[right] = wrong
    refused(project, f"{scripted(image).host}/test/image:1", [right[7:], sha256(wrong), "its configuration"], status=102)


def test_another_manifest_than_the_digest(project, scripted):
    image, other = Image(SMALL), Image(MORE)
    server = scripted(image)
    (server.folder / "v2/test/image/manifests" / image.digest).write_bytes(other.manifest)
    refused(project, f"{server.host}/test/image", [image.digest[7:], other.digest[7:], "its manifest"], status=102,
            more=f', digest = "{image.digest}"')
    (server.folder / "v2/test/image/manifests/1").write_bytes(image.index())
    refused(project, f"{server.host}/test/image:1", [image.digest[7:], other.digest[7:], "its manifest for linux/amd64"], status=102)


def test_another_layer_than_the_digest(project, scripted):
    image = Image(SMALL)
    server = scripted(image)
    right = image.layers()[0]["digest"]
    wrong = image.blobs[right] + b"\0"
    (server.folder / "v2/test/image/blobs" / right).write_bytes(wrong)
    name = f"{server.host}/test/image:1"
    project.run("lock", recipe(project, name))
    refused(project, name, [right[7:], sha256(wrong), "the layer " + right[7:19], "FORGE_OCI_MIRROR"], status=102, command="realise")
    (server.folder / "v2/test/image/blobs" / right).unlink()
    refused(project, name, ["no longer has it", "forge lock --update"], command="realise")


def test_another_tar_than_the_configuration_says(project, scripted):
    image = Image(SMALL)
    right = image.config["rootfs"]["diff_ids"][0]
    image.config["rootfs"]["diff_ids"] = ["sha256:" + "1" * 64]
    name = f"{scripted(image.seal()).host}/test/image:1"
    project.run("lock", recipe(project, name))
    refused(project, name, [right[7:], "1" * 64, "oci-image: layer-"], status=102, command="realise")


@pytest.mark.parametrize("layer, says", [
    ({"d/.wh...": b""}, "d/.wh...: a whiteout that leads out of its folder"),
    ({".wh..": b""}, "a whiteout that leads out of its folder"),
    ({"../.wh.x": b""}, 'the name has a ".."'),
    ({".wh.x/y": b""}, "through a whiteout"),
    ({".wh.x": b"1"}, "no empty file"),
    ({"../x": b"1"}, 'the name has a ".."'),
    ({"/x": b"1"}, "the name is absolute"),
    ({"x": "= ../../../etc/passwd"}, 'the name has a ".."'),
    ({"x": "= etc/passwd"}, "not an earlier file"),
    (b"no tar", "cut off"),
])
def test_layers_that_attack(project, scripted, layer, says):
    name = f"{scripted(Image({'d': 'folder'}, layer)).host}/test/image:1"
    project.run("lock", recipe(project, name))
    refused(project, name, ["oci-image: layer-", says], command="realise")


def test_links_lead_nowhere_outside(project, scripted):
    """A layer's links to the machine's folders: the next layer's names, and whiteouts, mean the image's own."""
    outside = project.folder / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    there = str(outside)[1:]
    image = Image({"a": f"-> /{there}", "b": "-> ../../../../../../../../../../" + there, there: "folder", f"{there}/kept": b"1"},
                  {"a/x": b"2", "b/.wh.kept": b"", "a/.wh..wh..opq": b""})
    folder = take(project, recipe(project, f"{scripted(image).host}/test/image:1"))
    assert (outside / "kept").read_text() == "kept" and len(list(outside.iterdir())) == 1
    assert tree(folder / there) == {"x": b"2"}


def test_a_mirror(project, scripted, tmp_path):
    """By the variable or forge.conf; the lock names the image as the recipe does.  A place that is no http URL is refused."""
    image = Image(SMALL)
    server = scripted(image)
    name = "registry.example/some/where/image:1"
    path = recipe(project, name)
    project.env["FORGE_OCI_MIRROR"] = f"registry.example/=http://{server.host}/ registry.example/some/where/=http://{server.host}/test/"
    assert tree(take(project, path)) == {"etc": "folder", "etc/os": b"one\n"}
    assert entry(project)["image"] == "registry.example/some/where/image"
    conf = project.folder / "home/.config/forge/forge.conf"
    conf.parent.mkdir(parents=True)
    del project.env["FORGE_OCI_MIRROR"]
    conf.write_text(f"git-mirror = https://h/ file:///nowhere/\noci-mirror = registry.example/some/where http://{server.host}/test\n")
    project.use_store(project.folder / "store2")
    before = (project.recipes / "forge.lock").read_text()
    take(project, path)
    assert (project.recipes / "forge.lock").read_text() == before
    conf.write_text("oci-mirror = registry.example/some/where file:///tmp\n")
    refused(project, name, ["oci-mirror", "file:///tmp/image", "https://host/name"], command="lock", more=', digest = "%s"' % image.digest)


@pytest.mark.parametrize("name, more, says", [
    ("debian:12", "", ["begins with its registry's host"]),
    ("library/debian:12", "", ["begins with its registry's host"]),
    ("registry.example/", "", ["lower-case letters"]),
    ("registry.example/A:1", "", ["lower-case letters"]),
    ("registry.example/a/../b:1", "", ["lower-case letters"]),
    ("registry.example/a:1/b", "", ["is no tag"]),
    ("registry.example/a@sha256:00", "", ["a field of its own"]),
    ("registry.example/a", "", ["needs a tag, or a digest"]),
    ("registry.example/a", ', digest = "sha256:00"', ['"sha256:00" is no digest']),
    ("registry.example/a:1", ", digset = 1", ["there is no field 'digset' (did you mean 'digest'?)"]),
    ("registry.example/a:1", ', links = { x = "y" }', ["'x' is not an absolute path"]),
    ("127.0.0.1:9/a:1", "", ["locking the image 127.0.0.1:9/a:1: its manifest: "]),
])
def test_recipes_that_are_wrong(project, name, more, says):
    refused(project, name, says, more=more)


def test_links_that_the_image_lacks(project, scripted):
    name = f"{scripted(Image(busybox('sh', 'readlink'))).host}/test/image:1"
    links = ', links = { ["/usr/bin/python3"] = "/opt/python", ["/bin/sh"] = "not this" }'
    folder = take(project, recipe(project, name, links))
    assert (folder / "usr/bin/python3").readlink() == pathlib.Path("/opt/python")
    assert (folder / "bin/sh").readlink() == pathlib.Path("busybox")


def test_debian_packages_are_not_put_into_an_image(project):
    text = """return forge.wheel { name = "x", version = "1", requires = { "a==1" }, packages = { "zlib1g-dev" },
      base = forge.oci { image = "registry.example/a:1" } }"""
    path = project.recipe(text)
    (project.recipes / "forge.lock").write_text(json.dumps({"version": 1, "entries": {
        "sdist x 1": {"from": "pypi", "name": "x", "version": "1", "file": "x-1.tar.gz", "sha256": "0" * 64, "size": 1, "requires": [],
                      "build_requires": []}, "wheels 3.13 a==1": {"files": []}}}))
    project.refuses("realise", "--dry-run", path, status=1, says=["'packages' are Debian's", "registry.example/a:1 is an image"])
