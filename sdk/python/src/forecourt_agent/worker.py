"""A worker of the `command` backend: lines of JSON over standard input and output, version 2 of the protocol."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Mapping
from typing import IO, Any, BinaryIO

from .channel import Line, encoded
from .limits import (
    CONCURRENCY_MAX,
    GRACE_SECONDS,
    LINE_BYTES_MAX,
    UNSENT_BYTES_MAX,
    UNSENT_BYTES_WAIT,
)
from .logs import HostHandler, install
from .message import Message
from .runtime import Runtime
from .turn import Turn

_log = logging.getLogger("forecourt_agent")
PROTOCOL = 2


class Output:
    """Writes lines in a thread of its own, so that a host that does not read blocks no turn that has nothing to say."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lines: deque[bytes] = deque()
        self._unsent = 0
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._send, name="output", daemon=True)
        self._thread.start()

    def write(self, line: Line, is_ending: bool = False) -> None:
        """Hands a line over. `BufferError` when the host has left too many unread."""
        raw = encoded(line)
        with self._changed:
            if self._is_closed:
                return
            if self._unsent + len(raw) > UNSENT_BYTES_MAX and not is_ending:
                raise BufferError(
                    f"the host has left {self._unsent} bytes unread, and at most {UNSENT_BYTES_MAX} are held"
                )
            self._lines.append(raw)
            self._unsent += len(raw)
            self._changed.notify_all()

    async def drain(self) -> None:
        """Waits while much is unsent."""
        if self._unsent > UNSENT_BYTES_WAIT:
            await asyncio.get_running_loop().run_in_executor(None, self._wait)

    def close(self, seconds: float) -> None:
        """Waits until everything is sent."""
        with self._changed:
            self._changed.wait_for(lambda: self._unsent == 0 or self._is_closed, seconds)
            self._is_closed = True
            self._changed.notify_all()

    def _wait(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._unsent <= UNSENT_BYTES_WAIT or self._is_closed)

    def _send(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._is_closed)
                if not self._lines:
                    return
                lines, size = b"".join(self._lines), sum(map(len, self._lines))
                self._lines.clear()
            try:
                self._file.write(lines)
                self._file.flush()
            except (OSError, ValueError):
                # The host is gone; the end of its input will say so, too.
                with self._changed:
                    self._is_closed, self._unsent = True, 0
                    self._changed.notify_all()
                return
            with self._changed:
                self._unsent -= size
                self._changed.notify_all()


class Worker:
    """Reads what the host writes and gives it to turns by their numbers."""

    can_call = True

    def __init__(self, runtime: Runtime, output: Output) -> None:
        self._runtime, self._output = runtime, output
        self._turns: dict[Any, Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, raw: bytes) -> None:
        """Takes a line of the host. One that can't be read is logged: no turn is known that it could fail."""
        if not raw.strip():
            return
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError) as error:
            _log.error("the host wrote a line that is no JSON: %s", error)
            return
        if not isinstance(line, dict) or not isinstance(line.get("turn"), (int, str, type(None))):
            _log.error("the host wrote a line that is no object with a turn")
            return
        number = line.get("turn")
        turn = self._turns.get(number)
        if "parts" in line:
            self._begin(number, line)
        elif turn is None:
            _log.debug("the host wrote a line for a turn that has ended: %s", number)
        elif "cancel" in line:
            self._later(self._runtime.cancel(turn, _grace(line["cancel"])))
        elif "result" in line:
            turn.result(line["result"])
        elif isinstance(line.get("journal"), int):
            self._later(turn.notes_kept(line["journal"]))

    @property
    def open_turns(self) -> int:
        """Turns that have not ended."""
        return len(self._turns)

    async def close(self) -> None:
        """The host is gone: what is open ends."""
        await self._runtime.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, number: Any, line: Mapping[str, Any]) -> None:
        turn = self._runtime.begin(Message(line), _TurnChannel(self._output, number))
        self._turns[number] = turn
        self._later(self._over(number, turn))

    async def _over(self, number: Any, turn: Turn) -> None:
        await self._runtime.over(turn)
        if self._turns.get(number) is turn:
            del self._turns[number]

    def _later(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _TurnChannel:
    can_call = True

    def __init__(self, output: Output, number: Any) -> None:
        self._output, self._number = output, number

    def write(self, line: Line, is_ending: bool = False) -> None:
        # Where each message has a process of its own (`mode = "each"`) turns have no numbers.
        self._output.write(line if self._number is None else {"turn": self._number, **line}, is_ending)

    async def drain(self) -> None:
        await self._output.drain()


class Streams:
    """Standard input and output, taken away from everybody else in this process."""

    def __init__(self) -> None:
        self.input = os.fdopen(os.dup(0), "rb")
        self.output = Output(os.fdopen(os.dup(1), "wb", buffering=0))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        # What anybody prints, a child too, goes into the log instead of between our lines.
        os.dup2(2, 1)
        sys.stdin, sys.stdout = _text(0, "r"), _text(1, "w")

    def hello(self, concurrency: int) -> None:
        """Says who we are, before anything slow happens."""
        from . import __version__

        sdk = f"forecourt-agent-python/{__version__}"
        self.output.write({"hello": {"protocol": PROTOCOL, "sdk": sdk, "concurrency": concurrency}})


def checked_concurrency(value: int) -> int:
    """`ValueError` where a host would not take it."""
    if not 1 <= value <= CONCURRENCY_MAX:
        raise ValueError(f"concurrency is a number from 1 to {CONCURRENCY_MAX}, unlike {value}")
    return value


async def work(runtime: Runtime, streams: Streams) -> None:
    """Answers until the host closes its end."""
    install(HostHandler(logging.StreamHandler(sys.stderr)))
    loop = asyncio.get_running_loop()
    worker, ended = Worker(runtime, streams.output), asyncio.Event()

    def read() -> None:
        try:
            while raw := streams.input.readline(LINE_BYTES_MAX + 1):
                if len(raw) > LINE_BYTES_MAX:
                    print(f"the host wrote a line of more than {LINE_BYTES_MAX} bytes", file=sys.stderr)
                    break
                loop.call_soon_threadsafe(worker.take, raw)
        except (OSError, ValueError, RuntimeError) as error:
            print(f"the host can't be read any more: {error}", file=sys.stderr)
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, name="input", daemon=True).start()
    await ended.wait()
    await worker.close()
    await loop.run_in_executor(None, streams.output.close, GRACE_SECONDS / 5)


def _text(file: int, mode: str) -> IO[str]:
    return open(file, mode, buffering=1, closefd=False, encoding="utf-8", errors="backslashreplace")


def _grace(cancel: Any) -> float:
    grace = cancel.get("grace_ms") if isinstance(cancel, Mapping) else None
    return grace / 1000 if isinstance(grace, (int, float)) and grace >= 0 else GRACE_SECONDS
