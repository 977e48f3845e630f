"""How a failure is told in a log: where it happened in the agent's own code, without the frames of this library."""

from __future__ import annotations

import traceback
from pathlib import Path

_OURS = str(Path(__file__).parent)


def traceback_of(error: BaseException) -> str:
    """The traceback without frames of this library, but for the innermost. A whole one where all are."""
    told = traceback.TracebackException.from_exception(error)
    _shorten(told, isinstance(error, SyntaxError))
    return "".join(told.format())


def place_of(error: BaseException) -> str:
    """Where in the agent's file it happened, as `shirts.py:5`; empty where it did not happen there."""
    theirs = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    return f"{Path(theirs[0].filename).name}:{theirs[0].lineno}" if theirs else ""


def _shorten(told: traceback.TracebackException, is_of_a_file: bool) -> None:
    if any(not _is_ours(frame.filename) for frame in told.stack):
        shown = [frame for frame in told.stack if not _is_ours(frame.filename) or frame is told.stack[-1]]
        told.stack = traceback.StackSummary.from_list(shown)
    elif is_of_a_file:
        # A file that can't be read has no frame: the error itself names the line.
        told.stack = traceback.StackSummary.from_list([])


def _is_ours(file: str) -> bool:
    # Frames of `import` stand between this library and the file that it loads.
    return file.startswith((_OURS, "<frozen "))
