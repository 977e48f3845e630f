"""Payers: each asks, signs, pays and asks again until it has its answer or is told that it had it."""

import base64
import http.client
import json
import random
import secrets
import threading
import time
import uuid

from chain import HANDLES
from load import FORM
from node import HOST

# How long the answer to one request may take: settling has a minute, and an agent its time before.
ANSWER_SECONDS = 120
# How often of a hundred a payer leaves in the middle, never comes back after that, sends what it paid with once more
# although it was answered, or signs what is no good.
LEAVES, STAYS_AWAY, REPLAYS, FORGES = 12, 30, 10, 5
# Of answers that fail, in a hundred.
FAILS = 8
FIELDS = ("from address", "to address", "value uint256", "validAfter uint256", "validBefore uint256", "nonce bytes32")


class Question:
    """One question, with all that was signed for its state and what came of it."""

    def __init__(self, agent):
        self.agent, self.mark = agent, f"{agent}-{uuid.uuid4()}"
        self.state, self.session, self.price, self.offer = None, None, 0, {}
        self.nonces, self.payment, self.answers = [], None, 0
        # Whether something was on its way when a connection broke, or its payer left.
        self.is_cut, self.has_left, self.is_told, self.is_asked_anew, self.is_over = False, False, False, False, False
        self.history = []


class Payers:
    """So many payers at once. `entrance` is where they ask."""

    def __init__(self, chain, entrance, count, seed):
        self.chain, self.entrance, self.stop, self.lock = chain, entrance, threading.Event(), threading.Lock()
        self.questions, self.statuses, self.deadline, self.broken = [], {}, None, []
        self.threads = [
            threading.Thread(target=self.run, args=(number, random.Random(f"{seed}-{number}")), daemon=True)
            for number in range(count)
        ]
        for thread in self.threads:
            thread.start()

    def run(self, number, dice):
        try:
            self.ask_on(number, dice)
        except Exception as error:
            self.broken.append(f"payer {number} broke: {error!r}")
            raise

    def ask_on(self, number, dice):
        address = f"127.0.1.{number + 1}"
        while not self.stop.is_set():
            question = Question(dice.choice(HANDLES))
            while not question.state and not self.stop.is_set():
                self.begin(question, address, dice)
            if question.state:
                with self.lock:
                    self.questions.append(question)
                self.pursue(question, address, dice)

    def end(self, seconds):
        """No new questions; waits until the open ones have come to their end, so long at most."""
        self.deadline = time.time() + seconds
        self.stop.set()
        for thread in self.threads:
            thread.join(max(1, self.deadline + ANSWER_SECONDS - time.time()))

    def begin(self, question, address, dice):
        """Asks, and is told the price."""
        status, fields, text = self.send(question.agent, form_of(user=question.mark), {}, address)
        if status != 402:
            time.sleep(dice.uniform(0.3, 1))
            return
        policy = json.loads(text)["policy"]
        question.offer = json.loads(text)["accepts"][0]
        question.price = int(question.offer["maxAmountRequired"])
        question.session, question.state = fields["X-Mentionable-Session"], policy["data"]["mentionable.state"]

    def sign(self, question, dice, forges=FORGES):
        """A new payment; `None` while the wallet is away."""
        now, offer = int(time.time()), question.offer
        signed = {
            "from": self.chain.facts["payer"], "to": offer["payTo"], "value": str(question.price),
            "validAfter": str(now - 600), "validBefore": str(now + offer["maxTimeoutSeconds"]),
            "nonce": f"0x{secrets.token_hex(32)}",
        }
        types = [dict(zip(("name", "type"), field.split())) for field in FIELDS]
        domain = {"name": "USDC", "version": "2", "chainId": 84532, "verifyingContract": offer["asset"]}
        typed = {"types": {"EIP712Domain": [], "TransferWithAuthorization": types}, "domain": domain}
        try:
            signature = self.chain.sign({**typed, "primaryType": "TransferWithAuthorization", "message": signed})
        except (OSError, ValueError, KeyError):
            return None
        if dice.randrange(100) < forges:
            signature = signature[:10] + ("0" if signature[10] != "0" else "1") + signature[11:]
        payload = {"signature": signature, "authorization": signed}
        question.nonces.append(signed["nonce"])
        if dice.random() < 0.5:
            return "X-PAYMENT", {"x402Version": 1, "scheme": "exact", "network": "base-sepolia", "payload": payload}
        kept = {name: offer[name] for name in ("asset", "extra", "maxTimeoutSeconds", "payTo", "scheme")}
        accepted = {**kept, "network": "eip155:84532", "amount": str(question.price)}
        return "PAYMENT-SIGNATURE", {"x402Version": 2, "accepted": accepted, "payload": payload}

    def pursue(self, question, address, dice):
        """Pays, and comes back with the same state until there is an end."""
        while not question.is_over and not (self.deadline and time.time() > self.deadline):
            question.payment = question.payment or self.sign(question, dice)
            if question.payment:
                self.ask(question, address, dice)
            if not question.is_over:
                time.sleep(dice.uniform(0.3, 1.5))

    def ask(self, question, address, dice):
        name, payment = question.payment
        is_stream = dice.random() < 0.3
        headers = {name: base64.b64encode(json.dumps(payment).encode()).decode()}
        headers |= {"Accept": "text/event-stream"} if is_stream else {}
        # Nobody leaves any more once the faults have stopped: what is left is to be told.
        leaves = dice.uniform(0, 2) if not self.stop.is_set() and dice.randrange(100) < LEAVES else None
        # Without its words the question is the one that was kept with the state.
        words = question.mark if dice.random() < 0.5 else None
        said = form_of(user=words, state=question.state, session=question.session)
        status, _, text = self.send(question.agent, said, headers, address, leaves)
        policy = policy_of(text) if status in (200, 402) else None
        code = (policy or {}).get("code", "")
        question.history.append(f"{time.strftime('%H:%M:%S')} {status}{' stream' * is_stream} {code}")
        if status == "left":
            question.has_left = True
            question.is_over = dice.randrange(100) < STAYS_AWAY
        elif status == 0 or status == 502 and not text.startswith(("{", "event")):
            # The balancer says 502 where a node is gone in the middle.
            question.is_cut = True
        elif status == 200 and not policy:
            self.answered(question, text, is_stream, dice, address, said, headers)
        elif status == 410 or "already_used" in code:
            self.used(question, (policy or {}).get("message", ""))
        elif policy and policy["kind"] == "payment_required":
            self.refused(question, policy, code, dice)

    def answered(self, question, text, is_stream, dice, address, said, headers):
        is_whole = f"done {question.mark}" in text and (not is_stream or "event: end" in text)
        if not is_whole or "event: error" in text:
            return
        question.answers += 1
        if dice.randrange(100) < REPLAYS:
            question.answers += f"done {question.mark}" in self.send(question.agent, said, headers, address)[2]
        question.is_over = True

    def used(self, question, message):
        """Told that it is used up. Of a node that died the others wait for its lease: then it is there again."""
        if "is being made" in message:
            return
        question.is_asked_anew = "was used before" in message
        question.is_told = question.is_over = True

    def refused(self, question, policy, code, dice):
        """Told that nothing was taken: the same payment again, or a new one. A new state is another question."""
        if policy["data"]["mentionable.state"] != question.state:
            question.history.append(f"another state: {policy['message']}")
            question.is_asked_anew = question.is_over = True
        elif dice.random() < 0.5 or "SIGNATURE" in code or "EXPIRED" in code:
            question.payment = None

    def send(self, agent, said, headers, address, leaves=None):
        """One request. Status 0 where the connection broke, `left` where the payer did."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.entrance, timeout=leaves or ANSWER_SECONDS, source_address=(address, 0)
        )
        try:
            fields = {"Host": HOST, "Accept": "application/json", **FORM, **headers}
            connection.request("POST", f"/~{agent}", said, fields)
            answer = connection.getresponse()
            status, fields, text = answer.status, answer.headers, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            status, fields, text = "left" if leaves and isinstance(error, TimeoutError) else 0, {}, ""
        finally:
            connection.close()
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1
        return status, fields, text


def form_of(**fields):
    """A form of those fields that are not `None`."""
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{words}\r\n'
        for name, words in fields.items() if words
    ]
    return "".join(parts) + "--b--\r\n"


def policy_of(text):
    """The refusal in an answer or in a stream; `None` where there is none."""
    if text.startswith("{"):
        return json.loads(text).get("policy")
    for part in text.split("\n\n"):
        if part.startswith("event: policy\ndata: "):
            return json.loads(part.split("data: ", 1)[1])["part"]
    return None
