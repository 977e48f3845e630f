#!/usr/bin/env python3
"""The workshop's HTTP API, as it was before agents came. The standard library is all it needs.

    python3 service.py [PORT]

It speaks plain HTTP on loopback, wants the key that is below, and forgets everything when it ends.
openapi.yaml describes it.
"""

import json
import re
import sys
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, unquote, urlsplit

KEY = "spanner"

customers = {1: {"id": 1, "name": "Ada Chen", "email": "ada@example.com", "phone": "555-0101", "since": "2024-03-01"}}
bikes = {1: {"id": 1, "customerId": 1, "model": "Brompton C", "kind": "city", "wheelInches": 16}}
appointments, jobs, orders = {}, {}, {}
invoices = {"2026-1": {"number": "2026-1", "cents": 4500, "paid": False, "jobId": None}}
parts = {
    "CH-0001": {"sku": "CH-0001", "name": "Chain, 8 speeds", "stock": 4, "cents": 1900, "substitutes": []},
    "TY-0002": {"sku": "TY-0002", "name": "Tyre, 16 inches", "stock": 1, "cents": 2400, "substitutes": []},
    "TY-0003": {"sku": "TY-0003", "name": "Tyre, 28 inches", "stock": 9, "cents": 2600, "substitutes": []},
}
lock = Lock()


class Refused(Exception):
    """A request that is answered with a status and a reason."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status, self.reason = status, reason


def found(table, key, what):
    if key not in table:
        raise Refused(404, f"there is no {what} {key}")
    return table[key]


def new(table, fields):
    key = max(table, default=0) + 1
    table[key] = {"id": key, **fields}
    return table[key]


def pick(body, *names):
    return {name: body[name] for name in names if name in body}


def health(query, body):
    return 200, {"status": "up"}


def list_customers(query, body):
    wanted = query.get("q", [""])[0].lower()
    items = [c for c in customers.values() if wanted in c["name"].lower()]
    items.sort(key=lambda customer: customer["name"])
    return 200, {"items": items[: int(query.get("limit", ["20"])[0])], "total": len(items)}


def create_customer(query, body):
    if any(c["name"] == body["name"] for c in customers.values()):
        raise Refused(409, "there is a customer of that name")
    today = datetime.now(timezone.utc).date().isoformat()
    return 201, new(customers, pick(body, "name", "email", "phone") | {"since": today})


def get_customer(query, body, customer):
    return 200, found(customers, int(customer), "customer")


def replace_customer(query, body, customer):
    old = found(customers, int(customer), "customer")
    customers[old["id"]] = pick(old, "id", "since") | pick(body, "name", "email", "phone")
    return 200, customers[old["id"]]


def update_customer(query, body, customer):
    known = found(customers, int(customer), "customer")
    known.update(pick(body, "name", "email", "phone"))
    return 200, known


def delete_customer(query, body, customer):
    found(customers, int(customer), "customer")
    mine = {bike["id"] for bike in bikes.values() if bike["customerId"] == int(customer)}
    if any(job["bikeId"] in mine and job["state"] != "closed" for job in jobs.values()):
        raise Refused(409, "there are open jobs")
    del customers[int(customer)]
    return 204, None


def list_bikes(query, body, customer):
    found(customers, int(customer), "customer")
    return 200, [bike for bike in bikes.values() if bike["customerId"] == int(customer)]


def add_bike(query, body, customer):
    found(customers, int(customer), "customer")
    return 201, new(bikes, {"customerId": int(customer)} | pick(body, "model", "kind", "wheelInches"))


def get_bike(query, body, bike):
    return 200, found(bikes, int(bike), "bike")


def remove_bike(query, body, bike):
    found(bikes, int(bike), "bike")
    del bikes[int(bike)]
    return 204, None


def taken(start):
    return any(a["start"] == start and a["state"] != "cancelled" for a in appointments.values())


def find_slots(query, body):
    minutes = int(query.get("minutes", ["30"])[0])
    first = datetime.fromisoformat(query["day"][0]).replace(hour=9, tzinfo=timezone.utc)
    starts = [(first + timedelta(minutes=minutes * n)).isoformat() for n in range(8 * 60 // minutes)]
    return 200, [{"start": start, "minutes": minutes} for start in starts if not taken(start)]


def list_appointments(query, body):
    items = list(appointments.values())
    if "customerId" in query:
        items = [a for a in items if a["customerId"] == int(query["customerId"][0])]
    if "state" in query:
        items = [a for a in items if a["state"] in query["state"]]
    return 200, sorted(items, key=lambda appointment: appointment["start"])


def book(query, body):
    found(customers, body["customerId"], "customer")
    if taken(body["start"]):
        raise Refused(409, "the slot is taken")
    if query.get("notify") == ["true"]:
        print(f"a message goes to customer {body['customerId']}", file=sys.stderr)
    fields = {"minutes": 30, "note": None} | pick(body, "customerId", "start", "minutes", "note")
    return 201, new(appointments, fields | {"state": "booked"})


def get_appointment(query, body, number):
    return 200, found(appointments, int(number), "appointment")


def cancel(query, body, number):
    appointment = found(appointments, int(number), "appointment")
    if appointment["state"] == "cancelled":
        raise Refused(409, "it is over already")
    appointment["state"] = "cancelled"
    return 200, appointment


def confirm(query, body, number):
    appointment = found(appointments, int(number), "appointment")
    appointment["state"] = "confirmed"
    return 200, appointment


def reschedule(query, body, number):
    appointment = found(appointments, int(number), "appointment")
    if taken(body["start"]):
        raise Refused(409, "the slot is taken")
    appointment["start"] = body["start"]
    return 200, appointment


def list_jobs(query, body):
    state = query.get("state", [None])[0]
    items = [job for job in jobs.values() if state in (None, job["state"])]
    return 200, items[::-1][: int(query.get("limit", ["20"])[0])]


def open_job(query, body):
    found(bikes, body["bikeId"], "bike")
    fields = {"urgent": False} | pick(body, "bikeId", "work", "urgent")
    return 201, new(jobs, fields | {"state": "open", "comments": []})


def get_job(query, body, number):
    return 200, found(jobs, int(number), "job")


def comment(query, body, number):
    job = found(jobs, int(number), "job")
    job["comments"].append(pick(body, "id", "text"))
    return 201, job


def move_job(state):
    def move(query, body, number):
        job = found(jobs, int(number), "job")
        job["state"] = state
        return 200, job

    return move


def quote(query, body):
    until = (datetime.now(timezone.utc) + timedelta(days=7)).date().isoformat()
    return 200, {"cents": 2000 + 100 * len(body["work"]), "currency": "EUR", "until": until}


def get_parts(query, body):
    wanted = query["q"][0].lower()
    return 200, [part for part in parts.values() if wanted in part["name"].lower()]


def low_stock(query, body):
    return 200, sorted((part for part in parts.values() if part["stock"] < 3), key=lambda part: part["stock"])


def get_part(query, body, sku):
    return 200, found(parts, sku, "part")


def reserve_part(query, body, sku):
    part = found(parts, sku, "part")
    found(jobs, body["jobId"], "job")
    if part["stock"] < body.get("count", 1):
        raise Refused(409, "there are not enough")
    part["stock"] -= body.get("count", 1)
    return 200, part


def list_orders(query, body):
    return 200, list(orders.values())[::-1]


def order(query, body):
    if sum(line["count"] for line in body["lines"]) > 100:
        raise Refused(402, "the workshop's credit is used up")
    return 201, new(orders, {"lines": body["lines"]})


def get_invoice(query, body, number):
    return 200, found(invoices, number, "invoice")


def pay(query, body, number):
    invoice = found(invoices, number, "invoice")
    if body["cents"] != invoice["cents"]:
        raise Refused(402, "the amount is not the one that is due")
    invoice["paid"] = True
    return 200, invoice


def revenue(query, body):
    return 200, {"month": query["month"][0], "cents": sum(i["cents"] for i in invoices.values() if i["paid"])}


ROUTES = [
    ("GET", "/health", health),
    ("GET", "/customers", list_customers),
    ("POST", "/customers", create_customer),
    ("GET", "/customers/([0-9]+)", get_customer),
    ("PUT", "/customers/([0-9]+)", replace_customer),
    ("PATCH", "/customers/([0-9]+)", update_customer),
    ("DELETE", "/customers/([0-9]+)", delete_customer),
    ("GET", "/customers/([0-9]+)/bikes", list_bikes),
    ("POST", "/customers/([0-9]+)/bikes", add_bike),
    ("GET", "/bikes/([0-9]+)", get_bike),
    ("DELETE", "/bikes/([0-9]+)", remove_bike),
    ("GET", "/appointments/slots", find_slots),
    ("GET", "/appointments", list_appointments),
    ("POST", "/appointments", book),
    ("GET", "/appointments/([0-9]+)", get_appointment),
    ("POST", "/appointments/([0-9]+)/cancel", cancel),
    ("POST", "/appointments/([0-9]+)/confirm", confirm),
    ("POST", "/appointments/([0-9]+)/reschedule", reschedule),
    ("GET", "/jobs", list_jobs),
    ("POST", "/jobs", open_job),
    ("GET", "/jobs/([0-9]+)", get_job),
    ("POST", "/jobs/([0-9]+)/comment", comment),
    ("POST", "/jobs/([0-9]+)/approve", move_job("approved")),
    ("POST", "/jobs/([0-9]+)/close", move_job("closed")),
    ("POST", "/quote", quote),
    ("GET", "/parts", get_parts),
    ("GET", "/parts/low-stock", low_stock),
    ("GET", "/parts/([^/]+)\\.json", get_part),
    ("POST", "/parts/([^/]+)/reserve", reserve_part),
    ("GET", "/order", list_orders),
    ("POST", "/order", order),
    ("GET", "/invoices/([^/]+)", get_invoice),
    ("POST", "/invoices/([^/]+)/pay", pay),
    ("GET", "/reports/revenue", revenue),
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if value is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length)
        url = urlsplit(self.path)
        path = url.path.removeprefix("/v1")
        try:
            if path != "/health" and self.headers.get("X-Workshop-Key") != KEY:
                raise Refused(401, "the key is not right")
            body = json.loads(text) if text else {}
            for method, pattern, function in ROUTES:
                match = re.fullmatch(pattern, path)
                if match and method == self.command:
                    with lock:
                        self.answer(*function(parse_qs(url.query), body, *map(unquote, match.groups())))
                    return
            raise Refused(404, "there is nothing here")
        except Refused as refused:
            self.answer(refused.status, {"error": refused.reason})
        except (KeyError, TypeError, ValueError) as wrong:
            self.answer(422, {"error": f"this can't be read: {wrong}"})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8790
    print(f"the workshop is at http://127.0.0.1:{port}/v1", file=sys.stderr)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
