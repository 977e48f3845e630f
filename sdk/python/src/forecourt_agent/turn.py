"""One turn: a message, and what is said to it until its ending."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .channel import Channel, Line
from .limits import CALLS_MAX, CALLS_OPEN_MAX, LOG_LINES_MAX
from .message import Message, moment
from .outcomes import CallError, TurnEnded

_ALWAYS = {"usage", "log"}
"""What still counts after a turn was cancelled."""


class Turn:
    """A turn that a host has begun. Ends once, with what `end` is given."""

    def __init__(self, message: Message, channel: Channel) -> None:
        self.message = message
        self.ended = asyncio.Event()
        self.is_cancelled = False
        self._channel = channel
        self._began = time.monotonic()
        self._calls: dict[str, asyncio.Future[Any]] = {}
        self._open_calls = asyncio.Semaphore(CALLS_OPEN_MAX)
        self._calls_made = 0
        self._notes = 0
        self._noted = asyncio.Condition()
        self._kept_notes = 0
        self._log_lines = 0

    @property
    def deadline(self) -> datetime | None:
        """When the host will end it."""
        return moment(self.message.raw.get("deadline"))

    @property
    def remaining(self) -> float | None:
        """Seconds until then, by this process's clock."""
        allowed = self.message.raw.get("timeout_ms")
        if not isinstance(allowed, (int, float)):
            return None
        return max(0.0, float(allowed) / 1000 - (time.monotonic() - self._began))

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """What may be called."""
        return list(self.message.raw.get("tools") or ()) if self._channel.can_call else []

    def say(self, line: Line) -> None:
        """Writes a line, unless nobody is to see it. `TurnEnded` once the turn is over."""
        if self.is_cancelled and (self.ended.is_set() or not line.keys() & _ALWAYS):
            return
        if self.ended.is_set():
            raise TurnEnded("this turn has ended, so nobody would hear it; say it before the function returns")
        self._channel.write(line)

    async def drain(self) -> None:
        """Waits for a host that reads slowly."""
        await self._channel.drain()

    def log(self, entry: Line) -> bool:
        """Writes a line into the host's log; `False` when the turn is over or has written too many."""
        if self.ended.is_set() or self._log_lines > LOG_LINES_MAX:
            return False
        self._log_lines += 1
        if self._log_lines > LOG_LINES_MAX:
            entry = {
                "level": "warn",
                "message": f"further lines of this turn are left out, after {LOG_LINES_MAX}",
            }
        self._channel.write({"log": entry})
        return True

    def end(self, line: Line) -> None:
        """Ends the turn. A second ending means nothing."""
        if self.ended.is_set():
            return
        try:
            # Nobody reads how a turn ended that was cancelled, only that it has.
            self._channel.write({"end": True} if self.is_cancelled else line, is_ending=True)
        finally:
            self.ended.set()
            for call in self._calls.values():
                call.cancel()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Asks the host to call a tool. `CallError` where it fails or is refused."""
        known = [str(one.get("name")) for one in self.tools]
        if tool not in known:
            has = f"those here are {', '.join(known)}" if known else "there are none in this turn"
            raise CallError(f"there is no tool `{tool}`: {has}")
        if self._calls_made >= CALLS_MAX:
            raise CallError(f"one turn has {CALLS_MAX} calls at most")
        self._calls_made += 1
        name = f"c{self._calls_made}"
        async with self._open_calls:
            answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._calls[name] = answer
            try:
                self.say({"call": {"id": name, "tool": tool, "arguments": dict(arguments)}})
                return await answer
            finally:
                del self._calls[name]

    def result(self, result: Any) -> None:
        """Takes what a call came to. One that nobody waits for is passed over."""
        answer = self._calls.get(str(result.get("id"))) if isinstance(result, Mapping) else None
        if answer is None or answer.done():
            return
        error = result.get("error")
        if error is None:
            answer.set_result(result.get("content"))
            return
        told = error if isinstance(error, Mapping) else {"message": error}
        answer.set_exception(CallError(str(told.get("message") or "the call failed"), told.get("policy")))

    async def note(self, value: Any) -> None:
        """Notes how far the work has come; returns once the host has it on disk."""
        if not self._channel.can_call:
            return
        self.say({"journal": value})
        self._notes += 1
        mine = self._notes
        async with self._noted:
            await self._noted.wait_for(lambda: self._kept_notes >= mine)

    async def notes_kept(self, count: int) -> None:
        """Takes how many notes are on disk."""
        async with self._noted:
            self._kept_notes = max(self._kept_notes, count)
            self._noted.notify_all()
