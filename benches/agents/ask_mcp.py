"""Asks the tool of one server over MCP, and shows what a client gets: `ask_mcp.py URL TOOL [PROTOCOL]`."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.exceptions import ToolError

# A client that asks its user for one of a list lets nothing else through.
SAID = ["a shirt", "M"]


async def main(url, tool, mode="auto"):
    answers = iter(SAID[1:])

    async def progress(done, total, message):
        print(f"  progress {message!r}")

    async def elicit(message, response_type, params, context):
        answer = next(answers)
        print(f"  question {message!r} {params.requested_schema['properties']}\n> {answer}")
        return response_type(**{next(iter(params.requested_schema["properties"])): answer})

    async with Client(url, progress_handler=progress, elicitation_handler=elicit, mode=mode) as client:
        print(f"MCP {client.protocol_version}\n> {SAID[0]}")
        arguments = {"message": SAID[0]}
        while True:
            try:
                result = await client.call_tool(tool, arguments)
            except ToolError as error:
                print(f"  error {error}")
                return
            show(result)
            asked = result.structured_content or {}
            if asked.get("state") != "input_required":
                return
            arguments = {"message": next(answers), "context_id": asked["context_id"]}
            print(f"> {arguments['message']}")


def show(result):
    for part in result.content:
        resource = getattr(part, "resource", None)
        if resource is not None:
            print(f"  file {resource.uri} {getattr(resource, 'text', None) or resource.blob!r}")
        else:
            print(f"  text {part.text!r}")
    if result.meta:
        print(f"  meta {result.meta}")


asyncio.run(main(*sys.argv[1:]))
