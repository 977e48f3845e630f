"""The workshop's face for agents. Input was checked before it comes here."""

from forecourt import EndpointError

import workshop


def face(function):
    """What the workshop can't do, in the words that the endpoints declare."""

    def call(ctx):
        try:
            return function(ctx.input)
        except workshop.Taken:
            raise EndpointError("slot_taken", "There is no free slot at that time.") from None
        except workshop.Missing:
            raise EndpointError("appointment_not_found", "There is no such appointment.") from None

    return call


@face
def slots(asked):
    return {"slots": workshop.slots(asked["day"])}


@face
def book(asked):
    return workshop.book(asked["customer"], asked["start"], asked.get("note"))


@face
def fetch(asked):
    return workshop.fetch(asked["id"])


@face
def cancel(asked):
    return workshop.cancel(asked["id"])


@face
def reschedule(asked):
    return workshop.reschedule(asked["id"], asked["start"])
