"""A facilitator of x402 for trying things out: it says yes to every payment and moves no money. Never use it in
production."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KINDS = [
    {"x402Version": 1, "scheme": "exact", "network": "base-sepolia"},
    {"x402Version": 2, "scheme": "exact", "network": "eip155:84532"},
]


class Facilitator(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"kinds": KINDS})

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        signed = question["paymentPayload"]["payload"]["authorization"]
        if self.path == "/verify":
            self.answer({"isValid": True, "payer": signed["from"]})
        else:
            network = question["paymentRequirements"]["network"]
            # The nonce names a payment, so it can stand for the transaction that a chain would have.
            self.answer({"success": True, "transaction": signed["nonce"], "network": network, "payer": signed["from"]})

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", 8701), Facilitator).serve_forever()
