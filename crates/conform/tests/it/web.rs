//! Each rule that a host breaks over HTTP is found by its check, and by no other.

use forecourt_conform::report::{Finding, Outcome};
use forecourt_conform::web::{HostQuery, SUITES, WebTarget};
use serde_json::{Value, json};
use url::Url;

use crate::web_server::{Change, Request, listen};
use crate::{PATIENCE, broken, egress, findings, ids, run};

fn tested(change: Change) -> Vec<Finding> {
    run(async {
        let base = Url::parse(&format!("http://127.0.0.1:{}", listen(change).await)).unwrap();
        let asked = HostQuery { with_effects: true, ..HostQuery::default() };
        findings(WebTarget::new(egress(), base, PATIENCE, asked), SUITES, PATIENCE).await
    })
}

fn found(change: Change) -> Vec<&'static str> {
    broken(&tested(change))
}

#[test]
fn a_host_that_keeps_the_rules_passes() {
    let all = tested(|_, _| {});
    assert_eq!(broken(&all), Vec::<&str>::new(), "{all:#?}");
    // What depends on what a host has: it streams, and begins tasks, so that nothing is told of those that do not.
    let untold = ["rest-7.3", "a2a-4-no-stream", "a2a-0.3-4-no-stream"];
    assert_eq!(ids(&all, Outcome::Skip), untold);
}

#[test]
fn broken_discovery_is_found() {
    finds! {
        found;
        "discovery-2.2a" => |q, r| if q.path().ends_with("webfinger") && r.status == 200 { r.set("content-type", "text/html") };
        "discovery-2.2b" => |q, r| if q.target == "/.well-known/webfinger" { r.status = 404 };
        "discovery-2.1" => |q, r| if q.target.contains("CHEF") { r.status = 404 };
        "discovery-2.2d" => |q, r| if q.path().ends_with("webfinger") { r.without("access-control-allow-origin") };
        "discovery-3a" => |q, r| if q.path().ends_with("agent-card/chef") { r.edit(|card| card["address"] = "@x@y.z".into()) };
        "discovery-3b" => |q, r| if q.path().ends_with("conform-nobody") { r.status = 500 };
    }
}

#[test]
fn broken_requests_over_rest_are_found() {
    finds! {
        found;
        "rest-3.1-assistant" => |q, r| if q.target.contains("assistant=") { r.status = 200 };
        "rest-3.1-unknown" => |q, r| if q.target.contains("conform-unknown") { r.status = 400 };
        "rest-3.1-size" => |q, r| if q.target.len() > 8192 { r.status = 414 };
        "rest-3.2-json" => |q, r| if q.path() == "/~chef" && q.field("content-type") == "application/json" { r.status = 200 };
        "rest-3.2-size" => |q, r| if q.method == "POST" && r.status == 413 { r.status = 200 };
        "rest-3.5-methods" => |q, r| if q.method == "PATCH" && q.path() == "/~chef" { r.status = 501 };
        "rest-3.5-tasks" => |q, r| if q.method == "PUT" && q.path() != "/~chef" { r.status = 404 };
        "rest-5.4.1" => |q, r| if q.target == "/tasks/conform-no-such-task" && r.status == 404 { r.status = 405 };
    }
}

#[test]
fn broken_answers_over_rest_are_found() {
    finds! {
        found;
        "rest-5.1" => |q, r| if q.path() == "/~chef" { r.without("content-language") };
        "rest-5.2" => |q, r| if q.path() == "/~chef" { r.without("x-mentionable-agent") };
        "rest-4-406" => |_, r| if r.status == 406 { r.status = 200 };
        "rest-4.1" => |_, r| r.replace("mentionable:agent", "agent");
        "rest-4.3" => |_, r| r.replace("event: end", "event: over");
        "rest-4.4" => |_, r| r.replace("\"v0.1\"", "\"v0.2\"");
        "rest-8.2" => |_, r| r.replace("&lt;script&gt;", "<script>conform()</script>");
        "rest-8.5-header" => |_, r| if r.status == 400 { r.without("x-robots-tag") };
        "rest-8.2-csp" => |_, r| r.without("content-security-policy");
    }
}

/// Breaks the card.
fn of_card(q: &Request) -> bool {
    q.path().ends_with("agent-card.json")
}

#[test]
fn a_broken_hub_is_found() {
    finds! {
        found;
        "hub-7-1", "a2a-5-type" => |q, r| if of_card(q) { r.set("content-type", "text/plain") };
        "hub-7-2" => |q, r| if of_card(q) { r.edit(|card| { card["url"] = Value::Null; card["protocolVersion"] = Value::Null }) };
        "hub-7-3" => |q, r| if of_card(q) { r.edit(|card| card["https://mentionable.dev/ns/v1#defaultAgent"] = "nobody".into()) };
        "hub-2.2" => |q, r| if of_card(q) { r.edit(|card| card["description"] = "Agents.".into()) };
    }
}

#[test]
fn a_broken_card_is_found() {
    finds! {
        found;
        "a2a-5-fields" => |q, r| if of_card(q) { r.edit(|card| card["version"] = Value::Null) };
        "a2a-5-interfaces" => |q, r| if of_card(q) { r.edit(|card| card["supportedInterfaces"].as_array_mut().unwrap().push(json!({"url": "https://a.example"}))) };
        "a2a-5-urls" => |q, r| if of_card(q) { r.edit(|card| card["supportedInterfaces"].as_array_mut().unwrap().push(json!({"url": "/a2a", "protocolBinding": "X", "protocolVersion": "1.0"}))) };
        "a2a-5-skills" => |q, r| if of_card(q) { r.edit(|card| card["skills"][0]["tags"] = Value::Null) };
        "a2a-5-skill-ids" => |q, r| if of_card(q) { r.edit(|card| { let skill = card["skills"][0].clone(); card["skills"].as_array_mut().unwrap().push(skill) }) };
        "a2a-5-capabilities" => |q, r| if of_card(q) { r.edit(|card| card["capabilities"]["extensions"] = json!([{}])) };
        "a2a-5-schemes" => |q, r| if of_card(q) { r.edit(|card| card["securityRequirements"] = json!([{"schemes": {"key": {"list": []}}}])) };
        "a2a-5.1-twins" => |q, r| if of_card(q) { r.edit(|card| card["skills"][0]["input_modes"] = json!([])) };
        "a2a-5-caching" => |_, r| r.without("etag");
    }
}

/// Whether a call is of this version and method.
fn calls(q: &Request, version: &str, method: &str) -> bool {
    q.field("a2a-version") == version && q.json()["method"] == method
}

#[test]
fn broken_requests_over_a2a_are_found() {
    finds! {
        found;
        "a2a-4-method" => |q, r| if calls(q, "1.0", "ConformNoSuchMethod") { r.replace("-32601", "-32603") };
        "a2a-0.3-4-method" => |q, r| if calls(q, "0.3", "ConformNoSuchMethod") { r.replace("-32601", "-32603") };
        "a2a-4-task" => |q, r| if calls(q, "1.0", "GetTask") { r.replace("-32001", "-32004") };
        "a2a-4-cancel" => |q, r| if calls(q, "1.0", "CancelTask") { r.replace("-32001", "-32004") };
        "a2a-4-subscribe" => |q, r| if calls(q, "1.0", "SubscribeToTask") { r.replace("-32001", "-32004") };
        "a2a-4-parse", "a2a-0.3-4-parse" => |_, r| r.replace("-32700", "-32603");
        "a2a-6-id" => |q, r| if q.field("a2a-version") == "1.0" { r.replace("\"id\":7,\"jsonrpc\":\"2.0\"}", "\"id\":\"7\",\"jsonrpc\":\"2.0\"}") };
        "a2a-4-list" => |q, r| if calls(q, "1.0", "ListTasks") { r.replace("totalSize", "total") };
        "a2a-4-list-size" => |q, r| if calls(q, "1.0", "ListTasks") { r.replace("-32602", "-32603") };
        "a2a-4-no-push" => |q, r| if q.field("a2a-version") == "1.0" { r.replace("-32003", "-32001") };
        "a2a-4-no-extended-card" => |q, r| if calls(q, "1.0", "GetExtendedAgentCard") { r.replace("-32004", "-32603") };
        "a2a-2-version" => |q, r| if q.field("a2a-version") == "99.0" && q.path() == "/a2a" { r.replace("-32009", "-32603") };
        "a2a-6-http" => |q, r| if calls(q, "1.0", "GetTask") { r.set("content-type", "text/plain") };
        "a2a-6-details" => |q, r| if q.field("a2a-version") == "1.0" && q.path() == "/a2a" { r.replace("TASK_NOT_FOUND", "NOTHING") };
        "a2a-11-error" => |q, r| if q.path().starts_with("/a2a/") { r.replace("TASK_NOT_FOUND", "NOTHING") };
        "a2a-11-list" => |q, r| if q.path() == "/a2a/tasks" { r.replace("totalSize", "total") };
        "a2a-11-version" => |q, r| if q.field("a2a-version") == "99.0" && q.path() != "/a2a" { r.status = 200 };
    }
}

#[test]
fn broken_answers_over_a2a_are_found() {
    finds! {
        found;
        "a2a-3-send" => |q, r| if calls(q, "1.0", "SendMessage") && q.json()["params"]["message"]["messageId"] == "conform-message-0" { r.replace("{\"task\":", "{\"Task\":") };
        "a2a-3-answer" => |q, r| if calls(q, "1.0", "SendMessage") { r.replace("TASK_STATE_COMPLETED", "DONE") };
        "a2a-3-get" => |q, r| if calls(q, "1.0", "GetTask") { r.replace("\"id\":\"task-1\"", "\"id\":\"task-2\"") };
        "a2a-3-history" => |q, r| if calls(q, "1.0", "GetTask") && r.status == 200 { r.replace("\"artifacts\":", "\"history\":") };
        "a2a-3-context" => |q, r| if calls(q, "1.0", "SendMessage") { r.replace("conform-context-1", "another") };
        "a2a-3-over" => |q, r| if calls(q, "1.0", "SendMessage") { r.replace("-32004", "-32603") };
        "a2a-3-unknown-task" => |q, r| if calls(q, "1.0", "SendMessage") { r.replace("-32001", "-32603") };
        "a2a-3-cancel-over" => |q, r| if calls(q, "1.0", "CancelTask") { r.replace("-32002", "-32603") };
        "a2a-3-listed" => |q, r| if calls(q, "1.0", "ListTasks") { r.replace("\"id\":\"task-1\"", "\"id\":\"task-2\"") };
        "a2a-4-stream-end" => |q, r| if calls(q, "1.0", "SendStreamingMessage") { r.replace("{\"statusUpdate\":{\"status\":{\"state\":\"TASK_STATE_COMPLETED", "{\"statusUpdate\":{\"status\":{\"state\":\"TASK_STATE_WORKING") };
        "a2a-0.3-4-stream-end" => |_, r| r.replace("\"final\":true", "\"final\":false");
        "a2a-11-send" => |q, r| if q.path() == "/a2a/message:send" { r.replace("{\"task\":", "{\"Task\":") };
    }
}

#[test]
fn broken_items_are_found() {
    finds! {
        found;
        "nlweb-4.1.1-items" => |q, r| if q.path() == "/ask" { r.replace("\"@type\":\"Recipe\",", "") };
        "nlweb-4.1.1-format" => |q, r| if q.path() == "/ask" { r.replace("structuredData", "structuredContent") };
        "nlweb-5" => |q, r| if q.path() == "/ask" { r.replace("\"endpoint\"", "\"url\"") };
        "nlweb-3.3.2" => |q, r| if q.json()["prefer"]["mode"] == "conform_unknown" { r.body = b"{}".to_vec() };
        "nlweb-4.2", "nlweb-4.2-action", "nlweb-4.2-token" => |q, r| if q.path() == "/await" { r.replace("failure", "answer") };
        "nlweb-3.1-filters" => |q, r| if q.json()["query"]["price"].is_string() { r.status = 400 };
        "nlweb-3.2" => |q, r| if q.json()["context"]["prev"].is_array() { r.status = 400 };
        "nlweb-4.1.1-summary" => |_, r| r.replace("\"text\":\"Soup.\"}", "\"words\":\"Soup.\"}");
        "nlweb-6-index" => |_, r| r.replace("event: complete", "event: result\ndata: {\"index\":0,\"item\":{}}\n\nevent: complete");
        "nlweb-6-start" => |_, r| r.replace("event: start", "event: begin");
        "nlweb-6-complete" => |_, r| r.replace("event: complete", "event: done");
        "nlweb-6-result" => |_, r| r.replace("\"index\":0", "\"index\":\"0\"");
    }
}

/// Whether a request is of the revision without sessions.
fn is_stateless(q: &Request) -> bool {
    q.field("mcp-protocol-version") == "2026-07-28"
}

#[test]
fn broken_sessions_of_mcp_are_found() {
    finds! {
        found;
        "mcp-2-origin" => |q, r| if q.path() == "/mcp" && !is_stateless(q) && r.status == 403 { r.status = 200 };
        "mcp-2-session" => |q, r| if q.field("mcp-session-id") == "conform-no-such-session" && r.status == 404 { r.status = 400 };
        "mcp-2-notification" => |q, r| if q.path() == "/mcp" && r.status == 202 { r.body = b"{}".to_vec() };
        "mcp-1-method" => |q, r| if q.json()["method"] == "conform/no-such-method" && !is_stateless(q) { r.replace("-32601", "-32000") };
        "mcp-1-initialize" => |q, r| if q.json()["method"] == "initialize" { r.replace("\"serverInfo\"", "\"server\"") };
        "mcp-1-ping" => |q, r| if q.json()["method"] == "ping" && r.status == 200 && !is_stateless(q) { r.edit(|body| body["result"]["pong"] = json!(1)) };
        "mcp-2-ended" => |q, r| if q.json()["method"] == "ping" && r.status == 404 && q.field("mcp-session-id").starts_with("session-") { r.status = 400 };
        "mcp-2-get" => |q, r| if q.path() == "/mcp" && q.method == "GET" { r.status = 200 };
        "mcp-6-level" => |q, r| if q.json()["params"]["level"] == "conform" { r.replace("-32602", "-32603") };
        "mcp-3-cursor" => |q, r| if q.json()["params"]["cursor"].is_string() { r.replace("-32602", "-32603") };
    }
}

#[test]
fn broken_items_of_mcp_are_found() {
    finds! {
        found;
        "mcp-3-names" => |q, r| if !is_stateless(q) { r.replace("\"name\":\"ask\"", "\"name\":\"ask it\"") };
        "mcp-3-call", "mcp-2026-call" => |_, r| r.replace("\"structuredContent\":{\"results\":[]}", "\"structuredContent\":{}");
        "mcp-3-schemas" => |q, r| if !is_stateless(q) { r.replace("\"outputSchema\":{", "\"outputSchema\":{\"minimum\":\"x\",") };
        "mcp-4-read" => |q, r| if !is_stateless(q) { r.replace("\"text\":\"b\"", "\"words\":\"b\"") };
        "mcp-4-unknown" => |q, r| if q.path() == "/mcp" && !is_stateless(q) { r.replace("-32002", "-32602") };
        "mcp-5-get" => |q, r| if !is_stateless(q) { r.replace("\"role\":\"user\"", "\"role\":\"system\"") };
        "mcp-6-complete" => |q, r| if !is_stateless(q) { r.replace("\"values\":[\"a\"]", "\"values\":\"a\"") };
    }
}

#[test]
fn broken_answers_without_a_session_are_found() {
    finds! {
        found;
        "mcp-1-discover" => |_, r| r.replace("supportedVersions", "versions");
        "mcp-2026-caching" => |q, r| if q.json()["method"] == "tools/list" && is_stateless(q) { r.replace("\"public\"", "\"all\"") };
        "mcp-2026-method-header" => |q, r| if q.json()["method"] == "server/discover" && q.field("mcp-method") == "tools/list" { r.status = 200 };
        "mcp-2026-meta" => |q, r| if is_stateless(q) && q.json()["method"] == "server/discover" { r.replace("-32602", "-32603") };
        "mcp-2026-version" => |_, r| r.replace("\"supported\"", "\"known\"");
        "mcp-2026-get" => |q, r| if is_stateless(q) && q.method == "DELETE" { r.status = 204 };
        "mcp-2026-unknown-resource" => |q, r| if is_stateless(q) && q.json()["method"] == "resources/read" { r.replace("-32602", "-32603") };
    }
}
