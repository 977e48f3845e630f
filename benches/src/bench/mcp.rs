//! `tools/call` of MCP, in its newest revision, to `echo`, against `SendMessage` of A2A to the same daemon.

pub(super) mod proxy;

use serde_json::json;

use super::a2a::{post, send_message};
use crate::arm::{Arm, ECHO};
use crate::load::Asked;
use crate::report::{Side, compare};
use crate::run::Run;

const WORDS: &str = "hello from the other side";
/// The revision that has no sessions: each call stands alone, as a message of A2A does.
const REVISION: &str = "2026-07-28";

/// Runs the comparison.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let arm = Arm::forecourt("forecourt", ECHO)?;
    let message = Asked::of(post(arm.port, "/a2a/echo", "1.0", &send_message(WORDS, &json!({}))), WORDS);
    let side = |name, asked| Side { name, arm: &arm, asked };
    let sides = [
        side("A2A", message.clone()),
        side("A2A again", message),
        side("MCP tools/call", Asked::of(call(arm.port, "/mcp/echo", "ask_echo"), WORDS)),
    ];
    compare(run, "", &sides)
}

/// A call of a tool at an endpoint, with the words that it is to repeat.
fn call(port: u16, path: &str, tool: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    });
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {"message": WORDS}, "_meta": meta},
    })
    .to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: demo.localhost:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {REVISION}\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nUser-Agent: bench\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
