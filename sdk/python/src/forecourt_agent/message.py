"""What an agent receives: a message, its sender, and the turns before."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Evidence:
    """A statement about the sender that the host has verified. Authorize on these alone."""

    raw: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """Who it is about, such as `oauth:https://login.example#ada` or `@chef@example.com`."""
        return str(self.raw.get("subject", ""))

    @property
    def issuer(self) -> str:
        """Who says so: the name of a host."""
        return str(self.raw.get("issuer", ""))

    @property
    def method(self) -> str:
        """How it was established, a URN."""
        return str(self.raw.get("method", ""))

    @property
    def assurance(self) -> str:
        """How strong it is, such as `oauth`, `agent` or `api-key`. The list is open."""
        return str(self.raw.get("assurance", ""))

    @property
    def on_behalf_of(self) -> Sequence[str]:
        """For whom the subject acts."""
        return list(self.raw.get("on_behalf_of", ()))

    @property
    def claims(self) -> Mapping[str, Any]:
        """Further statements of the issuer."""
        return dict(self.raw.get("claims", {}))


@dataclass(frozen=True)
class Sender:
    """Who sent a message."""

    raw: Mapping[str, Any]

    @property
    def verified(self) -> bool:
        """Whether the host checked a proof of who it is."""
        return bool(self.raw.get("verified", False))

    @property
    def address(self) -> str:
        """`@name@domain`; empty when the sender proved nothing."""
        return str(self.raw.get("address", ""))

    @property
    def auth_method(self) -> str:
        """How the sender was authenticated; `none` where it was not."""
        return str(self.raw.get("auth_method", "none"))

    @property
    def identities(self) -> Sequence[Evidence]:
        """All that was verified about the sender."""
        return [Evidence(one) for one in self.raw.get("identities", ())]

    @property
    def subject(self) -> str | None:
        """The subject of the first verified statement, by which a caller can be told from others."""
        return next((one.subject for one in self.identities), None)

    @property
    def claimed_address(self) -> str | None:
        """What the sender says of itself, without a proof: to show, never to decide by."""
        return self.raw.get("claimed_address")

    @property
    def profile(self) -> Mapping[str, Any]:
        """A name and a picture, for people and models."""
        return dict(self.raw.get("profile") or {})


@dataclass(frozen=True)
class File:
    """A file that came with a message."""

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """A name to show. It is the caller's text: never use it as a path."""
        return str(self.raw.get("name") or "file")

    @property
    def mime(self) -> str:
        """The media type that its sender declared."""
        return str(self.raw.get("mime", "application/octet-stream"))

    @property
    def size(self) -> int | None:
        """Bytes, where that is known."""
        size = self.raw.get("size_bytes")
        return int(size) if isinstance(size, int) else None

    @property
    def url(self) -> str | None:
        """Where its bytes are, when they did not come along."""
        return (self.raw.get("bytes_ref") or {}).get("url") or self.raw.get("url")

    def bytes(self) -> bytes:
        """Its bytes. `ValueError` where only their address came, or they are no base64."""
        data = (self.raw.get("bytes_ref") or {}).get("data")
        if not isinstance(data, str):
            where = self.url or "nowhere: they were left out of what is kept"
            raise ValueError(f"the bytes of {self.name!r} are not in the message; they are at {where}")
        try:
            return base64.b64decode(data, validate=True)
        except binascii.Error as error:
            raise ValueError(f"the bytes of {self.name!r} are not base64: {error}") from error


@dataclass(frozen=True)
class Turn:
    """An earlier turn of the conversation."""

    raw: Mapping[str, Any]

    @property
    def role(self) -> str:
        """`user` or `assistant`."""
        return str(self.raw.get("role", "user"))

    @property
    def parts(self) -> Sequence[Mapping[str, Any]]:
        """Its parts, as the host sent them."""
        return list(self.raw.get("parts", ()))

    @property
    def text(self) -> str:
        """Its words."""
        return text_of(self.parts)

    @property
    def sender(self) -> Sender:
        """Who said it."""
        return Sender(self.raw.get("sender") or {})


@dataclass(frozen=True)
class Resolution:
    """A consent or a payment that this message brings, as the host has verified it."""

    raw: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """`consent_required` or `payment_required`: the refusal that it answers."""
        return str(self.raw.get("kind", ""))

    @property
    def state(self) -> str:
        """The state of that refusal."""
        return str(self.raw.get("in_reply_to_state", ""))

    @property
    def confirmation(self) -> Mapping[str, Any]:
        """What was paid or agreed to. PolicyPart 5.4."""
        return dict(self.raw.get("confirmation") or {})

    @property
    def verified_by(self) -> str:
        """Who verified it, for logs: decide nothing by it."""
        return str(self.raw.get("verified_by", ""))


@dataclass(frozen=True)
class Message:
    """A message to an agent. Everything that the host sent is in `raw`."""

    raw: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id of the message."""
        return str(self.raw.get("id", ""))

    @cached_property
    def text(self) -> str:
        """Its words: text parts, joined by a newline."""
        return text_of(self.parts)

    @property
    def parts(self) -> Sequence[Mapping[str, Any]]:
        """All that was said: text, files, links, data."""
        return list(self.raw.get("parts", ()))

    @property
    def files(self) -> Sequence[File]:
        """The files that came along."""
        return [File(part) for part in self.parts if part.get("kind") == "file"]

    @property
    def links(self) -> Sequence[Mapping[str, Any]]:
        """The links that came along: `url`, `title`."""
        return [part for part in self.parts if part.get("kind") == "link"]

    @property
    def data(self) -> Sequence[Any]:
        """The values of its data parts."""
        return [part.get("data") for part in self.parts if part.get("kind") == "data"]

    @property
    def sender(self) -> Sender:
        """Who sent it."""
        return Sender(self.raw.get("sender") or {})

    @property
    def recipient(self) -> str:
        """The address of the agent: `@handle@domain`."""
        return str(self.raw.get("recipient", ""))

    @property
    def history(self) -> Sequence[Turn]:
        """The turns before, oldest first."""
        return [Turn(turn) for turn in self.raw.get("history", ())]

    @property
    def language(self) -> str | None:
        """The language in which the caller wants to be answered."""
        return self.raw.get("language")

    @property
    def conversation(self) -> str | None:
        """Names the conversation, the same for all of its turns; `None` where there is none."""
        return self.raw.get("conversation")

    @property
    def answers(self) -> Mapping[str, Any]:
        """What a form was answered with, by field."""
        given = self.raw.get("answers") or ()
        return {one["id"]: one.get("value") for one in given if isinstance(one, Mapping) and "id" in one}

    @property
    def resolution(self) -> Resolution | None:
        """The consent or payment that it brings."""
        raw = self.raw.get("policy_resolution")
        return Resolution(raw) if raw else None

    @property
    def received_via(self) -> str:
        """The protocol that it came by, such as `rest`."""
        return str(self.raw.get("received_via", ""))

    @property
    def received_at(self) -> datetime | None:
        """When it came."""
        return moment(self.raw.get("received_at"))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the caller's protocol carried along. Unverified."""
        return dict(self.raw.get("metadata") or {})

    @property
    def extensions(self) -> Sequence[str]:
        """Extensions of its protocol that the caller switched on."""
        return list(self.raw.get("extensions") or ())


def text_of(parts: Sequence[Mapping[str, Any]]) -> str:
    """The words of parts, joined by a newline."""
    texts = (part.get("content", part.get("text")) for part in parts if part.get("kind") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def moment(text: Any) -> datetime | None:
    """A time of RFC 3339, with any number of digits behind its seconds; `None` where it is no such time."""
    if not isinstance(text, str):
        return None
    # Before 3.11 neither a `Z` nor nine digits are read.
    short = re.sub(r"(\.\d{6})\d+", r"\1", text.strip().replace("Z", "+00:00").replace("z", "+00:00"))
    padded = re.sub(r"\.(\d{1,5})(?=[+-])", lambda found: f".{found[1]:0<6}", short)
    try:
        read = datetime.fromisoformat(padded)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=timezone.utc)
