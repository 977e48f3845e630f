"""The functions behind the endpoints."""

from forecourt import EndpointError

ROOMS = {"7": (2, 95), "8": (3, 120)}


def look(ctx):
    beds, price = room(ctx.input["room_id"])
    return {"beds": beds, "price": price}


def book(ctx):
    room(ctx.input["room_id"])
    return {"reservation_id": f"r-{ctx.input['room_id']}", "nights": ctx.input.get("nights", 1)}


def room(name):
    if name not in ROOMS:
        raise EndpointError("no_such_room", "There is no such room.", {"rooms": sorted(ROOMS)})
    return ROOMS[name]
