"""An agent that knows one server by its manifest alone: it finds what it needs lacking, negotiates it, uses it and
gives it back. Python's standard library, nothing else.

    python3 traveller.py HOST PORT CA AGENT_ID
"""

import json
import socket
import ssl
import sys

WANTED = {"method": "RESERVE", "path": "/weekend"}
STAY = {"room_id": "7", "guest": "Ada"}


class Server:
    """One connection, kept for the whole visit: what is negotiated for a session belongs to it."""

    def __init__(self, host, port, ca):
        context = ssl.create_default_context(cafile=ca)
        # Names under .localhost mean this machine, which not every resolver knows.
        address = "127.0.0.1" if host.endswith(".localhost") else host
        self.stream = context.wrap_socket(socket.create_connection((address, int(port))), server_hostname=host)
        self.read = self.stream.makefile("rb")

    def ask(self, line, body=None, **fields):
        """Sends a request; the status, the fields and the body of the answer."""
        text = json.dumps(body).encode() if body is not None else b""
        head = [f"AGTP/1.0 {line}"] + [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        if text:
            head += ["Content-Type: application/vnd.agtp+json", f"Content-Length: {len(text)}"]
        self.stream.sendall("\r\n".join(head + ["", ""]).encode() + text)
        status = int(self.read.readline().split()[1])
        got = {}
        while (field := self.read.readline().strip()):
            name, _, value = field.decode().partition(":")
            got[name.lower()] = value.strip()
        answer = self.read.read(int(got.get("content-length", 0)))
        return status, got, json.loads(answer) if answer else None


def expect(status, wanted, said):
    if status not in wanted:
        sys.exit(f"{status} where {wanted} was expected: {json.dumps(said)}")


def is_there(manifest):
    return any(all(endpoint[key] == WANTED[key] for key in WANTED) for endpoint in manifest["endpoints"])


def scopes_of(manifest, pattern):
    """What has to be claimed: the scopes of what is there, and the one for negotiating."""
    declared = {scope for endpoint in manifest["endpoints"] for scope in endpoint.get("required_scopes", [])}
    return ", ".join(sorted(declared | set(pattern.get("required_scopes", [])) | {"rcns:negotiate"}))


def main(host, port, ca, agent_id):
    server = Server(host, port, ca)
    status, _, manifest = server.ask("DISCOVER")
    expect(status, [200], manifest)
    if is_there(manifest):
        sys.exit("nothing is lacking")
    print(f"{manifest['server']['server_id']} lacks {WANTED['method']} {WANTED['path']}")
    status, _, offered = server.ask("DISCOVER /patterns")
    fits = [p for p in offered["patterns"] if p["method"] == WANTED["method"] and p.get("path_exact") == WANTED["path"]]
    if not manifest["policies"]["synthesis_enabled"] or not offered["rcns_enabled"] or not fits:
        sys.exit("and it is not negotiated there")
    line, who = f"{WANTED['method']} {WANTED['path']}", {"Agent_ID": agent_id}
    who["Authority_Scope"] = scopes_of(manifest, fits[0])
    status, fields, said = server.ask(line, STAY, Allow_RCNS="true", **who)
    expect(status, [200, 461], said)
    if status == 461:
        contract = said["synthesis_id"]
        if any(said[key] != WANTED[key] for key in WANTED) or said["endpoint"]["semantic"]["impact"] == "irreversible":
            sys.exit(f"this is not what was wanted: {said}")
        print(f"offered {contract} from {said['recipe_lineage']['recipe_name']}, until {said['expires_at']}")
        status, fields, said = server.ask(line, STAY, Contract_Synthesized=contract, **who)
        expect(status, [200], said)
    contract = fields["contract-synthesized"]
    print(f"reserved under {contract}: {said['reservation_id']} for {said['nights']} nights")
    status, _, mine = server.ask("DISCOVER /contracts", **who)
    if contract not in [one["synthesis_id"] for one in mine]:
        sys.exit(f"the contract is not among {mine}")
    status, _, said = server.ask("SUSPEND /", {"synthesis_id": contract, "reason": "done"}, **who)
    expect(status, [200], said)
    status, _, said = server.ask(line, STAY, Contract_Synthesized=contract, **who)
    expect(status, [404], said)
    print("released")


if __name__ == "__main__":
    main(*sys.argv[1:5])
