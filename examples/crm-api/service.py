"""The API as it was, described by openapi.yaml: customers in memory, and nothing but Python."""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CUSTOMERS = {
    1: {"id": 1, "name": "Brandt Bakery", "city": "Porto"},
    2: {"id": 2, "name": "Nordkap Outdoor", "city": "Oslo"},
    3: {"id": 3, "name": "Mill Lane Books", "city": "Porto"},
}
NOTES = []


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        one = re.fullmatch(r"/customers/(\d+)", url.path)
        if url.path == "/customers":
            city = parse_qs(url.query).get("city", [""])[0]
            self.answer(200, [customer for customer in CUSTOMERS.values() if customer["city"] == city])
        elif one and int(one[1]) in CUSTOMERS:
            self.answer(200, CUSTOMERS[int(one[1])])
        else:
            self.answer(404, {"message": "there is no such customer"})

    def do_POST(self):
        note = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        about = re.fullmatch(r"/customers/(\d+)/notes", self.path)
        if about and int(about[1]) in CUSTOMERS:
            NOTES.append(note["text"])
            self.answer(201, {"note": len(NOTES), "text": note["text"]})
        else:
            self.answer(404, {"message": "there is no such customer"})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", 8701), Service).serve_forever()
