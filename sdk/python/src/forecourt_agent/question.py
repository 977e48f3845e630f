"""Questions back to the caller, and how their answers are read. Fields have NLWeb's shape (4.1.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from .message import Message

FieldType = Literal["text", "number", "boolean", "single_select", "multi_select"]
_TYPES: tuple[str, ...] = get_args(FieldType)

# The words that people say for it in the host's four languages.
_YES = {"yes", "y", "true", "1", "ok", "ja", "oui", "sí", "si", "vrai", "wahr", "verdadero"}
_NO = {"no", "n", "false", "0", "nein", "non", "faux", "falsch", "falso"}
OPTIONS_CHARS_MAX = 200
"""Characters of options that are said in words."""
ONLY = "answer"
"""The id of the field of a question that has one alone."""


@dataclass(frozen=True)
class Option:
    """Something to choose."""

    value: str
    title: str


@dataclass(frozen=True)
class Field:
    """One field of a question."""

    id: str
    text: str
    type: FieldType = "text"
    options: tuple[Option, ...] = ()
    default: Any = None
    is_optional: bool = False
    """Whether no words are an answer, too."""

    def to_json(self) -> dict[str, Any]:
        """The field as hosts read it."""
        shown: dict[str, Any] = {"id": self.id, "text": self.text, "type": self.type}
        if self.options:
            # Titles alone: options of value and title are shown by some protocols and left out by others.
            shown["options"] = [one.title for one in self.options]
        if self.default is not None:
            titles = {one.value: one.title for one in self.options}
            several = [titles.get(one, one) for one in self.default] if isinstance(self.default, list) else None
            shown["default"] = titles.get(self.default, self.default) if several is None else several
        return shown

    def read(self, said: Any) -> Any:
        """The value that an answer means. `ValueError`, with what to say, where it means none."""
        if isinstance(said, str) and not said.strip():
            said = None
        if said is None:
            if self.default is None and not self.is_optional:
                raise ValueError("Please answer")
            return "" if self.default is None else self.default
        if self.type == "single_select":
            return self._option(said)
        if self.type == "multi_select":
            several = said if isinstance(said, list) else str(said).replace(";", ",").split(",")
            return list(dict.fromkeys(self._option(one) for one in several))
        if self.type == "number":
            return _number(said)
        if self.type == "boolean":
            return _truth(said)
        return said.strip() if isinstance(said, str) else json.dumps(said)

    def _option(self, said: Any) -> str:
        word = str(said).strip().rstrip(".!").casefold()
        for one in self.options:
            if word in (one.value.casefold(), one.title.casefold()):
                return one.value
        # By its number in the list only where no option is a number itself.
        if word.isdecimal() and 1 <= int(word) <= len(self.options):
            return self.options[int(word) - 1].value
        raise ValueError("Please choose one of: " + ", ".join(one.title for one in self.options))


def _number(said: Any) -> float:
    if isinstance(said, (int, float)) and not isinstance(said, bool):
        return said
    try:
        value = float(str(said).strip().replace(",", "."))
    except ValueError:
        raise ValueError("Please answer with a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("Please answer with a number")
    return int(value) if value.is_integer() else value


def _truth(said: Any) -> bool:
    if isinstance(said, bool):
        return said
    word = str(said).strip().rstrip(".!").casefold()
    if word not in _YES | _NO:
        raise ValueError("Please answer yes or no")
    return word in _YES


def field(spec: Mapping[str, Any] | Field) -> Field:
    """A field from its JSON. `ValueError` where it has no id or no words, or a choice nothing to choose from."""
    if isinstance(spec, Field):
        return spec
    name, words = spec.get("id") or spec.get("name"), spec.get("text")
    if not name or not words:
        raise ValueError(f"a field needs `id` and `text`: {dict(spec)!r}")
    chosen = options(spec.get("options") or ())
    kind = spec.get("type") or ("single_select" if chosen else "text")
    if kind not in _TYPES:
        raise ValueError(f"the field `{name}` has a type that is none of {', '.join(_TYPES)}: {kind!r}")
    if kind.endswith("select") and not chosen:
        raise ValueError(f"the field `{name}` has nothing to choose from")
    return Field(str(name), str(words), cast(FieldType, kind), chosen, spec.get("default"))


def options(given: Sequence[str | Mapping[str, str]]) -> tuple[Option, ...]:
    """Options from texts, or from `{"value", "title"}`."""

    def one(option: str | Mapping[str, str]) -> Option:
        if isinstance(option, str):
            return Option(option, option)
        return Option(option["value"], option.get("title") or option["value"])

    return tuple(one(option) for option in given)


def in_words(text: str, fields: Sequence[Mapping[str, Any]]) -> str:
    """The words of a question, with what may be chosen where it is one choice and not too long.

    Hosts say a field once more behind the words, where its options are not among these and a protocol has no forms.
    """
    titles: list[str] = [one for field in fields for one in field.get("options", ())] if len(fields) == 1 else []
    shown = ", ".join(titles)
    is_said = all(title in text for title in titles)
    return text if is_said or len(shown) > OPTIONS_CHARS_MAX else f"{text} ({shown})"


def said(message: Message) -> dict[str, Any]:
    """What a message answers with, as it is kept: its words, and the values of a form."""
    values = dict(message.answers)
    return {"text": message.text, **({"values": values} if values else {})}


def values_of(answer: Mapping[str, Any], fields: Sequence[Field]) -> dict[str, Any]:
    """What an answer says of each field, not looked at yet: by name, by a JSON object, by lines `id: value`."""
    given = dict(answer.get("values") or {})
    words = str(answer.get("text") or "")
    names = {field.id: field for field in fields}
    if not given.keys() & names.keys():
        given = _read_object(words)
    if not given.keys() & names.keys():
        given = _read_lines(words, fields)
    found = {name: given[name] for name in names if name in given}
    if not found and len(fields) == 1 and words.strip():
        return {fields[0].id: words}
    return found


def _read_object(words: str) -> dict[str, Any]:
    if not words.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(words)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _read_lines(words: str, fields: Sequence[Field]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in words.splitlines():
        line = line.strip().lstrip("-* ")
        name, colon, value = line.partition(":")
        name = name.strip("` ").casefold()
        for field in fields:
            words = field.text.casefold()
            if colon and name.rstrip("? ") in (field.id.casefold(), words.rstrip("?: ")):
                found[field.id] = value.strip()
            elif line.casefold().startswith(words):
                found[field.id] = line[len(words) :].strip(" :")
    return found
