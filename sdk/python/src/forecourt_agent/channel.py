"""The way from a turn to its host: what carries lines, and what is said on it."""

from __future__ import annotations

import json
from typing import Any, Protocol

from .limits import LINE_SENT_BYTES_MAX

Line = dict[str, Any]


class Channel(Protocol):
    """Carries the lines of one turn. A wire is one: standard output, HTTP, or a list in a test."""

    can_call: bool
    """Whether it can bring results of calls, and acknowledge notes."""

    def write(self, line: Line, is_ending: bool = False) -> None:
        """Sends a line, at once or a little later. `TypeError` or `ValueError` where it is no JSON, `BufferError`
        where too much is unread; an ending always goes."""

    async def drain(self) -> None:
        """Waits until the host has read enough of what was written."""


def encoded(line: Line) -> bytes:
    """A line of JSON with its end. `TypeError` or `ValueError` where it is no JSON or too long."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which no host can read.
        raw = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    if len(raw) > LINE_SENT_BYTES_MAX:
        raise ValueError(
            f"one line has {len(raw)} bytes, and {LINE_SENT_BYTES_MAX} at most; `ctx.file` sends in pieces"
        )
    return raw + b"\n"
