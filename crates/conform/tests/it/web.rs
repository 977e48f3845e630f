//! Each rule that a host breaks over HTTP is found by its check, and by no other.

use forecourt_conform::report::{Finding, Outcome};
use forecourt_conform::web::{CHECKS, HostQuery, Peer};
use serde_json::{Value, json};
use url::Url;

use crate::web_server::{Change, listen};
use crate::{PATIENCE, broken, egress, findings, ids, run};

fn tested(change: Change) -> Vec<Finding> {
    run(async {
        let base = Url::parse(&format!("http://127.0.0.1:{}", listen(change).await)).unwrap();
        let asked = HostQuery { with_effects: true, ..HostQuery::default() };
        findings(&Peer::new(egress(), base, PATIENCE, asked), CHECKS, PATIENCE).await
    })
}

fn found(change: Change) -> Vec<&'static str> {
    broken(&tested(change))
}

#[test]
fn a_host_that_keeps_the_rules_passes() {
    let all = tested(|_, _| {});
    assert_eq!(broken(&all), Vec::<&str>::new(), "{all:#?}");
    assert_eq!(ids(&all, Outcome::Skip), ["rest-7.3"]);
}

#[test]
fn a_host_that_has_nothing_is_told_what_it_lacks_and_no_more() {
    let all = tested(|_, r| {
        r.status = 404;
        r.body.clear();
    });
    assert_eq!(broken(&all), ["discovery-6a"], "{all:#?}");
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

#[test]
fn a_broken_hub_is_found() {
    finds! {
        found;
        "hub-7-1" => |q, r| if q.path().ends_with("agent-card.json") { r.set("content-type", "text/plain") };
        "hub-7-3" => |q, r| if q.path().ends_with("agent-card.json") { r.replace("\"chef\",\"https", "\"nobody\",\"https"); r.edit(|card| card["https://mentionable.dev/ns/v1#defaultAgent"] = "nobody".into()) };
        "hub-2.2" => |q, r| if q.path().ends_with("agent-card.json") { r.edit(|card| card["description"] = "Agents.".into()) };
        "a2a-5.1-twins" => |q, r| if q.path().ends_with("agent-card.json") { r.edit(|card| card["skills"][0]["input_modes"] = json!([])) };
        "a2a-5-skills" => |q, r| if q.path().ends_with("agent-card.json") { r.edit(|card| card["skills"][0]["tags"] = Value::Null) };
        "a2a-4-method" => |_, r| r.replace("-32601,\"message\":\"no\"},\"id\":\"conform-1\"", "-32603},\"id\":\"conform-1\"");
        "a2a-4-task" => |_, r| r.replace("-32001", "-32004");
        "a2a-4-parse" => |_, r| r.replace("-32700", "-32603");
        "a2a-6-id" => |_, r| r.replace("\"id\":7,\"jsonrpc\":\"2.0\"}", "\"id\":\"7\",\"jsonrpc\":\"2.0\"}");
        "a2a-3-send" => |q, r| if q.json()["method"] == "SendMessage" { r.replace("{\"task\":", "{\"Task\":") };
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
        "nlweb-4.2", "nlweb-4.2-action" => |q, r| if q.path() == "/await" { r.replace("failure", "answer") };
        "nlweb-6-start" => |_, r| r.replace("event: start", "event: begin");
        "nlweb-6-complete" => |_, r| r.replace("event: complete", "event: done");
        "nlweb-6-result" => |_, r| r.replace("\"index\":0", "\"index\":\"0\"");
    }
}

#[test]
fn broken_tools_are_found() {
    finds! {
        found;
        "mcp-2-origin" => |q, r| if q.path() == "/mcp" && r.status == 403 { r.status = 200 };
        "mcp-2-session" => |q, r| if q.path() == "/mcp" && r.status == 404 { r.status = 400 };
        "mcp-2-notification" => |q, r| if q.path() == "/mcp" && r.status == 202 { r.body = b"{}".to_vec() };
        "mcp-3-names" => |_, r| r.replace("\"name\":\"ask\"", "\"name\":\"ask it\"");
        "mcp-3-call" => |_, r| r.replace("\"structuredContent\":{\"results\":[]}", "\"structuredContent\":{}");
        "mcp-1-method" => |q, r| if q.json()["method"] == "conform/no-such-method" { r.replace("-32601", "-32000") };
        "mcp-1-initialize" => |q, r| if q.json()["method"] == "initialize" { r.replace("\"capabilities\":{},", "") };
    }
}
