"""The web service behind @service. Start it with: python3 service.py"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        message = json.loads(self.rfile.read(length))
        text = " ".join(part["content"] for part in message["parts"] if part["kind"] == "text")
        self.answer({"text": text.upper()})

    def answer(self, fields):
        body = json.dumps(fields).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", 8701), Service).serve_forever()
