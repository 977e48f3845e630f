"""Sends what is logged in a turn into the host's log, under the id of its request."""

from __future__ import annotations

import logging
import threading
from typing import Any

from .failures import traceback_of
from .limits import LOG_CHARS_MAX
from .run import current

_PLAIN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class HostHandler(logging.Handler):
    """Writes records to the turn to which their code belongs; to `otherwise`, such as standard error, without one."""

    def __init__(self, otherwise: logging.Handler | None = None) -> None:
        super().__init__()
        self._otherwise = otherwise

    def emit(self, record: logging.LogRecord) -> None:
        run = current.get()
        turn = run.turn if run else None
        if run is not None and turn is not None and not turn.ended.is_set():
            entry = _entry(record)
            if threading.get_ident() == run.thread:
                turn.log(entry)
            else:
                run.loop.call_soon_threadsafe(turn.log, entry)
        elif self._otherwise is not None:
            self._otherwise.handle(record)


def install(handler: logging.Handler, level: int = logging.DEBUG) -> None:
    """Sends everything that is logged to `handler`. What agents log counts from `level`, as the host has one, too."""
    logging.getLogger().addHandler(handler)
    logging.getLogger("forecourt_agent").setLevel(level)


def _entry(record: logging.LogRecord) -> dict[str, Any]:
    entry: dict[str, Any] = {"level": _level(record.levelno), "message": record.getMessage()[:LOG_CHARS_MAX]}
    more = {name: _plain(value) for name, value in vars(record).items() if name not in _PLAIN}
    if record.exc_info and record.exc_info[1]:
        # The end of a traceback has the exception.
        more["traceback"] = traceback_of(record.exc_info[1])[-LOG_CHARS_MAX:]
    return entry | ({"fields": more} if more else {})


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value[:LOG_CHARS_MAX] if isinstance(value, str) else value
    return str(value)[:LOG_CHARS_MAX]


def _level(number: int) -> str:
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    return "info" if number >= logging.INFO else "debug"
