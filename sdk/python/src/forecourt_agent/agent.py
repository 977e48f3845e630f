"""Agents: functions of a message and a context, and how what they yield becomes an answer."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, overload

from .context import Context
from .message import Message
from .threads import perform_in_thread

Function = Callable[..., Any]
"""A function of `(message, ctx)`: async or not, with `yield` or not. One that is not async gets a `SyncContext`."""


class Agent:
    """A function that answers messages, under a handle."""

    def __init__(self, function: Function, handle: str | None = None) -> None:
        self.function = function
        self.handle = handle or getattr(function, "__name__", "agent").replace("_", "-")
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", self.handle)
        self.__module__ = getattr(function, "__module__", __name__)

    def __call__(self, message: Message, ctx: Any) -> Any:
        """Calls the function itself."""
        return self.function(message, ctx)

    def __repr__(self) -> str:
        return f"<agent {self.handle}>"

    def is_named(self, handle: str) -> bool:
        """Whether a message for `handle` is for this one. A function's name can't have a hyphen: `_` stands for it."""
        return self.handle.replace("_", "-") == handle.replace("_", "-")

    async def perform(self, message: Message, context: Context) -> None:
        """Runs the function to its end and says what it yields and returns."""
        if not _is_async(self.function):
            await perform_in_thread(self.function, message, context)
            return
        result = self.function(message, context)
        if inspect.isawaitable(result):
            result = await result
        await say_all(context, result)


def _is_async(function: Function) -> bool:
    # An object with an async `__call__` is as good as a function.
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)


async def say_all(context: Context, result: Any) -> None:
    """Says what a function returned: nothing, a value, or values that come one after the other."""
    if result is None:
        return
    if isinstance(result, AsyncIterator):
        try:
            async for value in result:
                await say(context, value)
        finally:
            # Its `finally` runs now, and not when somebody collects garbage.
            if inspect.isasyncgen(result):
                await result.aclose()
    elif isinstance(result, Iterator):
        for value in result:
            await say(context, value)
    else:
        await say(context, result)


async def say(context: Context, value: Any) -> None:
    """Says one value: text, a part, an item of schema.org, data, or a list of these."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            context.text(one)
        elif isinstance(one, Mapping) and one.get("kind"):
            context.part(one)
        elif isinstance(one, Mapping):
            context.data(dict(one))
        else:
            kind = type(one).__name__
            raise TypeError(
                f"an agent yields text, a part, an item or a dict, and this was of type {kind}: {one!r:.80}"
            )
    await context._run.drain()


@overload
def agent(function: Function) -> Agent: ...


@overload
def agent(*, handle: str | None = None) -> Callable[[Function], Agent]: ...


def agent(function: Function | None = None, *, handle: str | None = None) -> Agent | Callable[[Function], Agent]:
    """Makes an agent of a function of `(message, ctx)`. Its handle is the function's name where none is given."""
    if function is None:
        return lambda function: Agent(function, handle)
    return Agent(function, handle)
