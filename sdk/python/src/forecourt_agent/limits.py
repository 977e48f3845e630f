"""Bounds of this package, each with its unit. A refusal names the bound that it is about."""

from typing import Final

CONCURRENCY: Final = 16
"""Turns that a worker takes at once, unless it is told otherwise."""
CONCURRENCY_MAX: Final = 256
"""The most turns at once that a host knows."""
SUSPENDED: Final = 1_000
"""Functions that wait for an answer in one process. The oldest beyond goes, and is replayed."""
STATE_BYTES_MAX: Final = 65_536
"""Bytes of JSON that an agent keeps in one conversation."""
KEPT_PART_BYTES_MAX: Final = 16_384
"""Bytes of JSON of the first message that are kept for a replay. Files beyond lose their bytes."""
ASKED_CHARS_MAX: Final = 200
"""Characters of a question by which a replay knows it again."""
CALLS_OPEN_MAX: Final = 32
"""Calls of tools at once in one turn. Further ones wait."""
CALLS_MAX: Final = 200
"""Calls of tools in one turn."""
LOG_LINES_MAX: Final = 100
"""Lines that one turn writes into the host's log. One more says that there were others."""
LOG_CHARS_MAX: Final = 1_000
"""Characters of one line of a log, and of each of its fields. The rest is left out: of tracebacks their beginning."""
PIECE_BYTES_MAX: Final = 262_144
"""Bytes of a file in one line."""
LINE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes of one line of the host."""
LINE_SENT_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of one line to the host."""
HELD_BYTES_MAX: Final = 4 * 1024 * 1024
"""Bytes of what is said in a replay, until it is known whether it was said before."""
UNSENT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes that a process holds because the host does not read them."""
UNSENT_BYTES_WAIT: Final = 1024 * 1024
"""Unsent bytes from which on an agent waits for the host."""
GRACE_SECONDS: Final = 5.0
"""How long open turns may take once the host is gone."""
REQUEST_HEAD_BYTES_MAX: Final = 32_768
"""Bytes of the header fields of a request."""
REQUEST_BODY_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of the body of a request."""
CONNECTIONS_MAX: Final = 256
"""Connections that the HTTP server has open. Further ones are closed."""
REQUEST_SECONDS_MAX: Final = 30.0
"""How long a client may take to send its request."""
