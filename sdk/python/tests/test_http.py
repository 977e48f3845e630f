"""The HTTP service: its answers, its bounds, and clients that leave."""

import asyncio
import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from forecourt_agent import Context, Message, agent, http, limits, server
from forecourt_agent.http import application

cancelled = asyncio.Event


@agent
async def helper(message: Message, ctx: Context) -> Any:
    ctx.progress(0.5, "on it")
    if message.text == "lines":
        yield "one\ntwo\n\nthree "
        yield " four\r\nfive"
        return
    if message.text == "ask":
        yield f"You said {await ctx.ask('Well?')}."
        return
    ctx.state["n"] = {"state": 1}
    yield f"{len(ctx.tools)} {message.text}"


def body(text: str, **more: Any) -> bytes:
    return json.dumps({"parts": [{"kind": "text", "content": text}], "recipient": "@helper@a.example", **more}).encode()


def post(content: bytes, *fields: str, path: str = "/", method: str = "POST") -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: a", *fields]
    if not any(field.lower().startswith(("content-length", "transfer-encoding")) for field in fields):
        head.append(f"Content-Length: {len(content)}")
    return "\r\n".join([*head, "", ""]).encode() + content


def decoded(raw: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, rest = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    if fields.get("transfer-encoding") == "chunked":
        whole = b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            whole, rest = whole + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
        rest = whole
    return int(first.split()[1]), fields, rest


class Service(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        await self.serve(application(helper))

    async def serve(self, app: http.Application) -> None:
        self.started = asyncio.Event()
        self.port = 0
        real = asyncio.start_server

        async def start(*args: Any, **more: Any) -> asyncio.Server:
            listening = await real(*args, **more)
            self.port = listening.sockets[0].getsockname()[1]
            return listening

        self.enterContextIn("asyncio.start_server", start)
        self.task = asyncio.create_task(server.serve(app, "127.0.0.1", 0, self.started))
        await self.started.wait()

    def enterContextIn(self, name: str, value: Any) -> None:
        from unittest import mock

        patch = mock.patch(name, value)
        patch.start()
        self.addCleanup(patch.stop)

    async def asyncTearDown(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def ask(self, raw: bytes, ends: bool = False) -> tuple[int, dict[str, str], bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(raw)
        if ends:
            writer.write_eof()
        try:
            return decoded(await asyncio.wait_for(reader.read(), 20))
        finally:
            writer.close()

    async def test_an_answer_as_events_and_as_lines(self) -> None:
        status, fields, events = await self.ask(post(body("hi", tools=[{"name": "x"}])))
        self.assertEqual((status, fields["content-type"]), (200, "text/event-stream"))
        self.assertIn(b'event: progress\ndata: {"progress":0.5}\n\nevent: note\ndata: {"note":"on it"}\n\n', events)
        self.assertTrue(events.endswith(b"data: 0 hi\n\nevent: end\ndata:\n\n"), events)
        asked = post(body("hi", conversation="c"), "Accept: application/x-ndjson, text/event-stream")
        _, fields, lines = await self.ask(asked)
        self.assertEqual(fields["content-type"], "application/x-ndjson")
        read = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual(read[1:], [{"text": "0 hi"}, {"state": {"n": {"state": 1}}}, {"end": True}])

    async def test_line_breaks_survive_events(self) -> None:
        _, _, events = await self.ask(post(body("lines")))
        self.assertIn(b"data: one\ndata: two\ndata: \ndata: three \n\n", events)
        self.assertIn(b'event: part\ndata: {"part":{"kind":"text","content":" four\\r\\nfive"}}\n\n', events)

    async def test_a_question_goes_on_in_the_next_request(self) -> None:
        asks = "Accept: application/x-ndjson"
        lines = (await self.ask(post(body("ask", conversation="c"), asks)))[2].splitlines()
        state = json.loads(lines[1])["state"]
        lines = (await self.ask(post(body("fine", conversation="c", state=state), asks)))[2].splitlines()
        self.assertEqual(json.loads(lines[0]), {"text": "You said fine."})

    async def test_requests_that_are_none(self) -> None:
        for raw, status in (
            (post(b"", method="GET"), 405),
            (post(body("x"), path="/other"), 404),
            (post(b"{"), 400),
            (post(b"[]"), 400),
            (post(b"[" * 100_000), 400),
            (post(b'{"parts": 7}'), 400),
            (b"POST / HTTP/1.1\r\nHost: a\r\n\r\n", 411),
            (b"nonsense\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nbad field\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            (b"POST / HTTP/1.1\r\nX: " + b"x" * limits.REQUEST_HEAD_BYTES_MAX + b"\r\n\r\n", 431),
            (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (limits.REQUEST_BODY_BYTES_MAX + 1), 413),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % (limits.REQUEST_BODY_BYTES_MAX + 1), 413),
        ):
            self.assertEqual((await self.ask(raw))[0], status, raw[:80])

    async def test_bodies_in_chunks(self) -> None:
        content = body("hi")
        pieces = [content[:5], content[5:]]
        chunks = b"".join(b"%x;a=b\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        status, _, _ = await self.ask(post(chunks, "Transfer-Encoding: chunked", "Expect: nothing"))
        self.assertEqual(status, 200)

    async def test_a_client_that_leaves_cancels_its_turn(self) -> None:
        begun, over = asyncio.Event(), asyncio.Event()

        async def waits(message: Message, ctx: Context) -> Any:
            try:
                yield "so far"
                begun.set()
                await asyncio.sleep(3600)
            finally:
                over.set()

        await self.asyncTearDown()
        await self.serve(application(agent(waits)))
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(post(body("hi")))
        await begun.wait()
        writer.close()
        await writer.wait_closed()
        await asyncio.wait_for(over.wait(), 10)

    async def test_only_signed_bodies_where_there_is_a_secret(self) -> None:
        await self.asyncTearDown()
        await self.serve(application(helper, secret="s3cret"))
        content = body("hi")
        signature = hmac.new(b"s3cret", content, hashlib.sha256).hexdigest()
        for fields, status in (
            ([], 401),
            ([f"X-Hub-Signature-256: sha256={'0' * 64}"], 401),
            ([f"X-Hub-Signature-256: sha256={signature}"], 200),
        ):
            self.assertEqual((await self.ask(post(content, *fields)))[0], status)

    async def test_an_empty_secret_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "the secret is empty"):
            application(helper, secret="")

    async def test_a_service_that_ends_tells_open_turns_and_is_not_held_up_by_idle_connections(self) -> None:
        begun, over = asyncio.Event(), asyncio.Event()
        reported: list[Any] = []

        async def waits(message: Message, ctx: Context) -> Any:
            try:
                yield "so far"
                begun.set()
                await asyncio.sleep(3600)
            finally:
                over.set()

        await self.asyncTearDown()
        await self.serve(application(agent(waits)))
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        _, idle = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(post(body("hi")))
        await begun.wait()
        self.task.cancel()
        await asyncio.wait_for(asyncio.gather(self.task, return_exceptions=True), 10)
        self.assertTrue(over.is_set())
        self.assertIn(b"event: end", await asyncio.wait_for(reader.read(), 10))
        self.assertEqual(reported, [])
        writer.close()
        idle.close()

    async def test_connections_and_slow_requests_have_bounds(self) -> None:
        from unittest import mock

        with mock.patch.object(server, "CONNECTIONS_MAX", 1), mock.patch.object(server, "REQUEST_SECONDS_MAX", 0.2):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"POST / HTTP/1.1\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)
            self.assertEqual((await self.ask(post(body("hi"))))[0], 503)
            self.assertEqual(decoded(await asyncio.wait_for(reader.read(), 10))[0], 408)
            writer.close()


@unittest.skipIf(sys.platform == "win32", "there is no SIGTERM")
class Program(unittest.TestCase):
    def start(self, *more: str, **variables: str) -> "subprocess.Popen[str]":
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / "helper.py"
        file.write_text("from forecourt_agent import agent\n\n@agent\ndef helper(message, ctx):\n    return 'yes'\n")
        command = [sys.executable, "-m", "forecourt_agent", "serve", str(file), "--port", "0", *more]
        pipe, env = subprocess.PIPE, {**os.environ, **variables}
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env)
        self.addCleanup(process.kill)
        return process

    def test_it_ends_in_order_when_it_is_told_to(self) -> None:
        process = self.start()
        assert process.stdout is not None
        self.assertTrue(process.stdout.readline().startswith("listening on "))
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
        self.assertEqual((process.returncode, "Traceback" in said), (0, False), said)

    def test_an_empty_secret_is_refused(self) -> None:
        for process in (self.start(FORECOURT_SECRET=""), self.start("--secret", "")):
            _, said = process.communicate(timeout=20)
            self.assertEqual((process.returncode, said), (2, "error: the secret is empty\n"))


if __name__ == "__main__":
    unittest.main()
