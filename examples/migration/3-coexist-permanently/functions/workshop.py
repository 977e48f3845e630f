"""What the workshop does, whichever face it is asked through. All of it is kept in one SQLite file."""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / ".forecourt" / "workshop.sqlite"
HOURS = range(9, 17)


class Taken(Exception):
    """Somebody else has the slot, or there is none at that time."""


class Missing(Exception):
    """There is no such appointment."""


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


def instant(text):
    """A slot's start in the one spelling that is kept."""
    time = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)
    if time.hour not in HOURS or time.minute or time.second or time.microsecond:
        raise Taken(text)
    return time.isoformat()


def slots(day):
    first = datetime.fromisoformat(day).replace(tzinfo=timezone.utc)
    starts = [(first + timedelta(hours=hour)).isoformat() for hour in HOURS]
    with closing(opened()) as database, database:
        rows = database.execute("select start from appointments where state = 'booked'").fetchall()
    taken = {row["start"] for row in rows}
    return [{"start": start, "minutes": 60} for start in starts if start not in taken]


def book(customer, start, note=None):
    with closing(opened()) as database, database:
        try:
            cursor = database.execute(
                "insert into appointments (customer, start, state, note) values (?, ?, 'booked', ?)",
                (customer, instant(start), note),
            )
        except sqlite3.IntegrityError:
            raise Taken(start) from None
        return one(database, cursor.lastrowid)


def fetch(number):
    with closing(opened()) as database, database:
        return one(database, number)


def cancel(number):
    with closing(opened()) as database, database:
        one(database, number)
        database.execute("update appointments set state = 'cancelled' where id = ?", (number,))
        return one(database, number)


def reschedule(number, start):
    with closing(opened()) as database, database:
        one(database, number)
        try:
            database.execute("update appointments set start = ? where id = ?", (instant(start), number))
        except sqlite3.IntegrityError:
            raise Taken(start) from None
        return one(database, number)


def one(database, number):
    row = database.execute("select * from appointments where id = ?", (number,)).fetchone()
    if row is None:
        raise Missing(number)
    return dict(row)
