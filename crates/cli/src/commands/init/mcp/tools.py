"""An MCP server over standard input and output with one tool, in plain Python. For real ones use the SDK `mcp`."""

import json
import sys

TOOL = {
    "name": "reverse",
    "description": "Reverses a text.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def result(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tools", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["text"][::-1]}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:  # everything else is a notification
        answer = result(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer}), flush=True)
