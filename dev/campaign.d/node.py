"""The daemons of a campaign, and the service behind their agents."""

import collections
import functools
import http.client
import http.server
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from processes import Cable, free_port, wait_for_port

HOST = "demo.localhost"
TOKEN = "a-token-of-the-operator"

TOP = """
domain = "{host}"
public_url = "https://{host}"
default_agent = "work"
[listen]
http = "127.0.0.1:{node.http}"
https = "127.0.0.1:{node.https}"
admin = "127.0.0.1:{node.admin}"
[agtp]
listen = "127.0.0.1:{node.agtp}"
[admin]
token = "{token}"
[egress]
allow = ["127.0.0.0/8"]
allow_http = true
[limits]
per_address = {{ per_second = 10000, burst = 10000 }}
per_session = {{ per_second = 10000, burst = 10000 }}
tasks_per_caller_max = 2000
replies_per_caller_max = 2000
stored_bytes_per_caller = 4294967296
"""
SHARED = """
[store]
url = "{store}"
key = "${{FORECOURT_STORE_KEY}}"
lease_seconds = 5
[bus]
url = "{bus}"
"""


class Service(http.server.BaseHTTPRequestHandler):
    """What works behind the agents, and counts what it has begun, and done to the end."""

    protocol_version = "HTTP/1.1"
    ends = collections.Counter()
    begun = collections.Counter()
    lock = threading.Lock()

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        mark = message["parts"][0]["content"]
        with self.lock:
            self.begun[mark] += 1
        time.sleep(random.uniform(0.2, 1.5))
        body = json.dumps([{"text": f"done {mark}"}]).encode()
        try:
            # Who asked may be dead by now: then nobody has this end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\0" * 8)
            if self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"":
                return
        except BlockingIOError:
            pass
        except OSError:
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        with self.lock:
            self.ends[mark] += 1

    def log_message(self, *_):
        pass


class ServiceServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """Nodes that are killed leave broken connections behind."""


@functools.cache
def knows(program, key):
    """Whether a program knows a key of its settings."""
    reference = subprocess.run([str(program), "reference", "config"], capture_output=True, text=True, check=True)
    return f"| `{key}` |" in reference.stdout


class Node:
    """One daemon, with a folder and ports of its own: on a database that it shares, or alone on SQLite."""

    def __init__(self, place, number, program, service, shared=None, environment=None, data=None):
        self.place, self.number, self.program = place, number, program
        self.http, self.https, self.admin, self.agtp = (free_port() for _ in range(4))
        self.folder = place.folder / f"node{number}"
        self.environment, self.data = dict(environment or {}), data
        self.process, self.cable = None, None
        (self.folder / "agents").mkdir(parents=True)
        (self.folder / "content").mkdir()
        top = TOP.format(host=HOST, token=TOKEN, node=self)
        if shared:
            self.cable = Cable(shared["postgres"])
            store = f"postgres://forecourt@127.0.0.1:{self.cable.port}/forecourt"
            top += SHARED.format(store=store, bus=shared["bus"])
            self.environment["FORECOURT_STORE_KEY"] = shared["key"]
        self.top = top
        self.write("forecourt.toml", top)
        backend = f'[backend]\nkind = "http"\nurl = "http://127.0.0.1:{service.server_address[1]}/"\n'
        self.backend = backend
        self.again = f'handle = "again"\nname = "Again"\non_lost = "restart"\n{backend}'
        self.write("agents/again.toml", self.again)
        self.write("agents/echo.toml", 'handle = "echo"\nname = "Echo"\n[backend]\nkind = "echo"\n')
        self.write("agents/shelf.toml", 'handle = "shelf"\nname = "Shelf"\n[backend]\nkind = "search"\ncontent = ["content"]\n')
        self.write("content/first.jsonl", '{"@id": "urn:first", "name": "a first thing"}\n')

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def start(self, program=None):
        self.program = program or self.program
        # The release before this one does not know it.
        once = "once = true\n" if knows(self.program, "once") else ""
        self.write("agents/work.toml", f'handle = "work"\nname = "Work"\n{once}{self.backend}')
        environment = {**os.environ, "XDG_STATE_HOME": str(self.folder / "state"), **self.environment}
        words = [str(self.program), "serve", str(self.folder)]
        if self.data:
            words += ["--data", str(self.data)]
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        self.place.processes.append(self.process)

    def is_ready(self):
        try:
            return call(self.admin, "GET", "/readyz")[0] == 200
        except OSError:
            return False

    def wait(self, seconds=60):
        wait_for_port(self.admin, self.process)
        until = time.time() + seconds
        while time.time() < until:
            if self.is_ready():
                return
            time.sleep(0.05)
        sys.exit(f"node {self.number} is never ready; see {self.folder}/log")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def leave(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def call(port, method, path, body=None, headers=None):
    """One request: status, headers and body. OSError when there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, {"Host": HOST, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()
