"""The program, serving a small deployment on free ports of this machine."""

import re
import subprocess
import time
import urllib.error
import urllib.request

# How long it may take to open, in seconds, and how long one page may take.
OPEN_MAX = 60
PAGE_MAX = 30
# Of one file of the manual.
BYTES_MAX = 4 * 1024 * 1024

FILES = {
    "forecourt.toml": 'domain = "manual.localhost"\nname = "Forecourt"\n\n[pages]\npowered_by = false\n',
    "agents/echo.toml": 'handle = "echo"\nname = "Echo"\n\n[backend]\nkind = "echo"\n',
}
PORTS = ("--http", "--https", "--admin", "--agtp")


class Daemon:
    """The program while it serves; it ends with the block."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        # Whatever proxy the environment names, this machine is reached directly.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def __enter__(self):
        for name, text in FILES.items():
            file = self.folder / "deployment" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        ports = [word for port in PORTS for word in (port, "127.0.0.1:0")]
        data = self.folder / "data"
        self.said = self.folder / "said"
        with self.said.open("wb") as said:
            words = [self.program, "serve", self.folder / "deployment", "--data", data, *ports]
            self.process = subprocess.Popen(words, stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        try:
            self.base = self.opened()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=OPEN_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def opened(self):
        """Where it answers, as it says itself."""
        deadline = time.monotonic() + OPEN_MAX
        while time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(r"in a browser\s+http://[^:/\s]+:(\d+)/", self.said.read_text(errors="replace"))
            if found:
                return f"http://127.0.0.1:{found[1]}"
            time.sleep(0.05)
        raise ValueError(f"{self.program} does not serve:\n{self.said.read_text(errors='replace')[-2000:]}")

    def get(self, path):
        """The bytes at a path, as a browser gets them."""
        request = urllib.request.Request(self.base + path, headers={"Accept": "text/html", "Accept-Language": "en"})
        try:
            with self.opener.open(request, timeout=PAGE_MAX) as answer:
                body = answer.read(BYTES_MAX + 1)
        except urllib.error.HTTPError as problem:
            raise ValueError(f"{path}: the program answers {problem.code}") from None
        if len(body) > BYTES_MAX:
            raise ValueError(f"{path} has more than {BYTES_MAX} bytes")
        return body
