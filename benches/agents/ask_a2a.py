"""Asks the shirts of one URL over A2A, and shows what a caller gets: `ask_a2a.py URL`."""

import asyncio
import sys
from uuid import uuid4

from a2a.client import create_client
from a2a.types import Message, Part, Role, SendMessageRequest, TaskState
from google.protobuf.json_format import MessageToDict

SAID = ["a shirt", "XL", "M"]


async def main(url):
    client = await create_client(url)
    ids = {}
    for words in SAID:
        message = Message(role=Role.ROLE_USER, message_id=str(uuid4()), parts=[Part(text=words)], **ids)
        print(f"> {words}")
        async for event in client.send_message(SendMessageRequest(message=message)):
            ids = show(event) or ids


def show(event):
    """Prints one event. Returns the ids under which the conversation goes on."""
    if event.HasField("task"):
        return {"task_id": event.task.id, "context_id": event.task.context_id}
    if event.HasField("artifact_update"):
        artifact = event.artifact_update.artifact
        for part in artifact.parts:
            print(f"  file {part.filename}: {part.raw!r}" if part.filename else f"  text {part.text!r}")
        told(artifact.metadata)
    if event.HasField("status_update"):
        status = event.status_update.status
        said = " ".join(part.text for part in status.message.parts if part.text)
        print(f"  {TaskState.Name(status.state)} {said!r}")
        told(status.message.metadata, event.status_update.metadata)
    return None


def told(*metadata):
    for values in metadata:
        if values:
            print(f"  metadata {MessageToDict(values)}")


asyncio.run(main(sys.argv[1]))
