"""The worker as the host sees it: a real process, and what it reads and writes."""

import asyncio
import json
import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

from forecourt_agent import limits
from forecourt_agent.worker import Output

SRC = str(Path(__file__).parents[1] / "src")

AGENT = """
import asyncio, os, subprocess, sys
from forecourt_agent import agent

print("printed while it was imported")

@agent
async def helper(message, ctx):
    text = message.text
    if text == "print":
        print("between the lines")
        os.system("echo from a child")
        os.write(1, b"straight to the descriptor\\n")
    if text == "read":
        yield repr(sys.stdin.read())
    if text == "wait":
        yield "waiting"
        try:
            await asyncio.sleep(3600)
        finally:
            ctx.usage(model="m", input=1)
    if text == "ask":
        text = await ctx.ask("Well?")
    if text == "call":
        text = str(await ctx.call("add", a=1, b=2))
    if text == "log":
        ctx.log.warning("look", extra={"n": 1})
    if text == "note":
        await ctx.journal({"step": 1})
    if text == "big":
        for _ in range(200):
            yield "x" * 65536
    yield f"said {text}"
"""


class Process:
    """A worker and its lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def tell(self, *lines: Any) -> None:
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    async def line(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(await asyncio.wait_for(self.process.stdout.readline(), 20))

    async def until_end(self, turn: int) -> list[Any]:
        lines = []
        while True:
            line = await self.line()
            if line["turn"] == turn:
                lines.append({key: value for key, value in line.items() if key != "turn"})
                if line.keys() & {"end", "error", "question", "policy", "declined", "message"}:
                    return lines

    async def over(self) -> tuple[int, str, bytes]:
        assert self.process.stdin is not None
        self.process.stdin.close()
        out, err = await asyncio.wait_for(self.process.communicate(), 20)
        return self.process.returncode or 0, err.decode(), out


def message(turn: int | None, text: str, **more: Any) -> dict[str, Any]:
    said = {"id": f"m{turn}", "recipient": "@helper@demo.localhost", "parts": [{"kind": "text", "content": text}]}
    return {**({} if turn is None else {"turn": turn}), **said, "history": [], "sender": {}, **more}


class Worker(unittest.IsolatedAsyncioTestCase):
    async def start(self, *arguments: str, text: str = AGENT) -> Process:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name, "helper.py")
        await asyncio.to_thread(file.write_text, text)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *(arguments or ("-m", "forecourt_agent", "helper.py")),
            cwd=folder.name,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": SRC},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=1 << 24,
        )
        self.addAsyncCleanup(self.stop, process)
        return Process(process)

    async def stop(self, process: asyncio.subprocess.Process) -> None:
        if process.returncode is None:
            process.kill()
        await process.wait()

    async def test_hello_comes_first_and_turns_are_answered_side_by_side(self) -> None:
        worker = await self.start()
        hello = (await worker.line())["hello"]
        self.assertEqual((hello["protocol"], hello["concurrency"]), (2, 16))
        worker.tell(message(1, "wait"), message(2, "x"))
        self.assertEqual(await worker.until_end(2), [{"text": "said x"}, {"end": True}])
        worker.tell({"turn": 1, "cancel": {"reason": "caller_left", "grace_ms": 5000}})
        self.assertEqual(
            await worker.until_end(1), [{"usage": {"model": "m", "input_tokens": 1, "output_tokens": 0}}, {"end": True}]
        )
        worker.tell(message(3, "y"))
        self.assertEqual((await worker.until_end(3))[0], {"text": "said y"})

    async def test_what_is_printed_goes_to_standard_error_and_nothing_can_be_read(self) -> None:
        worker = await self.start()
        await worker.line()
        worker.tell(message(1, "print"))
        self.assertEqual(await worker.until_end(1), [{"text": "said print"}, {"end": True}])
        worker.tell(message(2, "read"))
        self.assertEqual((await worker.until_end(2))[0], {"text": "''"})
        status, errors, out = await worker.over()
        self.assertEqual((status, out), (0, b""))
        for printed in ("while it was imported", "between the lines", "from a child", "straight to the descriptor"):
            self.assertIn(printed, errors)

    async def test_questions_calls_logs_and_notes(self) -> None:
        worker = await self.start()
        await worker.line()
        worker.tell(message(1, "ask", conversation="c"))
        lines = await worker.until_end(1)
        self.assertEqual(lines[-1]["question"]["text"], "Well?")
        worker.tell(message(2, "fine", conversation="c", state=lines[0]["state"]))
        self.assertEqual(await worker.until_end(2), [{"text": "said fine"}, {"state": None}, {"end": True}])
        worker.tell(message(3, "call", tools=[{"name": "add"}]))
        call = (await worker.line())["call"]
        worker.tell(
            {"turn": 3, "result": {"id": "c9", "content": 0}}, {"turn": 3, "result": {"id": call["id"], "content": 3}}
        )
        self.assertEqual((call["arguments"], (await worker.until_end(3))[0]), ({"a": 1, "b": 2}, {"text": "said 3"}))
        worker.tell(message(4, "log"))
        logged = (await worker.until_end(4))[0]["log"]
        self.assertEqual(logged, {"level": "warn", "message": "look", "fields": {"n": 1}})
        worker.tell(message(5, "note"))
        self.assertEqual((await worker.line())["journal"], {"step": 1})
        worker.tell({"turn": 5, "journal": 1})
        self.assertEqual((await worker.until_end(5))[0], {"text": "said note"})

    async def test_lines_that_mean_nothing_harm_nobody(self) -> None:
        worker = await self.start()
        await worker.line()
        worker.tell(
            b"\n",
            b"{nonsense\n",
            b"[" * 100_000 + b"\n",
            b"[1]\n",
            b"7\n",
            b"\xff\xfe\n",
            {"turn": 9, "cancel": {}},
            {"turn": 9, "result": {}},
        )
        worker.tell({"turn": 1}, message(2, "x"))
        self.assertEqual((await worker.until_end(2))[0], {"text": "said x"})

    async def test_open_turns_end_when_the_host_is_gone(self) -> None:
        worker = await self.start()
        await worker.line()
        worker.tell(message(1, "wait"))
        await worker.line()
        status, _, out = await worker.over()
        self.assertEqual((status, [json.loads(line) for line in out.splitlines()][-1]), (0, {"turn": 1, "end": True}))

    async def test_a_host_that_does_not_read_holds_up_its_own_turn_alone(self) -> None:
        worker = await self.start()
        await worker.line()
        worker.tell(message(1, "big"))
        await asyncio.sleep(0)
        lines = await worker.until_end(1)
        self.assertEqual(sum(len(line.get("text", "")) for line in lines), 200 * 65536 + len("said big"))

    async def test_without_numbers_it_answers_a_message_in_a_process(self) -> None:
        worker = await self.start()
        await worker.line()
        worker.tell(message(None, "x"))
        self.assertEqual((await worker.line(), await worker.line()), ({"text": "said x"}, {"end": True}))

    async def test_a_file_that_runs_itself(self) -> None:
        text = AGENT + "\nfrom forecourt_agent import run\nif __name__ == '__main__': run()\n"
        worker = await self.start("helper.py", "--concurrency", "2", text=text)
        self.assertEqual((await worker.line())["hello"]["concurrency"], 2)
        worker.tell(message(1, "x"))
        self.assertEqual((await worker.until_end(1))[0], {"text": "said x"})

    async def test_what_cannot_run_says_why(self) -> None:
        for arguments, text, said in (
            (("nothing.py",), AGENT, "file not found: nothing.py"),
            (("helper.py",), "x = 1", "helper.py has no agent: mark a function with `@agent`"),
            (("helper.py:other",), AGENT, "helper.py has no agent `other`"),
            (("helper.py", "--concurrency", "257"), AGENT, "concurrency is a number from 1 to 256, unlike 257"),
        ):
            worker = await self.start("-m", "forecourt_agent", *arguments, text=text)
            status, errors, _ = await worker.over()
            self.assertEqual((status, errors.splitlines()[-1]), (2, f"error: {said}"))

    async def test_a_file_that_cannot_be_loaded_names_its_line_and_nothing_else(self) -> None:
        for text, line, error in (
            ("import no_such_library", 1, "ModuleNotFoundError: No module named 'no_such_library'"),
            ("x = 1\nint('y')", 2, "ValueError: invalid literal for int() with base 10: 'y'"),
            ("x = 1\ny = (", 2, "SyntaxError: '(' was never closed"),
        ):
            worker = await self.start("-m", "forecourt_agent", "helper.py", text=text)
            status, errors, _ = await worker.over()
            lines = errors.splitlines()
            self.assertEqual((status, lines[0], lines[-1]), (2, "error: helper.py can't be loaded", error))
            places = [shown for shown in lines if shown.startswith('  File "')]
            self.assertEqual(len(places), 1)
            self.assertRegex(places[0], rf'helper\.py", line {line}\b')


class Bounds(unittest.TestCase):
    def test_what_the_host_leaves_unread_has_a_bound_and_endings_go_all_the_same(self) -> None:
        read, write = os.pipe()
        with os.fdopen(read, "rb") as reader, os.fdopen(write, "wb", buffering=0) as writer:
            output = Output(writer)
            room = limits.UNSENT_BYTES_MAX
            piece = {"text": "x" * (1024 * 1024 - len('{"text":""}\n'))}
            for _ in range(room // (1024 * 1024)):
                output.write(piece)
            with self.assertRaises(BufferError):
                output.write(piece)
            output.write({"end": True}, is_ending=True)
            threading.Thread(target=output.close, args=(20,)).start()
            lines = 0
            while lines <= room // (1024 * 1024):
                self.assertTrue(reader.readline())
                lines += 1


if __name__ == "__main__":
    unittest.main()
