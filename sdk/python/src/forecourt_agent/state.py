"""What an agent keeps in a conversation: a dict for its author, and beside it what a replay needs."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .limits import KEPT_PART_BYTES_MAX, STATE_BYTES_MAX
from .outcomes import StateError

_ASK = "$ask"


class State(MutableMapping[str, Any]):
    """What the agent keeps in this conversation, by name; whole values that JSON holds. The host keeps it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str) or name.startswith("$"):
            raise StateError(f"a name in the state is a text that does not begin with `$`, unlike {name!r}")
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"State({self._values!r})"


@dataclass
class Asked:
    """A function that has asked: what it began with, the questions so far, and the answers."""

    parts: list[Any] | None
    """Of the first message; `None` where they are too large to be kept."""
    before: dict[str, Any]
    """The author's state when the function began."""
    questions: list[str] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)


def read(value: Any) -> tuple[dict[str, Any], Asked | None]:
    """The author's state and an open question, out of what the host has kept."""
    if not isinstance(value, dict):
        return {}, None
    kept = copy.deepcopy(value)
    ask = kept.pop(_ASK, None)
    if not isinstance(ask, dict) or not ask.get("asked"):
        return kept, None
    before, parts = ask.get("before"), ask.get("parts")
    questions: Any = ask["asked"]
    answers: Any = ask.get("answers")
    before = copy.deepcopy(kept) if before is None else before
    is_read = isinstance(before, dict) and isinstance(parts, (list, type(None)))
    is_read = is_read and _are(questions, str) and _are(answers, dict)
    return kept, Asked(parts, before, questions, answers) if is_read else None


def _are(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def written(values: Mapping[str, Any], asked: Asked | None) -> Any:
    """What the host is to keep, `None` for nothing. `StateError` when it is over the bound, or no JSON."""
    own = dict(values)
    whole = own
    if asked is not None:
        ask = {"parts": asked.parts, "asked": asked.questions, "answers": asked.answers}
        if asked.before != own:
            ask["before"] = asked.before  # type: ignore[assignment]
        whole = {**own, _ASK: ask}
    try:
        size = size_of(whole)
    except (TypeError, ValueError) as error:
        raise StateError(f"the state can't be written as JSON: {error}") from error
    if size > STATE_BYTES_MAX:
        with_answers = " with the questions and answers so far" if asked else ""
        bound = f"{size} bytes of JSON, and at most {STATE_BYTES_MAX} are kept"
        raise StateError(
            f"the state{with_answers} has {bound}", f"What this agent keeps of the conversation has {bound}."
        )
    return whole or None


def kept_parts(parts: Sequence[Mapping[str, Any]]) -> list[Any] | None:
    """Parts for a replay. Where all would be too large the bytes of files are left out, then everything."""
    whole: list[Any] = [dict(part) for part in parts]
    if size_of(whole) > KEPT_PART_BYTES_MAX:
        for part in whole:
            if isinstance(part.get("bytes_ref"), dict) and "data" in part["bytes_ref"]:
                part["bytes_ref"] = {"kind": "left_out"}
    return whole if size_of(whole) <= KEPT_PART_BYTES_MAX else None


def size_of(value: Any) -> int:
    """Bytes of a value as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace"))
