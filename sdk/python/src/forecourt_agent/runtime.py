"""Gives messages to agents, keeps functions that wait for an answer, and ends turns that are cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence

from .agent import Agent
from .channel import Channel
from .limits import GRACE_SECONDS, SUSPENDED
from .message import Message
from .run import Run
from .turn import Turn

_log = logging.getLogger("forecourt_agent")

_PATIENCE = 0.8
"""How much of the grace a function may use up, so that the host is told before it is over."""

Key = tuple[str, str]


class Runtime:
    """The agents of one process. Wires hand it messages; it keeps at most `suspended` functions that have asked."""

    def __init__(self, agents: Sequence[Agent], suspended: int = SUSPENDED) -> None:
        if not agents:
            raise ValueError("there is no agent: make one with `@agent`")
        self.agents = list(agents)
        self._suspended_max = suspended
        self._suspended: OrderedDict[Key, Run] = OrderedDict()
        self._running: dict[Turn, Run] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def begin(self, message: Message, channel: Channel) -> Turn:
        """Begins a turn, or lets a function go on that waits for it. `turn.ended` is set when it is over."""
        turn = Turn(message, channel)
        agent = self._agent(message.recipient)
        if agent is None:
            known = ", ".join(sorted(one.handle for one in self.agents))
            told = (
                f"This program has no agent for {message.recipient or 'a message without recipient'}; it has {known}."
            )
            turn.end({"error": {"message": told}})
            return turn
        try:
            self._running[turn] = self._resumed(agent, turn) or Run(agent, turn, self._park)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            _log.error("a message of the host can't be read", exc_info=error)
            turn.end({"error": {"message": "The message could not be read."}})
        return turn

    async def over(self, turn: Turn) -> None:
        """Waits until a turn has ended."""
        try:
            await turn.ended.wait()
        finally:
            self._running.pop(turn, None)

    async def cancel(self, turn: Turn, grace: float = GRACE_SECONDS) -> None:
        """Ends a turn: its function where it waits, with its `finally`. Returns before `grace` seconds are over."""
        run = self._running.get(turn)
        if run is not None and run.turn is turn:
            await run.cancel(grace * _PATIENCE)

    async def close(self, grace: float = GRACE_SECONDS) -> None:
        """Lets open turns come to their end within most of the grace, then ends all that is left."""
        open_turns = [asyncio.ensure_future(turn.ended.wait()) for turn in self._running if not turn.ended.is_set()]
        if open_turns:
            await asyncio.wait(open_turns, timeout=grace / 2)
        for waiting in open_turns:
            waiting.cancel()
        await self.restart(grace / 2)

    async def restart(self, grace: float = GRACE_SECONDS) -> None:
        """Ends everything at once: what waits for an answer is replayed when it comes."""
        runs = [*self._suspended.values(), *self._running.values()]
        self._suspended.clear()
        await asyncio.gather(*(run.cancel(grace * _PATIENCE) for run in runs), *self._closing)

    @property
    def suspended(self) -> int:
        """How many functions wait for an answer."""
        return len(self._suspended)

    def _agent(self, recipient: str) -> Agent | None:
        if len(self.agents) == 1:
            return self.agents[0]
        handle = recipient.lstrip("@").partition("@")[0]
        return next((agent for agent in self.agents if agent.is_named(handle)), None)

    def _resumed(self, agent: Agent, turn: Turn) -> Run | None:
        conversation = turn.message.conversation
        run = self._suspended.pop((agent.handle, conversation), None) if conversation is not None else None
        if run is None:
            return None
        if run.resume(turn):
            return run
        # Another process has answered meanwhile: what waits here would go on from what is over.
        self._end(run)
        return None

    def _park(self, run: Run) -> bool:
        conversation = run.message.conversation
        if conversation is None or self._suspended_max == 0:
            return False
        key = (run.agent.handle, conversation)
        before = self._suspended.pop(key, None)
        if before is not None:
            self._end(before)
        self._suspended[key] = run
        while len(self._suspended) > self._suspended_max:
            _, oldest = self._suspended.popitem(last=False)
            self._end(oldest)
        return True

    def _end(self, run: Run) -> None:
        task = asyncio.get_running_loop().create_task(run.cancel(GRACE_SECONDS))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
