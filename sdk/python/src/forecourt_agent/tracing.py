"""Continues the host's traces with OpenTelemetry, where that is installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .message import Message

try:
    from opentelemetry import context as _context
    from opentelemetry import trace as _trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    _trace = None  # type: ignore[assignment, unused-ignore]


@contextlib.contextmanager
def span(message: Message, agent: str) -> Iterator[None]:
    """A span for what an agent does, below that of the host. Without OpenTelemetry it does nothing."""
    if _trace is None:
        yield
        return
    with _trace.get_tracer("forecourt_agent").start_as_current_span(f"agent {agent}", context=_parent(message)):
        yield


def enter(message: Message, agent: str) -> None:
    """The trace of a later turn, in which a function goes on that has asked."""
    if _trace is None:
        return
    # Never taken off again: the task to which the context belongs ends with the function.
    _context.attach(_parent(message))


def _parent(message: Message) -> Any:
    traceparent = message.raw.get("traceparent")
    return TraceContextTextMapPropagator().extract({"traceparent": traceparent} if traceparent else {})
