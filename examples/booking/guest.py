"""The program behind @guest: books a boat that is named with a day. It hears only from people who agreed."""

import json
import re
import sys

sys.path.insert(0, "functions")
import bookings

for line in sys.stdin:
    message = json.loads(line)

    def say(**fields):
        print(json.dumps({"turn": message["turn"], **fields}), flush=True)

    words = " ".join(part["content"] for part in message["parts"] if part["kind"] == "text").lower()
    boat = next((boat for boat in bookings.BOATS if boat in words), None)
    day = re.search(r"\d{4}-\d\d-\d\d", words)
    if not boat or not day:
        say(question={"text": "Name a boat (heron, otter or teal) and a day, such as 2031-07-01.", "questions": []})
        continue
    number = bookings.book(boat, day[0])
    say(text=f"Booking {number}: {boat} on {day[0]}." if number else f"The {boat} is booked on {day[0]}.")
    say(end=True)
