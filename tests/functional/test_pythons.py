"""Pythons as layers of worlds: prebuilt ones, ones compiled from Debian's source packages, and what is refused."""
import json
import pathlib
import sys

import pytest

from pythons import VERSION, Archive, Tar, add_python, standalone
from test_lock import keys  # noqa: F401, a fixture

TAG = "cp" + VERSION.replace(".", "")


@pytest.fixture
def archive(project, keys, server):  # noqa: F811
    if not pathlib.Path("/usr/bin/make").exists() or sys.version_info < (3, 11):
        pytest.skip("no make, or a Python older than 3.11")
    return Archive(project, keys, server)


# Asks the interpreter of /env what it is.
TOLD = """
local py = %s
return forge.derivation {
  name = "told", builder = "/env/bin/python", env = { PATH = "/usr/bin:/bin" },
  args = { "-I", "-B", "-c", [[
import json, os, sys, sysconfig
names = "CC", "CXX", "CFLAGS", "LDSHARED", "AR", "prefix", "LIBDEST", "EXT_SUFFIX"
told = {"prefix": sys.prefix, "base": sys.base_prefix, "include": sysconfig.get_paths()["include"],
        "site": [p for p in sys.path if p.endswith("site-packages")]}
told |= {"config": {name: sysconfig.get_config_var(name) for name in names}}
open(os.environ["out"], "w").write(json.dumps(told))
]] },
  world = forge.world.compose { base = forge.debian(), parts = { forge.env { python = py, wheels = {} } } },
}
"""


def realise(project, text, *args, **more):
    recipe = project.recipe(text)
    project.run("lock", recipe)
    return project.run("realise", recipe, *args, **more)


def told(project, python):
    out, _ = realise(project, TOLD % python)
    return json.loads(pathlib.Path(out.strip()).read_text())


def check_told(got):
    assert (got["prefix"], got["base"]) == ("/env", "/env/python")
    assert got["include"] == f"/env/python/include/python{VERSION}"
    assert f"/env/lib/python{VERSION}/site-packages" in got["site"]
    config = got["config"]
    # the commands are those of the base's own Python, by names that every world has
    assert (config["CC"], config["CXX"], config["AR"]) == ("cc -pthread", "c++", "ar")
    assert (config["CFLAGS"], config["LDSHARED"]) == ("-O2 -Wall", "cc -shared -Wl,x")
    assert config["LIBDEST"] == f"/env/python/lib/python{VERSION}" and TAG[2:] in config["EXT_SUFFIX"]


def test_standalone(project, archive):
    archive.publish()
    fields = archive.put("python.tar.gz", standalone())
    check_told(told(project, f'forge.python.standalone {{ version = "{VERSION}", {fields} }}'))


WHEEL = """
return forge.wheel {
  name = "alpha", version = "1.0", source = forge.path "alpha", requires = {},
  matrix = { python = { "%s" } },
  pythons = { ["%s"] = forge.python.standalone { version = "%s", %s } },
  build = "test -x /env/python/bin/python%s && python make.py $DIST",
  test = { import = "alpha" },
}
"""

MAKE = """
import base64, hashlib, sys, sysconfig, zipfile
tag = "cp{0.major}{0.minor}".format(sys.version_info)
files = {"alpha.py": "", "alpha-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: alpha\\nVersion: 1.0\\n",
         "alpha-1.0.dist-info/WHEEL": f"Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: {tag}-{tag}-linux_x86_64\\n"}
record = ""
for name, text in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(text)}\\n"
files["alpha-1.0.dist-info/RECORD"] = record + "alpha-1.0.dist-info/RECORD,,\\n"
with zipfile.ZipFile(f"{sys.argv[1]}/alpha-1.0-{tag}-{tag}-linux_x86_64.whl", "w") as z:
    for name, text in files.items():
        z.writestr(name, text)
"""


def test_a_recipe_with_a_python_of_its_own(project, archive):
    """Built, finished and tested by it; the axis takes it before one of forge's."""
    archive.publish()
    (project.recipes / "alpha").mkdir()
    (project.recipes / "alpha/make.py").write_text(MAKE)
    fields = archive.put("python.tar.gz", standalone())
    out, _ = realise(project, WHEEL % (VERSION, VERSION, VERSION, fields, VERSION))
    assert pathlib.Path(out.strip()).name == f"alpha-1.0-{TAG}-{TAG}-linux_x86_64.whl"
    [shown] = json.loads(project.run("show", "--json", "recipes/x.lua")[0])
    assert (shown["variant"], shown["state"]) == (TAG, "in the store")


SOURCE = 'forge.python.build { version = "%s", suite = "trixie", source = "py" }'

# Upstream's build, as far as forge drives it: what it would compile lies ready in tree.
CONFIGURE = """#!/bin/sh -eu
echo "$@" | sed s,/build/,/B/,g > options
{
  echo "all:"
  echo "install:"
  echo "	mkdir -p \\$(DESTDIR)/env && cp -R tree \\$(DESTDIR)/env/python"
  echo "	cp options \\$(DESTDIR)/env/python/options"
  echo "	echo from $PWD/Include > \\$(DESTDIR)/env/python/Makefile"
  echo "	mkdir -p \\$(DESTDIR)/env/python/lib/__pycache__ && echo times > \\$(DESTDIR)/env/python/lib/__pycache__/x.pyc"
  [ ! -e leaks ] || echo "	pwd > \\$(DESTDIR)/env/python/share"
} > Makefile
"""


def python_source(leaks=False, **how):
    tar = Tar("w:gz")
    tar.file("Python-1.0/configure", CONFIGURE.encode(), 0o755)
    if leaks:
        tar.file("Python-1.0/leaks", b"")
    add_python(tar, "Python-1.0/tree", **how)
    return tar.bytes()


def test_build_from_a_source_package(project, archive):
    archive.add_source("py", python_source())
    archive.publish()
    check_told(told(project, SOURCE % VERSION))
    [files] = [path for path in (project.store / "objects").glob(f"*-python-{VERSION}-files") if path.is_dir()]
    options = (files / "options").read_text()
    assert "--prefix=/env/python" in options and "--without-ensurepip" in options and "--disable-gil" not in options
    assert (files / "Makefile").read_text() == "from /env/python/src/Include\n"
    assert not list(files.rglob("__pycache__"))
    entries = json.loads((project.recipes / "forge.lock").read_text())["entries"]
    assert entries["debian-source trixie py"]["version"] == "1.0-1"


def test_build_from_a_tarball_anywhere(project, archive):
    archive.publish()
    check_told(told(project, f'forge.python.build {{ version = "{VERSION}", {archive.put("py.tar.gz", python_source())} }}'))


def refused(project, python, says):
    """The build ends with one line that says so; forge's own names the Python."""
    recipe = project.recipe(TOLD % python)
    project.run("lock", recipe)
    _, err = project.run("realise", recipe, status=100)
    lines = [line for line in err.splitlines() if says in line]
    assert len(lines) == 1, err
    assert err.splitlines()[-1].startswith("forge: ") and "python-" in err.splitlines()[-1]
    project.ends_well()


def test_a_build_that_names_its_folder(project, archive):
    archive.add_source("py", python_source(leaks=True))
    archive.publish()
    refused(project, SOURCE % VERSION, "these files name the folder of the build: ./share")


OTHER = "3.42"
CLAIMS = f"python {OTHER}: bin/python{OTHER} says that it is cpython {VERSION} ("


def test_a_build_that_is_not_the_version_it_claims(project, archive):
    archive.add_source("py", python_source(claims=OTHER))
    archive.publish()
    refused(project, SOURCE % OTHER, CLAIMS)


@pytest.mark.parametrize("claims, how, says", [
    (OTHER, {"claims": OTHER}, CLAIMS),
    (OTHER + "t", {"claims": OTHER + "t"}, f"python {OTHER}t: bin/python{OTHER}t says that it is cpython {VERSION} ("),
    (OTHER, {}, f"python {OTHER}: there is no bin/python{OTHER} in it, but: python{VERSION}"),
    (VERSION, {"program": b"#!/no/such/program\n"}, f"python {VERSION}: bin/python{VERSION} does not run: "),
    (VERSION, {"without": ["Python.h"]}, f"python {VERSION}: it has no /env/python/include/python{VERSION}/Python.h"),
    (VERSION, {"without": ["_bz2."]}, f"python {VERSION}: it lacks a module that builds need: No module named '_bz2'"),
])
def test_standalones_that_do_not_serve(project, archive, claims, how, says):
    archive.publish()
    refused(project, f'forge.python.standalone {{ version = "{claims}", {archive.put("python.tar.gz", standalone(**how))} }}', says)


def test_a_standalone_with_another_hash(project, archive):
    archive.publish()
    fields = archive.put("python.tar.gz", standalone())
    (archive.root / "python.tar.gz").write_bytes(b"other bytes")
    recipe = project.recipe(TOLD % f'forge.python.standalone {{ version = "{VERSION}", {fields} }}')
    project.run("lock", recipe)
    project.refuses("realise", "recipes/x.lua", status=102, says=["python.tar.gz", "sha256"])


ONE = 'forge.python.standalone { version = "3.12", urls = { "http://127.0.0.1:9/a.tar.gz" }, sha256 = "%s" }' % ("0" * 64)


@pytest.mark.parametrize("text, says", [
    ('pythons = { ["3.12"] = "x" }', 'forge.wheel: pythons[3.12] is forge.python.build{…} or forge.python.standalone{…}'),
    (f'pythons = {{ {ONE} }}', "forge.wheel: pythons[1] is Python 3.12"),
    (f'pythons = {{ ["3.11"] = {ONE} }}', "forge.wheel: pythons[3.11] is Python 3.12"),
    ('matrix = { python = { "3.12" } }', "python: there is no version '3.12'"),
    (f'pythons = {{ ["3.12"] = {ONE} }}, matrix = {{ python = {{ "3.15" }} }}', "there is no version '3.15'"),
    ('pythons = { ["3.10"] = forge.python.build { version = "3.10", suite = "a", source = "b" } }', "3.11 is the oldest"),
    ('pythons = { a = forge.python.build { version = "3.12t", suite = "a", source = "b" } }', "version '3.12t' is like"),
    ('pythons = { a = forge.python.build { version = "3.14", source = "b" } }',
     "forge.python.build: give suite and source (a Debian source package), or urls and sha256"),
    ('pythons = { a = forge.python.build { version = "3.14", suite = "a", source = "b", sha256 = "c" } }', "give suite and source"),
    ('pythons = { a = forge.python.build { version = "3.14", urls = { "http://127.0.0.1:9/x" } } }', "give suite and source"),
    ('pythons = { a = forge.python.build { version = "3.14", urls = {}, sha256 = "" } }', "no file name in urls"),
    ('pythons = { a = forge.python.compile {} }', "forge.python: there is no function 'compile'"),
    ('pythons = { a = forge.python.standalone { version = "3.14", urls = {}, sha256 = "" } }', "no file name in urls"),
    ('pythons = { a = forge.python.standalone { version = "3.14", url = "" } }', "there is no field 'url' (did you mean 'urls'?)"),
])
def test_wrong_fields(project, text, says):
    project.recipe('return forge.wheel { name = "x", version = "1.0", requires = {}, source = forge.path "base", %s }' % text)
    project.refuses("show", "recipes/x.lua", status=1, says=["recipes/x.lua", says])
