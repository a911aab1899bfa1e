"""A web server that misbehaves on demand, for tests:

    httpd.py ROOT [--script FILE] [--log FILE] [--tls CERT KEY]

Serves the folder ROOT on 127.0.0.1, prints "port N", and ends when its standard input does.
Ranges, If-Range, ETags, HEAD and folders (index.html, else index.json) work as they should.

A script is a JSON object: path -> list of steps, one for each request of that path; the last
stays.  {} is a good answer; a step may hold, alone or together:
    status      this status in place of 200 (the body is a short error page unless "body" is given)
    headers     {name: value}, added or (null) taken out
    body        this text in place of the file;  repeat: so many times
    type        Content-Type
    close_after send only so many bytes of the body, then close the connection
    reset_after the same, but the connection is reset
    stall_after send only so many bytes, then nothing more (until the client goes)
    delay       seconds before anything is answered
    rate        bytes a second
    length      a Content-Length that may lie;  "none": none, the connection's end is the end
    chunked     true: Transfer-Encoding: chunked
    ignore_range, no_etag   true
    etag        this ETag
    shift_range begin a partial answer so many bytes further than asked
    garbage     this text in place of a whole answer

It is a forward proxy as well: "GET http://…" is passed on, CONNECT tunnels.  The log has one JSON
object a line: connection number, method, path, proxy, and the request's headers in lower case.
"""
import argparse
import http.client
import http.server
import json
import mimetypes
import pathlib
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse
import zlib


class State:
    """What all connections share."""

    def __init__(self, root, script, log):
        self.root = pathlib.Path(root).resolve()
        self.script = script
        self.log = open(log, "a", buffering=1) if log else None
        self.lock = threading.Lock()
        self.connections = 0

    def step(self, path):
        with self.lock:
            steps = self.script.get(path)
            if not steps:
                return {}
            return steps.pop(0) if len(steps) > 1 else steps[0]

    def note(self, **what):
        if self.log:
            with self.lock:
                self.log.write(json.dumps(what) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "httpd"
    state = None

    def setup(self):
        super().setup()
        with self.state.lock:
            self.state.connections += 1
            self.number = self.state.connections

    def log_message(self, *args):
        pass

    def note(self, proxy=False):
        self.state.note(connection=self.number, method=self.command, path=self.path, proxy=proxy,
                        headers={k.lower(): v for k, v in self.headers.items()})

    def do_GET(self):
        if self.path.startswith("http://"):
            self.note(proxy=True)
            return self.forward()
        self.note()
        step = self.state.step(urllib.parse.urlsplit(self.path).path)
        time.sleep(step.get("delay", 0))
        if "garbage" in step:
            self.close_connection = True
            return self.wfile.write(step["garbage"].encode("latin-1"))
        self.answer(step)

    do_HEAD = do_GET

    def answer(self, step):
        body, kind = self.content(step)
        status = step.get("status", 200 if body is not None else 404)
        if body is None or (status >= 300 and "body" not in step):
            body, kind = f"<html>{status}</html>\n".encode(), "text/html"
        etag = step.get("etag", '"%08x"' % zlib.crc32(body))
        headers = {"Content-Type": step.get("type", kind), "Accept-Ranges": "bytes"}
        if not step.get("no_etag"):
            headers["ETag"] = etag
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if status == 200 and asked and not step.get("ignore_range") and \
                self.headers.get("If-Range", etag) == etag:
            start = int(asked.group(1)) + step.get("shift_range", 0)
            if start >= len(body):
                status, body = 416, b""
            else:
                status = 206
                headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
                body = body[start:]
        self.send(status, headers, body, step)

    def content(self, step):
        if "body" in step:
            return step["body"].encode() * step.get("repeat", 1), "text/plain"
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        file = (self.state.root / path.lstrip("/")).resolve()
        if self.state.root not in [file, *file.parents]:
            return None, None
        if file.is_dir():
            file = next((file / n for n in ("index.html", "index.json") if (file / n).is_file()), file)
        if not file.is_file():
            return None, None
        kind = "application/vnd.pypi.simple.v1+json" if file.name == "index.json" else \
            mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return file.read_bytes(), kind

    def send(self, status, headers, body, step):
        length = step.get("length", len(body))
        if step.get("chunked"):
            headers["Transfer-Encoding"] = "chunked"
        elif length == "none":
            headers["Connection"] = "close"
            self.close_connection = True
        else:
            headers["Content-Length"] = str(length)
        headers.update(step.get("headers", {}))
        self.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.send_body(body, step)

    def send_body(self, body, step):
        for what in ("close_after", "reset_after", "stall_after"):
            if what in step and step[what] < len(body):
                self.pieces(body[:step[what]], step, last=False)
                return getattr(self, what.split("_")[0] + "_now")()
        self.pieces(body, step, last=True)
        if step.get("length", len(body)) not in (len(body), "none"):
            self.close_now()

    def pieces(self, body, step, last):
        rate = step.get("rate")
        size = max(rate // 20, 1) if rate else 1 << 16
        for at in range(0, len(body), size):
            piece = body[at:at + size]
            if step.get("chunked"):
                piece = b"%x\r\n%s\r\n" % (len(piece), piece)
            self.wfile.write(piece)
            if rate:
                time.sleep(0.05)
        if step.get("chunked") and last:
            self.wfile.write(b"0\r\n\r\n")

    def close_now(self):
        self.close_connection = True

    def reset_now(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def stall_now(self):
        self.close_connection = True
        select.select([self.connection], [], [])

    def forward(self):
        url = urllib.parse.urlsplit(self.path)
        origin = http.client.HTTPConnection(url.hostname, url.port or 80)
        headers = {k: v for k, v in self.headers.items() if not k.lower().startswith("proxy-")}
        origin.request(self.command, urllib.parse.urlunsplit(("", "", url.path, url.query, "")), headers=headers)
        got = origin.getresponse()
        body = got.read()
        self.send(got.status, {k: v for k, v in got.getheaders() if k.lower() != "transfer-encoding"}, body, {})

    def do_CONNECT(self):
        self.note(proxy=True)
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as there:
            self.send_response(200)
            self.end_headers()
            here, both = self.connection, [self.connection, there]
            while True:
                for ready in select.select(both, [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        self.close_connection = True
                        return
                    (there if ready is here else here).sendall(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # clients that go away are what many tests are about


def main():
    options = argparse.ArgumentParser()
    options.add_argument("root")
    options.add_argument("--script")
    options.add_argument("--log")
    options.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    got = options.parse_args()
    script = json.loads(pathlib.Path(got.script).read_text()) if got.script else {}
    Handler.state = State(got.root, script, got.log)
    server = Server(("127.0.0.1", 0), Handler)
    if got.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*got.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("port", server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
