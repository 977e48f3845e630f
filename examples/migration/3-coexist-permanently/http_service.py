#!/usr/bin/env python3
"""The workshop's face for the website and older clients, as it always was.

    python3 http_service.py [PORT]

It does what functions/workshop.py does; openapi.yaml describes it, and is served beside it.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "functions"))

import workshop  # noqa: E402


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value, media="application/json"):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.route(urlsplit(self.path), body)
        except workshop.Taken:
            self.answer(409, {"error": "there is no free slot at that time"})
        except workshop.Missing:
            self.answer(404, {"error": "there is no such appointment"})
        except (KeyError, TypeError, ValueError) as wrong:
            self.answer(422, {"error": f"this can't be read: {wrong}"})

    def route(self, url, body):
        number = re.fullmatch(r"/appointments/([0-9]+)(/cancel)?", url.path)
        if self.command == "GET" and url.path == "/openapi.yaml":
            self.answer(200, (HERE / "openapi.yaml").read_bytes(), "application/yaml")
        elif self.command == "GET" and url.path == "/appointments/slots":
            self.answer(200, workshop.slots(dict(parse_qsl(url.query))["day"]))
        elif self.command == "POST" and url.path == "/appointments":
            asked = json.loads(body)
            self.answer(201, workshop.book(asked["customer"], asked["start"], asked.get("note")))
        elif self.command == "GET" and number and not number[2]:
            self.answer(200, workshop.fetch(int(number[1])))
        elif self.command == "POST" and number and number[2]:
            self.answer(200, workshop.cancel(int(number[1])))
        else:
            self.answer(404, {"error": "there is nothing here"})

    do_GET = do_POST = serve


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8791
    print(f"the workshop is at http://127.0.0.1:{port}", file=sys.stderr)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
