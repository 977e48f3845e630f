"""What answers the endpoints that were imported from Spoke Appointments 2.3.0.

Each function gets a context with the validated `input` and returns what the endpoint's output
allows. `raise forecourt.EndpointError(code, message)` ends in one of its errors.
"""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import forecourt

FILE = Path(__file__).resolve().parent.parent / ".forecourt" / "appointments.sqlite"
HOURS = range(9, 17)


def opened():
    FILE.parent.mkdir(exist_ok=True)
    database = sqlite3.connect(FILE, timeout=5)
    database.row_factory = sqlite3.Row
    database.execute(
        "create table if not exists appointments ("
        "id integer primary key, customer text not null, start text not null, state text not null, note text)"
    )
    # One appointment to a slot, whoever asks at the same time.
    database.execute("create unique index if not exists slots on appointments (start) where state = 'booked'")
    return database


def one(database, number):
    row = database.execute("select * from appointments where id = ?", (number,)).fetchone()
    if row is None:
        raise forecourt.EndpointError("not_found", "There is no such appointment.")
    return dict(row)


def book_appointments(ctx):
    """BOOK /appointments: Book a free slot.

    Takes: customer, note?, start
    Gives: customer, id, note?, start, state
    Errors: conflict
    """
    start = datetime.fromisoformat(ctx.input["start"].replace("Z", "+00:00")).astimezone(timezone.utc)
    if start.hour not in HOURS or start.minute or start.second or start.microsecond:
        raise forecourt.EndpointError("conflict", "There is no slot at that time.", {"hours": list(HOURS)})
    with closing(opened()) as database, database:
        try:
            cursor = database.execute(
                "insert into appointments (customer, start, state, note) values (?, ?, 'booked', ?)",
                (ctx.input["customer"], start.isoformat(), ctx.input.get("note")),
            )
        except sqlite3.IntegrityError:
            raise forecourt.EndpointError("conflict", "The slot is taken.") from None
        return one(database, cursor.lastrowid)


def find_appointments_slots(ctx):
    """FIND /appointments/slots: Find the free slots of a day.

    Takes: day
    Gives: result
    """
    first = datetime.fromisoformat(ctx.input["day"]).replace(tzinfo=timezone.utc)
    starts = [(first + timedelta(hours=hour)).isoformat() for hour in HOURS]
    with closing(opened()) as database, database:
        rows = database.execute("select start from appointments where state = 'booked'").fetchall()
    taken = {row["start"] for row in rows}
    return {"result": [{"start": start, "minutes": 60} for start in starts if start not in taken]}


def cancel_appointments_id(ctx):
    """CANCEL /appointments/{id}: Cancel an appointment.

    Takes: id
    Gives: customer, id, note?, start, state
    Errors: not_found
    """
    with closing(opened()) as database, database:
        one(database, ctx.input["id"])
        database.execute("update appointments set state = 'cancelled' where id = ?", (ctx.input["id"],))
        return one(database, ctx.input["id"])


def fetch_appointments_id(ctx):
    """FETCH /appointments/{id}: Get one appointment.

    Takes: id
    Gives: customer, id, note?, start, state
    Errors: not_found
    """
    with closing(opened()) as database, database:
        return one(database, ctx.input["id"])
