"""A web server of git repositories on loopback, by `git http-backend`: git_httpd.py ROOT [--log FILE] [--script FILE]
[--tls CERT KEY] [--connect PORT]: of CONNECT, as a proxy gets it, every host is that port of this machine.

Prints "port N"; ends when its standard input ends.  The script is JSON, {part of a path: what}: of a request whose
path holds the part, "stall" sends the head of an answer and then nothing, "loop" redirects to itself, a number is the status
of an empty answer.  The log gets one line a request: method, path, and how many bytes were sent.
"""
import argparse
import http.server
import json
import os
import select
import socket
import ssl
import subprocess
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while True:
            size = int(self.rfile.readline().strip(), 16)
            data += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                return data

    def note(self, size):
        if self.server.log:
            with open(self.server.log, "a") as f:
                f.write(f"{self.command} {self.path} {size}\n")

    def scripted(self):
        for part, what in self.server.script().items():
            if part in self.path:
                return what
        return None

    def misbehave(self, what):
        if isinstance(what, int) or what == "loop":
            self.send_response(302 if what == "loop" else what)
            if what == "loop":
                self.send_header("Location", self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b"001e# service=git-up")
        self.wfile.flush()
        time.sleep(600)

    def answer(self):
        body = self.body()
        what = self.scripted()
        if what is not None:
            self.note(0)
            self.misbehave(what)
            return
        path, _, query = self.path.partition("?")
        env = os.environ | {
            "GIT_PROJECT_ROOT": self.server.root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)), "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }
        got = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE, check=True).stdout
        head, _, data = got.partition(b"\r\n\r\n")
        status, lines = 200, []
        for line in head.decode().split("\r\n"):
            key, _, value = line.partition(": ")
            if key == "Status":
                status = int(value.split()[0])
            else:
                lines.append((key, value))
        self.send_response(status)
        for key, value in lines:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.note(len(data))

    do_GET = do_POST = answer

    def do_CONNECT(self):
        self.note(0)
        with socket.create_connection(("127.0.0.1", self.server.connect)) as other:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: other, other: self.connection}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    data = end.recv(65536)
                    if not data:
                        self.close_connection = True
                        return
                    ends[end].sendall(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--log")
    parser.add_argument("--script")
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--connect", type=int)
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.root, server.log, server.connect = options.root, options.log, options.connect
    server.script = lambda: json.load(open(options.script)) if options.script else {}
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"port {server.server_port}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
