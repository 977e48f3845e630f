//! Checks of the revisions that begin with `initialize`. The newest of them is asked for, and whichever the host takes is
//! spoken.

use std::ops::Deref;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::Method;
use serde_json::{Value, json};

use super::call::{ACCEPT, McpServer, client, heard, message, post};
use super::{prompts, resources, tools};
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;
use crate::offer::{Absence, OfferedProtocol};
use crate::web::exchange::{Draft, Exchange};
use crate::web::target::WebTarget;

const OPENING: &[Check<SessionServer>] = &[
    check!(
        "mcp-1-initialize",
        "MCP 1",
        Must,
        "initialize is answered with version, capabilities and serverInfo",
        initialize
    ),
    check!(
        "mcp-1-other-version",
        "MCP 1",
        Must,
        "initialize with an unknown version is answered with a known one",
        other_version
    ),
    check!("mcp-1-ping", "MCP 1", Must, "ping is answered with an empty result", ping),
    check!("mcp-1-ids", "MCP 1", Must, "the id of a request comes back as it was sent", ids),
    check!("mcp-2-notification", "MCP 2", Must, "a notification is answered with 202 and nothing else", notification),
    check!("mcp-2-origin", "MCP 2", Must, "a foreign Origin is refused with 403", origin),
    check!("mcp-2-parse", "MCP 2", Must, "what is no JSON is refused", no_json),
    check!("mcp-2-get", "MCP 2", Must, "GET is answered with a stream or with 405", get),
    check!("mcp-2-session", "MCP 1", Should, "a session that nobody opened is answered with 404", unknown_session),
    check!("mcp-2-no-session", "MCP 2", Should, "a request without the session is refused with 400", no_session),
    check!("mcp-2-version", "MCP 2", Must, "an unknown MCP-Protocol-Version is refused with 400", unknown_version),
    check!("mcp-1-method", "MCP 1", Must, "a method that there is not is answered with -32601", unknown_method),
    check!(
        "mcp-6-level",
        "MCP utilities",
        Should,
        "who has logging takes a level, and refuses an unknown one with -32602",
        level
    ),
];

const ITEMS: &[Check<SessionServer>] = &[
    check!(
        "mcp-3-list",
        "MCP 3",
        Must,
        "tools/list gives tools with a name and an inputSchema of objects",
        tools::list
    ),
    check!("mcp-3-order", "MCP 3", Should, "tools/list gives the same order twice", tools::same_order),
    check!("mcp-3-names", "MCP 3", Must, "names of tools are 1 to 128 of A-Z a-z 0-9 _ . -", tools::names),
    check!("mcp-3-distinct", "MCP 3", Must, "no two tools have one name", tools::distinct),
    check!("mcp-3-schemas", "MCP 3", Must, "schemas of tools are valid", tools::schemas),
    check!("mcp-3-hints", "MCP 3", Must, "hints of tools are true or false", tools::hints),
    check!("mcp-3-cursor", "MCP utilities", Should, "an invalid cursor is answered with -32602", tools::cursor),
    check!("mcp-3-unknown", "MCP 3", Must, "a tool that there is not is an error", tools::unknown),
    check!("mcp-3-arguments", "MCP 3", Must, "arguments that lack what is required are an error", tools::bad_arguments),
    check!(
        "mcp-3-call",
        "MCP 3",
        Must,
        "a call of a tool that only reads gives content, and what its outputSchema says",
        tools::call
    ),
    check!(
        "mcp-4-list",
        "MCP resources",
        Must,
        "resources/list gives resources with a uri and a name",
        resources::list
    ),
    check!("mcp-4-templates", "MCP resources", Must, "templates have a uriTemplate and a name", resources::templates),
    check!("mcp-4-read", "MCP resources", Must, "a resource that is listed can be read: text or blob", resources::read),
    check!(
        "mcp-4-unknown",
        "MCP resources",
        Should,
        "a resource that is not there is answered with -32002",
        resources::unknown
    ),
    check!(
        "mcp-5-list",
        "MCP prompts",
        Must,
        "prompts/list gives prompts with a name, and arguments with theirs",
        prompts::list
    ),
    check!(
        "mcp-5-get",
        "MCP prompts",
        Must,
        "a prompt that needs nothing gives messages with a role and content",
        prompts::get
    ),
    check!("mcp-5-unknown", "MCP prompts", Must, "a prompt that is not there is an error", prompts::unknown),
    check!(
        "mcp-5-arguments",
        "MCP prompts",
        Should,
        "a prompt without what it requires is an error",
        prompts::bad_arguments
    ),
    check!(
        "mcp-6-complete",
        "MCP utilities",
        Must,
        "a completion gives at most 100 values, which are texts",
        prompts::completion
    ),
];

/// Last, since it ends the session that the others are sent in.
const CLOSING: &[Check<SessionServer>] = &[
    check!("mcp-2-delete", "MCP 1", Should, "a session can be ended, or the host says that it can't", delete),
    check!("mcp-2-ended", "MCP 2", Must, "a session that was ended is answered with 404", ended),
];

/// The newest revision that begins with `initialize`.
const REVISION: &str = "2025-11-25";

/// A host that opened a session.
pub(crate) struct SessionServer {
    host: Arc<WebTarget>,
    /// The revision that the host took.
    revision: String,
    /// The id under which requests are sent. Empty: the host keeps no sessions.
    id: String,
    capabilities: Value,
}

impl OfferedProtocol for SessionServer {
    type Target = WebTarget;
    const NAME: &'static str = "MCP with sessions";
    const CHECKS: &'static [&'static [Check<Self>]] = &[OPENING, ITEMS, CLOSING];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            let (exchange, answer) = host.look(opening(host.mcp_path(), REVISION), heard).await?;
            let result = &answer["result"];
            if !result.is_object() {
                let (path, error) = (host.mcp_path(), &answer["error"]);
                return Err(Absence::NotOffered(format!("POST {path} refuses initialize: {error}")));
            }
            let id = exchange.field("Mcp-Session-Id").unwrap_or_default().to_owned();
            let revision = result["protocolVersion"].as_str().unwrap_or(REVISION).to_owned();
            let session = Self { revision, id, capabilities: result["capabilities"].clone(), host };
            // Servers may refuse everything in a session until they were told this.
            drop(session.ask(session.within(initialized(session.mcp_path()))).await);
            Ok(session)
        })
    }

    fn notes(&self) -> Vec<String> {
        vec![format!("the host takes revision {}", self.revision)]
    }
}

impl Deref for SessionServer {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

impl McpServer for SessionServer {
    fn host(&self) -> &WebTarget {
        &self.host
    }

    fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    fn no_resource(&self) -> i64 {
        -32002
    }

    fn draft(&self, method: &str, params: Value) -> Draft {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.within(post(self.mcp_path(), &body))
    }
}

impl SessionServer {
    /// The same request as a part of the session.
    fn within(&self, draft: Draft) -> Draft {
        let draft = draft.field("MCP-Protocol-Version", &self.revision);
        match self.id.as_str() {
            "" => draft,
            id => draft.field("Mcp-Session-Id", id),
        }
    }

    fn keeps_sessions(&self) -> Verdict {
        match self.id.is_empty() {
            true => Err(Shortfall::skip("the host keeps no sessions")),
            false => Ok(()),
        }
    }
}

fn opening(path: &str, revision: &str) -> Draft {
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client()});
    post(path, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
}

fn initialized(path: &str) -> Draft {
    post(path, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
}

async fn opened(session: &SessionServer, revision: &str) -> Result<(Exchange, Value), Shortfall> {
    let exchange = session.ask(opening(session.mcp_path(), revision)).await?;
    exchange.expect(&[200])?;
    let answer = message(&exchange)?;
    Ok((exchange, answer))
}

async fn initialize(session: &SessionServer) -> Verdict {
    let (exchange, answer) = opened(session, REVISION).await?;
    let result = &answer["result"];
    let info = &result["serverInfo"];
    exchange.holds(&[
        ("the id comes back", answer["id"] == 1),
        ("protocolVersion is a text", result["protocolVersion"].is_string()),
        ("capabilities is an object", result["capabilities"].is_object()),
        ("serverInfo has name and version", info["name"].is_string() && info["version"].is_string()),
    ])
}

async fn other_version(session: &SessionServer) -> Verdict {
    let (exchange, answer) = opened(session, "1999-01-01").await?;
    match answer["result"]["protocolVersion"].as_str() {
        Some("1999-01-01") => Err(exchange.wrong("the host takes a version that there never was")),
        Some(_) => Ok(()),
        None if answer["error"]["code"].is_i64() => Ok(()),
        None => Err(exchange.wrong("there is neither a version nor an error")),
    }
}

async fn ping(session: &SessionServer) -> Verdict {
    let (exchange, result) = session.result("ping", json!({})).await?;
    // What a host adds of its own goes into `_meta`.
    match result.as_object().is_some_and(|fields| fields.keys().all(|name| name == "_meta")) {
        true => Ok(()),
        false => Err(exchange.wrong("the result is not empty")),
    }
}

async fn ids(session: &SessionServer) -> Verdict {
    for id in [json!(70), json!("conform-seven")] {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let exchange = session.ask(session.within(post(session.mcp_path(), &body))).await?;
        if message(&exchange)?["id"] != id {
            return Err(exchange.wrong(format!("the id {id} comes back as another")));
        }
    }
    Ok(())
}

async fn notification(session: &SessionServer) -> Verdict {
    let exchange = session.ask(session.within(initialized(session.mcp_path()))).await?;
    exchange.expect(&[202])?;
    match exchange.body.is_empty() {
        true => Ok(()),
        false => Err(exchange.wrong("there is a body")),
    }
}

async fn origin(session: &SessionServer) -> Verdict {
    let draft = opening(session.mcp_path(), REVISION).field("Origin", "https://conform.invalid");
    let exchange = session.ask(draft).await?;
    match exchange.status() {
        403 => Ok(()),
        status => Err(exchange.wrong(format!("the status is {status} where 403 belongs"))),
    }
}

async fn no_json(session: &SessionServer) -> Verdict {
    let draft = Draft::new(Method::POST, session.mcp_path()).body("application/json", "{\"jsonrpc\": ");
    let exchange = session.ask(session.within(draft.field("Accept", ACCEPT))).await?;
    match exchange.status() {
        400..=499 => Ok(()),
        200 if exchange.json()?["error"]["code"] == -32700 => Ok(()),
        _ => Err(exchange.wrong("it is neither a status of 4xx nor -32700")),
    }
}

async fn get(session: &SessionServer) -> Verdict {
    // A stream stays open until somebody has something to say: its head is all that is wanted.
    let draft = session.within(Draft::get(session.mcp_path()).field("Accept", "text/event-stream"));
    let exchange = session.head_of(draft).await?;
    match (exchange.status(), exchange.media_type()) {
        (405, _) | (200, "text/event-stream") => Ok(()),
        (200, _) => Err(exchange.wrong("what is answered is no stream")),
        _ => exchange.expect(&[200, 405]),
    }
}

async fn unknown_session(session: &SessionServer) -> Verdict {
    session.keeps_sessions()?;
    let draft = session.draft("ping", json!({})).field("Mcp-Session-Id", "conform-no-such-session");
    session.ask(draft).await?.expect(&[404])
}

async fn no_session(session: &SessionServer) -> Verdict {
    session.keeps_sessions()?;
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    let draft = post(session.mcp_path(), &body).field("MCP-Protocol-Version", &session.revision);
    session.ask(draft).await?.expect(&[400])
}

async fn unknown_version(session: &SessionServer) -> Verdict {
    let draft = session.draft("ping", json!({})).field("MCP-Protocol-Version", "1999-01-01");
    session.ask(draft).await?.expect(&[400])
}

async fn unknown_method(session: &SessionServer) -> Verdict {
    let (exchange, answer) = session.request("conform/no-such-method", json!({})).await?;
    match answer["error"]["code"] == -32601 {
        true => Ok(()),
        false => Err(exchange.wrong("the error is not -32601")),
    }
}

async fn level(session: &SessionServer) -> Verdict {
    if session.capabilities.get("logging").is_none() {
        return Err(Shortfall::skip("the host does not say that it has logging"));
    }
    session.result("logging/setLevel", json!({"level": "warning"})).await?;
    let (exchange, answer) = session.request("logging/setLevel", json!({"level": "conform"})).await?;
    match answer["error"]["code"] == -32602 {
        true => Ok(()),
        false => Err(exchange.wrong("a level that there is not is not answered with -32602")),
    }
}

async fn ended(session: &SessionServer) -> Verdict {
    session.keeps_sessions()?;
    // One that is begun for this, whatever became of the other.
    let opening = session.ask(opening(session.mcp_path(), REVISION)).await?;
    let why = || Shortfall::skip("no session could be begun to be ended");
    let id = opening.field("Mcp-Session-Id").ok_or_else(why)?;
    let within = |draft: Draft| draft.field("Mcp-Session-Id", id).field("MCP-Protocol-Version", &session.revision);
    let deleted = session.ask(within(Draft::new(Method::DELETE, session.mcp_path()))).await?;
    if deleted.status() == 405 {
        return Err(Shortfall::skip("the host says that sessions can't be ended"));
    }
    session.ask(within(session.draft("ping", json!({})))).await?.expect(&[404])
}

async fn delete(session: &SessionServer) -> Verdict {
    session.keeps_sessions()?;
    let exchange = session.ask(session.within(Draft::new(Method::DELETE, session.mcp_path()))).await?;
    exchange.expect(&[200, 202, 204, 405])
}
