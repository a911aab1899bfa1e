"""What tests make to be fetched, unpacked and finished: wheels, archives, an index with its lock."""
import base64
import hashlib
import io
import json
import tarfile
import zipfile


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def make_wheel(name, version, files=(), after=None, drop=()):
    """A pure wheel.  after: {path: bytes} put in place after RECORD was written; drop: paths left out then."""
    info = f"{name}-{version}.dist-info"
    files = dict(files) | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(record_line(path, data) for path, data in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for path, data in (files | (after or {})).items():
            if path not in drop:
                z.writestr(zipfile.ZipInfo(path), data)
    return out.getvalue()


def make_tar(files, mode="w:gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as t:
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            t.addfile(member, io.BytesIO(data))
    return out.getvalue()


class Index:
    """One project `alpha` with one wheel, a recipe that wants it unpacked, and the lock that names it."""
    file = "alpha-1.0-py3-none-any.whl"
    page = "/simple/alpha/"
    link = "/files/" + file

    def __init__(self, project, server, size=100):
        self.project = project
        self.server = server
        self.data = make_wheel("alpha", "1.0", {"alpha.py": b"#" * size})
        self.hash = sha256(self.data)
        self.root = project.folder / "www"
        (self.root / "simple/alpha").mkdir(parents=True)
        (self.root / "files").mkdir()
        (self.root / "files" / self.file).write_bytes(self.data)
        self.html = f'<!DOCTYPE html><body><a href="../../files/{self.file}#sha256={self.hash}">{self.file}</a>'
        (self.root / "simple/alpha/index.html").write_text(self.html)
        self.recipe = project.recipe('local list = forge.wheels.get { python = "3.13", requires = { "alpha==1.0" }, '
                                     'alone = true }\nreturn list[1].folder')
        self.lock = project.recipes / "forge.lock"
        self.write_lock()
        self.serve()

    def json(self):
        return json.dumps({"meta": {"api-version": "1.0"}, "name": "alpha", "files": [
            {"filename": self.file, "url": f"../../files/{self.file}", "hashes": {"sha256": self.hash}}]})

    def write_lock(self, **change):
        entry = {"from": "pypi", "name": "alpha", "version": "1.0", "file": self.file, "sha256": self.hash,
                 "size": len(self.data)} | change
        text = ('{"version":1,"entries":{\n' + json.dumps("pypi " + self.file) + ":" + json.dumps(entry) +
                ',\n"wheels-only 3.13 alpha==1.0":' + json.dumps({"files": [self.file]}) + "\n}}\n")
        self.lock.write_text(text)
        return text

    def serve(self, script=None):
        """Have the recipe's requests answered as the script says, from now on."""
        self.project.env["FORGE_INDEX"] = self.server(self.root, script) + "simple/"

    def refused(self, *args, status, says, **more):
        return self.project.refuses("realise", "recipes/x.lua", *args, status=status, says=says, **more)

    def made(self):
        """The recipe is made, and what it makes is what the index has."""
        [line] = self.project.run("realise", self.recipe)[0].splitlines()
        with open(line + "/site-packages/alpha.py", "rb") as f:
            assert set(f.read()) == {ord("#")}
        self.project.ends_well()
