"""Clients that try again, what was acknowledged to them, and what became of it."""

import collections
import json
import random
import threading
import time
import uuid

from node import HOST, TOKEN, Service, call

# How often a client asks again before it tells an error, and how long it waits in between.
RETRIES, RETRY_WAIT = 240, 0.25
# How long tasks may take to settle after the load has ended.
SETTLE_SECONDS = 60
FORM = {"Content-Type": "multipart/form-data; boundary=b"}
A2A = {"Content-Type": "application/json", "A2A-Version": "1.0"}


def form(words):
    return f'--b\r\nContent-Disposition: form-data; name="user"\r\n\r\n{words}\r\n--b--\r\n'


class Load:
    """`entrance` is where they ask; `agents` whose tasks they begin; `is_older` where the release before answers too."""

    def __init__(self, entrance, nodes, agents, is_older=False):
        self.entrance, self.nodes, self.agents, self.is_older = entrance, nodes, agents, is_older
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.counts, self.wrong = collections.Counter(), []
        self.tasks, self.pushed = {}, []
        self.slowest, self.unanswered, self.retries = 0.0, 0, 0

    def attempt(self, method, path, body=None, headers=None, port=None):
        """One request. Status 0 where nobody answered."""
        begun = time.time()
        try:
            status, fields, text = call(port or self.entrance, method, path, body, headers)
        except OSError as error:
            with self.lock:
                self.unanswered += 1
            return 0, {}, repr(error).encode()
        with self.lock:
            if status >= 400:
                self.slowest = max(self.slowest, time.time() - begun)
        return status, fields, text

    def until_good(self, what, method, path, body=None, headers=None, good=(200,), given_up=()):
        """Asks until there is a good answer; `None` once that is hopeless, or where it may be `given_up`."""
        status, text = 0, b""
        for _ in range(RETRIES):
            status, fields, text = self.attempt(method, path, body, headers)
            if status in good:
                with self.lock:
                    self.counts[what] += 1
                return fields, text
            if status in given_up:
                with self.lock:
                    self.counts[f"{what} given up"] += 1
                return None
            if status not in (0, 429, 500, 502, 503, 504, 507):
                break
            with self.lock:
                self.retries += 1
            time.sleep(RETRY_WAIT)
        self.complain(f"{what}: {status} {text[:300]!r}")
        return None

    def complain(self, words):
        with self.lock:
            self.wrong.append(f"{time.strftime('%H:%M:%S')} {words}")

    def acknowledged(self, agent, task, mark):
        with self.lock:
            self.counts["acknowledged"] += 1
            self.tasks[task] = agent, mark

    def rest_task(self):
        """The same question under the same key until it is acknowledged."""
        agent, mark = random.choice(self.agents), f"rest-{uuid.uuid4()}"
        headers = {**FORM, "Prefer": "respond-async", "Idempotency-Key": f'"{uuid.uuid4()}"'}
        said = self.until_good("REST tasks", "POST", f"/~{agent}", form(mark), headers, (202,))
        if said:
            self.acknowledged(agent, said[0]["Content-Location"], mark)

    def a2a_task(self):
        """The same message under the same id until it is acknowledged."""
        agent, mark = random.choice(self.agents), f"a2a-{uuid.uuid4()}"
        message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": mark}]}
        params = {"message": message, "configuration": {"returnImmediately": True}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params})
        said = self.until_good("A2A tasks", "POST", f"/a2a/{agent}", body, A2A)
        if not said:
            return
        task = json.loads(said[1]).get("result", {}).get("task", {})
        task, state = task.get("id"), task.get("status", {}).get("state")
        if state in ("TASK_STATE_FAILED", "TASK_STATE_REJECTED") and self.attempt("GET", f"/tasks/{task}")[0] == 404:
            # The release before told of a host that takes nothing in this way; it is no acknowledgement.
            with self.lock:
                self.counts["refusals like tasks"] += 1
            if not self.is_older:
                self.complain(f"A2A tasks: a refusal that looks like a task for {mark}: {said[1][:300]!r}")
        elif task:
            self.acknowledged(agent, f"/tasks/{task}", mark)
        else:
            self.complain(f"A2A tasks: no task for {mark}: {said[1][:300]!r}")

    def question(self):
        word = uuid.uuid4().hex
        said = self.until_good("questions", "GET", f"/~echo?user={word}", headers={"Accept": "text/markdown"})
        if said and word not in said[1].decode():
            self.complain(f"questions: another answer: {said[1][:300]!r}")

    def session(self):
        """A session of MCP, used a few times on whichever nodes there are. That of a lone daemon ends with it (404)."""
        ends = (404,) if len(self.nodes) == 1 else ()
        def rpc(method, params, number=1):
            return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
        begun = self.until_good("MCP sessions", "POST", "/mcp", rpc("initialize", hello), headers)
        if not begun:
            return
        headers |= {"Mcp-Session-Id": begun[0]["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-06-18"}
        told = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.until_good("MCP calls", "POST", "/mcp", told, headers, (202,), ends)
        for number in range(4):
            self.until_good("MCP calls", "POST", "/mcp", rpc("tools/list", {}, number + 2), headers, given_up=ends)
        # A caller may have so many at once: one that is left open counts for its hour.
        self.attempt("DELETE", "/mcp", None, headers)

    def push(self):
        name = f"urn:{uuid.uuid4()}"
        line = json.dumps({"@id": name, "name": f"thing {name[4:12]}"})
        headers = {"Content-Type": "application/x-ndjson", "Authorization": f"Bearer {TOKEN}"}
        node = random.choice(self.nodes)
        status, _, text = self.attempt("POST", "/content/shelf", line, headers, node.admin)
        if status == 200:
            with self.lock:
                self.counts["pushed items"] += 1
                self.pushed.append(name)
        elif status not in (0, 503, 507):
            self.complain(f"pushes: {status} {text[:300]!r}")
        time.sleep(0.3)

    def start(self):
        works = [self.rest_task, self.rest_task, self.a2a_task, self.a2a_task, self.question, self.session, self.push]
        self.threads = [threading.Thread(target=self.run, args=(work,), daemon=True) for work in works]
        for thread in self.threads:
            thread.start()

    def run(self, work):
        while not self.stop.is_set():
            work()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(90)

    def settled(self):
        """What became of every task that was acknowledged: how many ended how, by agent."""
        found, waiting = collections.Counter(), dict(self.tasks)
        until = time.time() + SETTLE_SECONDS
        while waiting and time.time() < until:
            for path, (agent, mark) in list(waiting.items()):
                status, _, text = self.attempt("GET", path, headers={"Accept": "application/json"})
                if status in (0, 202, 502, 503):
                    continue
                del waiting[path]
                state = json.loads(text).get("status", {}).get("state") if status == 200 else None
                if status in (404, 410):
                    found["lost"] += 1
                    self.complain(f"{mark} of {agent} at {path} is lost: {status}")
                elif state == "failed" and agent == "work":
                    found["failed"] += 1
                elif state == "completed" and text.decode().count(f"done {mark}") == 1:
                    found["completed"] += 1
                else:
                    found["wrong"] += 1
                    self.complain(f"{mark} of {agent} at {path}: {status} {text[:300]!r}")
            time.sleep(0.2)
        found["stuck"] = len(waiting)
        for path, (agent, mark) in list(waiting.items())[:5]:
            self.complain(f"{mark} of {agent} at {path} is stuck")
        return found

    def twice(self):
        """Questions to the agent that is never asked anew, which it was asked more than once."""
        marks = {mark for agent, mark in self.tasks.values() if agent == "work"}
        twice = [mark for mark in marks if Service.begun[mark] > 1]
        for mark in twice[:5]:
            self.complain(f"{mark} was begun {Service.begun[mark]} times")
        return len(twice)

    def missing(self):
        """How many pushed items a node does not have, over all nodes."""
        missing, until = 0, time.time() + 30
        for node in self.nodes:
            left = list(self.pushed)
            while left and time.time() < until:
                left = [name for name in left if not has(node, name)]
                time.sleep(0.5 * bool(left))
            missing += len(left)
        if missing:
            self.complain(f"{missing} pushed items are missing")
        return missing


def has(node, name):
    path = f"/~shelf?user={name[4:12]}"
    try:
        status, _, text = call(node.http, "GET", path, headers={"Accept": "application/json", "Host": HOST})
    except OSError:
        return False
    return status == 200 and name in text.decode()
