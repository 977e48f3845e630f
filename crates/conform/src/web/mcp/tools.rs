//! Checks of MCP over streamable HTTP: the revisions that begin with `initialize`, and the newest one.

use forecourt_contract::Schema;
use http::Method;
use serde_json::{Value, json};

use super::peer::{Draft, Exchange, Peer};
use super::sse::events;
use crate::check::{Check, Shortfall, Verdict, check, none_wrong};

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "mcp-1-initialize",
        "MCP 1",
        Must,
        "initialize is answered with version, capabilities and serverInfo",
        initialize
    ),
    check!("mcp-2-notification", "MCP 2", Must, "a notification is answered with 202 and nothing else", notification),
    check!("mcp-2-origin", "MCP 2", Must, "a foreign Origin is refused with 403", origin),
    check!("mcp-2-parse", "MCP 2", Must, "what is no JSON is refused", no_json),
    check!("mcp-2-session", "MCP 1", Must, "a session that nobody opened is answered with 404", unknown_session),
    check!("mcp-2-version", "MCP 2", Must, "an unknown MCP-Protocol-Version is refused with 400", unknown_version),
    check!("mcp-1-method", "MCP 1", Must, "a method that there is not is answered with -32601", unknown_method),
    check!("mcp-3-list", "MCP 3", Must, "tools/list gives tools with a name and an inputSchema of objects", list),
    check!("mcp-3-order", "MCP 3", Should, "tools/list gives the same order twice", same_order),
    check!("mcp-3-names", "MCP 3", Must, "names of tools are 1 to 128 of A-Z a-z 0-9 _ . -", names),
    check!("mcp-3-unknown", "MCP 3", Must, "a tool that there is not is an error", unknown_tool),
    check!("mcp-3-arguments", "MCP 3", Must, "arguments that lack what is required are an error", bad_arguments),
    check!(
        "mcp-3-call",
        "MCP 3",
        Must,
        "a call of a tool that only reads gives content, and what its outputSchema says",
        call
    ),
    check!("mcp-1-discover", "MCP 1 (2026-07-28)", Should, "server/discover is answered without a session", discover),
    // Last, since it ends the session that the others are sent in.
    check!("mcp-2-delete", "MCP 1", Should, "a session can be ended, or the host says that it can't", delete),
];

/// The revision that most hosts open with.
const REVISION: &str = "2025-06-18";
const MODERN: &str = "2026-07-28";
/// Where the endpoint is on most hosts.
const PATH: &str = "/mcp";

fn draft(body: &Value) -> Draft {
    Draft::json(PATH, body).field("Accept", "application/json, text/event-stream")
}

fn opening() -> Draft {
    let client = json!({"name": "forecourt-conform", "version": "1"});
    let params = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
    draft(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
}

fn there(exchange: Exchange) -> Result<Exchange, Shortfall> {
    match exchange.status() {
        404 | 405 => Err(Shortfall::skip(format!("the host does not speak MCP: it has no POST {PATH}"))),
        401 | 402 | 429 | 503 => exchange.expect(&[200]).map(|()| exchange),
        _ => Ok(exchange),
    }
}

/// The message of JSON-RPC that answers, out of JSON or of a stream.
fn message(exchange: &Exchange) -> Result<Value, Shortfall> {
    if exchange.media_type() != "text/event-stream" {
        return exchange.json();
    }
    let all = events(&exchange.text());
    // The answer ends the stream; before it a server may send requests and notifications of its own, which have a
    // `method`.
    let messages = all.iter().rev().filter_map(|event| serde_json::from_str::<Value>(&event.data).ok());
    let answer = messages.filter(|message| message.get("id").is_some()).find(|message| message.get("method").is_none());
    answer.ok_or_else(|| exchange.wrong("the stream holds no answer"))
}

async fn opened(peer: &Peer) -> Result<Exchange, Shortfall> {
    there(peer.ask(opening()).await?)
}

/// The session in which the other requests are sent, opened once. Empty: the host keeps none.
async fn session(peer: &Peer) -> Result<&str, Shortfall> {
    let asked = peer.learnt.session.get_or_init(|| async {
        let exchange = opened(peer).await.ok()?;
        message(&exchange).ok()?.get("result")?;
        let id = exchange.field("Mcp-Session-Id").unwrap_or_default().to_owned();
        let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        // Servers may refuse everything in a session until they were told this.
        drop(peer.ask(within(&id, draft(&body))).await);
        Some(id)
    });
    let id = asked.await.as_ref();
    id.map(String::as_str).ok_or_else(|| Shortfall::skip("there is no session; mcp-1-initialize says more"))
}

fn within(session: &str, draft: Draft) -> Draft {
    let draft = draft.field("MCP-Protocol-Version", REVISION);
    match session {
        "" => draft,
        id => draft.field("Mcp-Session-Id", id),
    }
}

/// A request within the session, and its answer.
async fn request(peer: &Peer, method: &str, params: Value) -> Result<(Exchange, Value), Shortfall> {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let exchange = peer.ask(within(session(peer).await?, draft(&body))).await?;
    if matches!(exchange.status(), 401 | 402 | 429 | 503) {
        exchange.expect(&[200])?;
    }
    let answer = message(&exchange)?;
    Ok((exchange, answer))
}

async fn initialize(peer: &Peer) -> Verdict {
    let exchange = opened(peer).await?;
    exchange.expect(&[200])?;
    let answer = message(&exchange)?;
    let result = &answer["result"];
    let rules = [
        ("the id comes back", answer["id"] == 1),
        ("protocolVersion is a text", result["protocolVersion"].is_string()),
        ("capabilities is an object", result["capabilities"].is_object()),
        (
            "serverInfo has name and version",
            result["serverInfo"]["name"].is_string() && result["serverInfo"]["version"].is_string(),
        ),
    ];
    match rules.into_iter().find(|(_, fine)| !fine) {
        Some((rule, _)) => Err(exchange.wrong(format!("not so: {rule}"))),
        None => Ok(()),
    }
}

async fn notification(peer: &Peer) -> Verdict {
    let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let exchange = peer.ask(within(session(peer).await?, draft(&body))).await?;
    exchange.expect(&[202])?;
    match exchange.body.is_empty() {
        true => Ok(()),
        false => Err(exchange.wrong("there is a body")),
    }
}

async fn origin(peer: &Peer) -> Verdict {
    opened(peer).await?;
    let exchange = peer.ask(opening().field("Origin", "https://conform.invalid")).await?;
    match exchange.status() {
        403 => Ok(()),
        status => Err(exchange.wrong(format!("the status is {status} where 403 belongs"))),
    }
}

async fn no_json(peer: &Peer) -> Verdict {
    opened(peer).await?;
    let draft = Draft::new(Method::POST, PATH).body("application/json", "{\"jsonrpc\": ");
    let exchange = peer.ask(draft.field("Accept", "application/json, text/event-stream")).await?;
    match exchange.status() {
        400..=499 => Ok(()),
        200 if exchange.json()?["error"]["code"] == -32700 => Ok(()),
        _ => Err(exchange.wrong("it is neither a status of 4xx nor -32700")),
    }
}

async fn unknown_session(peer: &Peer) -> Verdict {
    if session(peer).await?.is_empty() {
        return Err(Shortfall::skip("the host keeps no sessions"));
    }
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    peer.ask(within("conform-no-such-session", draft(&body))).await?.expect(&[404])
}

async fn unknown_version(peer: &Peer) -> Verdict {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    let draft = within(session(peer).await?, draft(&body)).field("MCP-Protocol-Version", "1999-01-01");
    peer.ask(draft).await?.expect(&[400])
}

async fn unknown_method(peer: &Peer) -> Verdict {
    let (exchange, answer) = request(peer, "conform/no-such-method", json!({})).await?;
    match answer["error"]["code"] == -32601 {
        true => Ok(()),
        false => Err(exchange.wrong("the error is not -32601")),
    }
}

async fn tools(peer: &Peer) -> Result<(Exchange, Vec<Value>), Shortfall> {
    let (exchange, answer) = request(peer, "tools/list", json!({})).await?;
    match answer["result"]["tools"].as_array().cloned() {
        Some(all) => Ok((exchange, all)),
        None => Err(exchange.wrong("the result has no list of tools")),
    }
}

async fn list(peer: &Peer) -> Verdict {
    let (_, all) = tools(peer).await?;
    let wrong = all.iter().filter(|tool| !tool["name"].is_string() || tool["inputSchema"]["type"] != "object");
    none_wrong(wrong.map(|tool| format!("{} is not whole", tool["name"])).collect())
}

async fn same_order(peer: &Peer) -> Verdict {
    let names = |all: Vec<Value>| all.into_iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
    let (_, first) = tools(peer).await?;
    let (exchange, second) = tools(peer).await?;
    match names(first) == names(second) {
        true => Ok(()),
        false => Err(exchange.wrong("the second list is another")),
    }
}

async fn names(peer: &Peer) -> Verdict {
    let (_, all) = tools(peer).await?;
    let is_name = |name: &str| {
        let is_char = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        (1..=128).contains(&name.len()) && name.bytes().all(is_char)
    };
    let wrong = all.iter().filter_map(|tool| tool["name"].as_str()).filter(|name| !is_name(name));
    none_wrong(wrong.map(|name| format!("`{name}`")).collect())
}

/// An error of JSON-RPC or of the tool.
fn is_error(answer: &Value) -> bool {
    answer["error"]["code"].is_i64() || answer["result"]["isError"] == true
}

async fn unknown_tool(peer: &Peer) -> Verdict {
    let (exchange, answer) =
        request(peer, "tools/call", json!({"name": "conform_no_such_tool", "arguments": {}})).await?;
    match is_error(&answer) {
        true => Ok(()),
        false => Err(exchange.wrong("it is answered as if there were one")),
    }
}

/// A tool that says that it only reads.
async fn reading(peer: &Peer) -> Result<Value, Shortfall> {
    let (_, all) = tools(peer).await?;
    let reads = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
    // `ask` first: what it wants is known.
    let found = all.iter().find(|tool| tool["name"] == "ask" && reads(tool)).or_else(|| all.iter().find(|t| reads(t)));
    found.cloned().ok_or_else(|| Shortfall::skip("no tool says that it only reads"))
}

async fn bad_arguments(peer: &Peer) -> Verdict {
    let (_, all) = tools(peer).await?;
    let wants = |tool: &&Value| tool["inputSchema"]["required"].as_array().is_some_and(|names| !names.is_empty());
    let tool = all.iter().find(wants).ok_or_else(|| Shortfall::skip("no tool requires arguments"))?;
    let (exchange, answer) = request(peer, "tools/call", json!({"name": tool["name"], "arguments": {}})).await?;
    match is_error(&answer) {
        true => Ok(()),
        false => Err(exchange.wrong(format!("{} is called without what it requires", tool["name"]))),
    }
}

async fn call(peer: &Peer) -> Verdict {
    let tool = reading(peer).await?;
    let schema = &tool["inputSchema"];
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let arguments = match required.as_slice() {
        [] => json!({}),
        ["query"] if schema["properties"]["query"]["type"] == "object" => json!({"query": {"text": "hello"}}),
        [name] if schema["properties"][*name]["type"] == "string" => json!({*name: "hello"}),
        _ => return Err(Shortfall::skip("what a tool that only reads wants can't be guessed")),
    };
    let (exchange, answer) = request(peer, "tools/call", json!({"name": tool["name"], "arguments": arguments})).await?;
    let result = &answer["result"];
    if answer["error"]["code"] == -32602 {
        return Err(Shortfall::skip("what a tool that only reads wants can't be guessed: it refuses `hello`"));
    }
    if !result["content"].is_array() {
        return Err(exchange.wrong("the result has no list `content`"));
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

async fn discover(peer: &Peer) -> Verdict {
    opened(peer).await?;
    let client = json!({"name": "forecourt-conform", "version": "1"});
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": client
    });
    let body = json!({"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {"_meta": meta}});
    let draft = draft(&body).field("MCP-Protocol-Version", MODERN).field("Mcp-Method", "server/discover");
    let exchange = peer.ask(draft).await?;
    match message(&exchange)?["result"].is_object() {
        true => Ok(()),
        false => Err(exchange.wrong("the host does not speak 2026-07-28")),
    }
}

async fn delete(peer: &Peer) -> Verdict {
    let id = session(peer).await?;
    if id.is_empty() {
        return Err(Shortfall::skip("the host keeps no sessions"));
    }
    let exchange = peer.ask(within(id, Draft::new(Method::DELETE, PATH))).await?;
    exchange.expect(&[200, 202, 204, 405])
}
