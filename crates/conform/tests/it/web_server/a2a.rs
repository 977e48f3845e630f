//! The scripted host as an agent of A2A: one task, which is over at once, in both versions and over HTTP+JSON.

use serde_json::{Value, json};

use super::{Reply, Request};

/// Its card. It does not stream where that is not wanted, so that both halves of the rules can be seen.
pub(super) fn card(at: &dyn Fn(&str) -> String) -> Value {
    let agent = |handle: &str| json!({"handle": handle, "name": handle});
    json!({
        "name": "Demo", "description": "Mention @chef or @guide.", "url": at("/a2a"), "version": "1.0.0",
        "protocolVersion": "0.3.0", "capabilities": {"streaming": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "supportedInterfaces": [
            {"url": at("/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": at("/a2a"), "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}
        ],
        "skills": [{"id": "chat", "name": "chat", "description": "Chat.", "tags": ["chat"]}],
        "https://mentionable.dev/ns/v1#defaultAgent": "chef",
        "https://mentionable.dev/ns/v1#agents": [agent("chef"), agent("guide")]
    })
}

fn info(code: i64) -> Value {
    let reason = if code == -32001 { "TASK_NOT_FOUND" } else { "OTHER" };
    json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}])
}

/// The task, as a version writes it.
fn task(is_new: bool, context: &Value) -> Value {
    let context = if context.is_string() { context.clone() } else { json!("context-1") };
    match is_new {
        true => json!({"id": "task-1", "contextId": context, "status": {"state": "TASK_STATE_COMPLETED"},
            "artifacts": [{"artifactId": "a", "parts": [{"text": "Hello."}]}]}),
        false => json!({"kind": "task", "id": "task-1", "contextId": context, "status": {"state": "completed"},
            "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "Hello."}]}]}),
    }
}

/// Why a message is refused.
fn fault(message: &Value) -> Option<i64> {
    match (message["messageId"].is_string(), message["parts"].as_array().is_some_and(|parts| !parts.is_empty())) {
        (true, true) => match message["taskId"].as_str() {
            None => None,
            Some("task-1") => Some(-32004),
            Some(_) => Some(-32001),
        },
        _ => Some(-32602),
    }
}

fn list(size: i64) -> Result<Value, i64> {
    match size {
        1..=100 => {
            Ok(json!({"tasks": [task(true, &Value::Null)], "nextPageToken": "", "pageSize": size, "totalSize": 1}))
        }
        _ => Err(-32602),
    }
}

/// What the methods of 0.3 are called in 1.0.
fn newer(method: &str) -> Option<&'static str> {
    Some(match method {
        "message/send" => "SendMessage",
        "message/stream" => "SendStreamingMessage",
        "tasks/get" => "GetTask",
        "tasks/cancel" => "CancelTask",
        "tasks/resubscribe" => "SubscribeToTask",
        "tasks/pushNotificationConfig/set" => "CreateTaskPushNotificationConfig",
        "agent/getAuthenticatedExtendedCard" => "GetExtendedAgentCard",
        _ => return None,
    })
}

/// The result of a method, or its code.
fn result(method: &str, params: &Value, is_new: bool) -> Result<Value, i64> {
    let wrapped = |task: Value| if is_new { json!({ "task": task }) } else { task };
    let is_known = params["id"] == "task-1";
    match method {
        _ if !params.is_object() => Err(-32602),
        "SendMessage" | "SendStreamingMessage" => match fault(&params["message"]) {
            Some(code) => Err(code),
            None => Ok(wrapped(task(is_new, &params["message"]["contextId"]))),
        },
        "GetTask" if is_known => Ok(task(is_new, &Value::Null)),
        "CancelTask" if is_known => Err(-32002),
        "GetTask" | "CancelTask" | "SubscribeToTask" => Err(-32001),
        "ListTasks" if is_new => list(params["pageSize"].as_i64().unwrap_or(50)),
        "CreateTaskPushNotificationConfig" => Err(-32003),
        "GetExtendedAgentCard" => Err(-32004),
        _ => Err(-32601),
    }
}

/// JSON-RPC.
pub(super) fn rpc(request: &Request) -> Reply {
    let body = request.json();
    let fail = |code: i64| {
        let error = json!({"code": code, "message": "no", "data": info(code)});
        Reply::json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "error": error}))
    };
    if request.field("content-type") != "application/json" {
        return fail(-32005);
    }
    let is_new = match request.field("a2a-version") {
        _ if body.is_null() => return fail(-32700),
        _ if body["jsonrpc"] != "2.0" => return fail(-32600),
        "1.0" => true,
        "0.3" => false,
        _ => return fail(-32009),
    };
    let Some(method) = body["method"].as_str() else { return fail(-32600) };
    let method = if is_new { method } else { newer(method).unwrap_or("None") };
    match result(method, &body["params"], is_new) {
        Err(code) => fail(code),
        Ok(result) if method == "SendStreamingMessage" => {
            let frame =
                |result: Value| format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": body["id"], "result": result}));
            let end = match is_new {
                true => json!({"statusUpdate": {"taskId": "task-1", "status": {"state": "TASK_STATE_COMPLETED"}}}),
                false => {
                    json!({"kind": "status-update", "taskId": "task-1", "status": {"state": "completed"}, "final": true})
                }
            };
            Reply::new(200, "text/event-stream", frame(result) + &frame(end))
        }
        Ok(result) => Reply::json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result})),
    }
}

/// HTTP+JSON, below the same URL.
pub(super) fn rest(request: &Request) -> Reply {
    let fail = |status: u16, word: &str, code: i64| {
        let error = json!({"code": status, "status": word, "message": "no", "details": info(code)});
        Reply::json(status, &json!({ "error": error }))
    };
    let (body, query) = (request.json(), request.target.split_once('?').map_or("", |(_, query)| query));
    let given = |result: Result<Value, i64>| match result {
        Ok(result) => Reply::json(200, &result),
        Err(-32001) => fail(404, "NOT_FOUND", -32001),
        Err(code) => fail(400, "INVALID_ARGUMENT", code),
    };
    match (request.method.as_str(), request.path()) {
        _ if request.field("a2a-version") != "1.0" => fail(400, "FAILED_PRECONDITION", -32009),
        ("POST", "/a2a/message:send") => given(result("SendMessage", &body, true)),
        ("POST", "/a2a/message:stream") => match result("SendMessage", &body, true) {
            Ok(task) => Reply::new(200, "text/event-stream", format!("data: {task}\n\n")),
            Err(code) => fail(400, "INVALID_ARGUMENT", code),
        },
        ("GET", "/a2a/tasks") => given(list(query.trim_start_matches("pageSize=").parse().unwrap_or(50))),
        ("GET", "/a2a/tasks/task-1") => given(result("GetTask", &json!({"id": "task-1"}), true)),
        _ => fail(404, "NOT_FOUND", -32001),
    }
}
