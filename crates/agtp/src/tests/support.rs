//! A server in memory with an agent and a few endpoints, and a client that speaks raw bytes.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bytes::BytesMut;
use forecourt_agtp_wire::codec::{Bounds, Decoder};
use forecourt_agtp_wire::message::{Response, StatusLine};
use forecourt_contract::endpoint::{Binding, Definition, RegistrationContext};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::{Dispatcher, Endpoint, Failure, Handler, Invocation, RecipeBook, ScopeSet};
use forecourt_core::{AgentId, Handle, Timestamp};
use forecourt_endpoints::{EndpointPolicy, RegistrationTerms};
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_identity::certificate::AgentCertificate;
use forecourt_server::{Metrics, StreamRequests};
use forecourt_settings::Section;
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{ScriptedAgent, card};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_util::sync::CancellationToken;

use crate::answer::serve;
use crate::service::{ConnectionInfo, Service};

/// Where clients come from, unless a test says otherwise.
pub(crate) const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server.
pub(crate) struct Server {
    pub(crate) mounted: MountedHost,
    pub(crate) service: Arc<Service>,
    pub(crate) stop: CancellationToken,
    pub(crate) metrics: Arc<Metrics>,
}

/// A server with the agents `chef` and `gate`, and these settings.
pub(crate) async fn server(section: &str) -> Server {
    server_of(blueprint(section)).await
}

/// What [`server`] is made of.
pub(crate) fn blueprint(section: &str) -> Blueprint {
    let agents = ["chef", "gate"].map(|handle| resident(card(handle), ScriptedAgent::saying(["Hello."]), Vec::new()));
    let scopes = ScopeSet::parse_list("booking:room, documents:query").expect("scopes");
    Blueprint {
        residents: agents.into_iter().collect(),
        section: parted(section).0.to_owned(),
        contract: Arc::new(contract(section)),
        identities: AgentIdentitySettings { scopes: Some(scopes), ..AgentIdentitySettings::default() },
        ..Blueprint::default()
    }
}

/// The server of a blueprint.
pub(crate) async fn server_of(blueprint: Blueprint) -> Server {
    let mounted = blueprint.start(Some(&crate::PROTOCOL)).await;
    let service =
        Service::new(&mounted.mount, crate::settings::AgtpSettings::read(&mounted.section).expect("settings"));
    Server { mounted, service, stop: CancellationToken::new(), metrics: Arc::default() }
}

/// The section of the protocol, and behind it what `[endpoints]` says in a test, which stands last.
pub(crate) fn parted(section: &str) -> (&str, &str) {
    section.split_at(section.find("[endpoints").unwrap_or(section.len()))
}

/// What `[endpoints]` says in a test.
pub(crate) fn terms(section: &str) -> RegistrationTerms {
    let root = Section::parse(std::path::Path::new("forecourt.toml"), parted(section).1, &|_: &str| None);
    let section = root.expect("TOML").take_or_empty("endpoints");
    EndpointPolicy::read(&section).unwrap_or_else(|wrong| panic!("{wrong}")).terms
}

/// Some endpoints under the section's own policy.
pub(crate) fn contract(section: &str) -> Dispatcher {
    let terms = terms(section);
    let mut dispatcher =
        Dispatcher { catalog: terms.catalog, policy: terms.policy, rules: terms.rules, ..Dispatcher::default() };
    definitions().into_iter().for_each(|definition| add(&mut dispatcher, definition));
    dispatcher
}

/// Adds an endpoint that plays what it is told.
pub(crate) fn add(dispatcher: &mut Dispatcher, definition: Definition) {
    let recipes = RecipeBook::default();
    let around = RegistrationContext::new(&dispatcher.catalog, &dispatcher.policy, &recipes);
    let endpoint = Endpoint::register(definition, &around).expect("an endpoint");
    dispatcher.registry.insert(Arc::new(endpoint), Arc::new(Played)).expect("room");
}

fn definitions() -> Vec<Definition> {
    let old = serde_json::from_value(json!({
        "deprecated_in": "2.1.0", "removed_in": "3.0.0", "successor": {"method": "FETCH", "path": "/rooms/{room}"},
    }));
    vec![
        definition("FETCH", "/rooms/{room}"),
        Definition { required_scopes: vec!["booking:room".into()], ..definition("BOOK", "/rooms/{room}") },
        Definition { required_scopes: vec!["payments:take".into()], ..definition("PURCHASE", "/rooms/{room}") },
        Definition { deprecated: old.ok(), ..definition("FETCH", "/old-rooms") },
        definition("EXECUTE", "/plays"),
    ]
}

/// An endpoint that takes a few things, and `room` or `agent` where its path has them.
pub(crate) fn definition(method: &str, path: &str) -> Definition {
    let mut properties = json!({
        "n": {"type": "integer"}, "how": {"type": "string"}, "text": {"type": "string"},
    });
    for parameter in ["room", "agent"].into_iter().filter(|name| path.contains(&format!("{{{name}}}"))) {
        properties[parameter] = json!({"type": "string"});
    }
    if method == "EXECUTE" {
        properties["parameters"] = json!({"type": "object"});
    }
    Definition {
        method: Some(method.into()),
        path: Some(path.into()),
        description: Some("Does what it says.".into()),
        semantic: json!({
            "intent": "Book a room.", "actor": "agent", "outcome": "A room is booked.", "capability": "transaction",
            "confidence": 0.9, "impact": "reversible", "is_idempotent": false,
        }),
        input_schema: Some(json!({"type": "object", "properties": properties, "additionalProperties": false})),
        output_schema: Some(json!({"type": "object", "properties": {"input": {"type": "object"}}})),
        errors: Some(vec!["room_unavailable".into()]),
        binding: Some(Binding::RegisteredFunction { function: "f".into(), timeout: HANDLER_TIME_DEFAULT }),
        ..Definition::default()
    }
}

/// Ends as `how` says, else gives its input back.
struct Played;

impl Handler for Played {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        async move {
            match invocation.input.get("how").and_then(Value::as_str) {
                Some("taken") => Err(Failure::named("room_unavailable", "the room is taken")),
                Some("undeclared") => Err(Failure::named("surprise", "nobody said so")),
                Some("wrong") => Ok(json!({"input": 1})),
                Some("crash") => Err(Failure::Crashed("the database at /secret is gone".into())),
                Some("never") => std::future::pending().await,
                Some("principal") => Ok(json!({"input": {"for": invocation.caller.acting_principal_id.as_deref()}})),
                _ => Ok(json!({"input": invocation.input})),
            }
        }
        .boxed()
    }
}

impl Server {
    /// The Agent-ID of an agent here.
    pub(crate) fn id(&self, handle: &str) -> String {
        let handle = Handle::parse(handle).expect("a handle");
        self.service.agents.of_handle(&handle).expect("an agent").agent_id.to_string()
    }

    /// What counts the requests of a connection.
    pub(crate) fn requests(&self) -> StreamRequests {
        StreamRequests::new(crate::NAME, Arc::clone(&self.metrics), self.mounted.entropy.clone())
    }

    /// Connects from this machine.
    pub(crate) fn connect(&self) -> Client {
        self.connect_by(ConnectionInfo::new(LOCAL, None).named(self.mounted.entropy.as_ref()))
    }

    /// Connects by a line.
    pub(crate) fn connect_by(&self, line: ConnectionInfo) -> Client {
        let (stream, other) = duplex(64 * 1024);
        tokio::spawn(serve(Arc::clone(&self.service), other, line, self.requests(), self.stop.clone()));
        Client { stream, decoder: Decoder::new(BOUNDS), bytes: BytesMut::new() }
    }

    /// The answer to one request on a connection of its own.
    pub(crate) async fn ask(&self, head: &str, body: &str) -> Response {
        let mut client = self.connect();
        client.say(head, body).await;
        client.hear().await.expect("an answer")
    }

    /// [`Server::ask`] as `chef`, with all scopes it needs.
    pub(crate) async fn ask_as_chef(&self, head: &str, body: &str) -> Response {
        let id = self.id("chef");
        self.ask(&format!("{head}\r\nAgent-ID: {id}\r\nAuthority-Scope: booking:room"), body).await
    }
}

const BOUNDS: Bounds = Bounds { start_line_bytes: 8_192, fields_bytes: 65_536, body_bytes: 8 * 1024 * 1024 };

/// A client.
pub(crate) struct Client {
    pub(crate) stream: DuplexStream,
    decoder: Decoder<StatusLine>,
    bytes: BytesMut,
}

impl Client {
    /// Sends a request: its head without `AGTP/1.0 ` and without the length of the body.
    pub(crate) async fn say(&mut self, head: &str, body: &str) {
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.send(format!("AGTP/1.0 {head}\r\n{length}\r\n{body}").as_bytes()).await;
    }

    /// Sends bytes.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        // Whoever refuses may do so before all of it was sent.
        let _ = self.stream.write_all(bytes).await;
    }

    /// The next answer; `None`: the server closed instead.
    pub(crate) async fn hear(&mut self) -> Option<Response> {
        loop {
            if let Some(response) = self.decoder.decode(&mut self.bytes).expect("a response") {
                return Some(response);
            }
            if self.stream.read_buf(&mut self.bytes).await.unwrap_or(0) == 0 {
                assert!(self.bytes.is_empty(), "half an answer: {:?}", self.bytes);
                return None;
            }
        }
    }
}

/// The certificate of an agent, which has no limits of its own.
pub(crate) fn certificate_of(id: &str) -> AgentCertificate {
    AgentCertificate {
        agent_id: Some(AgentId::parse(id).unwrap()),
        principal_id: Some("acme.tld".into()),
        scopes: None,
        governance_zone: Some("eu".into()),
        trust_tier: None,
        archetype: None,
        activation_id: None,
        ctl_sct: None,
        fingerprint: None,
        not_before: Timestamp::MIN,
        not_after: Timestamp::MAX,
    }
}

/// The body of an answer.
pub(crate) fn body(response: &Response) -> Value {
    serde_json::from_slice(&response.body).expect("JSON")
}

/// The code of an answer, and that of its error object.
pub(crate) fn code(response: &Response) -> (u16, String) {
    let code = if response.body.is_empty() {
        String::new()
    } else {
        body(response)["error"]["code"].as_str().unwrap_or_default().to_owned()
    };
    (response.start.code, code)
}
