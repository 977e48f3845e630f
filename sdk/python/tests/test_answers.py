"""What agents say: every kind of value and of function, and how turns end."""

import asyncio
import unittest
from typing import Any

from forecourt_agent import Context, Message, SyncContext, agent, parts, refuse
from forecourt_agent.limits import LINE_SENT_BYTES_MAX, LOG_LINES_MAX, PIECE_BYTES_MAX
from forecourt_agent.testing import host


class Kinds(unittest.IsolatedAsyncioTestCase):
    async def test_every_kind_of_function_answers(self) -> None:
        async def generator(message: Message, ctx: Context) -> Any:
            yield "one "
            yield "two"

        async def coroutine(message: Message, ctx: Context) -> str:
            return "one two"

        def sync_generator(message: Message, ctx: SyncContext) -> Any:
            yield "one "
            yield "two"

        def function(message: Message, ctx: SyncContext) -> str:
            ctx.text("one ")
            return "two"

        class Callable:
            async def __call__(self, message: Message, ctx: Context) -> str:
                return "one two"

        async def returning_stream(message: Message, ctx: Context) -> Any:
            return generator(message, ctx)

        for one in (generator, coroutine, sync_generator, function, Callable(), returning_stream):
            async with host(one) as h:
                answer = await h.say("hi")
                self.assertEqual((answer.ending, answer.text), ("complete", "one two"), one)

    async def test_every_kind_of_value_becomes_what_it_is(self) -> None:
        @agent
        async def shop(message: Message, ctx: Context) -> Any:
            yield "Here: "
            yield {"@type": "Product", "name": "Shirt"}
            yield {"size": "S"}
            yield [parts.link("https://a.example/", "A"), "and"]
            yield parts.file("a.txt", "words")
            ctx.item({"@type": "Product", "name": "Hat"})
            ctx.source("https://b.example/")
            ctx.progress(0.5, "half")
            call = ctx.tool_call("look", {"q": 1})
            ctx.tool_call("look", {"q": 1}, id=call, result=[1])
            ctx.usage(model="m", input=3, output=4, cached=1, provider="p", cost=0.5)

        async with host(shop) as h:
            answer = await h.say("hi")
        self.assertEqual([item["name"] for item in answer.items], ["Shirt", "Hat"])
        self.assertEqual(answer.data[1], {"size": "S"})
        self.assertEqual([link["url"] for link in answer.links], ["https://a.example/", "https://b.example/"])
        self.assertEqual((answer.text, answer.files[0].content), ("Here: and", b"words"))
        self.assertEqual(answer.progress, [{"progress": 0.5, "note": "half"}])
        self.assertEqual([call["id"] for call in answer.tool_calls], ["t1", "t1"])
        used = {
            "model": "m",
            "input_tokens": 3,
            "output_tokens": 4,
            "cached_input_tokens": 1,
            "provider": "p",
            "cost": 0.5,
        }
        self.assertEqual(answer.usage, [used])

    async def test_what_cannot_be_said_fails_the_turn_and_is_logged(self) -> None:
        for value in (b"bytes", 7, object(), {"size": object()}, float("nan"), {"n": float("inf")}):

            async def bad(message: Message, ctx: Context, value: Any = value) -> Any:
                yield "so far"
                yield value

            async with host(bad) as h:
                answer = await h.say("hi")
                self.assertEqual(
                    (answer.ending, answer.text, answer.error), ("failed", "so far", "The agent met an error.")
                )
                self.assertIn("traceback", answer.logs[0]["fields"])

    async def test_the_log_says_where_in_the_file_it_failed(self) -> None:
        async def fails(message: Message, ctx: Context) -> Any:
            yield 1 / 0

        async with host(fails) as h:
            entry = (await h.say("hi")).logs[0]
        line = fails.__code__.co_firstlineno + 1
        told = f"the agent fails failed: ZeroDivisionError: division by zero (test_answers.py:{line})"
        self.assertEqual(entry["message"], told)
        # Not the way through the library.
        self.assertEqual(entry["fields"]["traceback"].count('  File "'), 1)

    async def test_half_a_surrogate_pair_is_replaced(self) -> None:
        async with host(lambda message, ctx: "a\ud83d") as h:
            self.assertEqual((await h.say("hi")).text, "a\ufffd")

    async def test_endings(self) -> None:
        def ends(name: str, *args: Any) -> Any:
            async def function(message: Message, ctx: Context) -> None:
                getattr(ctx, name)(*args)

            return function

        for name, argument, ending in (
            ("refuse", refuse.forbidden("Members only."), "refused"),
            ("decline", "Never.", "declined"),
            ("fail", "No luck.", "failed"),
            ("finish", "Done.", "message"),
            ("question", "Which?", "question"),
        ):
            async with host(ends(name, argument)) as h:
                answer = await h.say("hi")
                told = {
                    answer.question and answer.question.text,
                    answer.declined,
                    answer.error,
                    answer.text,
                    (answer.refusal or {}).get("message"),
                }
                self.assertEqual(answer.ending, ending)
                self.assertIn(str(argument), told)

    async def test_an_error_tells_the_caller_nothing_of_the_inside(self) -> None:
        async def broken(message: Message, ctx: Context) -> None:
            raise RuntimeError("the password is hunter2")

        async def exits(message: Message, ctx: Context) -> None:
            raise SystemExit(3)

        async def gives_up(message: Message, ctx: Context) -> None:
            raise asyncio.CancelledError

        def sync(message: Message, ctx: SyncContext) -> None:
            raise StopIteration

        for one in (broken, exits, gives_up, sync):
            async with host(one) as h:
                answer = await h.say("hi")
                self.assertEqual((answer.ending, answer.error), ("failed", "The agent met an error."), one)
                self.assertEqual(answer.logs[0]["level"], "error")
                self.assertNotIn("hunter2", str([line for line in answer.lines if "log" not in line]))

    async def test_what_is_said_after_the_end_is_an_error_where_it_is_said(self) -> None:
        late: list[BaseException] = []

        async def leaves_work(message: Message, ctx: Context) -> str:
            async def later() -> None:
                await asyncio.sleep(0.01)
                try:
                    ctx.text("late")
                except RuntimeError as error:
                    late.append(error)

            self.task = asyncio.create_task(later())
            return "done"

        async with host(leaves_work) as h:
            answer = await h.say("hi")
            await self.task
        self.assertEqual((answer.text, len(late)), ("done", 1))

    async def test_what_the_sender_proved_can_be_read(self) -> None:
        async def who(message: Message, ctx: Context) -> str:
            return f"{ctx.sender.verified} {ctx.sender.subject} {message.sender.identities[:1]}"

        async with host(who) as h:
            self.assertTrue(
                (await h.say("hi", subject="oauth:https://a.example#ada")).text.startswith("True oauth:https")
            )
            self.assertEqual((await h.say("hi")).text, "False None []")

    async def test_files_and_history_can_be_read(self) -> None:
        async def reads(message: Message, ctx: Context) -> str:
            return f"{[(f.name, f.bytes()) for f in message.files]} {[(t.role, t.text) for t in ctx.history]}"

        async with host(reads) as h:
            self.assertEqual((await h.say("a", files=[("a.txt", b"x")])).text, "[('a.txt', b'x')] []")
            self.assertIn("[('user', 'a'), ('assistant',", (await h.say("b")).text)

    async def test_several_agents_are_told_apart_by_their_handles(self) -> None:
        async def night_shift(message: Message, ctx: Context) -> str:
            return "night"

        async def day(message: Message, ctx: Context) -> str:
            return "day"

        async with host(agent(night_shift), agent(handle="day")(day)) as h:
            for recipient, text in (
                ("@night-shift@a.example", "night"),
                ("@day@a.example", "day"),
                ("@no@a.example", ""),
            ):
                answer = await h.say("hi", more={"recipient": recipient})
                self.assertEqual(answer.text, text)
            self.assertIn("day, night-shift", answer.error or "")


class Files(unittest.IsolatedAsyncioTestCase):
    async def test_a_file_goes_in_pieces_within_their_bound(self) -> None:
        async def pieces() -> Any:
            yield b"a" * 10
            yield b"b" * 10

        async def sends(message: Message, ctx: Context) -> None:
            await ctx.file("exact.bin", b"x" * PIECE_BYTES_MAX)
            await ctx.file("more.bin", b"y" * (PIECE_BYTES_MAX + 1))
            await ctx.file("plan.pdf", pieces(), description="A plan")
            await ctx.file("words.md", "ä")
            await ctx.file("empty.txt", b"")

        def sends_from_thread(message: Message, ctx: SyncContext) -> None:
            ctx.file("rows.csv", (b"a,b\n" for _ in range(3)))
            ctx.file("array.bin", bytearray(b"\x01\x02"))
            ctx.file("view.bin", memoryview(b"\x01\x02"))

        async with host(sends_from_thread) as h:
            sent = [file.content for file in (await h.say("hi")).files]
        self.assertEqual(sent, [b"a,b\n" * 3, b"\x01\x02", b"\x01\x02"])
        async with host(sends) as h:
            answer = await h.say("hi")
        sizes = [(file.name, len(file.content)) for file in answer.files]
        bound = PIECE_BYTES_MAX
        wanted = [("exact.bin", bound), ("more.bin", bound + 1), ("plan.pdf", 20), ("words.md", 2), ("empty.txt", 0)]
        self.assertEqual(sizes, wanted)
        self.assertEqual((answer.files[2].mime, answer.files[3].mime), ("application/pdf", "text/markdown"))
        of_second = [line["artifact"] for line in answer.lines if line.get("artifact", {}).get("name") == "more.bin"]
        self.assertEqual(
            [(p.get("append"), p.get("last")) for p in of_second], [(None, None), (True, None), (True, True)]
        )

    async def test_a_thread_can_not_replace_what_its_context_has(self) -> None:
        def replaces(message: Message, ctx: SyncContext) -> str:
            with self.assertRaises(AttributeError):
                ctx.state = {"a": 1}  # type: ignore[attr-defined]
            ctx.state["b"] = 2
            return f"{dict(ctx.state)}"

        async with host(replaces) as h:
            self.assertEqual((await h.say("hi")).text, "{'b': 2}")

    async def test_a_file_that_broke_off_is_never_whole(self) -> None:
        async def breaks(message: Message, ctx: Context) -> None:
            async with ctx.artifact("a.csv") as file:
                await file.write("a,b\n")
                raise RuntimeError("no more")

        async with host(breaks) as h:
            answer = await h.say("hi")
        self.assertFalse([line for line in answer.lines if line.get("artifact", {}).get("last")])
        self.assertEqual(answer.ending, "failed")

    async def test_a_line_beyond_its_bound_fails_the_turn(self) -> None:
        async def says(message: Message, ctx: Context) -> str:
            return "x" * int(message.text)

        room = LINE_SENT_BYTES_MAX - len('{"text":""}')
        async with host(says) as h:
            self.assertEqual((await h.say(str(room))).ending, "complete")
            self.assertEqual((await h.say(str(room + 1))).ending, "failed")


class Logs(unittest.IsolatedAsyncioTestCase):
    async def test_logs_reach_the_host_from_tasks_and_threads_too(self) -> None:
        async def logs(message: Message, ctx: Context) -> None:
            ctx.log.info("looked up %s", "x", extra={"city": "Porto", "n": 2})
            await asyncio.to_thread(ctx.log.warning, "from a thread")
            await asyncio.create_task(asyncio.sleep(0))

        async with host(logs) as h:
            first, second = (await h.say("hi")).logs
        self.assertEqual(first, {"level": "info", "message": "looked up x", "fields": {"city": "Porto", "n": 2}})
        self.assertEqual((second["level"], second["message"]), ("warn", "from a thread"))

    async def test_a_turn_logs_so_many_lines_and_says_that_there_were_more(self) -> None:
        async def floods(message: Message, ctx: Context) -> None:
            for _ in range(int(message.text)):
                ctx.log.info("x")

        async with host(floods) as h:
            self.assertEqual(len((await h.say(str(LOG_LINES_MAX))).logs), LOG_LINES_MAX)
            logs = (await h.say(str(LOG_LINES_MAX + 5))).logs
            self.assertEqual(len(logs), LOG_LINES_MAX + 1)
            self.assertIn("left out", logs[-1]["message"])


if __name__ == "__main__":
    unittest.main()
