"""Turns that are cancelled, calls of tools, notes, refusals."""

import asyncio
import contextlib
import threading
import unittest
from typing import Any

from forecourt_agent import CallError, Context, Message, Refused, SyncContext, refuse
from forecourt_agent.limits import CALLS_MAX, CALLS_OPEN_MAX
from forecourt_agent.testing import host


class Cancelled(unittest.IsolatedAsyncioTestCase):
    async def test_finally_has_run_when_the_turn_is_over(self) -> None:
        seen: list[str] = []

        async def waits(message: Message, ctx: Context) -> Any:
            try:
                yield "so far"
                await asyncio.sleep(3600)
            finally:
                await asyncio.sleep(0)
                seen.append(f"finally {ctx.cancelled.is_set()}")
                ctx.usage(model="m", input=5)
                ctx.text("too late")

        async with host(waits) as h:
            running = h.start("hi")
            await running.until(lambda lines: bool(lines))
            answer = await running.cancel()
        self.assertEqual((seen, answer.text, answer.usage[0]["input_tokens"]), (["finally True"], "so far", 5))
        self.assertEqual(answer.lines[-1], {"end": True})

    async def test_one_that_is_cancelled_where_it_yields_ends_too(self) -> None:
        seen: list[str] = []

        async def floods(message: Message, ctx: Context) -> Any:
            try:
                while True:
                    yield "x"
            finally:
                seen.append("finally")

        async with host(floods) as h:
            running = h.start("hi")
            await running.until(lambda lines: len(lines) > 10)
            await running.cancel()
        self.assertEqual(seen, ["finally"])

    async def test_one_that_will_not_end_is_left_and_says_nothing_more(self) -> None:
        release = asyncio.Event()

        async def stubborn(message: Message, ctx: Context) -> Any:
            work = asyncio.ensure_future(release.wait())
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(work)
            await work
            yield "late"

        async with host(stubborn) as h:
            running = h.start("hi")
            await asyncio.sleep(0)
            answer = await running.cancel(grace=0.05)
            self.assertEqual(answer.lines[-1], {"end": True})
            release.set()
            await asyncio.sleep(0.01)
            self.assertNotIn({"text": "late"}, running.lines)

    async def test_a_thread_is_woken_where_it_waits_and_told_where_it_works(self) -> None:
        seen: list[str] = []
        begun = threading.Event()

        def asks(message: Message, ctx: SyncContext) -> None:
            try:
                begun.set()
                ctx.call("slow")
            finally:
                seen.append("woken")

        def works(message: Message, ctx: SyncContext) -> Any:
            begun.set()
            while not ctx.cancelled:
                pass
            seen.append("told")
            yield "never"

        async def slow() -> None:
            await asyncio.sleep(3600)

        for function in (asks, works):
            begun.clear()
            async with host(function, tools={"slow": slow}) as h:
                running = h.start("hi")
                await asyncio.to_thread(begun.wait, 5)
                self.assertEqual((await running.cancel()).text, "")
        self.assertEqual(seen, ["woken", "told"])

    async def test_others_go_on(self) -> None:
        async def waits(message: Message, ctx: Context) -> Any:
            if message.text == "wait":
                await asyncio.sleep(3600)
            yield "done"

        async with host(waits) as h:
            first, second = h.conversation().start("wait"), h.conversation().start("go")
            await first.cancel()
            self.assertEqual((await second.answer()).text, "done")

    async def test_a_conversation_that_was_cancelled_behind_a_question_is_replayed(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            answer = await ctx.ask("Well?")
            if answer == "wait":
                await asyncio.sleep(3600)
            return f"{message.text} {answer}"

        async with host(asks) as h:
            await h.say("hi")
            running = h.start("wait")
            await asyncio.sleep(0)
            await running.cancel()
            self.assertEqual((await h.say("yes")).text, "hi yes")


class Calls(unittest.IsolatedAsyncioTestCase):
    async def test_a_tool_is_called_and_its_failures_are_told(self) -> None:
        def weather(city: str) -> str:
            """The weather of a city."""
            if city == "Atlantis":
                raise CallError("no such city")
            if city == "Area 51":
                raise refuse.forbidden("Not you.")
            return f"rain in {city}"

        async def asks(message: Message, ctx: Context) -> str:
            (tool,) = ctx.tools
            try:
                return f"{tool.description} {await tool(city=message.text)} {await ctx.call('weather', city='Faro')}"
            except CallError as error:
                return f"{error} {(error.policy or {}).get('kind')}"

        async with host(asks, tools={"weather": weather}) as h:
            self.assertEqual((await h.say("Porto")).text, "The weather of a city. rain in Porto rain in Faro")
            self.assertEqual((await h.say("Atlantis")).text, "no such city None")
            self.assertEqual((await h.say("Area 51")).text, "Not you. forbidden")

    async def test_a_tool_that_is_not_there_is_not_asked_for(self) -> None:
        async def asks(message: Message, ctx: Context) -> Any:
            return await ctx.call("nothing")

        async with host(asks) as h:
            answer = await h.say("hi")
            self.assertIn("there is no tool `nothing`: there are none", answer.logs[0]["message"])

    async def test_calls_have_bounds(self) -> None:
        open_now = most = 0

        async def tool() -> None:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            await asyncio.sleep(0)
            open_now -= 1

        async def asks(message: Message, ctx: Context) -> str:
            calls = (ctx.call("tool") for _ in range(int(message.text)))
            return str(sum(1 for one in await asyncio.gather(*calls, return_exceptions=True) if one is not None))

        async with host(asks, tools={"tool": tool}) as h:
            self.assertEqual((await h.say(str(CALLS_MAX))).text, "0")
            self.assertEqual((await h.say(str(CALLS_MAX + 1))).text, "1")
        self.assertEqual(most, CALLS_OPEN_MAX)

    async def test_notes_are_waited_for(self) -> None:
        async def books(message: Message, ctx: Context) -> str:
            for step in range(len(ctx.journal_entries), 3):
                await ctx.journal(step)
            return str(ctx.work)

        async with host(books) as h:
            answer = await h.say("hi", more={"work": "w1", "journal": [0]})
            self.assertEqual((answer.text, answer.journal), ("w1", [1, 2]))


class Refusals(unittest.TestCase):
    def test_s3_3_every_kind_has_its_fields(self) -> None:
        pay = refuse.x402(network="base", amount=50000, asset="0xA", pay_to="0xB", resource="https://a.example/~x")
        scope = {"text": "All of it"}
        for made, fields in (
            (
                refuse.consent_required("Agree", scope, 60),
                {"data": {"mentionable.scope": scope, "mentionable.lifetime_seconds": 60}},
            ),
            (refuse.unauthorized("Sign in"), {"auth_challenges": [{"scheme": "Bearer"}]}),
            (
                refuse.payment_required("Pay", [pay], "0.05 USDC"),
                {"accepted_payments": [pay], "data": {"mentionable.price": "0.05 USDC"}},
            ),
            (
                refuse.forbidden("No", more={"title": "T", "url": "https://a.example/"}),
                {"title": "T", "url": "https://a.example/"},
            ),
            (refuse.too_many_requests("Wait", 60), {"retry_after_seconds": 60}),
            (refuse.unavailable_for_legal_reasons("Law"), {}),
            (refuse.service_unavailable("Later"), {}),
        ):
            message = made.part["message"]
            self.assertEqual(made.part, {"kind": made.kind, "message": message, **fields})

    def test_s3_6_what_would_be_malformed_is_an_error_where_it_is_made(self) -> None:
        with_crlf: Any = [{"scheme": "Bearer", "params": {"realm": "a\r\nSet-Cookie: b"}}]
        twice: Any = [{"scheme": "Bearer", "params": {"realm": "a", "Realm": "b"}}]
        for make in (
            lambda: refuse.forbidden(" "),
            lambda: refuse.payment_required("Pay", []),
            lambda: refuse.unauthorized("Sign in", with_crlf),
            lambda: refuse.unauthorized("Sign in", twice),
            lambda: refuse.forbidden("No", more={"url": "http://a.example/"}),
            lambda: refuse.forbidden("No", more={"url": "https://me@a.example/"}),
            lambda: refuse.forbidden("No", more={"data": {"bare": 1}}),
            lambda: refuse.too_many_requests("Wait", -1),
            lambda: refuse.consent_required("Agree", state="x" * 32),
            lambda: refuse.payment("cash", {}),
            lambda: refuse.x402(network="base", amount="0.05", asset="a", pay_to="b", resource="c"),
        ):
            with self.assertRaises(ValueError):
                make()

    def test_they_can_be_raised(self) -> None:
        with self.assertRaises(Refused):
            raise refuse.forbidden("No.")


class Resolved(unittest.IsolatedAsyncioTestCase):
    async def test_what_was_agreed_to_comes_with_the_next_message(self) -> None:
        async def asks(message: Message, ctx: Context) -> str:
            if ctx.resolution is None:
                raise refuse.consent_required("Agree first.", {"text": "Everything"})
            return f"{ctx.resolution.kind} {ctx.resolution.confirmation['scope_hash']}"

        async with host(asks) as h:
            self.assertEqual((await h.say("hi")).ending, "refused")
            given = {"in_reply_to_state": "s", "kind": "consent_required", "confirmation": {"scope_hash": "ab"}}
            self.assertEqual((await h.say("hi", resolution=given)).text, "consent_required ab")


if __name__ == "__main__":
    unittest.main()
