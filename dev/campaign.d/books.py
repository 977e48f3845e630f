"""The books: what the chain moved, what the ledger and the audit say, and what was answered, to the unit."""

import collections
import hashlib
import json
import time

# How long it may take until nothing is open any more: what nobody knows is asked about after ten minutes at most.
SETTLE_SECONDS = 660
UNIT = 10**6


class Books:
    def __init__(self, chain, node, questions, service):
        self.chain, self.node, self.questions, self.service = chain, node, questions, service
        self.wrong, self.totals, self.counts = [], {}, collections.Counter()

    def settle(self):
        """Waits until no payment is open and the ledger has what the chain moved; gives how long that took."""
        begun = time.time()
        while time.time() - begun < SETTLE_SECONDS:
            try:
                ledger = self.ledger()
                is_open = any(payment["status"] == "pending" for payment in ledger)
                # What was answered and is still asked about is not told as open.
                if not is_open and sum(units_of(payment["price"]) for payment in ledger) == self.chain.balance():
                    break
            except OSError:
                pass
            time.sleep(2)
        # The audit is written a moment later.
        time.sleep(2)
        return time.time() - begun

    def ledger(self):
        words = ("admin", "payments", "--all", "--json", "--dir", str(self.node.folder))
        return json.loads(self.node.run(*words))["payments"]

    def audit(self):
        return [json.loads(line) for line in self.node.run("audit", str(self.node.folder), "--json").splitlines()]

    def compare(self):
        moved = self.chain.moved()
        self.compare_questions(moved)
        self.totals["chain"] = self.chain.balance()
        if sum(units for units, _ in moved.values()) != self.totals["chain"]:
            self.complain("the balance of the payee is not the sum of what was moved")
        self.compare_ledger(moved)
        self.compare_audit(moved)
        for name, units in self.totals.items():
            if units != self.totals["chain"]:
                self.complain(f"{name} has {units} units, and the chain moved {self.totals['chain']}")

    def compare_questions(self, moved):
        """Each answer is paid once, and what was paid is answered, once."""
        self.charged, self.totals["answers"] = {}, 0
        for question in self.questions:
            paid = [moved[nonce][0] for nonce in question.nonces if nonce in moved]
            is_charged, is_answered = bool(paid), question.answers > 0
            if is_charged:
                self.charged[short(question.state)] = question
            if len(paid) > 1:
                self.complain("charged twice", question)
            if paid and paid[0] != question.price:
                self.complain(f"charged {paid[0]} instead of {question.price} units", question)
            if question.answers > 1:
                self.complain("answered twice", question)
            if is_answered and not is_charged:
                self.complain("answered for nothing", question)
            if not question.is_over:
                self.complain("never told how it ended", question)
            self.counts["answers"] += is_answered
            self.counts["charged"] += is_charged
            self.counts["not charged"] += not is_charged
            is_fair = is_answered or is_charged and self.is_fair_without(question)
            self.totals["answers"] += question.price if is_fair else 0

    def is_fair_without(self, question):
        """Charged, and its payer has no answer: fair where the payer left, or a kill cut off an answer that was whole."""
        is_done = self.service.ends[question.mark] > 0
        if question.is_asked_anew:
            self.counts["asked anew"] += 1
            self.complain("what was paid is owed, and its payer was asked to pay anew", question)
            return False
        is_left = question.has_left and (is_done or question.agent == "before")
        is_cut_off = question.is_cut and question.is_told and is_done
        if not is_left and not is_cut_off:
            self.complain("charged without an answer", question)
            return False
        self.counts["left" if is_left else "cut off"] += 1
        return True

    def compare_ledger(self, moved):
        listed = collections.Counter()
        self.totals["ledger"] = 0
        for payment in self.ledger():
            if payment["status"] == "pending":
                self.complain(f"the ledger still has it open: {payment}")
                continue
            listed[payment["transaction"]] += 1
            self.totals["ledger"] += units_of(payment["price"])
        known = {transaction for _, transaction in moved.values()}
        for transaction, count in listed.items():
            if count > 1 or transaction not in known:
                self.complain(f"the ledger has {transaction} {count} times, the chain {int(transaction in known)} times")
        for transaction in known - set(listed):
            nonce = next(nonce for nonce, (_, name) in moved.items() if name == transaction)
            whose = [question for question in self.questions if nonce in question.nonces]
            self.complain(f"the ledger does not have {transaction}", *whose[:1])

    def compare_audit(self, moved):
        said = collections.defaultdict(collections.Counter)
        for record in self.audit():
            said[record.get("state")][record["outcome"]] += 1
        paid = {state: counts["paid"] for state, counts in said.items() if counts["paid"]}
        self.totals["audit"] = 0
        prices = {short(question.state): question.price for question in self.questions}
        for state, count in paid.items():
            self.totals["audit"] += prices.get(state, 0) * count
            if count > 1 or state not in self.charged:
                whose = self.charged.get(state)
                self.complain(f"the audit says {count} times that {state} was paid", *filter(None, [whose]))
        for state, question in self.charged.items():
            if state not in paid:
                self.counts["not in the audit"] += 1
                self.complain(f"the audit does not say that it was paid, but {dict(said[state])}", question)
        for state, counts in said.items():
            if counts["unknown"] and not counts["paid"] and not counts["unpaid"]:
                self.complain(f"the audit leaves open whether {state} was paid")

    def complain(self, words, question=None):
        if question:
            words += f": {question.mark}, state {short(question.state)}, nonces {question.nonces}, " \
                f"answers {question.answers}, left {question.has_left}, history {question.history}"
        self.wrong.append(words)


def short(state):
    """What the audit calls a state."""
    return hashlib.sha256(state.encode()).hexdigest()[:8]


def units_of(price):
    """`0.00002 USDC on Base Sepolia` in the token's units."""
    whole, _, part = price.split()[0].partition(".")
    return int(whole) * UNIT + int(part.ljust(6, "0"))
