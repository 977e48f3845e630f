//! Checks of revision 2026-07-28, which has no sessions: each request says who asks and in which version.

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

const CHECKS: &[Check<StatelessServer>] = &[
    check!(
        "mcp-1-discover",
        "MCP 1 (2026-07-28)",
        Must,
        "server/discover gives supportedVersions, this one among them, and capabilities",
        discover
    ),
    check!("mcp-2026-result", "MCP 1 (2026-07-28)", Must, "every result has a resultType", result_type),
    check!(
        "mcp-2026-server",
        "MCP 1 (2026-07-28)",
        Should,
        "results say in _meta which server they are from",
        server_info
    ),
    check!("mcp-2026-caching", "MCP 1 (2026-07-28)", Must, "lists have ttlMs and a cacheScope", caching),
    check!(
        "mcp-2026-method",
        "MCP 2 (2026-07-28)",
        Must,
        "a method that there is not is answered with 404 and -32601",
        unknown_method
    ),
    check!("mcp-2026-ping", "MCP 1 (2026-07-28)", Must, "ping is no method any more", no_ping),
    check!(
        "mcp-2026-version",
        "MCP 2 (2026-07-28)",
        Must,
        "an unknown version is answered with 400 and -32022, which names the known",
        unknown_version
    ),
    check!(
        "mcp-2026-version-header",
        "MCP 2 (2026-07-28)",
        Must,
        "a version in the header that is not that of the body is answered with 400 and -32020",
        other_version
    ),
    check!(
        "mcp-2026-method-header",
        "MCP 2 (2026-07-28)",
        Must,
        "an Mcp-Method that is not that of the body is answered with 400 and -32020",
        other_method
    ),
    check!(
        "mcp-2026-no-method-header",
        "MCP 2 (2026-07-28)",
        Must,
        "a request without Mcp-Method is answered with 400 and -32020",
        no_method_header
    ),
    check!(
        "mcp-2026-name-header",
        "MCP 2 (2026-07-28)",
        Must,
        "an Mcp-Name that is not that of the body is answered with 400 and -32020",
        other_name
    ),
    check!(
        "mcp-2026-meta",
        "MCP 1 (2026-07-28)",
        Must,
        "a request without what _meta must have is answered with 400 and -32602",
        no_meta
    ),
    check!("mcp-2026-get", "MCP 2 (2026-07-28)", Must, "DELETE of this revision is answered with 405", no_delete),
    check!("mcp-2026-session", "MCP 2 (2026-07-28)", Must, "no session is begun", no_session),
    check!("mcp-2026-origin", "MCP 2 (2026-07-28)", Must, "a foreign Origin is refused with 403", origin),
    check!("mcp-2026-parse", "MCP 2 (2026-07-28)", Must, "what is no JSON is refused", no_json),
    check!(
        "mcp-2026-tools",
        "MCP 3 (2026-07-28)",
        Must,
        "tools/list gives tools with a name and an inputSchema of objects",
        tools::list
    ),
    check!("mcp-2026-schemas", "MCP 3 (2026-07-28)", Must, "schemas of tools are valid", tools::schemas),
    check!("mcp-2026-unknown-tool", "MCP 3 (2026-07-28)", Must, "a tool that there is not is an error", tools::unknown),
    check!(
        "mcp-2026-arguments",
        "MCP 3 (2026-07-28)",
        Must,
        "arguments that lack what is required are an error",
        tools::bad_arguments
    ),
    check!(
        "mcp-2026-call",
        "MCP 3 (2026-07-28)",
        Must,
        "a call of a tool that only reads gives content, and what its outputSchema says",
        tools::call
    ),
    check!(
        "mcp-2026-resources",
        "MCP resources (2026-07-28)",
        Must,
        "resources/list gives resources with a uri and a name",
        resources::list
    ),
    check!(
        "mcp-2026-templates",
        "MCP resources (2026-07-28)",
        Must,
        "templates have a uriTemplate and a name",
        resources::templates
    ),
    check!(
        "mcp-2026-read",
        "MCP resources (2026-07-28)",
        Must,
        "a resource that is listed can be read: text or blob",
        resources::read
    ),
    check!(
        "mcp-2026-unknown-resource",
        "MCP resources (2026-07-28)",
        Must,
        "a resource that is not there is answered with -32602",
        resources::unknown
    ),
    check!(
        "mcp-2026-prompts",
        "MCP prompts (2026-07-28)",
        Must,
        "prompts/list gives prompts with a name, and arguments with theirs",
        prompts::list
    ),
    check!(
        "mcp-2026-prompt",
        "MCP prompts (2026-07-28)",
        Must,
        "a prompt that needs nothing gives messages with a role and content",
        prompts::get
    ),
    check!(
        "mcp-2026-unknown-prompt",
        "MCP prompts (2026-07-28)",
        Must,
        "a prompt that is not there is an error",
        prompts::unknown
    ),
    check!(
        "mcp-2026-complete",
        "MCP utilities (2026-07-28)",
        Must,
        "a completion gives at most 100 values, which are texts",
        prompts::completion
    ),
];

/// The revision.
const REVISION: &str = "2026-07-28";
/// How its keys of `_meta` begin.
const PREFIX: &str = "io.modelcontextprotocol/";

/// A host that answers without a session.
pub(crate) struct StatelessServer {
    host: Arc<WebTarget>,
    capabilities: Value,
}

impl OfferedProtocol for StatelessServer {
    type Target = WebTarget;
    const NAME: &'static str = "MCP 2026-07-28";
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            let path = host.mcp_path().to_owned();
            let (_, answer) = host.look(draft(&path, "server/discover", json!({})), heard).await?;
            match answer["result"].is_object() {
                true => Ok(Self { capabilities: answer["result"]["capabilities"].clone(), host }),
                false => {
                    let error = &answer["error"];
                    Err(Absence::NotOffered(format!("POST {path} refuses server/discover of {REVISION}: {error}")))
                }
            }
        })
    }
}

impl Deref for StatelessServer {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

impl McpServer for StatelessServer {
    fn host(&self) -> &WebTarget {
        &self.host
    }

    fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    fn no_resource(&self) -> i64 {
        -32602
    }

    fn draft(&self, method: &str, params: Value) -> Draft {
        draft(self.mcp_path(), method, params)
    }
}

fn meta(revision: &str) -> Value {
    json!({
        format!("{PREFIX}protocolVersion"): revision,
        format!("{PREFIX}clientCapabilities"): {},
        format!("{PREFIX}clientInfo"): client(),
    })
}

fn draft(path: &str, method: &str, params: Value) -> Draft {
    with_meta(path, method, params, &meta(REVISION))
}

fn with_meta(path: &str, method: &str, mut params: Value, meta: &Value) -> Draft {
    params["_meta"] = meta.clone();
    let body = json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": params});
    let draft = post(path, &body).field("MCP-Protocol-Version", REVISION).field("Mcp-Method", method);
    match params["name"].as_str().or(params["uri"].as_str()) {
        Some(name) => draft.field("Mcp-Name", name),
        None => draft,
    }
}

/// Fine with a status and a code of JSON-RPC.
fn refused(exchange: &Exchange, status: u16, code: i64) -> Verdict {
    exchange.expect(&[status])?;
    match message(exchange)?["error"]["code"].as_i64() {
        Some(found) if found == code => Ok(()),
        Some(found) => Err(exchange.wrong(format!("the code is {found} where {code} belongs"))),
        None => Err(exchange.wrong("there is no error")),
    }
}

async fn discover(found: &StatelessServer) -> Verdict {
    let (exchange, result) = found.result("server/discover", json!({})).await?;
    let versions = result["supportedVersions"].as_array();
    exchange.holds(&[
        ("supportedVersions has 2026-07-28", versions.is_some_and(|all| all.iter().any(|one| one == REVISION))),
        ("capabilities is an object", result["capabilities"].is_object()),
    ])
}

async fn result_type(found: &StatelessServer) -> Verdict {
    let (exchange, result) = found.result("server/discover", json!({})).await?;
    match result["resultType"].is_string() {
        true => Ok(()),
        false => Err(exchange.wrong("there is no resultType")),
    }
}

async fn server_info(found: &StatelessServer) -> Verdict {
    let (exchange, result) = found.result("server/discover", json!({})).await?;
    let info = &result["_meta"][format!("{PREFIX}serverInfo")];
    match info["name"].is_string() && info["version"].is_string() {
        true => Ok(()),
        false => Err(exchange.wrong(format!("_meta has no {PREFIX}serverInfo with name and version"))),
    }
}

async fn caching(found: &StatelessServer) -> Verdict {
    let lists = [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")];
    let mut asked = vec!["server/discover"];
    asked.extend(lists.into_iter().filter(|(name, _)| found.capabilities.get(*name).is_some()).map(|(_, list)| list));
    for method in asked {
        let (exchange, result) = found.result(method, json!({})).await?;
        exchange.holds(&[
            ("ttlMs is a number", result["ttlMs"].is_u64()),
            ("cacheScope is public or private", result["cacheScope"] == "public" || result["cacheScope"] == "private"),
        ])?;
    }
    Ok(())
}

async fn unknown_method(found: &StatelessServer) -> Verdict {
    refused(&found.ask(found.draft("conform/no-such-method", json!({}))).await?, 404, -32601)
}

async fn no_ping(found: &StatelessServer) -> Verdict {
    refused(&found.ask(found.draft("ping", json!({}))).await?, 404, -32601)
}

async fn unknown_version(found: &StatelessServer) -> Verdict {
    let draft = with_meta(found.mcp_path(), "server/discover", json!({}), &meta("2999-01-01"));
    let exchange = found.ask(draft.field("MCP-Protocol-Version", "2999-01-01")).await?;
    refused(&exchange, 400, -32022)?;
    match message(&exchange)?["error"]["data"]["supported"].is_array() {
        true => Ok(()),
        false => Err(exchange.wrong("error.data.supported is no list")),
    }
}

async fn other_version(found: &StatelessServer) -> Verdict {
    let draft = found.draft("server/discover", json!({})).field("MCP-Protocol-Version", "2025-11-25");
    refused(&found.ask(draft).await?, 400, -32020)
}

async fn other_method(found: &StatelessServer) -> Verdict {
    let draft = found.draft("server/discover", json!({})).field("Mcp-Method", "tools/list");
    refused(&found.ask(draft).await?, 400, -32020)
}

async fn no_method_header(found: &StatelessServer) -> Verdict {
    let draft = found.draft("server/discover", json!({})).without("Mcp-Method");
    refused(&found.ask(draft).await?, 400, -32020)
}

async fn other_name(found: &StatelessServer) -> Verdict {
    if found.capabilities.get("tools").is_none() {
        return Err(Shortfall::skip("the host does not say that it has tools"));
    }
    // A tool that is not there: nothing is called whichever name counts.
    let draft = found.draft("tools/call", json!({"name": "conform_no_such_tool", "arguments": {}}));
    refused(&found.ask(draft.field("Mcp-Name", "conform_another")).await?, 400, -32020)
}

async fn no_meta(found: &StatelessServer) -> Verdict {
    let meta = json!({ format!("{PREFIX}protocolVersion"): REVISION });
    let draft = with_meta(found.mcp_path(), "server/discover", json!({}), &meta);
    refused(&found.ask(draft).await?, 400, -32602)
}

async fn no_delete(found: &StatelessServer) -> Verdict {
    let draft = Draft::new(Method::DELETE, found.mcp_path()).field("MCP-Protocol-Version", REVISION);
    found.ask(draft).await?.expect(&[405])
}

async fn no_session(found: &StatelessServer) -> Verdict {
    let exchange = found.ask(found.draft("server/discover", json!({}))).await?;
    match exchange.field("Mcp-Session-Id") {
        None => Ok(()),
        Some(_) => Err(exchange.wrong("there is an Mcp-Session-Id")),
    }
}

async fn origin(found: &StatelessServer) -> Verdict {
    let draft = found.draft("server/discover", json!({})).field("Origin", "https://conform.invalid");
    let exchange = found.ask(draft).await?;
    match exchange.status() {
        403 => Ok(()),
        status => Err(exchange.wrong(format!("the status is {status} where 403 belongs"))),
    }
}

async fn no_json(found: &StatelessServer) -> Verdict {
    let draft = Draft::new(Method::POST, found.mcp_path()).body("application/json", "{\"jsonrpc\": ");
    let draft = draft.field("Accept", ACCEPT).field("MCP-Protocol-Version", REVISION);
    let exchange = found.ask(draft.field("Mcp-Method", "server/discover")).await?;
    match exchange.status() {
        400..=499 => Ok(()),
        _ => Err(exchange.wrong("it is not a status of 4xx")),
    }
}
