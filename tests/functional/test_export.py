"""forge export: what pip and uv see over loopback HTTP, and how the index is put in its place."""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

FINISH = """
local raw = sh("raw-{name}", "mkdir $out; cp /wheels/{file} $out/")
return forge.derivation {{ name = "{name}-{version}", what = "finish", system = "builtin", builder = "builtin:finish", env = {{
  src = raw, dist = "{name}", version = "{version}", python = "3.13", label_kind = "{kind}", label_text = "{text}",
  epoch = "315619200" }} }}
"""


def make_wheel(folder, name, version, requires_python=">=3.8", requires=(), tag="py3-none-any", text=None):
    """A small pure wheel, as a build would leave it."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: {requires_python}\n"
    metadata += "".join(f"Requires-Dist: {r}\n" for r in requires)
    files = {f"{name}/__init__.py": text or f"version = '{version}'\n", f"{info}/METADATA": metadata,
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n"}
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        record += f"{path},sha256={digest},{len(text.encode())}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    file = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(file, "w") as z:
        for path, text in files.items():
            z.writestr(path, text)
    return file


def realise_wheel(project, name, version, kind="none", text="", **more):
    file = make_wheel(project.base() / "wheels", name, version, **more)
    recipe = project.recipe(FINISH.format(name=name, version=version, file=file.name, kind=kind, text=text),
                            f"{name}-{version}-{text}.lua")
    out, _ = project.run("realise", recipe)
    return pathlib.Path(out.strip())


def tool(build, name):
    path = pathlib.Path(os.environ.get("FORGE_TOOLS", build / "tools")) / "bin" / name
    if not path.exists():
        pytest.skip(f"no {path} (make deps-test)")
    return str(path)


@pytest.fixture
def index(project, tmp_path):
    """Two wheels in an index: beta needs alpha."""
    alpha = realise_wheel(project, "alpha", "1.0", "local", "cu130torch2.11")
    beta = realise_wheel(project, "beta", "2.0", "build", "1.130", requires=["alpha>=1.0"])
    assert alpha.name == "alpha-1.0+cu130torch2.11-py3-none-any.whl"
    assert beta.name == "beta-2.0-1.130-py3-none-any.whl"
    folder = tmp_path / "index"
    out, err = project.run("export", str(folder))
    assert out == f"{folder}/simple\n" and "2 wheels, written" in err
    return folder, alpha, beta


class Anchors(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs))


def test_pages_say_what_the_wheels_are(index):
    folder, alpha, _ = index
    sha = hashlib.sha256(alpha.read_bytes()).hexdigest()
    page = json.loads((folder / "simple/alpha/index.json").read_text())
    assert page["meta"] == {"api-version": "1.1"} and page["name"] == "alpha"
    assert page["versions"] == ["1.0+cu130torch2.11"]
    [file] = page["files"]
    metadata = (folder / "files" / (alpha.name + ".metadata")).read_bytes()
    assert file["filename"] == alpha.name and file["size"] == alpha.stat().st_size
    assert file["hashes"] == {"sha256": sha} and file["requires-python"] == ">=3.8"
    assert file["core-metadata"] == {"sha256": hashlib.sha256(metadata).hexdigest()}
    assert b"Version: 1.0+cu130torch2.11\n" in metadata
    [anchor] = Anchors((folder / "simple/alpha/index.html").read_text()).found
    assert anchor["href"] == f"../../files/alpha-1.0%2Bcu130torch2.11-py3-none-any.whl#sha256={sha}"
    assert anchor["data-requires-python"] == ">=3.8"
    assert anchor["data-core-metadata"] == "sha256=" + file["core-metadata"]["sha256"]
    assert [a["href"] for a in Anchors((folder / "simple/index.html").read_text()).found] == ["alpha/", "beta/"]


def test_wheels_are_hard_links_where_they_can_be(index):
    folder, alpha, _ = index
    assert (folder / "files" / alpha.name).samefile(alpha)


def test_pip_resolves_and_installs(index, server, build, tmp_path):
    folder, *_ = index
    url = server(folder)
    pip = tool(build, "pip")
    subprocess.run([pip, "install", "-q", "--no-cache-dir", "--isolated", "--index-url", url + "simple/",
                    "--target", tmp_path / "to", "beta"], check=True)
    assert (tmp_path / "to/alpha/__init__.py").read_text() == "version = '1.0'\n"
    assert (tmp_path / "to/beta-2.0.dist-info").is_dir()


def test_pip_takes_a_name_written_in_another_way(project, build, tmp_path):
    """The line that `make quickstart` prints, on a file:// index; Metadata's Name has an underscore."""
    realise_wheel(project, "two_words", "1.0")
    folder = tmp_path / "index"
    project.run("export", str(folder))
    subprocess.run([tool(build, "pip"), "install", "-q", "--isolated", "--no-cache-dir", "--index-url",
                    f"file://{folder}/simple", "--target", tmp_path / "to", "two-words==1.0"], check=True)
    assert (tmp_path / "to/two_words").is_dir()


def test_pip_takes_the_printed_path(index, build, tmp_path):
    _, alpha, _ = index
    subprocess.run([tool(build, "pip"), "install", "-q", "--isolated", "--no-index", "--target", tmp_path / "to",
                    alpha], check=True)
    assert (tmp_path / "to/alpha").is_dir()


def test_uv_resolves_and_installs(index, server, build, tmp_path):
    folder, *_ = index
    url = server(folder)
    uv = tool(build, "uv")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    got = subprocess.run([uv, "pip", "compile", "--no-config", "--no-cache", "--default-index", url + "simple/", "-q",
                          "--generate-hashes", "--python", sys.executable, "-"], input="beta\n", check=True, text=True,
                         capture_output=True, env=env)
    assert "alpha==1.0+cu130torch2.11" in got.stdout and "sha256:" in got.stdout
    subprocess.run([uv, "pip", "install", "-q", "--no-config", "--no-cache", "--default-index", url + "simple/",
                    "--python", sys.executable, "--target", tmp_path / "to", "beta"], check=True, env=env)
    assert (tmp_path / "to/alpha").is_dir() and (tmp_path / "to/beta").is_dir()


def stamps(folder):
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in [folder, *folder.rglob("*")]}


def test_nothing_new_writes_nothing(index, project):
    folder, *_ = index
    before = stamps(folder)
    _, err = project.run("export", str(folder))
    assert "up to date" in err and stamps(folder) == before


def test_a_new_wheel_swaps_the_whole_index(index, project):
    folder, *_ = index
    inode = folder.stat().st_ino
    realise_wheel(project, "gamma", "0.1")
    project.run("export", str(folder))
    assert folder.stat().st_ino != inode
    assert (folder / "simple/gamma/index.html").exists() and (folder / "simple/alpha/index.html").exists()
    assert [p.name for p in folder.parent.iterdir() if p.name.startswith("index.new")] == []


def test_another_version_stands_beside(index, project):
    folder, *_ = index
    realise_wheel(project, "alpha", "1.1", requires_python=">=3.9,<4")
    project.run("export", str(folder))
    page = json.loads((folder / "simple/alpha/index.json").read_text())
    assert page["versions"] == ["1.0+cu130torch2.11", "1.1"]
    assert page["files"][1]["requires-python"] == ">=3.9,<4"


def test_json_result(index, project):
    folder, *_ = index
    out, _ = project.run("export", "--json", str(folder))
    assert json.loads(out) == {"folder": str(folder), "indexes": ["simple"], "wheels": 2, "changed": False}


def test_a_folder_of_somebody_else_is_left_alone(index, project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_text("x")
    _, err = project.run("export", str(other), status=2)
    assert str(other) in err and (other / "precious").exists()


def test_two_wheels_of_one_name_are_refused(project, tmp_path):
    first = realise_wheel(project, "alpha", "1.0")
    make_wheel(project.base() / "wheels", "alpha", "1.0", requires_python=">=3.9")
    recipe = project.recipe(FINISH.format(name="alpha", version="1.0", file=first.name, kind="none", text=""), "two.lua")
    text = pathlib.Path(recipe).read_text().replace('name = "alpha-1.0", what', 'name = "alpha-again", what')
    pathlib.Path(recipe).write_text(text)
    project.run("realise", recipe)
    _, err = project.run("export", str(tmp_path / "index"), status=1)
    assert "alpha-1.0-py3-none-any.whl" in err and len(err.splitlines()) == 1
    assert not (tmp_path / "index").exists()
