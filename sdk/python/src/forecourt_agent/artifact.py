"""Files that are written piece by piece."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from .limits import PIECE_BYTES_MAX
from .outcomes import TurnEnded

if TYPE_CHECKING:
    from .run import Run


class ArtifactWriter:
    """A file that is being written. Left by an error it is never whole."""

    def __init__(self, run: Run, id: str, name: str, mime: str, description: str | None) -> None:
        self._run, self._id, self._is_closed = run, id, False
        self._about = {"name": name, "mime": mime, **({"description": description} if description else {})}
        self._pieces = 0

    async def write(self, content: bytes | bytearray | memoryview | str) -> None:
        """Adds to the file."""
        if self._is_closed:
            raise TurnEnded("this file is closed")
        raw = content.encode() if isinstance(content, str) else bytes(content)
        for start in range(0, len(raw), PIECE_BYTES_MAX):
            await self._send(raw[start : start + PIECE_BYTES_MAX], False)

    async def close(self) -> None:
        """Says that the file is whole."""
        if not self._is_closed:
            await self._send(b"", True)
            self._is_closed = True

    async def __aenter__(self) -> ArtifactWriter:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.close()

    async def _send(self, raw: bytes, is_last: bool) -> None:
        piece: dict[str, Any] = {"id": self._id, **self._about, "data": base64.b64encode(raw).decode()}
        if self._pieces:
            piece["append"] = True
        if is_last:
            piece["last"] = True
        self._pieces += 1
        self._run.say({"artifact": piece})
        await self._run.drain()
