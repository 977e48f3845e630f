"""One run of an agent's function: from its first message over the questions that it asks to its return."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import question, tracing
from .channel import Line, encoded
from .context import Context
from .failures import place_of
from .limits import ASKED_CHARS_MAX, HELD_BYTES_MAX
from .message import Message
from .outcomes import Ending, Finished, QuestionAsked, StateError, TurnEnded
from .state import Asked, State, kept_parts, read, written
from .turn import Turn

if TYPE_CHECKING:
    from .agent import Agent

_log = logging.getLogger("forecourt_agent")
_SHOWN = {"text", "progress", "note", "tool_call", "part", "artifact"}
"""What callers see, and have seen before a replay."""

current: contextvars.ContextVar[Run | None] = contextvars.ContextVar("forecourt_agent_run", default=None)
"""The run to which the code that reads this belongs."""


class Run:
    """A function at work, or suspended in a question. It has a turn for as long as somebody listens."""

    def __init__(self, agent: Agent, turn: Turn, park: Callable[[Run], bool]) -> None:
        """`park` keeps a run that has asked, and says whether it could."""
        self.agent = agent
        self.turn: Turn | None = turn
        self.message = turn.message
        self._park = park
        self._next: asyncio.Future[Turn] | None = None
        self._held: list[Line] = []
        self._held_bytes = 0
        self.loop, self.thread = asyncio.get_running_loop(), threading.get_ident()
        values, asked = read(turn.message.raw.get("state"))
        self._recorded = deque[tuple[str, dict[str, Any]]]()
        self._replayed = asked
        if asked is None:
            self._asked = Asked(kept_parts(turn.message.parts), copy.deepcopy(values))
        else:
            self._recorded.extend(zip(asked.questions, [*asked.answers, question.said(turn.message)], strict=False))
            values = copy.deepcopy(asked.before)
            self._asked = Asked(asked.parts, asked.before)
        self.state = State(values)
        self.context = Context(self)
        self._task = self.loop.create_task(self._work())

    @property
    def is_replaying(self) -> bool:
        """Whether an answer that was given before is still to be taken."""
        return bool(self._recorded)

    @property
    def questions(self) -> int:
        """How often it has asked."""
        return len(self._asked.questions)

    # What its function says and asks.

    def say(self, line: Line) -> None:
        """Writes a line. In a replay, what callers see is held back until it is known whether they have seen it."""
        turn = self.turn
        if turn is None:
            # A suspended function that is closed may still say something in its `finally`, to nobody.
            if self.context.cancelled.is_set():
                return
            raise TurnEnded("this turn has ended, so nobody would hear it; say it before the function returns")
        if not (self.is_replaying and line.keys() & _SHOWN):
            turn.say(line)
            return
        self._held_bytes += len(encoded(line))
        if self._held_bytes > HELD_BYTES_MAX:
            raise ValueError(f"more than {HELD_BYTES_MAX} bytes were said before a question that is asked once more")
        self._held.append(line)

    async def drain(self) -> None:
        """Waits for a host that reads slowly."""
        if self.turn is not None:
            await self.turn.drain()

    def required_turn(self) -> Turn:
        """The turn, for what makes no sense without one."""
        if self.turn is None:
            raise TurnEnded("this turn has ended, so nobody would hear it; say it before the function returns")
        return self.turn

    async def answer(self, text: str, fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Asks, and returns what the next turn of the conversation says."""
        asked = text[:ASKED_CHARS_MAX]
        if self._recorded:
            known, answer = self._recorded[0]
            if known == asked:
                self._recorded.popleft()
                self._drop_held()
                self._asked.questions.append(asked)
                self._asked.answers.append(answer)
                self._take_message(answer)
                return answer
            _log.warning("a replay ends: the function asks %r, and what was answered is %r", asked, known)
            self._end_replay()
        turn = await self._suspended(text, asked, fields)
        answer = question.said(turn.message)
        self._asked.answers.append(answer)
        return answer

    async def _suspended(self, text: str, asked: str, fields: Sequence[Mapping[str, Any]]) -> Turn:
        """Ends the turn with a question, and waits for the one that answers it."""
        turn = self.required_turn()
        if self._next is not None:
            raise RuntimeError("one question can be asked at a time")
        self._asked.questions.append(asked)
        self._keep(turn, self._asked)
        line: Line = {"question": {"text": question.in_words(text, fields), "questions": list(fields)}}
        # What JSON can't have must fail before the turn is given away.
        encoded(line)
        self._next = asyncio.get_running_loop().create_future()
        self.turn = None
        if not self._park(self):
            # Nobody can come back to it: the question is asked, and the function ends here.
            self.context.cancelled.set()
            self._task.cancel()
        turn.end(line)
        try:
            self.turn = await self._next
        finally:
            self._next = None
        self.message = self.turn.message
        self.context.cancelled.clear()
        tracing.enter(self.turn.message, self.agent.handle)
        return self.turn

    # What its turns do with it.

    def resume(self, turn: Turn) -> bool:
        """Gives a suspended function the turn that answers it, unless that was answered elsewhere meanwhile."""
        _, kept = read(turn.message.raw.get("state"))
        is_same = kept is not None and (len(kept.questions), len(kept.answers)) == (
            self.questions,
            len(self._asked.answers),
        )
        if self._next is None or self._next.done() or not is_same:
            return False
        self._next.set_result(turn)
        # At once, so that what comes for the turn finds it.
        self.turn = turn
        return True

    async def cancel(self, patience: float) -> None:
        """Ends the function where it waits. Returns when its `finally` has run, or after `patience` seconds."""
        turn = self.turn
        if turn is not None:
            turn.is_cancelled = True
        self.context.cancelled.set()
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=patience)
        if not self._task.done():
            _log.warning("the agent %s goes on although its turn was cancelled", self.agent.handle)
        if turn is not None:
            turn.end({"end": True})

    async def _work(self) -> None:
        current.set(self)
        with tracing.span(self.message, self.agent.handle):
            ending = await self._ending()
        if self.turn is not None:
            turn, self.turn = self.turn, None
            _end(turn, ending)

    async def _ending(self) -> Line:
        try:
            try:
                await self.agent.perform(self._first_message(), self.context)
            except Ending as raised:
                self._end_replay()
                if isinstance(raised, (Finished, QuestionAsked)):
                    self._keep_last()
                return raised.line()
            self._end_replay()
            self._keep_last()
            return {"end": True}
        except asyncio.CancelledError as error:
            # A library that was cancelled within the function has not done its work.
            return {"end": True} if self.context.cancelled.is_set() else self._failed(error)
        except StateError as error:
            return self._failed(error, error.told)
        except (Exception, SystemExit) as error:
            return self._failed(error)

    def _failed(self, error: BaseException, told: str = "The agent met an error.") -> Line:
        # Its own words are for the log: they tell of the inside.
        place = place_of(error)
        words = f"{type(error).__name__}: {error}{place and f' ({place})'}"
        _log.error("the agent %s failed: %s", self.agent.handle, words, exc_info=error)
        return {"error": {"message": told}}

    def _first_message(self) -> Message:
        """The message at which the function began, also where it is begun anew."""
        asked = self._replayed
        if asked is None:
            return self.message
        parts = asked.parts
        if parts is None:
            said = [turn for turn in self.message.history if turn.role == "user"]
            if len(said) < len(asked.questions):
                told = "This conversation can't be continued. Please start again."
                raise StateError("what the conversation began with is not kept any more", told)
            parts = list(said[-len(asked.questions)].parts)
        return Message({**self.message.raw, "parts": parts, "answers": []})

    def _keep_last(self) -> None:
        if self.turn is not None:
            self._keep(self.turn, None)

    def _keep(self, turn: Turn, asked: Asked | None) -> None:
        """Writes the state, where the host has another one. Without a conversation there is nothing to keep it in."""
        value = written(self.state, asked)
        if turn.message.conversation is not None and value != turn.message.raw.get("state"):
            turn.say({"state": value})

    def _take_message(self, answer: Mapping[str, Any]) -> None:
        """Has `ctx.message` be the answer's: what is kept of it, or the message of the turn for the last."""
        turn = self.required_turn()
        said = [{"kind": "text", "content": answer.get("text", "")}]
        self.message = Message({**turn.message.raw, "parts": said}) if self._recorded else turn.message

    def _end_replay(self) -> None:
        """Says what was held back: the function took another way, so nobody has seen it."""
        self._recorded.clear()
        if self.turn is not None:
            self.message = self.turn.message
        held = list(self._held)
        self._drop_held()
        for line in held:
            self.say(line)

    def _drop_held(self) -> None:
        self._held.clear()
        self._held_bytes = 0


def _end(turn: Turn, ending: Line) -> None:
    try:
        turn.end(ending)
    except (TypeError, ValueError) as error:
        _log.error("the ending of a turn can't be written: %s", error)
        turn.ended.clear()
        turn.end({"error": {"message": "The agent met an error."}})
