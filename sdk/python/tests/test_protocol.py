"""Lines in both directions against the schema of the worker protocol, where that lies beside this package."""

import importlib.util
import json
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from forecourt_agent import Context, Message, parts, refuse, testing
from forecourt_agent.runtime import Runtime

SCHEMA = Path(__file__).parents[3] / "docs/reference/worker.schema.json"


async def everything(message: Message, ctx: Context) -> Any:
    if message.text == "no":
        raise refuse.unauthorized("Sign in.")
    yield "text"
    yield [parts.link("https://a.example/"), {"@type": "Thing"}, {"a": None}]
    ctx.progress(0.5, "note")
    ctx.tool_call("t", {"a": 1}, id=ctx.tool_call("t"), result=1)
    ctx.tool_call("t", error="broken")
    ctx.usage("m", 1, 2, cached=1, provider="p", cost=0.1)
    ctx.log.warning("look", extra={"n": 1, "any": object()})
    ctx.state["n"] = 1
    await ctx.journal({"step": 1})
    await ctx.file("a.txt", "words", description="A file")
    await ctx.call("add", a=1, b=2)
    await ctx.ask("Which?", options=["a", "b"])
    if message.text == "decline":
        ctx.decline("No.")
    if message.text == "fail":
        raise RuntimeError
    if message.text == "finish":
        ctx.finish("Done.")


@unittest.skipUnless(SCHEMA.exists(), "the schema of the protocol is not there")
@unittest.skipUnless(importlib.util.find_spec("jsonschema"), "jsonschema is not installed")
class Protocol(unittest.IsolatedAsyncioTestCase):
    async def test_every_line_is_as_the_schema_says(self) -> None:
        import jsonschema

        schema = json.loads(SCHEMA.read_text())
        seen: set[str] = set()

        def check(name: str, line: Any) -> None:
            validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
            self.assertEqual([error.message for error in validator.iter_errors(line)], [], line)

        write = testing._Channel.write

        def checked(channel: Any, line: Any, is_ending: bool = False) -> None:
            write(channel, line, is_ending)
            seen.update(line)
            known = schema["$defs"]["answer"]["properties"]
            self.assertLessEqual(line.keys(), known.keys())
            check("from_worker", {"turn": 1, **channel.lines[-1]})

        begin = Runtime.begin

        def begun(runtime: Any, message: Message, channel: Any) -> Any:
            check("to_worker", message.raw)
            return begin(runtime, message, channel)

        with mock.patch.object(testing._Channel, "write", checked), mock.patch.object(Runtime, "begin", begun):
            for text in ("yes", "no", "decline", "fail", "finish"):
                async with testing.host(everything, tools={"add": lambda a, b: a + b}) as h:
                    first = await h.say(text, files=[("a.txt", b"x")], subject="s", language="de")
                    if first.question:
                        await h.say("a")
        check("from_worker", {"hello": {"protocol": 2, "sdk": "forecourt-agent-python/0.1.0", "concurrency": 16}})
        self.assertGreaterEqual(
            seen, {"text", "part", "progress", "note", "tool_call", "usage", "log", "state", "journal"}
        )
        self.assertGreaterEqual(seen, {"artifact", "call", "question", "policy", "declined", "error", "message", "end"})


if __name__ == "__main__":
    unittest.main()
