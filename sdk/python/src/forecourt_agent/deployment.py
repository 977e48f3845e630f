"""A whole deployment for tests: the `forecourt` program, as its own tests see it, and whoever asks it."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["DeploymentHost", "HostError", "Reply"]

STARTS_WITHIN = 120.0
"""Seconds until the program must be ready: content may have to be indexed first."""
ENDS_WITHIN = 60.0
"""Seconds until it must have ended by itself."""
ANSWER_BYTES = 16 * 1024 * 1024
"""Bytes of an answer that are read."""


class HostError(Exception):
    """The program is not there, did not start, or found something wrong in the end."""


@dataclass(frozen=True)
class Reply:
    """What an agent of the deployment answered, over REST."""

    status: int
    text: str = ""
    parts: Sequence[Mapping[str, Any]] = ()
    session: str | None = None
    refusal: Mapping[str, Any] | None = None
    error: str | None = None
    code: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def items(self) -> list[Mapping[str, Any]]:
        """What is listed: objects of schema.org."""
        values = [part.get("data") for part in self.parts if part.get("kind") == "data"]
        return [value for value in values if isinstance(value, dict) and "questions" not in value]

    @property
    def questions(self) -> list[Mapping[str, Any]]:
        """What the agent asks back."""
        values = [part.get("data") for part in self.parts if part.get("kind") == "data"]
        return [one for value in values if isinstance(value, dict) for one in value.get("questions", ())]

    @property
    def files(self) -> list[Mapping[str, Any]]:
        """The files, each with its `name` and `mime`."""
        return [part for part in self.parts if part.get("kind") in ("file", "artifact")]

    @property
    def tool_calls(self) -> list[Mapping[str, Any]]:
        """The calls of tools, each with its `name` and `args`."""
        return [part for part in self.parts if part.get("kind") == "tool_call"]


class DeploymentHost:
    """A deployment at work: `async with host("mysite") as h: reply = await h.ask("helper", "hi")`."""

    def __init__(self, folder: str | os.PathLike[str], *, record: bool = False, live: bool = False) -> None:
        self._folder, self._flags = Path(folder), ["--record"] * record + ["--live"] * live
        self._process: asyncio.subprocess.Process | None = None
        self._log: asyncio.Task[bytes] | None = None
        self._places: dict[str, Any] = {}

    @property
    def agents(self) -> list[str]:
        """The handles of its agents."""
        return list(self._places["agents"])

    @property
    def url(self) -> str:
        """Where it is asked over plain HTTP, on this machine."""
        return f"http://{self._places['domain']}:{self._places['http_port']}"

    async def ask(
        self,
        agent: str | None,
        text: str,
        *,
        session: str | None = None,
        token: str | None = None,
        language: str | None = None,
    ) -> Reply:
        """Says something to an agent, the default one for `None`. `session` of an earlier reply goes on with it."""
        handle = (agent or self._places["default_agent"]).lstrip("@")
        fields = [("user", text)] if session is None else [("session", session), ("user", text)]
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if language is not None:
            headers["Accept-Language"] = language
        return await asyncio.to_thread(self._post, f"/~{handle}", fields, headers)

    def _post(self, path: str, fields: Sequence[tuple[str, str]], headers: dict[str, str]) -> Reply:
        boundary = secrets.token_hex(16)
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields
        ]
        body = ("".join(parts) + f"--{boundary}--\r\n").encode()
        port = int(self._places["http_port"])
        named = {
            "Host": f"{self._places['domain']}:{port}",
            "Content-Type": f"multipart/form-data; boundary={boundary}",
        }
        connection = http.client.HTTPConnection("127.0.0.1", port)
        try:
            connection.request("POST", path, body, {**headers, **named})
            response = connection.getresponse()
            content = response.read(ANSWER_BYTES + 1)
            # A part of it is no JSON, and would look like an answer that says nothing.
            if len(content) > ANSWER_BYTES:
                raise HostError(f"the answer has more than {ANSWER_BYTES} bytes")
            return _reply(response.status, content)
        finally:
            connection.close()

    async def __aenter__(self) -> DeploymentHost:
        command = [_program(), "test", str(self._folder), "--serve", *self._flags]
        pipe = asyncio.subprocess.PIPE
        # Its standard input is what keeps it: it ends with this process, however that ends.
        try:
            self._process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise HostError(f"{command[0]} can't be started: {error}") from error
        assert self._process.stdout is not None and self._process.stderr is not None
        self._log = asyncio.create_task(self._process.stderr.read())
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), STARTS_WITHIN)
            if not line:
                raise HostError(f"{self._folder} can't be served:\n{(await self._log).decode(errors='replace')}")
            self._places = json.loads(line)
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        code, log = await self._end()
        # What a test found goes before what the host found.
        if code != 0 and kind is None:
            raise HostError(log)

    async def _end(self) -> tuple[int, str]:
        process, log = self._process, self._log
        assert process is not None and log is not None and process.stdin is not None
        process.stdin.close()
        try:
            code = await asyncio.wait_for(process.wait(), ENDS_WITHIN)
        except asyncio.TimeoutError:
            process.kill()
            code = await process.wait()
        except asyncio.CancelledError:
            # Whoever is cancelled waits for no end of its own, and stays cancelled.
            process.kill()
            await process.wait()
            log.cancel()
            raise
        return code, (await log).decode(errors="replace")


def _program() -> str:
    named = os.environ.get("FORECOURT")
    found = named or shutil.which("forecourt")
    if found is None:
        raise HostError("there is no program `forecourt` on PATH; FORECOURT names it where it is elsewhere")
    return found


def _reply(status: int, body: bytes) -> Reply:
    try:
        value = json.loads(body)
    except ValueError:
        value = {}
    parts = value.get("parts", [])
    texts = [part.get("content", part.get("text", "")) for part in parts if part.get("kind") == "text"]
    return Reply(
        status=status,
        text="".join(texts),
        parts=parts,
        session=value.get("session"),
        refusal=value.get("policy"),
        error=value.get("error"),
        code=value.get("code"),
        body=value,
    )
