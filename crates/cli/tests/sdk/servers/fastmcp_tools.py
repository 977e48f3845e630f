# A server of FastMCP as its users write one. Says its address in its first line.

import socket

import uvicorn
from fastmcp import FastMCP

mcp = FastMCP("Shelf")


@mcp.tool(annotations={"readOnlyHint": True})
def search(query: str) -> list[str]:
    "Searches the shelf."
    return [query]


@mcp.tool
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b


@mcp.resource("shelf://all")
def everything() -> str:
    return "all of it"


@mcp.resource("shelf://items/{number}")
def item(number: int) -> str:
    return f"item {number}"


@mcp.prompt
def plan(topic: str) -> str:
    "Plans something."
    return f"Plan {topic}"


listening = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(mcp.http_app(), log_level="error")).run(sockets=[listening])
