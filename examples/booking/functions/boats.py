"""The function behind endpoints/book-boat.toml."""

import bookings
from forecourt import EndpointError


def book(ctx):
    number = bookings.book(ctx.input["boat"], ctx.input["day"])
    if number is None:
        raise EndpointError("boat_taken", "The boat is booked for that day.", {"day": ctx.input["day"]})
    return {"booking": number}
