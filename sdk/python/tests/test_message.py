"""What is read from messages, and what agents may not say."""

import datetime
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from forecourt_agent import Context, Message, SyncContext, http, parts
from forecourt_agent.message import File, moment
from forecourt_agent.testing import host


class Messages(unittest.TestCase):
    def test_times_of_rfc_3339_are_read_with_any_precision(self) -> None:
        utc = datetime.timezone.utc
        for text, wanted in (
            ("2026-01-02T03:04:05Z", datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=utc)),
            ("2026-01-02T03:04:05.5Z", datetime.datetime(2026, 1, 2, 3, 4, 5, 500_000, tzinfo=utc)),
            ("2026-01-02T03:04:05.123456789Z", datetime.datetime(2026, 1, 2, 3, 4, 5, 123_456, tzinfo=utc)),
            ("2026-01-02T04:04:05+01:00", datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=utc)),
            ("tomorrow", None),
            (7, None),
        ):
            self.assertEqual(moment(text), wanted, text)

    def test_everything_has_a_value_where_the_host_says_nothing(self) -> None:
        empty = Message({})
        self.assertEqual(
            (empty.id, empty.text, empty.files, empty.links, empty.data, empty.history), ("", "", [], [], [], [])
        )
        self.assertEqual(
            (empty.recipient, empty.received_via, empty.language, empty.conversation), ("", "", None, None)
        )
        self.assertEqual((empty.metadata, empty.extensions, empty.answers, empty.resolution), ({}, [], {}, None))
        sender = empty.sender
        self.assertEqual(
            (sender.verified, sender.address, sender.auth_method, sender.subject), (False, "", "none", None)
        )
        self.assertEqual((sender.claimed_address, sender.profile), (None, {}))

    def test_what_was_proven_is_read(self) -> None:
        proven = {
            "subject": "s",
            "issuer": "i",
            "method": "m",
            "assurance": "oauth",
            "on_behalf_of": ["b"],
            "claims": {"c": 1},
        }
        (one,) = Message({"sender": {"verified": True, "identities": [proven]}}).sender.identities
        self.assertEqual((one.subject, one.issuer, one.method, one.assurance), ("s", "i", "m", "oauth"))
        self.assertEqual((one.on_behalf_of, one.claims), (["b"], {"c": 1}))

    def test_a_file_without_its_bytes_says_where_they_are(self) -> None:
        away = File({"name": "a", "size_bytes": 7, "bytes_ref": {"kind": "url", "url": "https://a.example/a"}})
        self.assertEqual((away.url, away.size), ("https://a.example/a", 7))
        for file in (away, File({}), File({"bytes_ref": {"data": "not base64!"}})):
            with self.assertRaises(ValueError):
                file.bytes()

    def test_parts_have_their_shape(self) -> None:
        self.assertEqual(parts.file_at("https://a.example/a.png")["mime"], "image/png")
        with self.assertRaises(ValueError):
            parts.item({"name": "no type"})


class Refused(unittest.IsolatedAsyncioTestCase):
    async def test_what_would_mean_nothing_is_an_error_where_it_is_said(self) -> None:
        said: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
            ("progress", (1.5,), {}),
            ("part", ({"content": "no kind"},), {}),
            ("data", (None,), {}),
            ("tool_call", ("x",), {"result": 1, "error": "e"}),
            ("usage", ("m", -1), {}),
            ("usage", ("m",), {"cost": float("nan")}),
        ]
        caught: list[str] = []

        async def says(message: Message, ctx: Context) -> str:
            for name, given, more in said:
                try:
                    getattr(ctx, name)(*given, **more)
                except ValueError:
                    caught.append(name)
            return f"{ctx.deadline} {ctx.remaining is not None}"

        async with host(says) as h:
            answer = await h.say("hi", more={"deadline": "2026-01-02T03:04:05Z"})
        self.assertEqual(caught, [name for name, _, _ in said])
        self.assertEqual(answer.text, "2026-01-02 03:04:05+00:00 True")

    async def test_threads_say_everything_too(self) -> None:
        def says(message: Message, ctx: SyncContext) -> str:
            ctx.progress(0.5)
            ctx.part(parts.text("a"))
            ctx.item({"@type": "Thing"})
            ctx.data(1)
            ctx.link("https://a.example/")
            ctx.source("https://b.example/")
            ctx.tool_call("t", error="no")
            ctx.usage("m", 1, 2)
            ctx.state["n"] = ctx.sender.verified
            ctx.journal(1)
            form = ctx.ask_form("Tell me.", [{"id": "a", "text": "A?"}])
            (tool,) = ctx.tools
            return f"{form['a']} {tool(a=1)} {ctx.call('double', a=2)}"

        async with host(says, tools={"double": lambda a: 2 * a}) as h:
            first = await h.say("hi")
            self.assertEqual((len(first.parts), len(first.usage), first.journal), (5, 1, [1]))
            self.assertEqual((await h.say("x")).text, "x 2 4")


class Application(unittest.IsolatedAsyncioTestCase):
    async def test_the_application_of_a_file_that_a_variable_names(self) -> None:
        sent: list[Any] = []

        async def send(event: Any) -> None:
            sent.append(event)

        received = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> Any:
            return next(received)

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "greeter.py")
            file.write_text(
                "from forecourt_agent import agent\n@agent\nasync def greeter(message, ctx):\n    yield 'hi'\n"
            )
            with mock.patch.dict(os.environ, {"FORECOURT_AGENT": str(file)}), mock.patch.object(http, "_app", None):
                await http.app({"type": "lifespan"}, receive, send)
            with mock.patch.dict(os.environ), mock.patch.object(http, "_app", None), self.assertRaises(RuntimeError):
                os.environ.pop("FORECOURT_AGENT", None)
                await http.app({"type": "lifespan"}, receive, send)
        self.assertEqual([event["type"] for event in sent], ["lifespan.startup.complete", "lifespan.shutdown.complete"])


if __name__ == "__main__":
    unittest.main()
