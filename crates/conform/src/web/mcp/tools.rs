//! Checks of tools.

use forecourt_contract::Schema;
use serde_json::{Value, json};

use super::call::{McpServer, is_error};
use crate::check::{Shortfall, Verdict};
use crate::evidence::Evidence;
use crate::web::exchange::Exchange;

async fn listed<S: McpServer>(server: &S) -> Result<(Exchange, Vec<Value>), Shortfall> {
    server.listed("tools", "tools/list", "tools").await
}

pub(super) async fn list<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = listed(server).await?;
    let wrong = all.iter().filter(|tool| !tool["name"].is_string() || tool["inputSchema"]["type"] != "object");
    exchange.none_wrong(wrong.map(|tool| format!("{} is not whole", tool["name"])).collect())
}

pub(super) async fn same_order<S: McpServer>(server: &S) -> Verdict {
    let names = |all: Vec<Value>| all.into_iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
    let (_, first) = listed(server).await?;
    let (exchange, second) = listed(server).await?;
    match names(first) == names(second) {
        true => Ok(()),
        false => Err(exchange.wrong("the second list is another")),
    }
}

pub(super) async fn names<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = listed(server).await?;
    let is_name = |name: &str| {
        let is_char = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        (1..=128).contains(&name.len()) && name.bytes().all(is_char)
    };
    let wrong = all.iter().filter_map(|tool| tool["name"].as_str()).filter(|name| !is_name(name));
    exchange.none_wrong(wrong.map(|name| format!("`{name}`")).collect())
}

pub(super) async fn unknown<S: McpServer>(server: &S) -> Verdict {
    let (exchange, answer) =
        server.request("tools/call", json!({"name": "conform_no_such_tool", "arguments": {}})).await?;
    match is_error(&answer) {
        true => Ok(()),
        false => Err(exchange.wrong("it is answered as if there were one")),
    }
}

pub(super) async fn distinct<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = listed(server).await?;
    let names: Vec<&Value> = all.iter().map(|tool| &tool["name"]).collect();
    let twice = names.iter().enumerate().filter(|(at, name)| names[..*at].contains(name));
    exchange.none_wrong(twice.map(|(_, name)| format!("{name} is there twice")).collect())
}

pub(super) async fn schemas<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = listed(server).await?;
    let wrong = |tool: &Value| {
        let fault = |name: &str| {
            // A schema may name another dialect, which is not known here.
            let is_known = |schema: &&Value| schema["$schema"].as_str().is_none_or(|name| name.contains("2020-12"));
            let schema = tool.get(name).filter(|schema| !schema.is_null()).filter(is_known)?;
            Schema::compile(schema.clone()).err().map(|fault| format!("{} of {}: {fault}", name, tool["name"]))
        };
        ["inputSchema", "outputSchema"].into_iter().find_map(fault)
    };
    exchange.none_wrong(all.iter().filter_map(wrong).collect())
}

pub(super) async fn hints<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = listed(server).await?;
    let names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let is_fine = |tool: &Value, name: &str| {
        let hint = &tool["annotations"][name];
        hint.is_null() || hint.is_boolean()
    };
    let wrong = all.iter().filter(|tool| !names.iter().all(|name| is_fine(tool, name)));
    exchange.none_wrong(wrong.map(|tool| format!("a hint of {} is neither", tool["name"])).collect())
}

pub(super) async fn cursor<S: McpServer>(server: &S) -> Verdict {
    listed(server).await?;
    let (exchange, answer) = server.request("tools/list", json!({"cursor": "conform-no-such-cursor"})).await?;
    match answer["error"]["code"] == -32602 {
        true => Ok(()),
        false => Err(exchange.wrong("it is not answered with -32602")),
    }
}

/// A tool that says that it only reads.
async fn reading<S: McpServer>(server: &S) -> Result<Value, Shortfall> {
    let (_, all) = listed(server).await?;
    let reads = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
    // `ask` first: what it wants is known.
    let found = all.iter().find(|tool| tool["name"] == "ask" && reads(tool)).or_else(|| all.iter().find(|t| reads(t)));
    found.cloned().ok_or_else(|| Shortfall::skip("no tool says that it only reads"))
}

pub(super) async fn bad_arguments<S: McpServer>(server: &S) -> Verdict {
    let (_, all) = listed(server).await?;
    let wants = |tool: &&Value| tool["inputSchema"]["required"].as_array().is_some_and(|names| !names.is_empty());
    let tool = all.iter().find(wants).ok_or_else(|| Shortfall::skip("no tool requires arguments"))?;
    let (exchange, answer) = server.request("tools/call", json!({"name": tool["name"], "arguments": {}})).await?;
    match is_error(&answer) {
        true => Ok(()),
        false => Err(exchange.wrong(format!("{} is called without what it requires", tool["name"]))),
    }
}

pub(super) async fn call<S: McpServer>(server: &S) -> Verdict {
    let tool = reading(server).await?;
    let schema = &tool["inputSchema"];
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let arguments = match required.as_slice() {
        [] => json!({}),
        ["query"] if schema["properties"]["query"]["type"] == "object" => json!({"query": {"text": "hello"}}),
        [name] if schema["properties"][*name]["type"] == "string" => json!({*name: "hello"}),
        _ => return Err(Shortfall::skip("what a tool that only reads wants can't be guessed")),
    };
    let (exchange, answer) =
        server.request("tools/call", json!({"name": tool["name"], "arguments": arguments})).await?;
    let result = &answer["result"];
    if answer["error"]["code"] == -32602 {
        return Err(Shortfall::skip("what a tool that only reads wants can't be guessed: it refuses `hello`"));
    }
    if !result["content"].is_array() {
        return Err(exchange.wrong("the result has no list `content`"));
    }
    let is_typed = |part: &Value| match part["type"].as_str() {
        Some("text") => part["text"].is_string(),
        Some("image" | "audio") => part["data"].is_string() && part["mimeType"].is_string(),
        Some("resource") => part["resource"]["uri"].is_string(),
        Some("resource_link") => part["uri"].is_string() && part["name"].is_string(),
        _ => false,
    };
    if !result["content"].as_array().is_some_and(|parts| parts.iter().all(is_typed)) {
        return Err(exchange.wrong("a part of the content is none of the five, or not whole"));
    }
    if tool["outputSchema"].is_null() || result["isError"] == true {
        return Ok(());
    }
    // A schema that is none can't be held against the content.
    let Ok(schema) = Schema::compile(tool["outputSchema"].clone()) else { return Ok(()) };
    let violation = schema.check(&result["structuredContent"]).err();
    violation
        .map_or(Ok(()), |found| Err(exchange.wrong(format!("structuredContent: {} {}", found.field, found.detail))))
}
