//! Checks of the hub: its card, and the JSON-RPC that its URL speaks. Mentionable's hub card; A2A 0.3 and 1.0.

use serde_json::{Value, json};

use super::peer::{Draft, Exchange, Peer};
use super::sse::events;
use crate::check::{Check, Shortfall, Verdict, check, none_wrong};

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!("hub-7-1", "hub card 7", Must, "the hub's card is at agent-card.json, as application/json", card_there),
    check!("hub-7-2", "hub card 7, A2A 5", Must, "the card has name, description, url and skills", card_fields),
    check!("hub-7-3", "hub card 7, 3.4", Must, "the default agent is one of the agents", default_agent),
    check!("hub-7-4", "hub card 7, 2.3", Must, "each agent has its handle and name", agents),
    check!("hub-3.1", "hub card 3.1, 6", Must, "handles keep the grammar of mentions", handles),
    check!("hub-2.2", "hub card 2.2", Must, "of several agents the description says how one is addressed", description),
    check!(
        "a2a-5-interfaces",
        "A2A 5",
        Must,
        "a card of 1.0 names its interfaces, one of 0.3 its version and url",
        interfaces
    ),
    check!("a2a-5-skills", "A2A 5", Must, "each skill has id, name, description and tags", skills),
    check!("a2a-5.1-twins", "A2A 5.1", Should, "no field is there in snake_case where A2A has it in camelCase", twins),
    check!("a2a-5-caching", "A2A 5", Should, "the card comes with Cache-Control and ETag", caching),
    check!("a2a-4-parse", "A2A 4", Must, "what is no JSON is answered with -32700", no_json),
    check!("a2a-4-request", "A2A 4", Must, "a request without a method is answered with -32600", no_method),
    check!("a2a-4-method", "A2A 4", Must, "a method that there is not is answered with -32601", unknown_method),
    check!("a2a-4-params", "A2A 4", Must, "a message without parts is answered with -32602", bad_params),
    check!("a2a-4-task", "A2A 4", Must, "a task that is not there is answered with -32001", unknown_task),
    check!("a2a-2-version", "A2A 2", Must, "a version that there is not is answered with -32009", unknown_version),
    check!("a2a-6-id", "A2A 6", Must, "the id of a request comes back as it was sent", id_echoed),
    check!("a2a-3-send", "A2A 3, hub card 7", Must, "a message is answered with a task or a message", send),
    check!("a2a-4-stream", "A2A 4", Must, "a streamed message begins with a task or a message", stream),
];

const DEFAULT: &str = "https://mentionable.dev/ns/v1#defaultAgent";
const AGENTS: &str = "https://mentionable.dev/ns/v1#agents";

async fn fetched(peer: &Peer) -> Result<Exchange, Shortfall> {
    let exchange = peer.anonymous(Draft::get("/.well-known/agent-card.json")).await?;
    match exchange.status() {
        404 => Err(Shortfall::skip("the host has no hub")),
        _ => Ok(exchange),
    }
}

/// The card of the hub.
async fn hub(peer: &Peer) -> Result<&Value, Shortfall> {
    let asked = peer.learnt.hub.get_or_init(|| async {
        let exchange = fetched(peer).await.ok()?;
        exchange.json().ok().filter(|_| exchange.status() == 200)
    });
    asked.await.as_ref().ok_or_else(|| Shortfall::skip("the host has no hub whose card could be had"))
}

async fn card_there(peer: &Peer) -> Verdict {
    let exchange = fetched(peer).await?;
    exchange.expect(&[200])?;
    match (exchange.media_type(), exchange.json()?.is_object()) {
        ("application/json", true) => Ok(()),
        ("application/json", false) => Err(exchange.wrong("it is no object")),
        _ => Err(exchange.wrong("it is not application/json")),
    }
}

async fn card_fields(peer: &Peer) -> Verdict {
    let card = hub(peer).await?;
    let wrong = ["name", "description", "url"].iter().filter(|name| !card[**name].is_string());
    let mut wrong: Vec<String> = wrong.map(|name| format!("{name} is no text")).collect();
    if !card["skills"].is_array() {
        wrong.push("skills is no list".to_owned());
    }
    none_wrong(wrong)
}

fn agents_of(card: &Value) -> Result<&Vec<Value>, Shortfall> {
    card[AGENTS].as_array().ok_or_else(|| Shortfall::broken(format!("there is no list {AGENTS}")))
}

/// Whether the card is one of Mentionable, rather than of A2A alone.
async fn mentionable(peer: &Peer) -> Result<&Value, Shortfall> {
    let card = hub(peer).await?;
    match card.get(AGENTS).is_some() || card.get(DEFAULT).is_some() {
        true => Ok(card),
        false => Err(Shortfall::skip("the card is of A2A alone, and names nothing of Mentionable")),
    }
}

async fn default_agent(peer: &Peer) -> Verdict {
    let card = mentionable(peer).await?;
    let default = card[DEFAULT].as_str().ok_or_else(|| Shortfall::broken(format!("there is no {DEFAULT}")))?;
    match agents_of(card)?.iter().any(|agent| agent["handle"] == default) {
        true => Ok(()),
        false => Err(Shortfall::broken(format!("`{default}` is not among the agents"))),
    }
}

async fn agents(peer: &Peer) -> Verdict {
    let all = agents_of(mentionable(peer).await?)?;
    let wrong = all.iter().filter(|agent| !agent["handle"].is_string() || !agent["name"].is_string());
    none_wrong(wrong.map(|agent| format!("not whole: {agent}")).collect())
}

async fn handles(peer: &Peer) -> Verdict {
    let all = agents_of(mentionable(peer).await?)?;
    let is_handle = |handle: &str| {
        let is_char = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        (1..=30).contains(&handle.len()) && handle.bytes().all(is_char)
    };
    let wrong = all.iter().filter_map(|agent| agent["handle"].as_str()).filter(|handle| !is_handle(handle));
    none_wrong(wrong.map(|handle| format!("`{handle}` is none")).collect())
}

async fn description(peer: &Peer) -> Verdict {
    let card = mentionable(peer).await?;
    if agents_of(card)?.len() < 2 {
        return Err(Shortfall::skip("the hub has one agent"));
    }
    match card["description"].as_str().is_some_and(|text| text.contains('@')) {
        true => Ok(()),
        false => Err(Shortfall::broken("it says nothing of mentions")),
    }
}

async fn interfaces(peer: &Peer) -> Verdict {
    let card = hub(peer).await?;
    let mut wrong = Vec::new();
    if let Some(all) = card["supportedInterfaces"].as_array() {
        let is_whole =
            |one: &Value| ["url", "protocolBinding", "protocolVersion"].iter().all(|name| one[*name].is_string());
        wrong.extend(all.iter().filter(|one| !is_whole(one)).map(|one| format!("an interface is not whole: {one}")));
    } else if !card["protocolVersion"].is_string() {
        wrong.push("there is neither supportedInterfaces nor protocolVersion".to_owned());
    }
    for name in ["version"] {
        if !card[name].is_string() {
            wrong.push(format!("{name} is no text"));
        }
    }
    for name in ["defaultInputModes", "defaultOutputModes"] {
        if !card[name].as_array().is_some_and(|modes| modes.iter().all(Value::is_string)) {
            wrong.push(format!("{name} is no list of media types"));
        }
    }
    if !card["capabilities"].is_object() {
        wrong.push("capabilities is no object".to_owned());
    }
    none_wrong(wrong)
}

async fn skills(peer: &Peer) -> Verdict {
    let all = hub(peer).await?["skills"].as_array();
    let is_whole = |skill: &&Value| {
        ["id", "name", "description"].iter().all(|name| skill[*name].is_string()) && skill["tags"].is_array()
    };
    let wrong = all.into_iter().flatten().filter(|skill| !is_whole(skill));
    none_wrong(wrong.map(|skill| format!("`{}` is not whole", skill["id"])).collect())
}

async fn twins(peer: &Peer) -> Verdict {
    let card = hub(peer).await?;
    let snakes = [
        "input_modes",
        "output_modes",
        "default_input_modes",
        "default_output_modes",
        "supported_interfaces",
        "security_schemes",
        "documentation_url",
    ];
    let skills = card["skills"].as_array().into_iter().flatten();
    let wrong = std::iter::once(card).chain(skills).flat_map(|place| {
        snakes.iter().filter(|name| place.get(**name).is_some()).map(|name| format!("there is {name}"))
    });
    none_wrong(wrong.collect())
}

async fn caching(peer: &Peer) -> Verdict {
    hub(peer).await?;
    let exchange = fetched(peer).await?;
    match ["Cache-Control", "ETag"].into_iter().find(|name| exchange.field(name).is_none()) {
        Some(name) => Err(exchange.wrong(format!("there is no {name}"))),
        None => Ok(()),
    }
}

/// A version that the hub speaks, and how its methods are called there.
struct Dialect {
    url: String,
    version: &'static str,
    send: &'static str,
    stream: &'static str,
    get: &'static str,
}

async fn dialect(peer: &Peer) -> Result<Dialect, Shortfall> {
    let card = hub(peer).await?;
    let interfaces = card["supportedInterfaces"].as_array().into_iter().flatten();
    // The newest that is known here; without it, the `url` of the card speaks 0.3.
    let newest = interfaces.filter(|one| one["protocolBinding"] == "JSONRPC" && one["protocolVersion"] == "1.0");
    let newest = newest.filter_map(|one| one["url"].as_str()).next();
    if let Some(url) = newest {
        let url = peer.own(url)?;
        return Ok(Dialect {
            url,
            version: "1.0",
            send: "SendMessage",
            stream: "SendStreamingMessage",
            get: "GetTask",
        });
    }
    let url = card["url"].as_str().ok_or_else(|| Shortfall::skip("the card has no url"))?;
    let url = peer.own(url)?;
    Ok(Dialect { url, version: "0.3", send: "message/send", stream: "message/stream", get: "tasks/get" })
}

impl Dialect {
    fn draft(&self, body: &Value) -> Draft {
        Draft::json(&self.url, body).field("A2A-Version", self.version)
    }

    fn call(&self, method: &str, params: Value) -> Draft {
        self.draft(&json!({"jsonrpc": "2.0", "id": "conform-1", "method": method, "params": params}))
    }

    /// A message to whoever answers by default.
    fn message(&self) -> Value {
        match self.version {
            "1.0" => json!({"messageId": "conform-message-1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}),
            _ => json!({
                "kind": "message", "messageId": "conform-message-1", "role": "user",
                "parts": [{"kind": "text", "text": "hello"}]
            }),
        }
    }
}

/// An answer with this error of JSON-RPC.
fn failed(exchange: &Exchange, code: i64) -> Verdict {
    // Who may ask is settled before the request is read, and leaves the rule untold.
    if matches!(exchange.status(), 401 | 402 | 403 | 429 | 503) {
        return exchange.expect(&[200]);
    }
    let found = exchange.json()?["error"]["code"].as_i64();
    match found {
        Some(found) if found == code => Ok(()),
        Some(found) => Err(exchange.wrong(format!("the code is {found} where {code} belongs"))),
        None => Err(exchange.wrong("there is no error")),
    }
}

async fn no_json(peer: &Peer) -> Verdict {
    let dialect = dialect(peer).await?;
    let draft = Draft::new(http::Method::POST, &dialect.url).body("application/json", "{\"jsonrpc\": ");
    failed(&peer.ask(draft.field("A2A-Version", dialect.version)).await?, -32700)
}

async fn no_method(peer: &Peer) -> Verdict {
    let dialect = dialect(peer).await?;
    failed(&peer.ask(dialect.draft(&json!({"jsonrpc": "2.0", "id": 1}))).await?, -32600)
}

async fn unknown_method(peer: &Peer) -> Verdict {
    let dialect = dialect(peer).await?;
    failed(&peer.ask(dialect.call("ConformNoSuchMethod", json!({}))).await?, -32601)
}

async fn bad_params(peer: &Peer) -> Verdict {
    let dialect = dialect(peer).await?;
    let mut message = dialect.message();
    message["parts"] = json!([]);
    failed(&peer.ask(dialect.call(dialect.send, json!({"message": message}))).await?, -32602)
}

async fn unknown_task(peer: &Peer) -> Verdict {
    let dialect = dialect(peer).await?;
    failed(&peer.ask(dialect.call(dialect.get, json!({"id": "conform-no-such-task"}))).await?, -32001)
}

async fn unknown_version(peer: &Peer) -> Verdict {
    let dialect = dialect(peer).await?;
    if dialect.version != "1.0" {
        return Err(Shortfall::skip("the hub speaks 0.3 alone, which has no such error"));
    }
    // By a method that changes nothing, should a careless hub answer it.
    let draft = dialect.call(dialect.get, json!({"id": "conform-no-such-task"})).field("A2A-Version", "99.0");
    failed(&peer.ask(draft).await?, -32009)
}

async fn id_echoed(peer: &Peer) -> Verdict {
    let dialect = dialect(peer).await?;
    // Both kinds that JSON-RPC has: a hub could turn one into the other.
    for id in [json!(7), json!("conform-seven")] {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": dialect.get, "params": {"id": "conform-no-such-task"}});
        let exchange = peer.ask(dialect.draft(&body)).await?;
        if exchange.json()?["id"] != id {
            return Err(exchange.wrong(format!("the id {id} comes back as another")));
        }
    }
    Ok(())
}

/// What an answer or the first item of a stream is about.
fn is_task_or_message(result: &Value) -> bool {
    let is_one = |value: &Value| value["kind"] == "task" || value["kind"] == "message";
    result["task"].is_object() || result["message"].is_object() || is_one(result)
}

async fn send(peer: &Peer) -> Verdict {
    peer.effects()?;
    let dialect = dialect(peer).await?;
    let exchange = peer.ask(dialect.call(dialect.send, json!({"message": dialect.message()}))).await?;
    exchange.expect(&[200])?;
    match is_task_or_message(&exchange.json()?["result"]) {
        true => Ok(()),
        false => Err(exchange.wrong("the result is neither a task nor a message")),
    }
}

async fn stream(peer: &Peer) -> Verdict {
    peer.effects()?;
    let dialect = dialect(peer).await?;
    if hub(peer).await?["capabilities"]["streaming"] != true {
        return Err(Shortfall::skip("the hub does not stream"));
    }
    let draft = dialect.call(dialect.stream, json!({"message": dialect.message()}));
    let exchange = peer.ask(draft.field("Accept", "text/event-stream")).await?;
    exchange.expect(&[200])?;
    let first = events(&exchange.text()).into_iter().next();
    let first = first.and_then(|event| serde_json::from_str::<Value>(&event.data).ok()).unwrap_or_default();
    match is_task_or_message(&first["result"]) {
        true => Ok(()),
        false => Err(exchange.wrong("the first item is neither a task nor a message")),
    }
}
