//! Many tools: what is listed, what is found, and that a tool is the same however it is called.

use std::sync::Arc;

use axum::body::Body;
use forecourt_core::LazyJson;
use forecourt_core::reply::Progress;
use forecourt_surface::tool::{Tool, ToolEvent, ToolOutput};
use forecourt_testkit::{ScriptedAgent, card};
use futures::StreamExt;
use http::Request;
use serde_json::{Value, json};

use crate::support::{Place, Setup, modern, post, rpc};

const THINGS: [&str; 5] = ["bicycle", "invoice", "warehouse", "holiday", "shipment"];

/// A tool that gives back what it was given.
fn tool(name: String, title: String) -> Tool {
    let call = |call: forecourt_surface::tool::ToolCall| {
        let structured = json!({"given": call.arguments});
        let progress = Progress { fraction: Some(0.5), note: Some("half".to_owned()) };
        let done = ToolOutput { text: vec!["done".to_owned()], structured, ..ToolOutput::default() };
        futures::stream::iter([ToolEvent::Progress(progress), ToolEvent::Done(Box::new(done))]).boxed()
    };
    Tool {
        description: format!("{title} for a customer of the shop."),
        input: LazyJson::from(json!({
            "type": "object",
            "properties": {"id": {"type": "string"}, "note": {"type": "string", "description": "A remark."}},
            "required": ["id"],
        })),
        output: Some(json!({"type": "object", "required": ["given"]}).into()),
        name,
        title,
        agent: None,
        reads_only: false,
        is_idempotent: false,
        as_tool: true,
        as_skill: false,
        call: Arc::new(call),
        outcome: None,
    }
}

fn tools(count: usize) -> Vec<Tool> {
    let doings = ["list", "create", "delete", "update"];
    let all = THINGS.iter().flat_map(|thing| doings.iter().map(move |doing| (*doing, *thing)));
    let mut all: Vec<Tool> =
        all.map(|(doing, thing)| tool(format!("{doing}_{thing}"), format!("{doing} a {thing}"))).collect();
    all.extend((all.len()..count).map(|n| tool(format!("filler_{n}"), format!("Filler number {n}"))));
    all.truncate(count);
    all
}

async fn place(count: usize, section: &'static str) -> Place {
    let setup = Setup { tools: tools(count), section, ..Setup::default() };
    setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await
}

async fn listed(place: &Place, path: &str) -> Vec<Value> {
    let answer = place.modern(path, "tools/list", json!({})).await;
    answer.last()["result"]["tools"].as_array().expect("a list").clone()
}

fn names(listed: &[Value]) -> Vec<&str> {
    listed.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn a_list_is_short_where_there_are_too_many_tools() {
    // `await_task` and `ask_chef` are tools, too.
    let all = place(58, "").await;
    assert_eq!(listed(&all, "/mcp").await.len(), 60);
    let many = place(59, "").await;
    assert_eq!(
        names(&listed(&many, "/mcp").await),
        ["find_tools", "describe_tool", "call_tool", "await_task", "ask_chef"]
    );
    let few = place(59, "tools_listed_max = 61").await;
    assert_eq!(listed(&few, "/mcp").await.len(), 61);
    assert_eq!(names(&listed(&many, "/mcp/chef").await), ["ask_chef", "await_task"]);
}

#[tokio::test]
async fn an_agents_many_tools_are_found_at_its_own_endpoint() {
    let of_chef = |tool: Tool| Tool { agent: Some(forecourt_core::Handle::parse("chef").unwrap()), ..tool };
    let tools = tools(70).into_iter().map(of_chef).collect();
    let setup = Setup { tools, section: "agent_tools = \"all\"", ..Setup::default() };
    let place = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
    assert_eq!(names(&listed(&place, "/mcp/chef").await), ["find_tools", "describe_tool", "call_tool", "await_task"]);
    let call = json!({"name": "find_tools", "arguments": {"query": "get rid of a bike"}});
    let found = place.modern("/mcp/chef", "tools/call", call).await;
    assert_eq!(found.last()["result"]["structuredContent"]["tools"][0]["name"], "delete_bicycle");
}

#[tokio::test]
async fn pinned_tools_are_listed() {
    let place = place(100, "pinned = [\"list_*\", \"filler_99\"]").await;
    let listed = listed(&place, "/mcp").await;
    let expected = ["list_bicycle", "list_invoice", "list_warehouse", "list_holiday", "list_shipment", "filler_99"];
    assert_eq!(names(&listed)[3..9], expected);
    assert!(listed[3]["outputSchema"].is_object());
    let wrong = Setup { section: "tools_listed_max = 3", ..Setup::default() };
    let wrong = wrong.with(card("chef"), ScriptedAgent::saying(["soup"])).try_start().await;
    let problem = wrong.err().expect("too few").to_string();
    assert!(problem.contains("`tools_listed_max` is 4 to 10000"), "{problem}");
}

#[tokio::test]
async fn tools_are_found_by_what_they_do() {
    let place = place(100, "").await;
    for (query, expected) in [
        ("which bikes are there", "list_bicycle"),
        ("throw an invoice away", "delete_invoice"),
        ("add a new holiday", "create_holiday"),
        ("change a shipment", "update_shipment"),
    ] {
        let found = place.call("find_tools", json!({"query": query, "limit": 3})).await;
        let found = &found.last()["result"]["structuredContent"];
        assert_eq!(found["tools"][0]["name"], expected, "{query}");
        assert_eq!((found["tools"].as_array().unwrap().len(), &found["tools_total"]), (3, &json!(102)));
        assert_eq!(found["tools"][0]["arguments"], json!(["id"]));
        assert_eq!(found["tools"][0]["optional_arguments"], json!(["note"]));
    }
    let none = place.call("find_tools", json!({"query": "submarines"})).await;
    assert_eq!(none.last()["result"]["structuredContent"]["tools"], json!([]));
}

#[tokio::test]
async fn questions_and_limits_have_bounds() {
    let place = place(100, "").await;
    for (arguments, is_fine) in [
        (json!({"query": "x".repeat(500)}), true),
        (json!({"query": "x".repeat(501)}), false),
        (json!({"query": " "}), false),
        (json!({}), false),
        (json!({"query": "list", "limit": 50}), true),
        (json!({"query": "list", "limit": 51}), false),
        (json!({"query": "list", "limit": 0}), false),
        (json!({"query": "list", "limit": "3"}), false),
    ] {
        let found = place.call("find_tools", arguments.clone()).await;
        assert_eq!(found.last()["result"]["isError"] == json!(false), is_fine, "{arguments}");
    }
}

#[tokio::test]
async fn a_tool_is_described_whole() {
    let place = place(100, "").await;
    let described = place.call("describe_tool", json!({"name": "delete_invoice"})).await;
    let tool = &described.last()["result"]["structuredContent"];
    assert_eq!((&tool["name"], &tool["inputSchema"]["required"]), (&json!("delete_invoice"), &json!(["id"])));
    assert!(tool["outputSchema"].is_object() && tool["annotations"].is_object());
    let missing = place.call("describe_tool", json!({"name": "deleteInvoices"})).await;
    let result = &missing.last()["result"];
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("did you mean `delete_invoice`"), "{result}");
}

#[tokio::test]
async fn a_call_is_the_same_either_way() {
    let place = place(100, "").await;
    let arguments = json!({"id": "7"});
    let own = place.call("delete_invoice", arguments.clone()).await;
    let led = place.call("call_tool", json!({"name": "delete_invoice", "arguments": arguments})).await;
    assert_eq!(own.last()["result"], led.last()["result"]);
    assert_eq!(led.last()["result"]["structuredContent"]["given"], json!({"id": "7"}));
    let as_text = place.call("call_tool", json!({"name": "delete_invoice", "arguments": "{\"id\":\"7\"}"})).await;
    assert_eq!(own.last()["result"], as_text.last()["result"]);
    let listed = place.call("call_tool", json!({"name": "ask_chef", "arguments": {"message": "hi"}})).await;
    assert_eq!(listed.last()["result"]["content"][0]["text"], "soup");
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_said() {
    let place = place(100, "").await;
    for (arguments, words) in [
        (json!({"name": "delete_invoces"}), "did you mean `delete_invoice`"),
        (json!({"name": "zzz"}), "find_tools finds tools by what they do"),
        (json!({"name": "call_tool"}), "there is no tool `call_tool`"),
        (json!({}), "takes `name`"),
        (json!({"name": "delete_invoice", "arguments": [1]}), "as an object"),
        (json!({"name": "delete_invoice", "arguments": "x"}), "as an object"),
        (json!({"name": "delete_invoice", "id": "7"}), "put `id` into `arguments`"),
    ] {
        let answer = place.call("call_tool", arguments.clone()).await;
        let error = answer.last()["error"]["message"].as_str().expect("an error");
        assert!(error.contains(words), "{arguments}: {error}");
    }
}

#[tokio::test]
async fn arguments_in_headers_stay_where_proxies_see_them() {
    let section = r#"
tools_listed_max = 10
[[tools]]
name = "weather"
agent = "chef"
description = "The weather."
message = "weather in {city}"
arguments = { city = { type = "string", "x-mcp-header" = "City" } }
"#;
    let place = place(100, section).await;
    let led = place.call("call_tool", json!({"name": "weather", "arguments": {"city": "Bonn"}})).await;
    let error = led.last()["error"]["message"].as_str().expect("an error");
    assert!(error.contains("call it by its own name"), "{error}");
}

#[tokio::test]
async fn progress_is_told_to_who_calls_through_another_tool() {
    let place = place(100, "").await;
    let params = json!({
        "name": "call_tool",
        "arguments": {"name": "delete_invoice", "arguments": {"id": "7"}},
        "_meta": {"progressToken": 1},
    });
    let answer = place.send(modern("/mcp", "tools/call", params, json!({}))).await;
    assert_eq!(answer.messages[0]["params"]["message"], "half", "{:?}", answer.messages);
    assert_eq!(answer.last()["result"]["structuredContent"]["given"], json!({"id": "7"}));
}

#[tokio::test]
async fn clients_with_sessions_find_tools_too() {
    let place = place(100, "").await;
    let request = |body: Body, session: Option<&str>| -> Request<Body> {
        let request = session.iter().fold(post("/mcp"), |request, id| request.header("mcp-session-id", *id));
        request.body(body).unwrap()
    };
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun = place.send(request(rpc(1, "initialize", hello), None)).await;
    let instructions = begun.last()["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("102 tools") && instructions.contains("find_tools"), "{instructions}");
    let session = begun.field("mcp-session-id").to_owned();
    let call = json!({"name": "find_tools", "arguments": {"query": "remove a warehouse"}});
    let found = place.send(request(rpc(2, "tools/call", call), Some(&session))).await;
    assert_eq!(found.last()["result"]["structuredContent"]["tools"][0]["name"], "delete_warehouse");
}
