"""Money under random faults: a chain, payers, trouble, and then the books."""

import base64
import json
import os
import random
import threading
import time

import books
import payers
import trouble
from chain import Chain, PaidNode
from node import Service, ServiceServer
from processes import Place

# Payers at once, and how many units an answer costs at first.
PAYERS, PRICE = 6, 20
# How long the open questions may take to come to their end once the faults have stopped.
END_SECONDS = 240
LIMITS = "open_issuances_per_caller_max = 100000"


class PaidService(Service):
    """What works behind paid agents: some of its answers fail."""

    dice = random.Random()

    def do_POST(self):
        if self.dice.randrange(100) >= payers.FAILS:
            return super().do_POST()
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(500)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Money:
    """Random faults over one daemon on SQLite (`money`), or three nodes on PostgreSQL (`money-nodes`)."""

    def __init__(self, name, arguments):
        self.name, self.seconds, self.program = name, arguments.seconds, arguments.program
        self.seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
        self.place = Place()
        self.chain = Chain(self.place)
        PaidService.dice.seed(self.seed)
        service = ServiceServer(("127.0.0.1", 0), PaidService)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        shared = None
        if name == "money-nodes":
            key = base64.b64encode(os.urandom(32)).decode()
            shared = {"postgres": self.place.start_postgres(), "bus": self.place.start_nats(), "key": key}
        self.nodes = [
            PaidNode(self.chain, LIMITS, self.place, number, self.program, service, shared)
            for number in range(3 if shared else 1)
        ]
        for node in self.nodes:
            node.ask_price(PRICE)
            node.start()
        for node in self.nodes:
            node.wait()
        self.entrance = self.place.start_balancer(self.nodes) if shared else self.nodes[0].http
        slow_disk = None if shared else trouble.slow_disk_of(self.place)
        self.trouble = trouble.Trouble(self.chain, self.place, self.nodes, self.seed, slow_disk)

    def run(self):
        """Has it happen; gives the line of the table, and what is wrong."""
        print(f"{self.name}: --seed {self.seed}, in {self.place.folder}", flush=True)
        asking = payers.Payers(self.chain, self.entrance, PAYERS, self.seed)
        self.trouble.reign(self.seconds)
        self.trouble.calm()
        asking.end(END_SECONDS)
        kept = books.Books(self.chain, self.nodes[0], asking.questions, Service)
        settled = kept.settle()
        kept.compare()
        kept.wrong += asking.broken
        logs = {"trouble": self.trouble.log, "wrong": kept.wrong, "audit": map(json.dumps, kept.audit())}
        for name, lines in logs.items():
            (self.place.folder / f"{name}.log").write_text("\n".join(lines) + "\n")
        counts, totals = self.trouble.counts, kept.totals
        row = {"seed": self.seed, "faults": counts.total(), "kills": counts["kill"], "questions": len(asking.questions)}
        told = ("answers", "charged", "left", "cut off", "asked anew", "not charged")
        row |= {name: kept.counts[name] for name in told}
        row |= {f"{name}, units": totals[name] for name in ("chain", "ledger", "audit", "answers")}
        statuses = ", ".join(f"{count} × {status}" for status, count in sorted(asking.statuses.items(), key=str))
        row |= {"wrong": len(kept.wrong), "settled after": f"{settled:.0f} s", "told": statuses}
        return row, kept.wrong
