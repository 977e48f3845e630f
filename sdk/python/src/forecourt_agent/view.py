"""What an agent may read of the conversation that it is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .message import Message, Resolution, Sender, Turn
from .state import State

if TYPE_CHECKING:
    from .run import Run


@dataclass(frozen=True)
class Tool:
    """An endpoint or an agent that the deployment lets this one call. `await tool(city="Porto")` calls it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    _run: Run = field(repr=False, compare=False)

    async def __call__(self, **arguments: Any) -> Any:
        """Calls it. `CallError` where it fails or is refused."""
        return await self._run.required_turn().call(self.name, arguments)


class ConversationView:
    """A conversation, its current turn, and what is kept in it."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def message(self) -> Message:
        """The message of the current turn. Before the first `ask` it is the one that the function was called with."""
        return self._run.message

    @property
    def sender(self) -> Sender:
        """Who sent it, and what was verified about them."""
        return self.message.sender

    @property
    def history(self) -> Sequence[Turn]:
        """The turns before, oldest first."""
        return self.message.history

    @property
    def resolution(self) -> Resolution | None:
        """The consent or payment that came with this turn, as the host has verified it."""
        return self.message.resolution

    @property
    def language(self) -> str | None:
        """The language in which the caller wants to be answered."""
        return self.message.language

    @property
    def conversation(self) -> str | None:
        """Names the conversation; `None` where there is none, and then nothing is kept."""
        return self.message.conversation

    @property
    def request(self) -> str | None:
        """The id under which the host's log knows this turn."""
        return self.message.raw.get("request")

    @property
    def traceparent(self) -> str | None:
        """The trace that this turn belongs to, for requests to other services (W3C Trace Context)."""
        return self.message.raw.get("traceparent")

    @property
    def deadline(self) -> datetime | None:
        """When the host will end this turn."""
        return self._run.turn.deadline if self._run.turn else None

    @property
    def remaining(self) -> float | None:
        """Seconds until the deadline."""
        return self._run.turn.remaining if self._run.turn else None

    @property
    def state(self) -> State:
        """What the agent keeps in this conversation: a dict, at most 65,536 bytes of JSON."""
        return self._run.state

    @property
    def replaying(self) -> bool:
        """Whether the function has been begun anew and is still on its way to the question that is open."""
        return self._run.is_replaying

    @property
    def work(self) -> str | None:
        """Names the work, the same in every try, where tasks outlive the daemon (`on_lost = "attach"`)."""
        return self.message.raw.get("work")

    @property
    def journal_entries(self) -> Sequence[Any]:
        """What earlier tries of this work have noted."""
        return list(self.message.raw.get("journal") or ())

    @property
    def tools(self) -> Sequence[Tool]:
        """What the deployment lets this agent call."""
        turn = self._run.turn
        found = turn.tools if turn else ()
        return [
            Tool(str(one.get("name")), str(one.get("description") or ""), one.get("input_schema") or {}, self._run)
            for one in found
        ]
