"""`python -m forecourt_agent`: answers messages with the agents of a file."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Sequence
from typing import NoReturn

from .agent import Agent
from .limits import CONCURRENCY, SUSPENDED
from .load import LoadError, agents_of, all_of
from .logs import install
from .runtime import Runtime
from .worker import Streams, checked_concurrency, work

_USAGE = """\
python -m forecourt_agent FILE[:HANDLE]         answer messages of the command backend (mode = "worker")
python -m forecourt_agent serve FILE[:HANDLE]   answer messages of the http backend
python -m forecourt_agent describe FILE         print the endpoint files of its endpoints
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the status to exit with."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = given.pop(0) if given[:1] in (["serve"], ["describe"]) else "worker"
    options = _parser(command).parse_args(given)
    try:
        if command == "describe":
            from .describe import describe

            return describe(options.file, options.json, options.out)
        if command == "serve":
            return _serve(agents_of(options.file), options)
        return _worker(options)
    except (LoadError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def run(*agents: Agent) -> NoReturn:
    """Runs agents, all of the calling file where none is named: `if __name__ == "__main__": run()`.

    `python file.py` is a worker then, and `python file.py serve --port 8701` an HTTP service.
    """
    given = sys.argv[1:]
    command = given.pop(0) if given[:1] == ["serve"] else "worker"
    options = _parser(command, has_file=False).parse_args(given)
    chosen = list(agents) or all_of(sys.modules["__main__"], Agent)
    try:
        if command == "serve":
            sys.exit(_serve(chosen, options))
        streams = Streams()
        streams.hello(checked_concurrency(options.concurrency))
        asyncio.run(work(Runtime(chosen, options.suspended), streams))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(0)


def _worker(options: argparse.Namespace) -> int:
    concurrency = checked_concurrency(options.concurrency)
    streams = Streams()
    # Before the file is imported, which may take seconds.
    streams.hello(concurrency)
    runtime = Runtime(agents_of(options.file), options.suspended)
    asyncio.run(work(runtime, streams))
    return 0


def _serve(agents: Sequence[Agent], options: argparse.Namespace) -> int:
    from .http import application
    from .server import serve

    install(logging.StreamHandler(sys.stderr), logging.INFO)
    secret = os.environ.get("FORECOURT_SECRET") if options.secret is None else options.secret
    app = application(*agents, secret=secret, suspended=options.suspended)
    try:
        asyncio.run(_until_stopped(serve(app, options.host, options.port)))
    except asyncio.CancelledError:
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"error: {options.host}:{options.port} can't be listened on: {error}", file=sys.stderr)
        return 1
    return 0


async def _until_stopped(serving: Awaitable[None]) -> None:
    """Serves until SIGTERM, which ends it in order: by `asyncio.CancelledError`, behind the open turns."""
    task = asyncio.current_task()
    assert task is not None
    # Neither Windows nor a thread has handlers of signals.
    with contextlib.suppress(NotImplementedError, RuntimeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await serving


def _parser(command: str, has_file: bool = True) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="forecourt_agent", usage=_USAGE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if has_file:
        parser.add_argument("file")
    if command == "describe":
        parser.add_argument("--json", action="store_true", help="print JSON instead of TOML")
        parser.add_argument("--out", help="write a file for each endpoint into this folder")
        return parser
    parser.add_argument("--suspended", type=int, default=SUSPENDED, help="functions that wait for an answer at most")
    if command == "serve":
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8701)
        parser.add_argument("--secret", help="as `secret` of the backend; better in FORECOURT_SECRET")
    else:
        parser.add_argument("--concurrency", type=int, default=CONCURRENCY, help="messages at once at most")
    return parser
