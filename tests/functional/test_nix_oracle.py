"""The drv room against Nix itself: the same derivations and trees have to come to the same bytes.

Nix evaluates into a root folder of the test's own (its store directory is /forge/store, as forge's is);
nothing is built, and nothing of the machine's own Nix is touched.
"""
import base64
import hashlib
import json
import os
import random
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.skipif(shutil.which("nix-instantiate") is None, reason="no nix-instantiate (nix-bin)")

STORE = "/forge/store"
DRVS = 240
NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._?="
ODD = ["", " ", "\n", "\t", "\r", '"', "\\", "\\n", "$", "${x}", "''", "a\"b\\c\nd\te\rf", "é✓", "\u2028", "#", "\x01\x1b",
       "/1rz4g4znpzjwh1xymhjpm42vipw92pr73vdgl6xs1hycac8kf2n9", " lead and trail ", "[(\"out\",\"\")]"]


class Nix:
    """Nix with a store of its own below a folder."""

    def __init__(self, folder):
        self.real = folder / "store"
        for name in ("store", "state", "log", "conf", "home"):
            (folder / name).mkdir(parents=True)
        (folder / "conf/nix.conf").write_text("experimental-features = nix-command ca-derivations\n"
                                              "sandbox = false\nbuild-users-group =\nsubstituters =\n")
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(folder / "home"), "NIX_STORE_DIR": STORE,
            "NIX_STATE_DIR": f"{folder}/state", "NIX_LOG_DIR": f"{folder}/log", "NIX_CONF_DIR": f"{folder}/conf",
            "NIX_REMOTE": f"local?store={STORE}&real={folder}/store&state={folder}/state&log={folder}/log",
        }

    def run(self, *command):
        return subprocess.run(command, env=self.env, check=True, stdout=subprocess.PIPE).stdout

    def evaluate(self, expression):
        """The value of an expression; the derivations it makes are written to the store."""
        file = self.real.parent / "expression.nix"
        file.write_text(expression)
        return json.loads(self.run("nix-instantiate", "--eval", "--strict", "--json", "--read-write-mode", str(file)))

    def text(self, path):
        return (self.real / path.removeprefix(STORE + "/")).read_bytes()


@pytest.fixture
def nix(tmp_path):
    yield Nix(tmp_path / "nix")
    subprocess.run(["chmod", "-R", "u+w", tmp_path], check=False)


@pytest.fixture(scope="session")
def tool(build):
    return build / "tests/support/drv_tool"


def nix32(digest):
    number = int.from_bytes(digest, "little")
    return "".join("0123456789abcdfghijklmnpqrsvwxyz"[number >> 5 * i & 31] for i in reversed(range(52)))


def hash_forms(digest):
    sri = base64.b64encode(digest).decode()
    return [digest.hex(), nix32(digest), sri, "sha256-" + sri, "sha256:" + nix32(digest)]


class Generator:
    """A list for drv_tool, each element of which refers to earlier ones only."""

    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        self.folder = folder
        self.list = []
        self.spelling = {}  # element -> the output hash as the Nix expression writes it

    def name(self):
        return self.random.choice("abcXYZ019+_?=") + "".join(self.random.choices(NAME, k=self.random.randrange(1, 24)))

    def text(self):
        return "".join(self.random.choice(ODD + ["word", "-flag=1"]) for _ in range(self.random.randrange(4)))

    def add_source(self):
        path = self.folder / f"source{len(self.list)}"
        if self.random.random() < 0.5:
            path.write_text(self.text())
        else:
            make_tree(self.random, os.fsencode(path), 2)
        self.list.append({"source": str(path), "name": self.name()})

    def add_text(self):
        self.list.append({"text": self.text(), "name": self.name()})

    def is_drv(self, index):
        return "outputs" in self.list[index]

    def value(self, refs, outputs):
        parts = [self.text()]
        for ref in refs:
            parts += [list(ref), self.random.choice(["", "/bin", " ", self.text()])]
        if self.random.random() < 0.2:
            parts.append([-1, self.random.choice(outputs)])
        return parts

    def refs(self, count):
        refs = []
        for index in self.random.sample(range(len(self.list)), min(count, len(self.list))):
            outputs = self.list[index].get("outputs", ["out"])
            refs += [(index, o) for o in self.random.sample(outputs, self.random.randrange(1, len(outputs) + 1))]
        return refs

    def add_drv(self, kind, inputs=None, size=None):
        r = self.random
        outputs = ["out"] if kind == "fixed" else r.choice([["out"], ["out"], ["out", "dev"], ["lib", "a.b", "out"]])
        refs = self.refs(r.randrange(5) if inputs is None else inputs)
        digest = hashlib.sha256(str(len(self.list)).encode()).digest()
        method = r.choice(["flat", "nar"]) if kind != "input" else None
        env = {k: self.value(refs[i::4], outputs) for i, k in enumerate(r.sample(["A", "b c", "é", "z.z", "src", "_"], 4))}
        d = {"name": self.name(), "system": r.choice(["x86_64-linux", "builtin"]), "env": env, "kind": kind,
             "builder": r.choice([["/bin/sh"], ["builtin:fetch"], *([list(ref), "/sh"] for ref in refs[:1])]),
             "args": [self.value(refs[:1], outputs) for _ in range(r.randrange(4))], "outputs": outputs,
             "method": method, "hash": digest.hex() if kind == "fixed" else None,
             "inputs": [list(ref) for ref in refs if self.is_drv(ref[0])],
             "srcs": sorted({ref[0] for ref in refs if not self.is_drv(ref[0])})}
        if size:
            d["args"].append(["x" * size])
        if kind == "fixed":
            self.spelling[len(self.list)] = r.choice(hash_forms(digest))
        self.add_own_variables(d, len(self.list))
        self.list.append(d)

    def add_own_variables(self, d, index):
        """What Nix's derivation puts into the environment of its own."""
        env = d["env"]
        env["name"], env["system"], env["builder"] = [d["name"]], [d["system"]], d["builder"]
        if d["outputs"] != ["out"]:
            env["outputs"] = [" ".join(d["outputs"])]
        if d["kind"] != "input":
            env["outputHashAlgo"] = ["sha256"]
            env["outputHashMode"] = ["recursive" if d["method"] == "nar" else "flat"]
        if d["kind"] == "fixed":
            env["outputHash"] = [self.spelling[index]]

    def all(self):
        for _ in range(8):
            self.add_source()
        for _ in range(8):
            self.add_text()
        for i in range(DRVS - 4):
            self.add_drv(("floating", "fixed", "floating", "input")[i % 4])
        self.add_drv("floating", inputs=150)
        self.add_drv("input", inputs=60)
        self.add_drv("floating", size=300000)
        self.add_drv("fixed", inputs=0)
        return self.list


def nix_string(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("$", "\\$"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return text


def nix_value(parts, is_drv):
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += nix_string(part)
        elif part[0] < 0:
            text += f'${{builtins.placeholder "{part[1]}"}}'
        else:
            text += f'${{d{part[0]}."{part[1]}"}}' if is_drv(part[0]) else f"${{d{part[0]}}}"
    return f'"{text}"'


def nix_expression(generator):
    lines = ["let"]
    for index, d in enumerate(generator.list):
        def value(parts):
            return nix_value(parts, generator.is_drv)
        if "source" in d:
            body = f'builtins.path {{ path = /. + "{d["source"]}"; name = "{d["name"]}"; }}'
        elif "text" in d:
            body = f'builtins.toFile "{d["name"]}" ' + value([d["text"]])
        else:
            attrs = {k: value(v) for k, v in d["env"].items() if k != "outputs"}
            attrs["args"] = "[ " + " ".join(value(a) for a in d["args"]) + " ]"
            if d["outputs"] != ["out"]:
                attrs["outputs"] = "[ " + " ".join(f'"{o}"' for o in d["outputs"]) + " ]"
            if d["kind"] == "floating":
                attrs["__contentAddressed"] = "true"
            body = "derivation { " + " ".join(f'"{k}" = {v};' for k, v in attrs.items()) + " }"
        lines.append(f"d{index} = {body};")
    lines.append("in [")
    for index, d in enumerate(generator.list):
        outputs = " ".join(f'"{o}" = d{index}."{o}".outPath;' for o in d.get("outputs", []))
        lines.append(f"{{ path = d{index}{'.drvPath' if outputs else ''}; outputs = {{ {outputs} }}; }}")
    return "\n".join(lines + ["]"])


@pytest.mark.parametrize("seed", [1, 2])
def test_derivations(nix, tool, tmp_path, seed):
    generator = Generator(seed, tmp_path)
    given = generator.all()
    ours = json.loads(subprocess.run([tool, "derivations"], input=json.dumps(given).encode(), check=True,
                                     stdout=subprocess.PIPE).stdout)
    theirs = nix.evaluate(nix_expression(generator))
    assert len(ours) == len(theirs) == len(given)
    count = {"floating": 0, "fixed": 0, "input": 0, "deferred": 0, None: 0}
    for index, (d, a, b) in enumerate(zip(given, ours, theirs)):
        if "text" in a:
            assert a["text"].encode() == nix.text(b["path"]), (index, d)
        assert a["path"] == b["path"], (index, d)
        assert a["outputs"] == b["outputs"], (index, d)
        # an input-addressed one whose inputs' paths are known has a path: it tells of the modulo hashes
        deferred = d.get("kind") == "input" and not a["outputs"]["out"].startswith(STORE)
        count["deferred" if deferred else d.get("kind")] += 1
    assert sum(count.values()) - count[None] == DRVS and min(count.values()) >= 16, count


def test_text_with_references(nix, tool):
    given = [{"text": "one", "name": "one", "refs": []}, {"text": "two", "name": "two", "refs": []}]

    def ours():
        return json.loads(subprocess.run([tool, "derivations"], input=json.dumps(given).encode(), check=True,
                                         stdout=subprocess.PIPE).stdout)
    both = "{1} and {0}".format(*(o["path"] for o in ours()))
    given.append({"text": both, "name": "both", "refs": [1, 0]})
    theirs = nix.evaluate('let a = builtins.toFile "one" "one"; b = builtins.toFile "two" "two"; in '
                          '[ a b (builtins.toFile "both" "${b} and ${a}") ]')
    assert [o["path"] for o in ours()] == theirs


def make_tree(rand, path, depth):
    """A folder (a path in bytes) of files, links, folders; odd names, modes and sizes."""
    os.mkdir(path)
    names = {bytes(rand.choices(b"ab.-_~ '\"\\\n\xc3\xa9\xff", k=rand.randrange(1, 9))) for _ in range(rand.randrange(6))}
    for name in names | {b"A", b"a.b", b"a-b", b"a"}:
        if name in (b".", b".."):
            continue
        at = os.path.join(path, name)
        kind = rand.randrange(6)
        if kind == 0 and depth > 0:
            make_tree(rand, at, depth - 1)
        elif kind == 1:
            os.symlink(rand.choice([b"a", b"../..", b"/etc/passwd", b"\xff" * 300, b"missing"]), at)
        else:
            with open(at, "wb") as file:
                file.write(rand.randbytes(rand.choice([0, 1, 7, 8, 9, 4095, 4096, 70000, 300001])))
            os.chmod(at, rand.choice([0o644, 0o755, 0o600, 0o700, 0o444, 0o711, 0o655]))


def assert_same_nar(nix, tool, path):
    ours = subprocess.run([tool, "nar", path], check=True, stdout=subprocess.PIPE).stdout
    assert ours == nix.run("nix-store", "--dump", path)
    answer = json.loads(subprocess.run([tool, "hash", path], check=True, stdout=subprocess.PIPE).stdout)
    theirs = nix.run("nix-hash", "--type", "sha256", path).decode().strip()
    assert answer == {"sha256": theirs, "size": len(ours)}
    assert theirs == hashlib.sha256(ours).hexdigest()


def test_trees(nix, tool, tmp_path):
    rand = random.Random(3)
    for i in range(25):
        path = os.fsencode(tmp_path / f"tree{i}")
        make_tree(rand, path, 3)
        assert_same_nar(nix, tool, path)


def test_single_nodes(nix, tool, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_bytes(b"x" * (3 << 20))
    (tmp_path / "script").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "script").chmod(0o744)
    (tmp_path / "link").symlink_to("/non-existent")
    deep = tmp_path / "deep"
    for _ in range(100):
        deep = deep / "d"
    deep.mkdir(parents=True)
    for name in ("empty", "file", "script", "link", "deep"):
        assert_same_nar(nix, tool, os.fsencode(tmp_path / name))


def test_restores(nix, tool, tmp_path):
    """Nix unpacks what forge packed."""
    make_tree(random.Random(4), os.fsencode(tmp_path / "tree"), 3)
    nar = subprocess.run([tool, "nar", tmp_path / "tree"], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["nix-store", "--restore", tmp_path / "again"], env=nix.env, input=nar, check=True)
    again = subprocess.run([tool, "nar", tmp_path / "again"], check=True, stdout=subprocess.PIPE).stdout
    assert again == nar
