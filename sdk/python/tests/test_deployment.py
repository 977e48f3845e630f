"""The program behind `host("mysite")`: what becomes of it when it is not there, or when a test is cancelled."""

import asyncio
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

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
