"""A small HTTP/1.1 server for one ASGI application: a request for each connection, all of it within bounds."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import unquote

from .http import Application
from .limits import CONNECTIONS_MAX, REQUEST_BODY_BYTES_MAX, REQUEST_HEAD_BYTES_MAX, REQUEST_SECONDS_MAX

_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (/[\x21-\x7e]*) HTTP/1\.[01]")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*")
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed"}
_REASONS |= {408: "Request Timeout", 413: "Content Too Large", 431: "Request Header Fields Too Large"}
_REASONS |= {411: "Length Required", 503: "Service Unavailable"}


_LINGER_SECONDS = 1.0
"""How long a refused client may go on sending, and how long answers may take to be sent once the service ends."""


class _Unreadable(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


async def serve(app: Application, host: str, port: int, started: asyncio.Event | None = None) -> None:
    """Listens until it is cancelled, then lets open turns come to their end. `OSError` where the port is taken."""
    connections: set[asyncio.Task[Any]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            if len(connections) > 2 * CONNECTIONS_MAX:
                writer.transport.abort()
            elif len(connections) > CONNECTIONS_MAX:
                await _refuse(reader, writer, 503)
            else:
                await _connection(app, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            # The client is gone, and its turn with it.
            pass
        except asyncio.CancelledError:
            # The service ends. This is the top of a task that asyncio made, which reports one that was cancelled as an
            # error that nobody has handled.
            pass
        finally:
            connections.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, host, port, limit=REQUEST_HEAD_BYTES_MAX)
    address = server.sockets[0].getsockname()
    print(f"listening on http://{host}:{address[1]}/", flush=True)
    if started is not None:
        started.set()
    try:
        # It serves already. `serve_forever` that is cancelled waits for every connection since Python 3.12, before the
        # turns of those are told that the service ends.
        await asyncio.Event().wait()
    finally:
        server.close()
        await _shut_down(app)
        if connections:
            await asyncio.wait(set(connections), timeout=_LINGER_SECONDS)
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def _shut_down(app: Application) -> None:
    async def receive() -> MutableMapping[str, Any]:
        return {"type": "lifespan.shutdown"}

    async def send(_: MutableMapping[str, Any]) -> None:
        return

    await app({"type": "lifespan"}, receive, send)


async def _connection(app: Application, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        scope, body = await asyncio.wait_for(_request(reader, writer), REQUEST_SECONDS_MAX)
    except _Unreadable as unreadable:
        await _refuse(reader, writer, unreadable.status)
        return
    except asyncio.TimeoutError:
        await _refuse(reader, writer, 408)
        return
    is_given = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal is_given
        if not is_given:
            is_given = True
            return {"type": "http.request", "body": body}
        # One request for each connection: whatever else a client sends means nothing, and its end is the end.
        try:
            while await reader.read(1024):
                pass
        except ConnectionError:
            pass
        return {"type": "http.disconnect"}

    await app(scope, receive, _Response(writer).send)


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[dict[str, Any], bytes]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise _Unreadable(431) from error
    first, *lines = head[:-4].split(b"\r\n")
    asked = _LINE.fullmatch(first)
    fields = [_FIELD.fullmatch(line) for line in lines]
    if asked is None or not all(fields):
        raise _Unreadable(400)
    headers = [(field[1].lower(), field[2]) for field in fields if field]
    path, _, query = asked[2].partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": asked[1].decode(),
        "path": unquote(path.decode()),
        "query_string": query,
        "headers": headers,
    }
    if (b"expect", b"100-continue") in [(name, value.lower()) for name, value in headers]:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    return scope, await _body(reader, headers, scope["method"] == "POST")


async def _body(reader: asyncio.StreamReader, headers: list[tuple[bytes, bytes]], is_needed: bool) -> bytes:
    lengths = [value for name, value in headers if name == b"content-length"]
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    if codings:
        # Two statements of where a body ends are how requests are smuggled.
        if lengths or codings != [b"chunked"]:
            raise _Unreadable(400)
        return await _chunks(reader)
    if not lengths:
        if is_needed:
            raise _Unreadable(411)
        return b""
    if len(lengths) > 1 or not re.fullmatch(rb"[0-9]{1,12}", lengths[0]):
        raise _Unreadable(400)
    length = int(lengths[0])
    if length > REQUEST_BODY_BYTES_MAX:
        raise _Unreadable(413)
    return await reader.readexactly(length)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        try:
            size = (await reader.readuntil(b"\r\n"))[:-2].partition(b";")[0].strip()
        except asyncio.LimitOverrunError as error:
            raise _Unreadable(400) from error
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size):
            raise _Unreadable(400)
        length = int(size, 16)
        if len(body) + length > REQUEST_BODY_BYTES_MAX:
            raise _Unreadable(413)
        if length == 0:
            # Fields behind the body mean nothing here, and the connection ends with the answer.
            return bytes(body)
        body += await reader.readexactly(length)
        if await reader.readexactly(2) != b"\r\n":
            raise _Unreadable(400)


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: int) -> None:
    writer.write(_head(status, [(b"content-length", b"0")]))
    await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()

    async def rest() -> None:
        while await reader.read(65_536):
            pass

    # A connection that is closed with unread bytes is reset, and its client never reads why.
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(rest(), _LINGER_SECONDS)


def _head(status: int, fields: list[tuple[bytes, bytes]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}".encode(), b"connection: close"]
    return b"\r\n".join([*lines, *(name + b": " + value for name, value in fields), b"", b""])


class _Response:
    """Writes what an application sends; in chunks where it does not say how long it is."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer, self._is_chunked = writer, False

    async def send(self, event: MutableMapping[str, Any]) -> None:
        if event["type"] == "http.response.start":
            fields = list(event["headers"])
            self._is_chunked = all(name != b"content-length" for name, _ in fields)
            fields += [(b"transfer-encoding", b"chunked")] if self._is_chunked else []
            self._writer.write(_head(event["status"], fields))
            return
        body = event.get("body", b"")
        if self._is_chunked:
            body = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
            body += b"" if event.get("more_body") else b"0\r\n\r\n"
        self._writer.write(body)
        await self._writer.drain()
