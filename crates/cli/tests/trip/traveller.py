"""An agent that books a trip at a host of which it knows the manifest alone: for each leg it looks for an endpoint that
takes what it knows, finds none, proposes one, and calls it under the contract that it is given.

    python3 traveller.py HOST PORT CA AGENT_ID

Prints what was booked, and what was refused, as JSON lines. `Server` is that of `examples/hotel`.
"""

import json
import sys

from hotel_agent import Server

#: What a person would say, and what they know: numbers of flights, cities and names, and no ids of services.
LEGS = [
    {"says": "Book a seat on a flight for a passenger.", "name": "/seats", "gets": "booking_id",
     "knows": {"flight_number": "FC100", "passenger": "Ada"}},
    {"says": "Reserve a room of the hotel of a city for a guest.", "name": "/stays", "gets": "reservation_id",
     "knows": {"city": "Lisbon", "guest": "Ada", "nights": 2}},
    {"says": "Buy a ticket to a station.", "name": "/rides", "gets": "ticket_id",
     "knows": {"station_name": "Sintra", "traveller": "Ada"}},
]
KINDS = {str: "string", int: "integer"}


def say(**what):
    print(json.dumps(what), flush=True)


def act_of(manifest, wanted):
    """The act that gives what is wanted, whatever it asks for: its verb and what it changes are taken over."""
    gives = [e for e in manifest["endpoints"] if wanted in e["output_schema"].get("properties", {})]
    acts = [e for e in gives if e["semantic"]["impact"] != "informational"]
    if len(acts) != 1:
        sys.exit(f"{wanted}: {[e['path'] for e in acts]}")
    return acts[0]


def proposal(leg, act):
    properties = {name: {"type": KINDS[type(value)]} for name, value in leg["knows"].items()}
    return {
        "method": act["method"], "path": leg["name"], "description": leg["says"],
        "semantic": {
            "intent": leg["says"], "actor": "agent", "outcome": act["semantic"]["outcome"],
            "capability": act["semantic"]["capability"], "confidence": 0.9, "impact": act["semantic"]["impact"],
            "is_idempotent": False,
        },
        "input_schema": {"type": "object", "additionalProperties": False, "required": sorted(properties),
                         "properties": properties},
        "output_schema": {"type": "object", "required": [leg["gets"]],
                          "properties": {leg["gets"]: {"type": "string"}}},
    }


def claims(server, manifest, agent_id):
    """All scopes that endpoints declare, but for those that the host says this agent does not have."""
    claimed = {scope for endpoint in manifest["endpoints"] for scope in endpoint.get("required_scopes", [])}
    who = {"Agent_ID": agent_id, "Authority_Scope": ", ".join(sorted(claimed))}
    status, _, said = server.ask("DISCOVER /contracts", **who)
    if status == 262:
        claimed -= set(said["error"]["details"]["excess_scopes"])
    return {"Agent_ID": agent_id, "Authority_Scope": ", ".join(sorted(claimed))}


def book(server, manifest, leg, who):
    """Proposes a leg and calls it; what was got."""
    wanted = proposal(leg, act_of(manifest, leg["gets"]))
    line = f"{wanted['method']} {wanted['path']}"
    status, _, said = server.ask("PROPOSE", {"endpoint": wanted}, **who)
    if status != 263:
        return say(did=f"PROPOSE {line}", status=status, said=said)
    contract, plan = said["synthesis_id"], said.get("plan_explanation")
    status, fields, got = server.ask(line, leg["knows"], Contract_Synthesized=contract, **who)
    is_under = contract == fields.get("contract-synthesized")
    say(did=line, status=status, is_under_contract=is_under, said=got, plan=plan)
    return got


def undo(server, manifest, booking, who):
    """Tries what the operator does not let agents do: by the endpoint that there is, and by one that it proposes."""
    status, _, said = server.ask(f"CANCEL /bookings/{booking}", **who)
    say(did="CANCEL /bookings", status=status, said=said)
    wanted = proposal({"says": "Cancel a booking.", "name": "/seats/{booking_id}", "gets": "booking_id",
                       "knows": {"booking_id": booking}}, act_of(manifest, "booking_id"))
    status, _, said = server.ask("PROPOSE", {"endpoint": wanted | {"method": "CANCEL"}}, **who)
    say(did="PROPOSE CANCEL /seats", status=status, said=said)


def main(host, port, ca, agent_id):
    server = Server(host, port, ca)
    status, _, manifest = server.ask("DISCOVER")
    if status != 200 or not manifest["policies"]["synthesis_enabled"]:
        sys.exit(f"{status}: nothing can be proposed there")
    who = claims(server, manifest, agent_id)
    got = [book(server, manifest, leg, who) for leg in LEGS]
    if got[0]:
        undo(server, manifest, got[0]["booking_id"], who)


if __name__ == "__main__":
    main(*sys.argv[1:5])
