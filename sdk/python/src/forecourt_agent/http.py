"""An ASGI application for the `http` backend: each message is a POST, its answer a stream.

`application(helper)` makes one of agents; `app` is that of the file which the variable `FORECOURT_AGENT` names, for
`uvicorn forecourt_agent.http:app`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from .agent import Agent
from .channel import Line, encoded
from .limits import REQUEST_BODY_BYTES_MAX, SUSPENDED, UNSENT_BYTES_MAX, UNSENT_BYTES_WAIT
from .load import agents_of
from .message import Message
from .runtime import Runtime

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_NDJSON, _EVENTS = "application/x-ndjson", "text/event-stream"


class _Refusal(Exception):
    """What is wrong with a request: its status, and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Left(Exception):
    """The client went away before its request was whole."""


def application(*agents: Agent, secret: str | None = None, suspended: int = SUSPENDED) -> Application:
    """An application that answers with `agents`. With a `secret`, bodies without its signature are refused.

    `ValueError` where the secret is empty: a variable that was left blank must not open the service to everybody.
    """
    if secret == "":
        raise ValueError("the secret is empty")
    runtime = Runtime(agents, suspended)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(runtime, receive, send)
        elif scope["type"] == "http":
            try:
                message, media_type = await _request(scope, receive, secret)
            except _Refusal as refusal:
                await _refuse(send, refusal)
            except _Left:
                return
            else:
                await _answer(runtime, message, media_type, receive, send)

    return answer


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """The application of the file that the variable `FORECOURT_AGENT` names; `FORECOURT_SECRET` is its secret."""
    global _app
    if _app is None:
        file = os.environ.get("FORECOURT_AGENT")
        if not file:
            raise RuntimeError("the variable FORECOURT_AGENT must name the file of the agent")
        _app = application(*agents_of(file), secret=os.environ.get("FORECOURT_SECRET"))
    await _app(scope, receive, send)


_app: Application | None = None


async def _lifespan(runtime: Runtime, receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        if kind == "lifespan.shutdown":
            await runtime.close()
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


async def _request(scope: Scope, receive: Receive, secret: str | None) -> tuple[Message, str]:
    """The message of a request, and the media type in which it is answered."""
    if scope["path"] != "/":
        raise _Refusal(404, "messages are posted to /")
    if scope["method"] != "POST":
        raise _Refusal(405, "messages are posted")
    fields = {name.lower(): value for name, value in scope["headers"]}
    body = bytearray()
    while True:
        piece = await receive()
        if piece["type"] == "http.disconnect":
            raise _Left
        body += piece.get("body", b"")
        if len(body) > REQUEST_BODY_BYTES_MAX:
            raise _Refusal(413, f"a message has {REQUEST_BODY_BYTES_MAX} bytes at most")
        if not piece.get("more_body"):
            break
    if secret is not None and not _is_signed(bytes(body), fields.get(b"x-hub-signature-256", b""), secret):
        raise _Refusal(401, "the body is not signed with the secret of this service")
    accept = fields.get(b"accept", b"").decode("latin-1")
    return _message(bytes(body)), _NDJSON if _NDJSON in accept else _EVENTS


def _message(body: bytes) -> Message:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _Refusal(400, f"the body is not JSON: {error}") from error
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list):
        raise _Refusal(400, "the body is not a message: it has no list of `parts`")
    return Message(value)


def _is_signed(body: bytes, given: bytes, secret: str) -> bool:
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), given)


async def _refuse(send: Send, refusal: _Refusal) -> None:
    body = json.dumps({"error": {"message": str(refusal)}}).encode()
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == 405:
        fields.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def _answer(runtime: Runtime, message: Message, media_type: str, receive: Receive, send: Send) -> None:
    channel = _Channel(media_type)
    turn = runtime.begin(message, channel)
    left = asyncio.ensure_future(_left(receive))
    over = asyncio.ensure_future(runtime.over(turn))
    over.add_done_callback(lambda _: channel.close())
    sent = asyncio.ensure_future(_stream(channel, media_type, send))
    try:
        done, _ = await asyncio.wait({left, sent}, return_when=asyncio.FIRST_COMPLETED)
        if left in done or sent.exception() is not None:
            # The caller has left: nobody reads what comes now.
            await runtime.cancel(turn)
        await over
    finally:
        left.cancel()
        sent.cancel()
        await asyncio.gather(left, sent, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stream(channel: _Channel, media_type: str, send: Send) -> None:
    fields = [(b"content-type", media_type.encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    while pieces := await channel.next():
        await send({"type": "http.response.body", "body": b"".join(pieces), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


class _Channel:
    can_call = False

    def __init__(self, media_type: str) -> None:
        self._is_events = media_type == _EVENTS
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_closed = False
        self._changed = asyncio.Event()
        self._read = asyncio.Event()

    def write(self, line: Line, is_ending: bool = False) -> None:
        raw = b"".join(_events(line)) if self._is_events else encoded(line)
        if self._size + len(raw) > UNSENT_BYTES_MAX and not is_ending:
            raise BufferError(f"the host has left {self._size} bytes unread, and at most {UNSENT_BYTES_MAX} are held")
        self._pieces.append(raw)
        self._size += len(raw)
        self._changed.set()

    async def drain(self) -> None:
        while self._size > UNSENT_BYTES_WAIT and not self._is_closed:
            self._read.clear()
            await self._read.wait()

    def close(self) -> None:
        self._is_closed = True
        self._changed.set()
        self._read.set()

    async def next(self) -> Sequence[bytes]:
        """What was written meanwhile; nothing once the turn is over."""
        while not self._pieces and not self._is_closed:
            self._changed.clear()
            await self._changed.wait()
        pieces, self._pieces, self._size = self._pieces, [], 0
        self._read.set()
        return pieces


def _events(line: Line) -> list[bytes]:
    """A line as server-sent events: text without a name, everything else under its key."""
    events = []
    for key, value in line.items():
        if key == "text":
            # A carriage return would begin a new field, too, so that such a text is a part.
            plain = "".join(f"data: {one}\n" for one in value.split("\n"))
            part = {"part": {"kind": "text", "content": value}}
            events.append(f"{plain}\n" if "\r" not in value else f"event: part\n{_data(part)}\n")
        elif key == "end":
            events.append("event: end\ndata:\n\n")
        else:
            # With its key around it, so that a value that has the same key inside is not taken for that.
            events.append(f"event: {key}\n{_data({key: value})}\n")
    return [event.encode("utf-8", "replace") for event in events]


def _data(value: Line) -> str:
    return f"data: {encoded(value)[:-1].decode()}\n"
