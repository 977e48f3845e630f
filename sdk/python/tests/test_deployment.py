"""The program behind `host("mysite")`: what becomes of it when it is not there, or when a test is cancelled, and how
much of an answer is read."""

import asyncio
import os
import stat
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest import mock

from forecourt_agent import deployment
from forecourt_agent.testing import HostError, host

# Says that it is ready, and ends of itself never.
DEAF = """#!{python}
import json, os, sys, time
place = {{"agents": ["a"], "domain": "d", "http_port": 1, "default_agent": "a", "pid": os.getpid()}}
print(json.dumps(place), flush=True)
time.sleep(600)
"""


class Programs(unittest.IsolatedAsyncioTestCase):
    async def test_a_program_that_is_not_there_is_told(self) -> None:
        nowhere = mock.patch.dict(os.environ, {"FORECOURT": "/nowhere/forecourt"})
        with nowhere, self.assertRaisesRegex(HostError, "/nowhere/forecourt can't be started"):
            async with host("mysite"):
                pass

    @unittest.skipIf(sys.platform == "win32", "the program is a script")
    async def test_who_is_cancelled_stays_cancelled_and_leaves_no_process(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "forecourt"
            program.write_text(DEAF.format(python=sys.executable))
            program.chmod(stat.S_IRWXU)
            served = host("mysite")
            with mock.patch.dict(os.environ, {"FORECOURT": str(program)}):
                await served.__aenter__()
            pid = served._places["pid"]
            ending = asyncio.create_task(served.__aexit__(None))
            await asyncio.sleep(0)
            ending.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await ending
            with self.assertRaises(ProcessLookupError):
                os.kill(pid, 0)


class Echo(BaseHTTPRequestHandler):
    """Gives one answer to everybody."""

    BODY = b'{"parts": [{"kind": "text", "content": "hi"}]}'

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.BODY)))
        self.end_headers()
        self.wfile.write(self.BODY)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


class Answers(unittest.IsolatedAsyncioTestCase):
    async def test_an_answer_has_a_bound_and_is_whole_or_an_error(self) -> None:
        server = HTTPServer(("127.0.0.1", 0), Echo)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            asked = host("mysite")
            asked._places = {"domain": "d", "http_port": server.server_port, "default_agent": "a"}
            with mock.patch.object(deployment, "ANSWER_BYTES", len(Echo.BODY)):
                self.assertEqual((await asked.ask(None, "hi")).text, "hi")
            with (
                mock.patch.object(deployment, "ANSWER_BYTES", len(Echo.BODY) - 1),
                self.assertRaisesRegex(HostError, f"more than {len(Echo.BODY) - 1} bytes"),
            ):
                await asked.ask(None, "hi")
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
