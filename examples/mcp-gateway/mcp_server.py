"""MCP over standard input and output in plain Python: enough for tools. For real servers use the SDK `mcp`."""

import json
import sys


def serve(name, tools):
    """Serves `tools`: by name, what each is, its input schema, and the function that answers a call."""

    def result(method, params):
        if method == "initialize":
            info = {"name": name, "version": "1.0.0"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        if method == "tools/list":
            listed = [{"name": n, "description": d, "inputSchema": schema} for n, (d, schema, _) in tools.items()]
            return {"tools": listed}
        if method == "tools/call":
            _, _, function = tools[params["name"]]
            try:
                return {"content": [{"type": "text", "text": function(**params.get("arguments", {}))}]}
            except (KeyError, TypeError) as error:
                return {"content": [{"type": "text", "text": f"not possible: {error}"}], "isError": True}
        return {}

    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:  # everything else is a notification
            answer = result(request["method"], request.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer}), flush=True)


def schema(**properties):
    """A schema of an object in which every property is required."""
    return {"type": "object", "properties": properties, "required": list(properties)}
