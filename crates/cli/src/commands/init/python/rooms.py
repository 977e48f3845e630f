"""The functions behind endpoints/book-room.toml. An edit counts from the next call on."""

from forecourt import EndpointError

taken = {"7"}


def book(ctx):
    room = ctx.input["room_id"]
    if room in taken:
        raise EndpointError("room_unavailable", "The room is taken.", {"try": "8"})
    taken.add(room)
    return {"reservation_id": f"r-{room}", "nights": ctx.input.get("nights", 1)}
