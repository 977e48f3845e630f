"""The three services that the trip is booked at, on one port: under /flights, /hotels and /trains. Each knows one place
and keeps what is booked, so that a second look tells what was really done.

    python3 services.py

Prints its port. GET /ledger lists all that was done, in order.
"""

import itertools
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

FLIGHT = {"flight_id": "f-1", "flight_number": "FC100", "departs": "2027-05-01T08:00:00Z", "seats_left": 3}
HOTEL = {"hotel_id": "h-9", "name": "Alfama", "stars": None}
STATION = {"station_id": "s-4", "station_name": "Sintra"}

LEDGER = []
NUMBERS = itertools.count(1)


def booked(given):
    if given["flight_id"] != FLIGHT["flight_id"]:
        return None
    return {"booking_id": f"b-{next(NUMBERS)}", "flight_id": given["flight_id"], "seat": "12A"}


def reserved(given):
    if given["hotel_id"] != HOTEL["hotel_id"]:
        return None
    return {"reservation_id": f"r-{next(NUMBERS)}", "hotel_id": given["hotel_id"], "nights": given["nights"]}


def bought(given):
    if given["station_id"] != STATION["station_id"]:
        return None
    return {"ticket_id": f"t-{next(NUMBERS)}", "price": 4.5}


READS = {"/flights/flights/FC100": FLIGHT, "/hotels/cities/Lisbon/hotel": HOTEL, "/trains/stations/Sintra": STATION}
ACTS = {"/flights/bookings": booked, "/hotels/reservations": reserved, "/trains/tickets": bought}


class Service(BaseHTTPRequestHandler):
    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        path = unquote(self.path)
        if path == "/ledger":
            return self.answer(200, LEDGER)
        found = READS.get(path)
        self.answer(200 if found else 404, found or {"message": f"nothing is at {path}"})

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        done = ACTS[self.path](given) if self.path in ACTS else None
        if done is None:
            return self.answer(404, {"message": "there is no such thing"})
        LEDGER.append({"path": self.path, "given": given})
        self.answer(201, done)

    def do_DELETE(self):
        LEDGER.append({"path": self.path, "given": {}})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
print(server.server_address[1], flush=True)
sys.stdout.close()
server.serve_forever()
