"""Parts of answers, to be yielded: text, links, data, files. Each function returns the part as JSON."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping
from typing import Any

Part = dict[str, Any]


def text(markdown: str) -> Part:
    """Words, in markdown."""
    return {"kind": "text", "mime": "text/markdown", "content": markdown}


def link(url: str, title: str | None = None, description: str | None = None) -> Part:
    """A link, with a name and a sentence about it."""
    return _given({"kind": "link", "url": url, "title": title, "description": description})


def source(url: str, title: str | None = None, description: str | None = None) -> Part:
    """A link on which the answer stands."""
    return link(url, title, description)


def data(value: Any, mime: str | None = None) -> Part:
    """Structured data: any value that JSON holds but `None`, which is no data. `ValueError` for that."""
    if value is None:
        raise ValueError("`None` is no data")
    return _given({"kind": "data", "mime": mime}) | {"data": value}


def item(thing: Mapping[str, Any]) -> Part:
    """Something of schema.org, such as `{"@type": "Product", "name": "…"}`. `ValueError` without an `@type`."""
    if not thing.get("@type"):
        raise ValueError("an item needs an `@type` of schema.org, such as `Product`")
    return data(dict(thing))


def file(name: str, content: bytes | str, mime: str | None = None) -> Part:
    """A file with its bytes in one piece. `ctx.file` sends larger ones piece by piece."""
    raw = content.encode() if isinstance(content, str) else bytes(content)
    inline = {"kind": "inline", "data": base64.b64encode(raw).decode()}
    return {"kind": "file", "name": name, "mime": mime or mime_of(name), "bytes_ref": inline}


def file_at(url: str, name: str | None = None, mime: str | None = None) -> Part:
    """A file that is at an address."""
    kind = mime or mime_of(name or url)
    return _given({"kind": "file", "name": name, "mime": kind}) | {"bytes_ref": {"kind": "url", "url": url}}


def mime_of(name: str) -> str:
    """The media type that the ending of a name stands for."""
    if name.endswith((".md", ".markdown")):
        return "text/markdown"
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def _given(fields: Mapping[str, Any]) -> Part:
    return {key: value for key, value in fields.items() if value is not None}
