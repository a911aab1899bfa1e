"""Where benches work: the project, the built programs, a scratch file system, a Nix of its own."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from measure import Skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("FORGE_BUILD", ROOT / "build")).resolve()
FORGE = BUILD / "forge"
BUSYBOX = pathlib.Path("/bin/busybox")


def tool(name):
    return BUILD / "tests/support" / name


def forge_env(home):
    """What forge sees: nothing of the caller's settings but the library under test."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "http_proxy", "https_proxy", "no_proxy",
                                                         "SSL_CERT_FILE", "CURL_CA_BUNDLE", "PIP_INDEX_URL")}
    return keep | {"HOME": str(home), "FORGE_LIB": str(ROOT / "lib"), "LC_ALL": "C.UTF-8"}


@contextlib.contextmanager
def scratch(kind, folder):
    """A folder on a file system of its own.  kind: "tmpfs"; "ext4", a journaled one in a file below `folder`; or
    "none", where nothing can be mounted: the folder as it is."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="forge-bench-", dir=folder))
    work, image, mounted = base / "work", base / "image", False
    work.mkdir()
    try:
        if kind == "tmpfs":
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=50%", "forge-bench", work], check=True)
        elif kind == "ext4":
            with open(image, "w") as f:
                f.truncate(16 << 30)
            subprocess.run(["mkfs.ext4", "-q", image], check=True)
            subprocess.run(["mount", "-o", "loop", image, work], check=True)
        mounted = kind != "none"
        yield work
    finally:
        if mounted:
            subprocess.run(["umount", "-l", work], check=False)
        else:
            remove(work)
        shutil.rmtree(base, ignore_errors=True)


def remove(path):
    """Remove a tree; a store's folders are read-only."""
    if os.path.isdir(path) and os.geteuid() != 0:
        subprocess.run(["chmod", "-R", "u+w", path], check=False)
    subprocess.run(["rm", "-rf", path], check=True)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"no {program} here")


class Nix:
    """Debian's nix with forge's store directory, in a root folder of its own, with its sandbox on: a build sees
    busybox as /bin/sh and nothing else of the machine."""

    def __init__(self, folder):
        need("nix-build", "nix-instantiate")
        self.root = folder / "nix"
        conf = folder / "nix-conf"
        for each in (self.root, conf):
            each.mkdir(exist_ok=True)
        (conf / "nix.conf").write_text(
            "experimental-features = nix-command ca-derivations\nsandbox = true\nbuild-users-group =\n"
            f"sandbox-paths = /bin/sh={BUSYBOX}\nsubstituters =\nmax-jobs = 1\n")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "NIX_STORE_DIR": "/forge/store",
                    "NIX_CONF_DIR": str(conf), "LC_ALL": "C.UTF-8"}

    def build(self, file):
        return ["nix-build", "--store", str(self.root), "--no-out-link", str(file)]

    def clear(self):
        remove(self.root)
        self.root.mkdir()
