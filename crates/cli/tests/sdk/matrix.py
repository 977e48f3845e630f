"""People on a homeserver of Matrix, by matrix-nio: told what to do line by line, as JSON, and says what came of it.

matrix.py HOMESERVER SECRET NAME...: makes an account for each name, logs in, and says their ids.
"""

import asyncio
import hashlib
import hmac
import io
import json
import sys
import urllib.request

from nio import AsyncClient, Api, RoomPreset
from nio.responses import DownloadError, ErrorResponse

homeserver, secret, *names = sys.argv[1:]
people = {}


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(homeserver + path, data=data), timeout=60) as answer:
        return json.load(answer)


def register(name):
    nonce = ask("/_synapse/admin/v1/register")["nonce"]
    words = b"\0".join([nonce.encode(), name.encode(), b"password", b"notadmin"])
    mac = hmac.new(secret.encode(), words, hashlib.sha1).hexdigest()
    account = {"nonce": nonce, "username": name, "displayname": name.capitalize(), "password": "password"}
    return ask("/_synapse/admin/v1/register", account | {"admin": False, "mac": mac})["user_id"]


def fine(answer):
    if isinstance(answer, (ErrorResponse, DownloadError)):
        raise RuntimeError(str(answer))
    return answer


async def room(client, words):
    encrypted = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
    made = await client.room_create(
        invite=words["with"],
        is_direct=words.get("direct", False),
        preset=RoomPreset.private_chat,
        initial_state=[encrypted] if words.get("encrypted") else [],
    )
    return {"room": fine(made).room_id}


async def write(client, words):
    kind = words.get("type", "m.room.message")
    sent = await client.room_send(words["room"], kind, words["content"], ignore_unverified_devices=True)
    return {"event": fine(sent).event_id}


async def redact(client, words):
    return {"event": fine(await client.room_redact(words["room"], words["event"])).event_id}


async def invite(client, words):
    fine(await client.room_invite(words["room"], words["user"]))
    return {}


async def join(client, words):
    """Takes every invitation, and says to which rooms."""
    answer = fine(await client.sync(timeout=0, since=""))
    for name in answer.rooms.invite:
        fine(await client.join(name))
    return {"rooms": list(answer.rooms.invite)}


async def members(client, words):
    answer = fine(await client.joined_members(words["room"]))
    return {"members": sorted(member.user_id for member in answer.members)}


async def messages(client, words):
    """What is in a room, oldest first, as it was sent."""
    answer = fine(await client.room_messages(words["room"], limit=100))
    return {"events": [event.source for event in reversed(answer.chunk)]}


async def share(client, words):
    data = words["text"].encode()
    sent, _ = await client.upload(io.BytesIO(data), words["mime"], words["name"], filesize=len(data))
    return {"uri": fine(sent).content_uri}


async def fetch(client, words):
    return {"text": fine(await client.download(words["uri"])).body.decode()}


async def main():
    for name in names:
        user = register(name)
        people[name] = AsyncClient(homeserver, user)
        fine(await people[name].login("password"))
    print(json.dumps({name: client.user_id for name, client in people.items()}), flush=True)
    does = {f.__name__: f for f in (room, write, redact, invite, join, members, messages, share, fetch)}
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        words = json.loads(line)
        try:
            said = await does[words["do"]](people[words["as"]], words)
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


asyncio.run(main())
