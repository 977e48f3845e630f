"""Bookings, in a file: each worker is a process of its own."""

import fcntl
import json
from pathlib import Path

FILE = Path(__file__).parent.parent / ".forecourt/bookings.json"
BOATS = ("heron", "otter", "teal")


def book(boat, day):
    """The number of the new booking. `None`: the boat is booked for that day."""
    with open(FILE, "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # one booking at a time; released when the file is closed
        file.seek(0)
        bookings = json.loads(file.read() or "[]")
        if [boat, day] in bookings:
            return None
        bookings.append([boat, day])
        file.truncate(0)
        file.write(json.dumps(bookings))
    return len(bookings)
