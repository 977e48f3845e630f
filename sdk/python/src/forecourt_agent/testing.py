"""Hosts for tests. In memory, for agents: `async with host(helper) as h: answer = await h.say("hi")`. Or the real
program, for a whole deployment: `async with host("mysite") as h: reply = await h.ask("helper", "hi")`."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from . import parts
from .agent import Agent, Function
from .answer import Answer, AnswerFile, Question, answer_of
from .channel import Line, encoded
from .deployment import DeploymentHost, HostError, Reply
from .limits import SUSPENDED
from .logs import HostHandler, install
from .message import Message
from .outcomes import CallError, Refused
from .runtime import Runtime
from .turn import Turn

__all__ = [
    "Answer",
    "AnswerFile",
    "Conversation",
    "DeploymentHost",
    "Host",
    "HostError",
    "Question",
    "Reply",
    "Running",
    "host",
]


class Running:
    """A turn that was begun."""

    def __init__(self, conversation: Conversation, turn: Turn, channel: _Channel) -> None:
        self._conversation, self._turn, self._channel = conversation, turn, channel

    @property
    def lines(self) -> list[Line]:
        """What was said so far, as it goes to a host."""
        return self._channel.lines

    async def until(self, is_met: Callable[[list[Line]], bool]) -> None:
        """Waits until what was said so far meets a condition, or the turn is over."""
        while not is_met(self.lines) and not self._turn.ended.is_set():
            self._channel.written.clear()
            await self._channel.written.wait()

    async def cancel(self, grace: float = 5.0) -> Answer:
        """Cancels it as a host does when its caller leaves."""
        await self._conversation._host.runtime.cancel(self._turn, grace)
        answer = await self.answer()
        answer.ending = "cancelled"
        return answer

    async def answer(self) -> Answer:
        """Waits for its ending."""
        await self._conversation._host.runtime.over(self._turn)
        return self._conversation._take(self._turn, self._channel)


class Conversation:
    """One conversation with the agent, of which the host keeps history and state."""

    def __init__(self, host: Host, name: str | None) -> None:
        self._host, self.name = host, name
        self.history: list[Mapping[str, Any]] = []
        self.state: Any = None

    async def say(self, text: str = "", **more: Any) -> Answer:
        """Sends a message and waits for the answer. See `start` for what may come with it."""
        return await self.start(text, **more).answer()

    def start(
        self,
        text: str = "",
        *,
        files: Sequence[tuple[str, bytes]] = (),
        data: Any = None,
        answers: Mapping[str, Any] | None = None,
        subject: str | None = None,
        resolution: Mapping[str, Any] | None = None,
        language: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Running:
        """Sends a message. `subject` is a verified sender, `resolution` what the host verified, `more` other fields."""
        said = [parts.text(text)] if text else []
        said += [parts.file(name, content) for name, content in files]
        said += [] if data is None else [parts.data(data)]
        message = self._host._message(self, said, subject, answers)
        optional = {"policy_resolution": resolution, "language": language, **(more or {})}
        message |= {key: value for key, value in optional.items() if value is not None}
        channel = _Channel(self._host)
        # As over a wire: nothing of ours is shared with the agent.
        turn = self._host.runtime.begin(Message(json.loads(json.dumps(message))), channel)
        channel.turn = turn
        return Running(self, turn, channel)

    def _take(self, turn: Turn, channel: _Channel) -> Answer:
        answer = answer_of(channel.lines)
        if answer.ending in ("complete", "message", "question") and not turn.is_cancelled and self.name is not None:
            states = [line["state"] for line in channel.lines if "state" in line]
            if states:
                self.state = copy.deepcopy(states[-1])
            words = answer.question.text if answer.question else answer.text
            self.history += [
                {"role": "user", "parts": list(turn.message.parts)},
                {"role": "assistant", "parts": [parts.text(words), *answer.parts]},
            ]
        answer.state = self.state
        return answer


class Host(Conversation):
    """A host in memory with one conversation under way; `conversation()` begins others."""

    def __init__(
        self,
        agents: Sequence[Agent],
        tools: Mapping[str, Callable[..., Any]] | None = None,
        suspended: int = SUSPENDED,
    ) -> None:
        super().__init__(self, "conversation-1")
        self.runtime = Runtime(agents, suspended)
        self.tools = dict(tools or {})
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self._suspended, self._conversations, self._messages = suspended, 1, 0
        self._handler = HostHandler(logging.lastResort)

    def conversation(self, is_kept: bool = True) -> Conversation:
        """Another conversation; with `is_kept=False` messages that belong to none."""
        self._conversations += 1
        return Conversation(self, f"conversation-{self._conversations}" if is_kept else None)

    async def restart(self) -> None:
        """The process is replaced: functions that wait are gone, and what the host keeps is left."""
        await self.runtime.restart(1.0)
        self.runtime = Runtime(self.runtime.agents, self._suspended)

    async def __aenter__(self) -> Host:
        install(self._handler)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.runtime.restart(1.0)
        logging.getLogger().removeHandler(self._handler)

    def _message(
        self,
        conversation: Conversation,
        said: list[Any],
        subject: str | None,
        answers: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        self._messages += 1
        sender: dict[str, Any] = {"address": "", "auth_method": "none", "verified": False}
        if subject is not None:
            proven = {"subject": subject, "issuer": "test", "method": "urn:test", "assurance": "oauth"}
            sender = {"address": "", "auth_method": "bearer", "verified": True, "identities": [proven]}
        message: dict[str, Any] = {
            "turn": self._messages,
            "id": f"message-{self._messages}",
            "sender": sender,
            "recipient": f"@{self.runtime.agents[0].handle}@demo.localhost",
            "parts": said,
            "history": conversation.history,
            "received_via": "rest",
            "received_at": "2026-01-02T03:04:05Z",
            "request": f"request-{self._messages}",
            "deadline": "2026-01-02T03:06:05Z",
            "timeout_ms": 120_000,
            "tools": [_tool(name, function) for name, function in self.tools.items()],
        }
        if answers:
            message["answers"] = [{"id": name, "value": value} for name, value in answers.items()]
        if conversation.name is not None:
            message["conversation"] = conversation.name
        if conversation.state is not None:
            message["state"] = conversation.state
        return message


@overload
def host(deployment: str | os.PathLike[str], /, *, record: bool = False, live: bool = False) -> DeploymentHost: ...


@overload
def host(
    *agents: Agent | Function,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    suspended: int = SUSPENDED,
) -> Host: ...


def host(
    *agents: Any,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    suspended: int = SUSPENDED,
    record: bool = False,
    live: bool = False,
) -> Host | DeploymentHost:
    """A host for agents, or for the deployment in a folder.

    `tools` are functions that agents may call, by name; one may raise `CallError` or `Refused`. The models of a
    deployment answer what was recorded, unless they are asked again (`record`) or for real (`live`).
    """
    if len(agents) == 1 and isinstance(agents[0], (str, os.PathLike)):
        return DeploymentHost(agents[0], record=record, live=live)
    return Host([one if isinstance(one, Agent) else Agent(one) for one in agents], tools, suspended)


class _Channel:
    can_call = True

    def __init__(self, host: Host) -> None:
        self.lines: list[Line] = []
        self.written = asyncio.Event()
        self.turn: Turn | None = None
        self._host, self._notes = host, 0
        self._tasks: set[asyncio.Task[None]] = set()

    def write(self, line: Line, is_ending: bool = False) -> None:
        self.lines.append(json.loads(encoded(line)))
        self.written.set()
        if "call" in line:
            self._later(self._call(self.lines[-1]["call"]))
        if "journal" in line:
            self._notes += 1
            self._later(self._kept(self._notes))

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def _later(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _kept(self, count: int) -> None:
        assert self.turn is not None
        await self.turn.notes_kept(count)

    async def _call(self, call: Mapping[str, Any]) -> None:
        assert self.turn is not None
        self._host.calls.append((call["tool"], call["arguments"]))
        result: dict[str, Any] = {"id": call["id"]}
        try:
            content = self._host.tools[call["tool"]](**call["arguments"])
            result["content"] = await content if inspect.isawaitable(content) else content
        except Refused as refused:
            result["error"] = {"message": str(refused), "policy": refused.part}
        except (CallError, TypeError) as error:
            result["error"] = {"message": str(error)}
        self.turn.result(result)


def _tool(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    taken: dict[str, Any] = {parameter: {} for parameter in inspect.signature(function).parameters}
    return {
        "name": name,
        "description": function.__doc__ or name,
        "input_schema": {"type": "object", "properties": taken},
    }
