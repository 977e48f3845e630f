"""Whoever asks the domain of deploy/compose, through Caddy."""

import json
import re
import subprocess
import sys
import time


class Caller:
    """Asks by curl, and knows which node answered."""

    def __init__(self, domain, caddy, ca):
        self.domain = domain
        self.log, self.head = caddy.here / "log", caddy.here / "head"
        self.words_of_ask = ["-H", "Accept: text/markdown", "-D", str(self.head)]
        self.words = ["curl", "-sS", "--noproxy", "*", "--max-time", "30", "--resolve", f"{domain}:443:{caddy.address}", "--cacert", str(ca)]

    def get(self, path, *words):
        url = f"https://{self.domain}{path}"
        done = subprocess.run([*self.words, "-w", "\n%{http_code}", *words, url], capture_output=True, text=True)
        body, _, status = done.stdout.rpartition("\n")
        return status, body or done.stderr

    def ask(self, word):
        """Which node answered."""
        status, body = self.get(f"/~echo?user={word}", *self.words_of_ask)
        if status != "200" or word not in body:
            sys.exit(f"{word} was answered with {status}: {body}\n{self.log.read_text()[-2000:]}")
        return self.answered_by()

    def ask_often(self, what, nodes, goes_on=lambda: False, times=24):
        """So often, and for as long as something goes on; these nodes must have had their turn."""
        begun, slowest, number, answered = time.monotonic(), 0, 0, set()
        while number < times or goes_on():
            at = time.monotonic()
            answered.add(self.ask(f"{what}{number}"))
            slowest, number = max(slowest, time.monotonic() - at), number + 1
        took = time.monotonic() - begun
        print(f"   {number} of {number} answered in {took:.1f} s, the slowest in {slowest:.1f} s, by {', '.join(sorted(answered))}")
        if answered != nodes:
            sys.exit(f"and not by {', '.join(sorted(nodes))}")

    def wait_for(self, nodes):
        """Until Caddy knows who is there: twice as many questions in a row as there are nodes go to these alone."""
        begun, last = time.monotonic(), []
        while set(last) != nodes or len(last) < 2 * len(nodes):
            status, _ = self.get("/~echo?user=turn", *self.words_of_ask, "--max-time", "1")
            last = [*last, self.answered_by() if status == "200" else None][-2 * len(nodes) :]
            if time.monotonic() - begun > 30:
                sys.exit(f"Caddy asks {last}, and not {nodes}")
        print(f"   Caddy knows after {time.monotonic() - begun:.1f} s")

    def answered_by(self):
        return re.search(r"(?im)^x-served-by: (\w+)", self.head.read_text())[1]

    def begin_task(self):
        message = {"messageId": "one", "role": "ROLE_USER", "parts": [{"text": "a task of all nodes"}]}
        body = json.dumps({"message": message, "configuration": {"returnImmediately": True}})
        a2a = ["-H", "A2A-Version: 1.0", "-H", "Content-Type: application/json"]
        status, text = self.get("/a2a/slow/message:send", *a2a, "-d", body)
        if status != "200":
            sys.exit(f"no task was begun: {status} {text}")
        return json.loads(text)["task"]["id"]

    def read_task(self, task, times=6):
        for _ in range(times):
            status, text = self.get(f"/a2a/slow/tasks/{task}", "-H", "A2A-Version: 1.0")
            if status != "200":
                sys.exit(f"the task is not found: {status} {text}")
        print(f"   the task is read {times} times, at whichever node")
