//! A server of MCP 2026-07-28 that has one tool, which repeats what it is told, and nothing else: JSON-RPC read into
//! values and written from values.

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

/// The tool.
pub const TOOL: &str = "repeat";

/// The server, at `/mcp`.
pub fn router() -> Router {
    Router::new().route("/mcp", post(|Json(asked): Json<Value>| async move { answer(&asked) }))
}

fn answer(asked: &Value) -> Response {
    let result = match asked["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "baseline", "version": "1"}},
        }),
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"message": {"type": "string"}}});
            json!({"resultType": "complete", "tools": [{"name": TOOL, "inputSchema": schema}]})
        }
        "tools/call" => {
            let said = &asked["params"]["arguments"]["message"];
            json!({"resultType": "complete", "content": [{"type": "text", "text": said}], "isError": false})
        }
        _ if asked["id"].is_null() => return StatusCode::ACCEPTED.into_response(),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return Json(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).into_response();
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).into_response()
}
