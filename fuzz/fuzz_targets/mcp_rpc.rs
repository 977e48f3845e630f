//! Bodies of JSON-RPC for MCP: those that name their revision stand by themselves, as 2026-07-28 has them, and the others
//! are said in a session, as older clients do. What begins with a method is a request of HTTP as it stands.

#![no_main]

use forecourt_fuzz::mutation::mutate;
use forecourt_fuzz::place::{Place, Plan, at_place, shared};
use forecourt_fuzz::rpc;
use forecourt_fuzz::script::{Memory, http, requests};
use http::{HeaderName, HeaderValue};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::Value;

const MCP: Plan = Plan { protocol: &forecourt_mcp::PROTOCOL, section: "call_timeout_seconds = 60", routes: shared };
const HEAD: &[u8] = b"POST /mcp\nContent-Type: application/json\nAccept: application/json, text/event-stream\n\n";
const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"f","version":"1"}}}"#;
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where the memory has the session.
const SESSION: &str = "mcp-session-id";

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { mutate(data, size, max_size, seed) });

fuzz_target!(|input: &[u8]| at_place(&MCP, |place| {
    let mut memory = Memory::of(&place.mounted);
    for text in requests(input) {
        let said = memory.fill(text);
        if said.first().is_some_and(u8::is_ascii_uppercase) {
            if let Some(request) = http(&said) {
                memory.hear(&place.ask(request));
            }
            continue;
        }
        let body = serde_json::from_slice::<Value>(&said).unwrap_or_default();
        let fields = match body["params"]["_meta"][REVISION].as_str() {
            Some(revision) => by_itself(&body, revision),
            None if body["method"] == "initialize" => Vec::new(),
            None => within_session(place, &mut memory),
        };
        post(place, &mut memory, &fields, &said);
    }
}));

/// The fields with which a request of that revision repeats what it says.
fn by_itself(body: &Value, revision: &str) -> Vec<(&'static str, String)> {
    let params = &body["params"];
    let name = ["name", "uri", "taskId"].into_iter().find_map(|key| params[key].as_str());
    let method = body["method"].as_str().unwrap_or_default().to_owned();
    let fields = [("mcp-protocol-version", revision.to_owned()), ("mcp-method", method)];
    fields.into_iter().chain(name.map(|name| ("mcp-name", name.to_owned()))).collect()
}

/// The fields of the session that there is, or of a new one.
fn within_session(place: &Place, memory: &mut Memory) -> Vec<(&'static str, String)> {
    if memory.get(SESSION).is_none() {
        post(place, memory, &[], HELLO);
    }
    let session = memory.get(SESSION).expect("a session").to_owned();
    vec![(SESSION, session), ("mcp-protocol-version", "2025-11-25".to_owned())]
}

fn post(place: &Place, memory: &mut Memory, fields: &[(&'static str, String)], body: &[u8]) {
    let mut request = http(&[HEAD, body].concat()).expect("a request");
    for (name, value) in fields {
        if let Ok(value) = HeaderValue::from_str(value) {
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    let answer = place.ask(request);
    memory.hear(&answer);
    let messages = rpc::messages(body, &answer);
    messages.iter().for_each(|message| memory.learn(message));
    // A call has one answer, and nothing behind it.
    assert!(rpc::responses(body, &answer, &messages) <= 1, "{}", answer.shown());
    let is_endless = serde_json::from_slice::<Value>(body).is_ok_and(|body| body["method"] == "subscriptions/listen");
    assert!(answer.is_whole || is_endless, "the answer has no end: {}", answer.shown());
}
