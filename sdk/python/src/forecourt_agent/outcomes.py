"""How a turn ends other than well: exceptions that an agent raises, and those that it may catch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Ending(Exception):
    """Ends the turn with what `line` says."""

    def line(self) -> dict[str, Any]:
        """The ending as the host reads it."""
        raise NotImplementedError


class Refused(Ending):
    """Ends the turn with a refusal; the functions of `refuse` make them."""

    def __init__(self, part: Mapping[str, Any]) -> None:
        super().__init__(part.get("message", ""))
        self.part = dict(part)

    @property
    def kind(self) -> str:
        """The kind of the refusal, such as `payment_required`."""
        return str(self.part["kind"])

    def line(self) -> dict[str, Any]:
        return {"policy": self.part}


class Declined(Ending):
    """Ends the turn: the agent won't do it, and asking again changes nothing."""

    def line(self) -> dict[str, Any]:
        return {"declined": {"message": str(self)}}


class Failed(Ending):
    """Ends the turn: it failed, for the reason that the caller is told."""

    def line(self) -> dict[str, Any]:
        return {"error": {"message": str(self)}}


class Finished(Ending):
    """Ends the turn well, as one message without a task where a protocol can choose."""

    def line(self) -> dict[str, Any]:
        return {"message": str(self)}


class QuestionAsked(Ending):
    """Ends the turn with a question. Nothing waits for the answer: the next message begins anew."""

    def __init__(self, text: str, fields: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(text)
        self.fields = [dict(field) for field in fields]

    def line(self) -> dict[str, Any]:
        return {"question": {"text": str(self), "questions": self.fields}}


class Unanswered(Finished):
    """A question was not answered with one of its options, however often it was asked. Ends the turn well, since one
    that is declined would leave the conversation at the question."""


class CallError(Exception):
    """A call of a tool failed. `policy` is the refusal, where it was refused."""

    def __init__(self, message: str, policy: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.policy = policy


class TurnEnded(RuntimeError):
    """Something was said after its turn had ended, which nobody could hear any more."""


class StateError(ValueError):
    """The state of a conversation is too large, or can't be kept. `told` is what the caller reads."""

    def __init__(self, message: str, told: str = "The agent met an error.") -> None:
        super().__init__(message)
        self.told = told
