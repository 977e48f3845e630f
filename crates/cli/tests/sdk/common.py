"""What the checks of the Python clients share: a name that means this machine, a place that
notifications arrive at, and one line for each check.

The environment says where the deployment is: FORECOURT_URL, with the certificate of its local
authority in SSL_CERT_FILE; and who we are there: FORECOURT_TOKEN.
"""

import asyncio
import json
import os
import queue
import re
import socket
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

URL = os.environ['FORECOURT_URL']
CA = os.environ['SSL_CERT_FILE']
# What proves, where callers can prove that, that this is alice.
ALICE = {'Authorization': f'Bearer {os.environ.get("FORECOURT_TOKEN")}'}
# Far above what anything here takes, so that a busy machine fails no check.
PATIENCE = 60.0

# What @worker says when it is asked to work, piece by piece.
PIECES = ['One, ', 'two, ', 'three.']
WHOLE = ''.join(PIECES)


def localhost_is_here():
    """Names below .localhost mean this machine; not every resolver knows that."""
    asked = socket.getaddrinfo

    def getaddrinfo(host, *rest, **named):
        name = host.decode() if isinstance(host, bytes) else host
        return asked('127.0.0.1' if name and name.endswith('.localhost') else host, *rest, **named)

    socket.getaddrinfo = getaddrinfo


def public_key(jku, kid):
    """The key with this id out of the key set at this address."""
    import httpx

    assert jku.startswith(f'{URL}/'), jku
    keys = httpx.get(jku, timeout=PATIENCE).raise_for_status().json()['keys']
    return next(key for key in keys if key['kid'] == kid)


class Receiver:
    """A web server of the caller that takes notifications, on plain loopback."""

    def __init__(self):
        posts = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['content-length']))
                self.send_response(204)
                self.end_headers()
                posts.put((self.path, self.headers, json.loads(body)))

            def log_message(self, *_):
                pass

        self._posts = posts
        self._server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path):
        return f'http://127.0.0.1:{self._server.server_port}{path}'

    async def post(self):
        """The next notification: its path, its head and its body."""
        return await asyncio.to_thread(self._posts.get, timeout=PATIENCE)


def own_lines(error):
    """Where in these scripts an error came up."""
    here = os.path.dirname(__file__)
    return traceback.format_list(f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(here))


class Checks:
    """The checks of one run, in the order in which they are written."""

    def __init__(self):
        self._all = []

    def on(self, *wires):
        """A check for these wires. It is given the wire."""

        def keep(check):
            self._all.append((wires, check))
            return check

        return keep

    def run(self):
        """Runs the checks of the wire that is the first argument, and ends the program."""
        localhost_is_here()
        sys.exit(asyncio.run(self._run(sys.argv[1])))

    async def _run(self, wire):
        failed = 0
        chosen = [check for wires, check in self._all if wire in wires]
        assert chosen, f'no checks for {wire}'
        for check in chosen:
            begun = time.monotonic()
            try:
                await asyncio.wait_for(check(wire), PATIENCE)
                print(f'ok {check.__name__} ({time.monotonic() - begun:.1f} s)', flush=True)
            except Exception as error:
                failed += 1
                print(f'not ok {check.__name__}: {error!r}', flush=True)
                print(''.join(own_lines(error)), flush=True)
        return 1 if failed else 0


async def agree(state):
    """What a person does at the address of a consent."""
    url = f'{URL}/consent/{state}'
    async with httpx.AsyncClient(timeout=PATIENCE, headers={'Accept': 'text/html'}) as browser:
        page = (await browser.get(url)).text
        token = re.search(r'name="token" value="([^"]+)"', page)[1]
        decided = await browser.post(url, data={'token': token, 'decision': 'accept'})
        assert decided.status_code == 303, decided.text


async def raises(kind, awaited):
    """Awaits what must fail with this kind of error, and gives the error."""
    try:
        found = await awaited
    except kind as error:
        return error
    raise AssertionError(f'no {kind.__name__}, but {found!r}')
