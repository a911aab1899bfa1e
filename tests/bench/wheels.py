"""The wheels that the fetching and the unpacking figures are about: which, where from, and an index of them."""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import places
from measure import run


def entries():
    """What the lock says of them, by file name."""
    lock = json.loads((places.ROOT / "recipes/forge.lock").read_text())["entries"]
    asked = [value["files"] for key, value in lock.items() if re.match(r"wheels(-only)? .*(torch==|nvidia-)", key)
             and not re.match(r"wheels 3.13 ninja", key)]
    return {file: lock[f"pypi {file}"] for file in sorted({file for files in asked for file in files})}


def held(store):
    """The wheels that a store holds: file name -> object."""
    found = {}
    for path in (pathlib.Path(store) / "objects").glob("*.whl"):
        found[path.name[33:]] = path
    wanted = entries()
    return {file: path for file, path in found.items()
            if file in wanted and path.stat().st_size == wanted[file]["size"]}


class Line:
    """What all connections share: so many bytes a second, as a network has it.  None: no limit."""

    def __init__(self, rate):
        self.rate, self.lock, self.free = rate, threading.Lock(), time.monotonic()

    def pass_on(self, count):
        if not self.rate:
            return
        with self.lock:
            self.free = max(self.free, time.monotonic() - 0.01) + count / self.rate
            wait = self.free - time.monotonic()
        if wait > 0:
            time.sleep(wait)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if parts[0] == "files" and parts[-1] in self.server.files:
            self.send_wheel(self.server.files[parts[-1]])
        else:
            self.send_page(parts[-1])

    def send_page(self, project):
        links = [f'<a href="/files/{file}#sha256={entry["sha256"]}">{file}</a><br>\n'
                 for file, entry in entries().items() if entry["name"] == project]
        body = f"<!DOCTYPE html><html><body>\n{''.join(links)}</body></html>\n".encode()
        self.send_response(200 if links else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_wheel(self, path):
        with open(path, "rb") as f:
            size, at = os.fstat(f.fileno()).st_size, 0
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.flush()
            while at < size:
                sent = os.sendfile(self.connection.fileno(), f.fileno(), at, min(size - at, 256 << 10))
                at += sent
                self.server.line.pass_on(sent)


class Index(http.server.ThreadingHTTPServer):
    """An index on loopback that serves files (name -> path) at `rate` bytes a second, all together."""
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, files, rate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.line = files, Line(rate)
        self.host = f"http://127.0.0.1:{self.server_address[1]}"
        self.url = f"{self.host}/simple/"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that ends before it has all shows it itself

    def urls(self):
        return {file: f"{self.host}/files/{file}" for file in self.files}


def urls_of(index):
    """Where an index has the wheels: file name -> URL.  Reads a project's page in either of its forms."""
    urls = {}
    for file, entry in entries().items():
        page = urllib.parse.urljoin(index.rstrip("/") + "/", entry["name"] + "/")
        with urllib.request.urlopen(urllib.request.Request(page, headers={"Accept": "text/html"}), timeout=60) as got:
            text = got.read().decode()
        found = re.search(r'"([^"]*/' + re.escape(file) + r')[#"]', text)
        if not found:
            raise RuntimeError(f"{page} has no {file}")
        urls[file] = urllib.parse.urljoin(page, found.group(1))
    return urls


class Recipe:
    """wheels.lua with the project's lock beside it."""

    def __init__(self, work):
        self.file = work / "wheels/wheels.lua"
        self.file.parent.mkdir()
        shutil.copy(places.HERE / "wheels.lua", self.file)
        shutil.copy(places.ROOT / "recipes/forge.lock", self.file.parent)
        self.env = places.forge_env(work)

    def command(self, variant, store, *more):
        return [places.FORGE, "realise", "--variant", variant, "--store", store, *more, self.file]

    def fill(self, store, given):
        """A store that has all of them, from the store `given` as far as that has them."""
        local = held(given)
        if len(local) == len(entries()):
            index = Index(local)
            run(self.command("fetch", store, "--index", index.url), env=self.env)
            index.shutdown()
        else:
            run(self.command("fetch", store), env=self.env)


def default_index():
    """The index that this machine's own clients use."""
    return os.environ.get("FORGE_INDEX") or subprocess.run(
        ["python3", places.ROOT / "tests/support/defaults.py", "pypi"], capture_output=True, text=True,
        check=True).stdout.strip()
