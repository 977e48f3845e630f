"""Answers of agents, put together from the lines of a turn, for tests."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .channel import Line

EndingName = Literal["complete", "message", "question", "refused", "declined", "failed", "cancelled"]


@dataclass(frozen=True)
class AnswerFile:
    """A file of an answer, whole."""

    name: str
    mime: str
    content: bytes
    description: str | None = None


@dataclass
class Question:
    """What an agent asks back."""

    text: str
    fields: Sequence[Mapping[str, Any]]

    @property
    def options(self) -> list[str]:
        """What the first field lets choose from."""
        return [one for field in self.fields[:1] for one in field.get("options", ())]


@dataclass
class Answer:
    """What an agent said in one turn."""

    ending: EndingName = "complete"
    text: str = ""
    question: Question | None = None
    refusal: Mapping[str, Any] | None = None
    declined: str | None = None
    error: str | None = None
    parts: list[Mapping[str, Any]] = field(default_factory=list)
    files: list[AnswerFile] = field(default_factory=list)
    progress: list[Mapping[str, Any]] = field(default_factory=list)
    tool_calls: list[Mapping[str, Any]] = field(default_factory=list)
    usage: list[Mapping[str, Any]] = field(default_factory=list)
    logs: list[Mapping[str, Any]] = field(default_factory=list)
    journal: list[Any] = field(default_factory=list)
    state: Any = None
    lines: list[Line] = field(default_factory=list)

    def lists(self) -> dict[str, list[Any]]:
        """What comes several times, by its key in a line."""
        named = {"usage": self.usage, "journal": self.journal, "log": self.logs}
        return {**named, "tool_call": self.tool_calls, "part": self.parts}

    @property
    def links(self) -> list[Mapping[str, Any]]:
        """The links."""
        return [part for part in self.parts if part.get("kind") == "link"]

    @property
    def data(self) -> list[Any]:
        """The values of data parts."""
        return [part["data"] for part in self.parts if part.get("kind") == "data"]

    @property
    def items(self) -> list[Mapping[str, Any]]:
        """The things of schema.org among them."""
        return [value for value in self.data if isinstance(value, dict) and "@type" in value]


def answer_of(lines: Sequence[Line]) -> Answer:
    """The answer that a turn's lines are."""
    answer = Answer(lines=list(lines))
    files: dict[str, tuple[Mapping[str, Any], bytearray]] = {}
    for line in lines:
        answer.text += line.get("text", "")
        shown: Line = {key: line[key] for key in ("progress", "note") if key in line}
        if shown:
            answer.progress.append(shown)
        for name, several in answer.lists().items():
            if name in line:
                several.append(line[name])
        if line.get("part", {}).get("kind") == "text":
            answer.text += line["part"].get("content", "")
        if "artifact" in line:
            piece = line["artifact"]
            _, content = files.setdefault(piece["id"], (piece, bytearray()))
            content += base64.b64decode(piece["data"])
        _end(answer, line)
    answer.files += [
        AnswerFile(about["name"], about["mime"], bytes(content), about.get("description"))
        for about, content in files.values()
    ]
    whole = [part for part in answer.parts if part["kind"] == "file" and "data" in part["bytes_ref"]]
    answer.files += [AnswerFile(p["name"], p["mime"], base64.b64decode(p["bytes_ref"]["data"])) for p in whole]
    return answer


def _end(answer: Answer, line: Line) -> None:
    if "message" in line:
        answer.ending, answer.text = "message", answer.text + line["message"]
    elif "question" in line:
        asked = line["question"]
        answer.ending, answer.question = "question", Question(asked["text"], asked["questions"])
    elif "policy" in line:
        answer.ending, answer.refusal = "refused", line["policy"]
    elif "declined" in line:
        answer.ending, answer.declined = "declined", line["declined"]["message"]
    elif "error" in line:
        answer.ending, answer.error = "failed", line["error"]["message"]
