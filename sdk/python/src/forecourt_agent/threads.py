"""Functions that are not async: each runs in a thread of its own and talks to the event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from .artifact import ArtifactWriter
from .context import Context
from .message import Message
from .question import Field


class Bridge:
    """Runs coroutines on the loop for one thread, until it is stopped."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._waiting: concurrent.futures.Future[Any] | None = None
        self._is_stopped = False

    def run(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """What the coroutine returns. `asyncio.CancelledError`, which no `except Exception` catches, once stopped."""

        async def awaited() -> Any:
            return await make()

        with self._lock:
            if self._is_stopped:
                raise asyncio.CancelledError
            self._waiting = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        try:
            return self._waiting.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None

    def stop(self) -> None:
        """Wakes the thread where it waits, and lets it wait no more."""
        with self._lock:
            self._is_stopped = True
            if self._waiting is not None:
                self._waiting.cancel()


class SyncContext:
    """The context of a function that is not async: the same names, and nothing to await."""

    # What is set here would never reach the context: without a place for it, that is an error.
    __slots__ = ("_bridge", "_context")

    def __init__(self, context: Context, bridge: Bridge) -> None:
        self._context, self._bridge = context, bridge

    def __getattr__(self, name: str) -> Any:
        # What is only read needs no loop: message, sender, history, state, log and so on.
        return getattr(self._context, name)

    @property
    def cancelled(self) -> bool:
        """Whether the caller has left. Long work looks now and then, since a thread can't be interrupted."""
        return self._context.cancelled.is_set()

    @property
    def tools(self) -> Sequence[SyncTool]:
        """What the deployment lets this agent call."""
        return [SyncTool(one.name, one.description, one.input_schema, self) for one in self._context.tools]

    def text(self, markdown: str) -> None:
        """The next piece of the answer."""
        self._now(self._context.text, markdown)

    def progress(self, fraction: float | None = None, note: str | None = None) -> None:
        """Shown while the caller waits."""
        self._now(self._context.progress, fraction, note)

    def part(self, part: Mapping[str, Any]) -> None:
        """A part of `forecourt_agent.parts`."""
        self._now(self._context.part, part)

    def item(self, thing: Mapping[str, Any]) -> None:
        """Something of schema.org."""
        self._now(self._context.item, thing)

    def data(self, value: Any) -> None:
        """Structured data."""
        self._now(self._context.data, value)

    def link(self, url: str, title: str | None = None, description: str | None = None) -> None:
        """A link."""
        self._now(self._context.link, url, title, description)

    def source(self, url: str, title: str | None = None, description: str | None = None) -> None:
        """A link on which the answer stands."""
        self._now(self._context.source, url, title, description)

    def tool_call(self, name: str, args: Any = None, **more: Any) -> str:
        """Shows that a tool is at work; see `Context.tool_call`."""
        return str(self._now(self._context.tool_call, name, args, **more))

    def usage(self, model: str, input: int = 0, output: int = 0, **more: Any) -> None:
        """What a request to a model has used; see `Context.usage`."""
        self._now(self._context.usage, model, input, output, **more)

    def file(
        self,
        name: str,
        data: bytes | bytearray | memoryview | str | Iterable[bytes],
        mime: str | None = None,
        *,
        description: str | None = None,
    ) -> None:
        """A file, in pieces of at most 256 KiB."""
        writer: ArtifactWriter = self._now(self._context.artifact, name, mime, description=description)
        # Bytes of every kind are one piece: by themselves they are numbers.
        for piece in [data] if isinstance(data, (bytes, bytearray, memoryview, str)) else data:
            self._bridge.run(functools.partial(writer.write, piece))
        self._bridge.run(writer.close)

    def ask(
        self,
        text: str,
        options: Sequence[str | Mapping[str, str]] = (),
        *,
        several: bool = False,
        type: Literal["text", "number", "boolean"] = "text",
        default: Any = None,
        attempts: int = 3,
    ) -> Any:
        """Asks the caller; see `Context.ask`."""
        ask: Callable[..., Awaitable[Any]] = self._context.ask
        return self._bridge.run(
            lambda: ask(text, options, several=several, type=type, default=default, attempts=attempts)
        )

    def ask_form(self, text: str, fields: Sequence[Mapping[str, Any] | Field], *, attempts: int = 3) -> dict[str, Any]:
        """Asks for several things at once; see `Context.ask_form`."""
        found: dict[str, Any] = self._bridge.run(lambda: self._context.ask_form(text, fields, attempts=attempts))
        return found

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """Calls one of `tools`. `CallError` where it fails or is refused."""
        return self._bridge.run(lambda: self._context.call(tool, arguments, **more))

    def journal(self, value: Any) -> None:
        """Notes how far the work has come; returns once it is on disk."""
        self._bridge.run(lambda: self._context.journal(value))

    def artifact(self, *_: Any, **__: Any) -> Any:
        """Not for functions that are not async: `file` takes the pieces."""
        raise TypeError("`artifact` needs an async function; `ctx.file` takes an iterable of pieces")

    def _say(self, value: Any) -> None:
        from .agent import say

        self._bridge.run(lambda: say(self._context, value))

    def _now(self, method: Callable[..., Any], *args: Any, **more: Any) -> Any:
        async def on_loop() -> Any:
            return method(*args, **more)

        return self._bridge.run(on_loop)


class SyncTool:
    """A tool that a function that is not async may call: `tool(city="Porto")`."""

    def __init__(self, name: str, description: str, input_schema: Mapping[str, Any], context: SyncContext) -> None:
        self.name, self.description, self.input_schema, self._context = (
            name,
            description,
            input_schema,
            context,
        )

    def __call__(self, **arguments: Any) -> Any:
        """Calls it. `CallError` where it fails or is refused."""
        return self._context.call(self.name, arguments)


async def perform_in_thread(function: Callable[..., Any], message: Message, context: Context) -> None:
    """Runs a function in a thread to its end. When this is cancelled the thread is told, and waited for."""
    bridge = Bridge()
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def work() -> None:
        error: BaseException | None = None
        try:
            _say_all(SyncContext(context, bridge), function, message)
        except BaseException as raised:
            error = raised
        loop.call_soon_threadsafe(_settle, done, error)

    inherited = contextvars.copy_context()
    threading.Thread(target=inherited.run, args=(work,), name=f"agent {context._run.agent.handle}", daemon=True).start()
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        bridge.stop()
        # Its `finally` runs before the turn is said to have ended; the thread's own CancelledError is what comes here.
        await asyncio.wait({done})
        if not done.cancelled():
            done.exception()
        raise


def _say_all(context: SyncContext, function: Callable[..., Any], message: Message) -> None:
    result = function(message, context)
    if result is None:
        return
    if not hasattr(result, "__next__"):
        context._say(result)
        return
    try:
        for value in result:
            context._say(value)
    finally:
        close = getattr(result, "close", None)
        if close is not None:
            close()


def _settle(done: asyncio.Future[None], error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    elif isinstance(error, asyncio.CancelledError):
        done.cancel()
    elif isinstance(error, (StopIteration, KeyboardInterrupt)):
        # Neither can be an exception of a future.
        done.set_exception(RuntimeError(f"{type(error).__name__} was raised"))
    else:
        done.set_exception(error)
