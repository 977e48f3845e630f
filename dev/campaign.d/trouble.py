"""Trouble by chance, from a seed: a facilitator that fails in every way, daemons that die, a price that rises, a store
that is slow or away. What is drawn follows from the seed, when it falls does not."""

import collections
import random
import signal
import time

import faults

# How a facilitator fails, as `chain.mjs` says. One that holds a settlement has it open for a minute.
VERIFY = ["no", "error", "deaf", "slow", "held", "lies"]
SETTLE = ["no", "error", "deaf", "silent", "slow", "late", "lies", "silent", "held"]
# How often of a hundred each thing happens; a kill of each kind waits until the facilitator is asked, so long at most.
WEIGHTS = {"verify": 26, "settle": 34, "down": 9, "price": 6, "store": 7}
WEIGHTS |= {"kill": 5, "kill_at_verify": 5, "kill_at_settle": 8}
ASKED_SECONDS = 8
# Seconds between two things.
PAUSE = (0.5, 5.0)
PRICES = (20, 60)


class Trouble:
    """`slow_disk` is the environment of a daemon whose disk is slow; `None` where the store is a database."""

    def __init__(self, chain, place, nodes, seed, slow_disk):
        self.chain, self.place, self.nodes, self.slow_disk = chain, place, nodes, slow_disk
        self.dice, self.counts, self.log = random.Random(seed), collections.Counter(), []

    def reign(self, seconds):
        until = time.time() + seconds
        while time.time() < until:
            time.sleep(self.dice.uniform(*PAUSE))
            (name,) = self.dice.choices(list(WEIGHTS), list(WEIGHTS.values()))
            try:
                word = getattr(self, name)()
            except (OSError, ValueError) as error:
                word = f"not now: {error}"
            self.counts["kill" if "kill" in name else name] += 1
            self.log.append(f"{time.strftime('%H:%M:%S')} {name} {word or ''}")

    def calm(self):
        """Everything works again."""
        until = time.time() + 60
        while time.time() < until:
            try:
                self.chain.fault(verify=None, settle=None)
                break
            except (OSError, ValueError):
                time.sleep(0.5)
        for node in self.nodes:
            if self.slow_disk and "LD_PRELOAD" in node.environment:
                self.kill_now(node, slow=False)
            node.wait()

    def verify(self):
        word = self.dice.choice(VERIFY)
        self.chain.fault(verify=word)
        return word

    def settle(self):
        word = self.dice.choice(SETTLE)
        self.chain.fault(settle=word)
        return word

    def down(self):
        seconds = self.dice.randrange(1, 9)
        self.chain.fault(down=seconds)
        return f"{seconds} s"

    def kill(self):
        return self.kill_now(self.dice.choice(self.nodes))

    def kill_at_verify(self):
        return self.kill_at("verify")

    def kill_at_settle(self):
        return self.kill_at("settle")

    def kill_at(self, verb):
        """Kills a daemon while the facilitator thinks about a payment, or right after it has moved the money."""
        word, node = self.dice.choice(["held", "silent", "slow"]), self.dice.choice(self.nodes)
        before = self.chain.asked(verb)
        self.chain.fault(**{verb: word})
        until = time.time() + ASKED_SECONDS
        while self.chain.asked(verb) == before and time.time() < until:
            time.sleep(0.02)
        time.sleep(self.dice.choice([0, 0, 0.05, 0.2, 0.5]))
        return f"{word}, {self.kill_now(node)}"

    def kill_now(self, node, slow=None):
        slow = self.dice.random() < 0.25 if slow is None else slow
        node.kill()
        if self.slow_disk:
            for name in self.slow_disk:
                node.environment.pop(name, None)
            node.environment |= self.slow_disk if slow else {}
        node.start()
        if len(self.nodes) == 1:
            node.wait()
        return f"node {node.number}{', and its disk is slow' * bool(slow and self.slow_disk)}"

    def price(self):
        units = self.dice.randrange(*PRICES)
        for node in self.nodes:
            node.ask_price(units)
        for node in self.nodes:
            node.run("admin", "reload", "--dir", str(node.folder))
        return f"{units} units"

    def store(self):
        """Alone, the daemon stands still for a while. Of several nodes one does, or their store is late or away."""
        node = self.dice.choice(self.nodes)
        kinds = ["pause"] if len(self.nodes) == 1 else ["pause", "late", "hangs", "away", "bus"]
        kind, seconds = self.dice.choice(kinds), self.dice.uniform(2, 9)
        if kind == "pause":
            node.process.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            node.process.send_signal(signal.SIGCONT)
        elif kind == "late":
            node.cable.delay = 0.03
            time.sleep(seconds)
            node.cable.delay = 0.0
        elif kind == "hangs":
            node.cable.open.clear()
            time.sleep(seconds)
            node.cable.open.set()
        else:
            self.place.outage("bus" if kind == "bus" else "database", seconds)
        return f"{kind}, {seconds:.0f} s"


def slow_disk_of(place):
    """The environment of a daemon whose disk is slow, as the fault `alone-slow-disk` has it."""
    return faults.slow_disk_environment(place)
