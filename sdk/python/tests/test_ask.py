"""Questions back: suspended functions, replays, forms, and what is kept for them."""

import asyncio
import unittest
from typing import Any

from forecourt_agent import Context, Message, SyncContext, Unanswered
from forecourt_agent.limits import HELD_BYTES_MAX, KEPT_PART_BYTES_MAX, STATE_BYTES_MAX
from forecourt_agent.testing import host

runs: list[str] = []


async def shirts(message: Message, ctx: Context) -> Any:
    runs.append(message.text)
    yield "Let me see. "
    ctx.state["orders"] = ctx.state.get("orders", 0) + 1
    size = await ctx.ask("Which size?", options=["S", {"value": "M", "title": "Medium"}])
    yield f"Size {size}. "
    count = await ctx.ask("How many?", type="number")
    yield f"{message.text}: {count} of {size}, {ctx.message.text}"


def sync_shirts(message: Message, ctx: SyncContext) -> Any:
    runs.append(message.text)
    yield "Let me see. "
    ctx.state["orders"] = ctx.state.get("orders", 0) + 1
    size = ctx.ask("Which size?", options=["S", {"value": "M", "title": "Medium"}])
    yield f"Size {size}. "
    count = ctx.ask("How many?", type="number")
    yield f"{message.text}: {count} of {size}, {ctx.message.text}"


class Suspended(unittest.IsolatedAsyncioTestCase):
    async def test_a_function_goes_on_in_the_next_turn(self) -> None:
        for function in (shirts, sync_shirts):
            runs.clear()
            async with host(function) as h:
                first = await h.say("a shirt")
                self.assertEqual((first.ending, first.text), ("question", "Let me see. "))
                assert first.question is not None
                self.assertEqual(
                    (first.question.text, first.question.options), ("Which size? (S, Medium)", ["S", "Medium"])
                )
                second = await h.say("medium.")
                self.assertEqual((second.ending, second.text), ("question", "Size M. "))
                third = await h.say("3")
                self.assertEqual((third.ending, third.text), ("complete", "a shirt: 3 of M, 3"))
                self.assertEqual((third.state, runs), ({"orders": 1}, ["a shirt"]))

    async def test_conversations_do_not_mix(self) -> None:
        async with host(shirts) as h:
            several = [h.conversation() for _ in range(20)]
            await asyncio.gather(*(one.say(f"shirt {n}") for n, one in enumerate(several)))
            self.assertEqual(h.runtime.suspended, 20)
            await asyncio.gather(*(one.say("S") for one in several))
            answers = await asyncio.gather(*(one.say(str(n)) for n, one in enumerate(several)))
        self.assertEqual([a.text for a in answers], [f"shirt {n}: {n} of S, {n}" for n in range(20)])

    async def test_without_a_conversation_the_next_message_begins_anew(self) -> None:
        async with host(shirts) as h:
            alone = h.conversation(is_kept=False)
            self.assertEqual((await alone.say("a shirt")).ending, "question")
            answer = await alone.say("M")
            assert answer.question is not None
            self.assertEqual((answer.question.text, h.runtime.suspended), ("Which size? (S, Medium)", 0))

    async def test_what_was_answered_elsewhere_meanwhile_is_not_resumed(self) -> None:
        async with host(shirts) as h:
            await h.say("a shirt")
            state = h.state
            await h.say("S")
            # Another process has gone on to the second question; this message knows of the first alone.
            h.state = state
            self.assertEqual((await h.say("M")).text, "Size M. ")

    async def test_the_oldest_that_wait_are_closed_beyond_the_bound_and_replayed(self) -> None:
        closed: list[str] = []

        async def asks(message: Message, ctx: Context) -> str:
            try:
                return f"{message.text} {await ctx.ask('Well?')}"
            finally:
                closed.append(message.text)

        async with host(asks, suspended=2) as h:
            several = [h.conversation() for _ in range(3)]
            await several[0].say("0")
            await several[1].say("1")
            self.assertEqual(closed, [])
            await several[2].say("2")
            await asyncio.sleep(0)
            self.assertEqual((closed, h.runtime.suspended), (["0"], 2))
            self.assertEqual((await several[0].say("yes")).text, "0 yes")

    async def test_one_question_at_a_time(self) -> None:
        async def asks_twice(message: Message, ctx: Context) -> None:
            await asyncio.gather(ctx.ask("One?"), ctx.ask("Two?"))

        async with host(asks_twice) as h:
            answer = await h.say("hi")
            assert answer.question is not None
            self.assertEqual((answer.ending, answer.question.text), ("question", "One?"))


class Replayed(unittest.IsolatedAsyncioTestCase):
    async def test_a_function_begins_anew_with_its_answers_and_says_nothing_twice(self) -> None:
        for function in (shirts, sync_shirts):
            runs.clear()
            async with host(function) as h:
                await h.say("a shirt")
                await h.restart()
                self.assertEqual((await h.say("M")).text, "Size M. ")
                await h.restart()
                answer = await h.say("3")
                self.assertEqual((answer.ending, answer.text), ("complete", "a shirt: 3 of M, 3"))
                # It has run three times, and counted once.
                self.assertEqual((answer.state, runs), ({"orders": 1}, ["a shirt"] * 3))

    async def test_a_function_that_asks_something_else_by_now_shows_what_it_says(self) -> None:
        new = False

        async def changes(message: Message, ctx: Context) -> Any:
            yield "Hello. "
            if new:
                await ctx.ask("Which colour?")
            yield await ctx.ask("Which size?")

        async with host(changes) as h:
            await h.say("hi")
            await h.restart()
            new = True
            answer = await h.say("M")
            assert answer.question is not None
            self.assertEqual((answer.text, answer.question.text), ("Hello. ", "Which colour?"))
            self.assertIn("a replay ends", answer.logs[0]["message"])
            self.assertEqual((await h.say("red")).ending, "question")
            self.assertEqual((await h.say("L")).text, "L")

    async def test_a_function_that_asks_nothing_by_now_shows_what_it_says(self) -> None:
        is_new = False

        async def changes(message: Message, ctx: Context) -> Any:
            yield "Hello. "
            if not is_new:
                await ctx.ask("Which size?")
            yield "Bye."

        async with host(changes) as h:
            await h.say("hi")
            await h.restart()
            is_new = True
            answer = await h.say("M")
            self.assertEqual((answer.ending, answer.text, answer.state), ("complete", "Hello. Bye.", None))

    async def test_usage_and_logs_of_a_replay_are_real(self) -> None:
        async def asks(message: Message, ctx: Context) -> Any:
            ctx.usage(model="m", input=1)
            ctx.log.info("replaying: %s", ctx.replaying)
            ctx.progress(note="working")
            yield await ctx.ask("Well?")

        async with host(asks) as h:
            self.assertEqual((await h.say("hi")).logs[0]["message"], "replaying: False")
            await h.restart()
            answer = await h.say("yes")
            self.assertEqual((answer.text, len(answer.usage), answer.progress), ("yes", 1, []))
            self.assertEqual(answer.logs[0]["message"], "replaying: True")

    async def test_the_current_message_is_that_of_the_answer_in_a_replay_too(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            seen = []
            for n in range(3):
                await ctx.ask(f"{n}?")
                seen.append(ctx.message.text)
            return f"{message.text} {seen}"

        async with host(asks) as h:
            for said in ("hi", "a", "b"):
                await h.say(said)
            await h.restart()
            self.assertEqual((await h.say("c")).text, "hi ['a', 'b', 'c']")

    async def test_a_turn_that_failed_changes_nothing_and_is_answered_again(self) -> None:
        fails = True

        async def asks(message: Message, ctx: Context) -> str:
            answer = await ctx.ask("Well?")
            if fails:
                raise RuntimeError("away")
            return f"{message.text} {answer}"

        async with host(asks) as h:
            await h.say("hi")
            self.assertEqual((await h.say("yes")).ending, "failed")
            fails = False
            self.assertEqual((await h.say("yes")).text, "hi yes")

    async def test_a_large_first_message_loses_the_bytes_of_files_then_is_looked_up_in_the_history(self) -> None:
        async def reads(message: Message, ctx: Context) -> str:
            await ctx.ask("Well?")
            return f"{len(message.text)} {[file.name for file in message.files]}"

        for text, files, wanted in (
            ("x" * 100, [("a.bin", b"y" * KEPT_PART_BYTES_MAX)], "100 ['a.bin']"),
            ("x" * (KEPT_PART_BYTES_MAX + 1), [], f"{KEPT_PART_BYTES_MAX + 1} []"),
        ):
            async with host(reads) as h:
                await h.say(text, files=files)
                await h.restart()
                self.assertEqual((await h.say("yes")).text, wanted)

    async def test_what_the_conversation_began_with_may_be_gone(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            return await ctx.ask("Well?")

        async with host(asks) as h:
            await h.say("x" * (KEPT_PART_BYTES_MAX + 1))
            await h.restart()
            h.history.clear()
            self.assertEqual((await h.say("yes")).error, "This conversation can't be continued. Please start again.")

    async def test_what_is_held_back_in_a_replay_has_a_bound(self) -> None:
        piece = 1024 * 1024

        async def says(message: Message, ctx: Context) -> Any:
            for _ in range(HELD_BYTES_MAX // piece):
                yield "x" * piece
            yield await ctx.ask("Well?")

        async with host(says) as h:
            await h.say("hi")
            await h.restart()
            self.assertEqual((await h.say("yes")).ending, "failed")


class Answers(unittest.IsolatedAsyncioTestCase):
    async def test_options_are_read_by_value_title_and_number(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            return await ctx.ask("Which?", options=["red", {"value": "b", "title": "Blue"}])

        async with host(asks) as h:
            for said, meant in (("RED", "red"), ("blue", "b"), ("2", "b"), (" b. ", "b")):
                await h.say("hi")
                self.assertEqual((await h.say(said)).text, meant)

    async def test_a_file_may_be_the_answer(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            words = await ctx.ask("Which file?")
            return f"{words!r} {[file.bytes() for file in ctx.message.files]}"

        for is_replaced in (False, True):
            async with host(asks) as h:
                await h.say("hi")
                if is_replaced:
                    await h.restart()
                self.assertEqual((await h.say(files=[("a.txt", b"x")])).text, "'' [b'x']")

    async def test_it_is_asked_again_and_then_given_up(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            return await ctx.ask("Which?", options=["a", "b"], attempts=2)

        async def catches(message: Message, ctx: Context) -> str:
            try:
                return await ctx.ask("Which?", options=["a", "b"], attempts=2)
            except Unanswered:
                return "none"

        given_up = "That is no answer to “Which?”, so let us begin anew."
        for function, ending, text in ((asks, "message", given_up), (catches, "complete", "none")):
            async with host(function) as h:
                await h.say("hi")
                again = await h.say("c")
                assert again.question is not None
                self.assertEqual(again.question.text, "Please choose one of: a, b.\n\nWhich?")
                last = await h.say("d")
                self.assertEqual((last.ending, last.text, last.state), (ending, text, None))

    async def test_a_form_with_a_type_that_no_caller_knows(self) -> None:
        async def asks(message: Message, ctx: Context) -> None:
            await ctx.ask_form("When?", [{"id": "day", "text": "Which day?", "type": "date"}])

        async with host(asks) as h:
            (entry,) = (await h.say("hi")).logs
        self.assertIn("is none of text, number, boolean, single_select, multi_select: 'date'", entry["message"])

    async def test_several_numbers_truths_and_defaults(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            several = await ctx.ask("Which?", options=["a", "b", "c"], several=True)
            number = await ctx.ask("How many?", type="number")
            is_sure = await ctx.ask("Sure?", type="boolean")
            word = await ctx.ask("Name?", default="Ada")
            chosen = await ctx.ask("Which?", options=[{"value": "r", "title": "Red"}, "blue"], default="r")
            return f"{several} {number} {is_sure} {word} {chosen}"

        async with host(asks) as h:
            for said in ("hi", "a, C", "2,5", "Ja", ""):
                answer = await h.say(said)
            assert answer.question is not None
            self.assertEqual(answer.question.fields[0]["default"], "Red")
            self.assertEqual((await h.say("")).text, "['a', 'c'] 2.5 True Ada r")

    async def test_s4_1_3_forms_are_read_by_name_by_json_and_by_lines(self) -> None:
        fields: list[dict[str, Any]] = [
            {"id": "size", "text": "Which size?", "options": ["S", "M"]},
            {"id": "count", "text": "How many?", "type": "number", "default": 1},
        ]

        async def asks(message: Message, ctx: Context) -> str:
            return str(await ctx.ask_form("Tell me more.", fields))

        async with host(asks) as h:
            for more in (
                {"answers": {"size": "M", "count": 2}},
                {"text": '{"size": "M", "count": 2}'},
                {"text": "size: M\n- `count`: 2"},
                {"text": "Which size? m\nHow many: 2"},
            ):
                await h.say("hi")
                self.assertEqual((await h.say(**more)).text, "{'size': 'M', 'count': 2}", more)
            await h.say("hi")
            self.assertEqual((await h.say("size: S")).text, "{'size': 'S', 'count': 1}")

    async def test_a_form_that_cannot_be_asked_is_an_error(self) -> None:
        bad: list[Any] = [[], [{"id": "a"}], [{"id": "a", "text": "A?", "type": "drawing"}]]
        bad.append([{"id": "a", "text": "A?", "type": "single_select"}])
        for fields in bad:

            async def asks(message: Message, ctx: Context, fields: Any = fields) -> None:
                await ctx.ask_form("Tell me.", fields)

            async with host(asks) as h:
                self.assertEqual((await h.say("hi")).ending, "failed")


class Kept(unittest.IsolatedAsyncioTestCase):
    async def test_state_is_kept_by_conversation_and_removed_when_it_is_empty(self) -> None:
        async def counts(message: Message, ctx: Context) -> str:
            if message.text == "forget":
                ctx.state.clear()
            else:
                ctx.state["n"] = ctx.state.get("n", 0) + 1
            return str(dict(ctx.state))

        async with host(counts) as h:
            self.assertEqual([(await h.say("x")).text for _ in range(2)], ["{'n': 1}", "{'n': 2}"])
            self.assertEqual((await h.conversation().say("x")).text, "{'n': 1}")
            answer = await h.say("forget")
            self.assertEqual(
                (answer.state, [line for line in answer.lines if "state" in line]), (None, [{"state": None}])
            )

    async def test_state_that_did_not_change_is_not_sent(self) -> None:
        async def reads(message: Message, ctx: Context) -> str:
            ctx.state["n"] = 1
            return "ok"

        async with host(reads) as h:
            await h.say("hi")
            self.assertFalse([line for line in (await h.say("hi")).lines if "state" in line])

    async def test_state_has_a_bound(self) -> None:
        async def keeps(message: Message, ctx: Context) -> str:
            ctx.state["a"] = "x" * int(message.text)
            return "ok"

        room = STATE_BYTES_MAX - len('{"a":""}')
        async with host(keeps) as h:
            self.assertEqual((await h.say(str(room))).ending, "complete")
            answer = await h.say(str(room + 1))
            self.assertEqual(answer.ending, "failed")
            self.assertIn(f"{STATE_BYTES_MAX + 1} bytes of JSON, and at most {STATE_BYTES_MAX}", answer.error or "")

    async def test_what_is_no_json_and_what_is_reserved_cannot_be_kept(self) -> None:
        async def keeps(message: Message, ctx: Context) -> str:
            ctx.state[message.text] = {1, 2} if message.text == "set" else 1
            return "ok"

        async with host(keeps) as h:
            for name in ("set", "$ask"):
                self.assertEqual((await h.say(name)).ending, "failed", name)


if __name__ == "__main__":
    unittest.main()
