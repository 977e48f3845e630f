//! The scripted host as a server of MCP: a tool, a resource and a prompt, with sessions and without.

use serde_json::{Value, json};

use super::{Reply, Request, Sessions};

const META: &str = "io.modelcontextprotocol/";

fn tool() -> Value {
    let query = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let input = json!({"type": "object", "properties": {"query": query}, "required": ["query"]});
    let output = json!({"type": "object", "required": ["results"]});
    json!({"name": "ask", "inputSchema": input, "outputSchema": output, "annotations": {"readOnlyHint": true}})
}

fn capabilities() -> Value {
    json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}})
}

/// The result of a method that both revisions have, or its code.
fn result(method: &str, params: &Value, no_resource: i64) -> Result<Value, i64> {
    let name = &params["name"];
    match method {
        "tools/list" if params["cursor"].is_string() => Err(-32602),
        "tools/list" => Ok(json!({ "tools": [tool()] })),
        "tools/call" if name != "ask" || !params["arguments"]["query"].is_object() => Err(-32602),
        "tools/call" => Ok(json!({"content": [{"type": "text", "text": "{}"}], "structuredContent": {"results": []}})),
        "resources/list" => Ok(json!({"resources": [{"uri": "a://b", "name": "b"}]})),
        "resources/templates/list" => Ok(json!({"resourceTemplates": [{"uriTemplate": "a://{x}", "name": "x"}]})),
        "resources/read" if params["uri"] == "a://b" => Ok(json!({"contents": [{"uri": "a://b", "text": "b"}]})),
        "resources/read" => Err(no_resource),
        "prompts/list" => Ok(json!({"prompts": [{"name": "plain"},
            {"name": "wanting", "arguments": [{"name": "what", "required": true}]}]})),
        "prompts/get" if name == "plain" => {
            Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Hello."}}]}))
        }
        "prompts/get" => Err(-32602),
        "completion/complete" => Ok(json!({"completion": {"values": ["a"]}})),
        _ => Err(-32601),
    }
}

pub(super) fn answer(request: &Request, sessions: &Sessions) -> Reply {
    let body = request.json();
    match (request.field("mcp-protocol-version"), request.method.as_str()) {
        _ if !request.field("origin").is_empty() => Reply::empty(403),
        ("2026-07-28" | "2999-01-01", "POST") => stateless(request, &body),
        ("2026-07-28", _) => Reply::empty(405),
        // The check of a version that is not the body's.
        _ if body["params"]["_meta"].is_object() && body["method"] == "server/discover" => stateless(request, &body),
        _ => in_session(request, &body, sessions),
    }
}

fn reply(body: &Value, result: Result<Value, i64>) -> Reply {
    match result {
        Ok(result) => Reply::json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result})),
        Err(code) => {
            Reply::json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "error": {"code": code, "message": "no"}}))
        }
    }
}

fn in_session(request: &Request, body: &Value, sessions: &Sessions) -> Reply {
    let session = request.field("mcp-session-id");
    let Some(method) = body["method"].as_str() else {
        return match request.method.as_str() {
            "DELETE" => {
                sessions.lock().unwrap().0.remove(session);
                Reply::empty(204)
            }
            "GET" => Reply::empty(405),
            _ => Reply::json(400, &json!({"error": "malformed"})),
        };
    };
    if method == "initialize" {
        let info = json!({"name": "a", "version": "1"});
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities(), "serverInfo": info});
        let mut reply = reply(body, Ok(result));
        let (open, count) = &mut *sessions.lock().unwrap();
        *count += 1;
        let id = format!("session-{count}");
        reply.set("mcp-session-id", &id);
        open.insert(id);
        return reply;
    }
    if session.is_empty() {
        return Reply::empty(400);
    }
    if !sessions.lock().unwrap().0.contains(session) {
        return Reply::empty(404);
    }
    match (request.field("mcp-protocol-version"), method) {
        ("2025-11-25", "notifications/initialized") => Reply::empty(202),
        ("2025-11-25", "ping") => reply(body, Ok(json!({}))),
        ("2025-11-25", "logging/setLevel") => match body["params"]["level"] == "warning" {
            true => reply(body, Ok(json!({}))),
            false => reply(body, Err(-32602)),
        },
        ("2025-11-25", _) => reply(body, result(method, &body["params"], -32002)),
        _ => Reply::empty(400),
    }
}

fn stateless(request: &Request, body: &Value) -> Reply {
    let (method, params) = (body["method"].as_str().unwrap_or_default(), &body["params"]);
    let meta = |name: &str| params["_meta"].get(format!("{META}{name}"));
    let version = meta("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let named = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
    let code = match version {
        _ if body.is_null() => -32700,
        _ if version != request.field("mcp-protocol-version") => -32020,
        _ if method != request.field("mcp-method") || named != request.field("mcp-name") => -32020,
        "2026-07-28" if meta("clientCapabilities").is_some() => 0,
        "2026-07-28" => -32602,
        _ => -32022,
    };
    let mut result = match (code, method) {
        (0, "server/discover") => Ok(json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities()})),
        (0, _) => result(method, params, -32602),
        (code, _) => Err(code),
    };
    if let Ok(result) = &mut result {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("public");
        result["_meta"] = json!({ format!("{META}serverInfo"): {"name": "a", "version": "1"} });
    }
    let is_refused = code != 0;
    let mut reply = reply(body, result.clone());
    match result {
        Err(-32601) => reply.status = 404,
        Err(_) if is_refused => reply.status = 400,
        _ => {}
    }
    if code == -32022 {
        reply.edit(|body| body["error"]["data"] = json!({"supported": ["2026-07-28"]}));
    }
    reply
}
