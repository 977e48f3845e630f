"""Many who use one state at once: one is answered, and charged once."""

import base64
import collections
import http.client
import json
import random
import re
import threading
import time

import payers
from chain import HANDLES, Chain, PaidNode
from load import FORM
from node import HOST, Service, ServiceServer, call
from processes import Place

RACERS, AT_ONCE, PRICE = 10_000, 200, 20
# Whoever is told that nobody is taken just now would be no racer.
LIMITS = """
open_issuances_per_caller_max = 100000
replies_running_max = 4000
strangers_percent = 100
"""
CONSENT = """
handle = "consented"
name = "Consented"
{backend}
[[policy.rules]]
kind = "require_consent"
text = "We keep your question."
lifetime = "1s"
"""
PAGE = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


class Racers:
    """Ten thousand requests with one state, 200 at once from as many addresses: paid after, paid before, consented."""

    def __init__(self, name, arguments):
        self.name, self.wrong = name, []
        self.seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
        self.place = Place()
        self.chain = Chain(self.place)
        service = ServiceServer(("127.0.0.1", 0), Service)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        self.node = PaidNode(self.chain, LIMITS, self.place, 0, arguments.program, service)
        self.node.ask_price(PRICE)
        self.node.write("agents/consented.toml", CONSENT.format(backend=self.node.backend))
        self.node.start()
        self.node.wait()

    def run(self):
        row = {"racers": 3 * RACERS, "at once": AT_ONCE}
        for agent in [*HANDLES, "consented"]:
            before, begun = self.chain.balance(), time.time()
            answers, told = self.race(agent)
            charged, price = self.chain.balance() - before, 0 if agent == "consented" else PRICE
            words = ", ".join(f"{count} × {word}" for word, count in told.most_common())
            row |= {agent: f"{answers} answer, {charged} units, {time.time() - begun:.0f} s: {words}"}
            if (answers, charged) != (1, price):
                self.wrong.append(f"{agent}: {answers} answers, {charged} units charged")
            self.wrong += [f"{agent}: {count} × {word}" for word, count in told.items() if is_wrong(word)]
        return row, self.wrong

    def race(self, agent):
        """How many had the answer, and what all were told."""
        question = payers.Question(agent)
        headers = self.paid(question) if agent in HANDLES else self.consented(question)
        # Half of them repeat the words, and half say nothing but the state.
        said = [
            payers.form_of(user=words, state=question.state, session=question.session)
            for words in (question.mark, None)
        ]
        left, told, lock, answers = iter(range(RACERS)), collections.Counter(), threading.Lock(), [0]

        def run(number):
            source = (f"127.0.{2 + number // 250}.{1 + number % 250}", 0)
            connection = http.client.HTTPConnection("127.0.0.1", self.node.http, timeout=120, source_address=source)
            while True:
                with lock:
                    if next(left, None) is None:
                        return
                word, is_answer = self.attempt(connection, question, said[number % 2], headers)
                with lock:
                    told[word] += 1
                    answers[0] += is_answer

        threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        begun = Service.begun[question.mark]
        if begun != 1:
            self.wrong.append(f"{agent}: what is behind it was asked {begun} times")
        return answers[0], told

    def attempt(self, connection, question, said, headers):
        """One request: its status and code, and whether it had the answer."""
        try:
            fields = {"Host": HOST, "Accept": "application/json", **FORM, **headers}
            connection.request("POST", f"/~{question.agent}", said, fields)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return f"0 {type(error).__name__}", False
        policy = payers.policy_of(text) or {}
        word = f"{answer.status} {policy.get('code') or policy.get('kind', '')}".strip()
        return word, answer.status == 200 and f"done {question.mark}" in text

    def refused(self, question):
        status, fields, text = call(
            self.node.http, "POST", f"/~{question.agent}", payers.form_of(user=question.mark),
            {"Accept": "application/json", **FORM},
        )
        said = json.loads(text)
        question.session = fields["X-Mentionable-Session"]
        return said

    def paid(self, question):
        """The headers of a payment that was signed and not handed in."""
        said = self.refused(question)
        question.offer, question.price = said["accepts"][0], PRICE
        question.state = said["policy"]["data"]["mentionable.state"]
        signing = payers.Payers(self.chain, self.node.http, 0, self.seed)
        name, payment = signing.sign(question, random.Random(self.seed), forges=0)
        return {name: base64.b64encode(json.dumps(payment).encode()).decode()}

    def consented(self, question):
        """None are needed, once a person agreed on the page."""
        question.state = self.refused(question)["policy"]["state"]
        path = f"/consent/{question.state}"
        page = call(self.node.http, "GET", path, headers=PAGE)[2].decode()
        token = re.search(r'name="token" value="([^"]+)"', page)[1]
        fields = {**PAGE, "Content-Type": "application/x-www-form-urlencoded"}
        status, _, text = call(
            self.node.http, "POST", path, f"token={token.replace('=', '%3D')}&decision=accept", fields
        )
        if status != 303:
            self.wrong.append(f"consent: {status} {text[:300]!r}")
        # What the conversation agreed to holds for a second; what was done for the state is there to be used once.
        time.sleep(2)
        return {}


def is_wrong(word):
    """Whether nobody should be told this. While the money is on its way, that is said with 503."""
    return word[:1] in "05" and "payment_indeterminate" not in word
