"""What reads bytes from outside, against many inputs. `SEED` and `CASES` say which and how many."""

import asyncio
import io
import json
import logging
import os
import random
import unittest
from typing import Any

from forecourt_agent import Message, http, question, server, state, testing
from forecourt_agent.context import Context
from forecourt_agent.worker import Output, Worker

SEED = int(os.environ.get("SEED", "7"))
CASES = int(os.environ.get("CASES", "300"))

WORDS = [
    "a",
    "é",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    ": ",
    "data: ",
    "event: end",
    "\u2028",
    "\x00",
    "😀",
    "{",
    '"',
    " ",
    "id: x",
]
REQUEST = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nAccept: x\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
LINE = b'{"turn": 1, "id": "m", "recipient": "@a@b.c", "parts": [{"kind": "text", "content": "x"}]}\n'
VALUES: list[Any] = [None, 7, "x", [], {}, [None], [7], {"a": None}]


def mutated(chance: random.Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(4):
            case 0:
                changed[at:at] = bytes([chance.randrange(256)])
            case 1:
                del changed[at : at + chance.randint(1, 9)]
            case 2:
                changed[at : at + 1] = chance.choice([b"\r\n", b"\n", b"0", b"-1", b"null", b"[", b"{}", b"\xff", b":"])
            case _:
                changed[at:at] = changed[at : at + chance.randint(1, 20)]
    return bytes(changed)


def heard(events: str) -> str:
    """The text of server-sent events, read as the specification of them says."""
    text, name, data = "", "", []
    for line in events.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("event:"):
            name = line[6:].removeprefix(" ")
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            value = "\n".join(data)
            text += json.loads(value)["part"]["content"] if name == "part" else "" if name else value
            name, data = "", []
    return text


class Properties(unittest.IsolatedAsyncioTestCase):
    async def test_a_request_is_read_or_refused(self) -> None:
        chance = random.Random(SEED)
        for _ in range(CASES):
            raw = mutated(chance, REQUEST)
            reader = asyncio.StreamReader()
            reader.feed_data(raw)
            reader.feed_eof()
            try:
                scope, _ = await server._request(reader, None)  # type: ignore[arg-type]
            except (server._Unreadable, asyncio.IncompleteReadError):
                continue
            except AttributeError:
                # The one request that is answered before it is read: `Expect`, which has no writer here.
                self.assertIn(b"xpect", raw)
                continue
            self.assertTrue(scope["path"].startswith("/"), raw)

    async def test_lines_of_a_host_never_end_a_worker(self) -> None:
        chance = random.Random(SEED)

        async def answers(message: Message, ctx: Context) -> str:
            return f"{message.text} {message.sender} {message.history} {ctx.deadline} {ctx.tools} {dict(ctx.state)}"

        async with testing.host(answers) as h:
            worker = Worker(h.runtime, Output(io.BytesIO()))
            logging.disable()
            self.addCleanup(logging.disable, logging.NOTSET)
            for turn in range(CASES):
                worker.take(mutated(chance, LINE))
                line = json.loads(LINE) | {"turn": turn}
                for name in ("parts", "sender", "history", "state", "tools", "recipient", "deadline", "answers"):
                    if chance.random() < 0.3:
                        line[name] = chance.choice(VALUES)
                worker.take(json.dumps(line | {"parts": line["parts"]}).encode())
                worker.take(
                    json.dumps(
                        {"turn": turn, chance.choice(["cancel", "result", "journal"]): chance.choice(VALUES)}
                    ).encode()
                )
            await worker.close()
            self.assertEqual(worker.open_turns, 0)

    async def test_text_is_the_same_behind_events(self) -> None:
        chance = random.Random(SEED)
        for _ in range(CASES):
            text = "".join(chance.choices(WORDS, k=chance.randint(1, 12)))
            events = b"".join(http._events({"text": text})).decode()
            self.assertEqual(heard(events), text, repr(text))

    async def test_answers_and_kept_states_are_read_whatever_they_are(self) -> None:
        chance = random.Random(SEED)
        fields = [
            question.field({"id": "a", "text": "A?"}),
            question.field({"id": "b", "text": "B?", "options": ["x"]}),
        ]

        def value(depth: int = 3) -> Any:
            kinds: list[Any] = [None, 1, True, "x", chance.choice(WORDS)]
            if depth:
                names = ["asked", "answers", "parts", "before", "$ask", "a", "b"]
                kinds += [[value(depth - 1)], {chance.choice(names): value(depth - 1) for _ in range(3)}]
            return chance.choice(kinds)

        for _ in range(CASES):
            said = "".join(chance.choices([*WORDS, "a", "b", "x"], k=6))
            found = question.values_of({"text": said, "values": {}}, fields)
            self.assertLessEqual(found.keys(), {"a", "b"})
            kept = {"n": value(), "$ask": value()}
            values, asked = state.read(kept)
            self.assertEqual(values, {"n": kept["n"]})
            if asked is not None:
                state.written(values, asked)


if __name__ == "__main__":
    unittest.main()
