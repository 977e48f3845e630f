//! A host in memory that is asked over MCP.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forecourt_contract::Dispatcher;
use forecourt_core::{Agent, AgentCard, Handle, Message, MessageId, Part, Rule, Sender, TaskId};
use forecourt_host::{Host, HostedAgent, LimitSettings, Run};
use forecourt_identity::IdentityConfig;
use forecourt_mcp::PROTOCOL;
use forecourt_mcp::stdio::StdioServer;
use forecourt_settings::Problems;
use forecourt_surface::tool::Tool;
use forecourt_testhost::{Blueprint, MountedHost, Node, ServerBlueprint, resident, unlimited};
use forecourt_testkit::{ScriptedAgent, Step, card};
use http::request::Builder;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

/// A host in the making. Its first agent is the default one.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) residents: Vec<HostedAgent>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) limits: Option<LimitSettings>,
    pub(crate) section: &'static str,
    pub(crate) issuer: bool,
    /// Whether people sign in at that issuer.
    pub(crate) signs_people_in: bool,
    pub(crate) contract: Arc<Dispatcher>,
    /// The nodes that it is one of.
    pub(crate) node: Option<Node>,
    /// The servers behind it.
    pub(crate) servers: Vec<ServerBlueprint>,
    /// What lies beside their definitions.
    pub(crate) server_lists: Vec<(&'static str, Value)>,
}

/// A host, and what a test may turn under it.
pub(crate) struct Place {
    pub(crate) router: axum::Router,
    mounted: MountedHost,
}

impl Setup {
    pub(crate) fn with(self, card: AgentCard, agent: Arc<dyn Agent>) -> Self {
        self.guarded(card, agent, Vec::new())
    }

    pub(crate) fn guarded(mut self, card: AgentCard, agent: Arc<dyn Agent>, rules: Vec<Arc<dyn Rule>>) -> Self {
        self.residents.push(resident(card, agent, rules));
        self
    }

    /// The same with an agent that plays `steps`.
    pub(crate) fn playing(self, handle: &str, steps: Vec<Step>) -> (Self, Arc<ScriptedAgent>) {
        let agent = ScriptedAgent::new(steps);
        (self.with(card(handle), agent.clone()), agent)
    }

    pub(crate) async fn start(self) -> Place {
        self.try_start().await.unwrap()
    }

    /// The same, when something in the section may be wrong.
    pub(crate) async fn try_start(self) -> Result<Place, Problems> {
        let blueprint = Blueprint {
            residents: self.residents,
            identity: (!self.issuer).then(IdentityConfig::default),
            signs_people_in: self.signs_people_in,
            limits: self.limits.unwrap_or_else(unlimited),
            tools: self.tools,
            section: self.section.to_owned(),
            contract: self.contract,
            node: self.node,
            ..Blueprint::default()
        };
        let mut mounted = blueprint.start(Some(&PROTOCOL)).await;
        mounted.servers = self.servers;
        for (name, lists) in self.server_lists {
            let folder = mounted.mount.folder.join("servers");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("{name}.tools.json")), lists.to_string()).unwrap();
        }
        let endpoints = forecourt_surface::endpoint::tools(&mounted.mount.host);
        mounted.mount.tools = mounted.mount.tools.iter().cloned().chain(endpoints).collect();
        let router = mounted.router(&PROTOCOL)?;
        Ok(Place { router, mounted })
    }
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) head: HeaderMap,
    /// The messages of JSON-RPC, in order: one, or those of a stream.
    pub(crate) messages: Vec<Value>,
}

impl Answer {
    /// The last message, which is the answer to a request.
    pub(crate) fn last(&self) -> &Value {
        self.messages.last().expect("there is a message")
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.head.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Place {
    /// Lets time pass for the host.
    pub(crate) fn advance(&self, time: Duration) {
        self.mounted.clock.advance(time);
    }

    /// The same host for one client at the other end of a pipe.
    pub(crate) fn pipe(&self) -> StdioServer {
        StdioServer::new(&self.mounted.mount, &self.mounted.section).unwrap()
    }

    /// The host behind it.
    pub(crate) fn host(&self) -> &Arc<Host> {
        &self.mounted.mount.host
    }

    /// A task of an agent that began over another protocol.
    pub(crate) async fn begun_elsewhere(&self, agent: &str, sender: Sender) -> TaskId {
        let host = self.host();
        let id = MessageId::mint(&**host.entropy());
        let agent = Handle::parse(agent).unwrap();
        let message = Message { sender, ..Message::new(id, agent, vec![Part::text("x")], "a2a", host.clock().now()) };
        let run = Run::task_unless_message(Duration::ZERO);
        host.receive(message, run).await.unwrap().task.unwrap()
    }

    /// A token that proves to this host who `name` is.
    pub(crate) fn token(&self, name: &str) -> String {
        self.mounted.token(name)
    }

    /// The same with scopes.
    pub(crate) fn token_for(&self, name: &str, scope: &str) -> String {
        self.mounted.token_for(name, scope)
    }

    /// Sends a request, and leaves the answer to be read.
    pub(crate) async fn raw(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sends a request and reads all of the answer.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.raw(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let streamed = parts.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let messages = match streamed {
            true => lines.filter_map(|line| serde_json::from_str(line).ok()).collect(),
            false => serde_json::from_str(&text).into_iter().collect(),
        };
        Answer { status: parts.status, head: parts.headers, messages }
    }

    /// Calls a method as a client of 2026-07-28 does, at an endpoint.
    pub(crate) async fn modern(&self, path: &str, method: &str, params: Value) -> Answer {
        self.send(modern(path, method, params, json!({}))).await
    }

    /// Calls a tool as a client of 2026-07-28 does.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Answer {
        self.modern("/mcp", "tools/call", json!({"name": name, "arguments": arguments})).await
    }
}

pub(crate) fn post(path: &str) -> Builder {
    Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("host", "demo.localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

/// A request of 2026-07-28, by a client of these capabilities.
pub(crate) fn modern(path: &str, method: &str, mut params: Value, capabilities: Value) -> Request<Body> {
    let named = ["name", "uri", "taskId"].into_iter().find_map(|key| params[key].as_str());
    let name = named.map(str::to_owned);
    let mut request = post(path).header("mcp-protocol-version", "2026-07-28").header("mcp-method", method.to_owned());
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    for (key, value) in [
        ("protocolVersion", json!("2026-07-28")),
        ("clientCapabilities", capabilities),
        ("clientInfo", json!({"name": "test", "version": "1"})),
    ] {
        params["_meta"][format!("io.modelcontextprotocol/{key}")] = value;
    }
    request.body(rpc(1, method, params)).unwrap()
}

pub(crate) fn rpc(id: u64, method: &str, params: Value) -> Body {
    Body::from(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
}

/// The next message of a stream of this method.
pub(crate) async fn next(body: &mut Body, method: &str) -> Value {
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let found = data.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
        if let Some(message) = found.into_iter().find(|message| message["method"] == method) {
            return message;
        }
    }
    panic!("the stream ended before {method}");
}

pub(crate) fn says(text: &str) -> Step {
    Step::Do(forecourt_core::Event::Text(text.to_owned()))
}

pub(crate) fn ends(ending: forecourt_core::Ending) -> Step {
    Step::Do(forecourt_core::Event::Ending(ending))
}
