"""Commands run on a terminal of their own, and what they print as events of an asciicast."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import urllib.request

SIZE = (100, 20)
# Seconds: between two keys, before the first line of an output, and between two lines.
KEY, ANSWER, LINE = 0.035, 0.4, 0.03
# How long a command may take in truth.
COMMAND_MAX = 60
PROMPT = "\x1b[32m$\x1b[0m "
CLEAR = "\x1b[2J\x1b[H"
COMMENT = "\x1b[2m# {}\x1b[0m\r\n"
# Where a reader is, and the ports that a reader has.
HOME = "/home/you"
USUAL = {"in a browser": "8080", "public base": "8443", r"\bagtp": "4480", "operator": "9080"}


class Recorder:
    """The events so far, and the commands that still run."""

    def __init__(self, program, folder, title):
        self.size, self.title, self.events, self.now = SIZE, title, [], 0.0
        self.folder, self.background, self.usual = folder, [], {str(folder): HOME}
        commands = folder / ".bin"
        commands.mkdir()
        # A reader needs no ports; here others may have the usual ones.
        free = " ".join(f"--{name} 127.0.0.1:0" for name in ("http", "https", "admin", "agtp"))
        wrapper = commands / "forecourt"
        wrapper.write_text(f'#!/bin/sh\n[ "$1" = serve ] && exec "{program}" "$@" {free}\nexec "{program}" "$@"\n')
        wrapper.chmod(0o755)
        kept = {key: os.environ[key] for key in ("LANG", "LC_ALL") if key in os.environ}
        self.environment = kept | {
            "PATH": f"{commands}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "xterm-256color",
            "XDG_STATE_HOME": str(folder / ".state"), "FORECOURT_LOG": "error", "no_proxy": "*",
            "COLUMNS": str(SIZE[0]), "LINES": str(SIZE[1]),
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process, terminal in self.background:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=COMMAND_MAX)
            os.close(terminal)

    # ---- what is seen ----

    def show(self, text, after=0.0):
        self.now = round(self.now + after, 3)
        self.events.append((self.now, text))

    def say(self, words):
        is_first = not self.events or self.events[-1][1] == CLEAR
        self.show(("" if is_first else "\r\n") + COMMENT.format(words), after=0.5)

    def clear(self):
        self.show(CLEAR)

    def type(self, command):
        self.show(PROMPT, after=0.3)
        for n, key in enumerate(command):
            self.show(key, after=KEY if n else 0.5)
        self.show("\r\n", after=0.3)

    def lines(self, printed, look):
        for source, usual in self.usual.items():
            printed = printed.replace(source, usual)
        for n, line in enumerate(printed.splitlines(keepends=True)):
            self.show(line, after=LINE if n else ANSWER)
        self.now += look

    def end(self, seconds):
        if self.now > seconds:
            raise ValueError(f"the recording takes {self.now:.1f} seconds, more than {seconds}")
        self.show(PROMPT, after=seconds - self.now)

    def cast(self):
        """The recording, asciicast v2."""
        head = {"version": 2, "width": self.size[0], "height": self.size[1], "title": self.title,
                "env": {"TERM": "xterm-256color", "SHELL": "/bin/bash"}}
        events = [json.dumps([at, "o", text], ensure_ascii=False) for at, text in self.events]
        return "\n".join([json.dumps(head), *events]) + "\n"

    # ---- what is run ----

    def start(self, command):
        ours, theirs = pty.openpty()
        # Rows and columns, and pixels that nobody asks for. (`termios.tcsetwinsize` is younger than Python 3.10.)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE[::-1], 0, 0))
        process = subprocess.Popen(
            ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=self.folder,
            env=self.environment, start_new_session=True,
        )
        os.close(theirs)
        return process, ours

    def run(self, command, look, fails=False):
        """Types a command, runs it to its end and shows what it printed."""
        self.type(command)
        process, terminal = self.start(command)
        printed = read(terminal)
        os.close(terminal)
        code = process.wait(timeout=COMMAND_MAX)
        if bool(code) != fails:
            raise ValueError(f"`{command}` ends with {code}:\n{printed}")
        self.lines(printed, look)

    def serve(self, command, log):
        """The same for a daemon that writes to a file, and runs until the recording ends."""
        self.type(command)
        process, terminal = self.start(f"exec {command.removesuffix('&')}")
        self.background.append((process, terminal))
        deadline, printed = time.monotonic() + COMMAND_MAX, ""
        while "This is development" not in printed:
            if time.monotonic() > deadline or process.poll() is not None:
                raise ValueError(f"`{command}` does not serve:\n{printed}")
            time.sleep(0.05)
            printed = (self.folder / log).read_text()
        for words, port in USUAL.items():
            found = re.search(rf"{words}\s+\S*?:(\d+)", printed)
            if not found:
                raise ValueError(f"`{command}` does not tell its ports:\n{printed}")
            self.usual[f":{found[1]}"] = f":{port}"
            self.operator = found[1]

    def wait_for_reload(self):
        """Waits, unseen, until the daemon has taken up changed files."""
        metrics = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + COMMAND_MAX
        while time.monotonic() < deadline:
            with metrics.open(f"http://127.0.0.1:{self.operator}/metrics", timeout=COMMAND_MAX) as answer:
                if b'forecourt_reloads_total{outcome="applied"} 1' in answer.read():
                    return
            time.sleep(0.1)
        raise ValueError("the daemon does not take up the changed files")


def read(terminal):
    """What is printed until nobody is left who prints."""
    printed, deadline = b"", time.monotonic() + COMMAND_MAX
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            chunk = b""
        if not chunk:
            return printed.decode(errors="replace")
        printed += chunk
    raise ValueError(f"nothing more after {COMMAND_MAX} seconds:\n{printed.decode(errors='replace')}")
