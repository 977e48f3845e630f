//! From an answer to a response on the wire: pure functions, without clock and host. Base 2.2, 2.5.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use forecourt_agtp_wire::message::{Fields, Message, Request, Response, StatusLine};
use forecourt_agtp_wire::status::Status;
use forecourt_contract::call::CallTrail;
use forecourt_core::AgentId;
use forecourt_identity::agents::AgentIdentity;
use forecourt_identity::genesis::TrustPosture;
use serde_json::Value;

use crate::reply::{Body, Problem, Reply, RequestOutcome};

/// The media type of errors.
const ERROR: &str = "application/json";
/// Fields of a request that its answer repeats. Base 2.5.
const ECHOED: [&str; 3] = ["Agent-ID", "Task-ID", "Request-ID"];
/// Characters of a value that is repeated.
const ECHO_CHARS_MAX: usize = crate::limits::NAME_CHARS_MAX;

/// What a response says of itself, from the clock and the state of the server.
pub(crate) struct ResponseStamp {
    /// The revision of the manifest that holds now; `None` before the first is known.
    pub api_version: Option<Arc<str>>,
    /// The response's own id.
    pub response_id: String,
    /// Whether it is the first on its connection, which says what methods there are. Base 2.5.
    pub is_first: bool,
}

/// The fields that are the same in every answer, and in every answer of one agent.
pub(crate) struct ResponseDefaults {
    /// Those of answers in which nobody was addressed.
    plain: Fields,
    /// Those of the agents here. Most agents of a host are vouched for alike, and share theirs.
    of_agents: HashMap<AgentId, Arc<Fields>>,
    /// The methods that are answered.
    methods: String,
}

impl ResponseDefaults {
    /// Writes them, for the agents of this host and the methods that it answers.
    pub(crate) fn new<'a>(
        server_id: &str,
        agents: impl IntoIterator<Item = &'a Arc<AgentIdentity>>,
        methods: &BTreeSet<String>,
    ) -> Self {
        let mut plain = Fields::default();
        put(&mut plain, "Server-ID", server_id);
        let mut last: Option<(&TrustPosture, Arc<Fields>)> = None;
        let of = |agent: &'a Arc<AgentIdentity>| {
            let shared =
                last.as_ref().filter(|(posture, _)| **posture == agent.posture).map(|(_, fields)| fields.clone());
            let fields = shared.unwrap_or_else(|| {
                let mut fields = plain.clone();
                trust(&mut fields, &agent.posture);
                Arc::new(fields)
            });
            last = Some((&agent.posture, Arc::clone(&fields)));
            (agent.agent_id.clone(), fields)
        };
        let of_agents = agents.into_iter().map(of).collect();
        let methods = methods.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        Self { plain, of_agents, methods }
    }

    fn of(&self, agent: Option<&AgentIdentity>) -> &Fields {
        agent.and_then(|agent| self.of_agents.get(&agent.agent_id)).map_or(&self.plain, AsRef::as_ref)
    }

    /// The response to a request that was understood, or to one that was not but has an end.
    pub(crate) fn response(&self, request: &Request, answered: RequestOutcome, stamp: &ResponseStamp) -> Response {
        let RequestOutcome { reply, trail, agent, .. } = answered;
        let mut fields = self.of(agent.as_deref()).to_extend();
        for name in ECHOED {
            if let Some(value) = request.field(name).filter(|value| value.len() <= ECHO_CHARS_MAX) {
                put(&mut fields, name, value);
            }
        }
        notices(&mut fields, &trail);
        self.finish(fields, reply, trail.method.as_ref().map(|method| method.as_str()), stamp)
    }

    /// The response to bytes that are not a request.
    pub(crate) fn refusal(&self, problem: Problem, stamp: &ResponseStamp) -> Response {
        self.finish(self.plain.to_extend(), problem.into(), None, stamp)
    }

    /// Adds what every response has, but its record.
    fn finish(&self, mut fields: Fields, reply: Reply, method: Option<&str>, stamp: &ResponseStamp) -> Response {
        if let Some(version) = &stamp.api_version {
            put(&mut fields, "AGTP-API-Version", version);
        }
        put(&mut fields, "Response-ID", &stamp.response_id);
        if stamp.is_first {
            put(&mut fields, "Supported-Methods", &self.methods);
        }
        for (name, value) in &reply.fields {
            put(&mut fields, name, value);
        }
        let body = written(&mut fields, reply.body, reply.status, method);
        let Status { code, reason } = reply.status;
        Message { start: StatusLine::new(code, reason), fields, body }
    }
}

/// How far an agent is vouched for. Base 2.5, 6.5.
fn trust(fields: &mut Fields, posture: &TrustPosture) {
    if let Some(owner) = &posture.owner_id {
        put(fields, "Owner-ID", owner);
    }
    put(fields, "Trust-Tier", &u8::from(posture.trust_tier).to_string());
    put(fields, "Verification-Path", &posture.verification_path);
    if let Some(warning) = &posture.trust_warning {
        put(fields, "Trust-Warning", warning);
    }
}

/// Adds a field, unless its value can't be sent.
fn put(fields: &mut Fields, name: &str, value: &str) {
    if fields.push(name, value).is_err() {
        tracing::debug!(name, "a field that can't be sent was left out");
    }
}

/// What is on its way out. AGTP-API 4.4, 6.5.
fn notices(fields: &mut Fields, trail: &CallTrail) {
    for (name, notice) in
        [("AGTP-Catalog-Warning", &trail.method_notice), ("AGTP-Endpoint-Warning", &trail.endpoint_notice)]
    {
        if let Some(notice) = notice {
            put(fields, name, notice);
        }
    }
}

/// The bytes of a body, under their media type. Base 2.2.
fn written(fields: &mut Fields, body: Body, status: Status, method: Option<&str>) -> Bytes {
    match body {
        Body::Empty => Bytes::new(),
        Body::Made { media_type, bytes } => {
            put(fields, "Content-Type", media_type);
            bytes
        }
        Body::Written(bytes) => {
            put(fields, "Content-Type", &method.map_or_else(|| ERROR.to_owned(), media_type));
            bytes
        }
        Body::Json(value) => {
            match method.filter(|_| status.is_success() && value.get("error").is_none()) {
                Some(method) => put(fields, "Content-Type", &media_type(method)),
                None => put(fields, "Content-Type", ERROR),
            }
            text(&value)
        }
    }
}

/// The media type of what a method answers.
pub(crate) fn media_type(method: &str) -> String {
    ["application/vnd.agtp.", &method.to_ascii_lowercase(), "+json"].concat()
}

fn text(value: &Value) -> Bytes {
    // A value has text keys only, and so is always written.
    serde_json::to_vec(value).unwrap_or_default().into()
}
