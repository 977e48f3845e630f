//! What a record says: its payload in one pass, without a tree of JSON. Base 8.1.

use forecourt_core::{AgentId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::digest::{Hash, to_hex};
use crate::error::LogError;
use crate::limits::PAYLOAD_BYTES_MAX;

/// The version of the fields. Base 8.1.
pub(crate) const RECORD_VERSION: &str = "1";
/// Where the record before is named.
const PREVIOUS: &str = "previous_audit_id";
/// 64 zeros: what stands there until the record's place in its chain is known.
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a payload says of its place: in whose chain, and behind which record.
#[derive(Deserialize)]
pub(crate) struct Place {
    pub(crate) agent_id: String,
    pub(crate) previous_audit_id: String,
}

/// What a record says of one response. Empty texts are those that are not known, and optional ones that are absent
/// stay out of the record.
#[derive(Debug, Clone, Default)]
pub struct RecordDraft<'a> {
    /// Names this server.
    pub server_id: &'a str,
    /// The code of the response.
    pub status: u16,
    /// When it was made.
    pub issued_at: Timestamp,
    /// The calling agent, in whose chain the record is. `None`: nobody that is known; such records have no chain.
    pub agent: Option<&'a AgentId>,
    /// Who answers for the calling agent.
    pub owner_id: &'a str,
    /// The request's id, as its caller named it.
    pub request_id: &'a str,
    /// The response's own id.
    pub response_id: &'a str,
    /// SHA-256 of the request as it was received. `None`: it was none.
    pub request_hash: Option<Hash>,
    /// The caller's session.
    pub session_id: Option<&'a str>,
    /// The caller's piece of work.
    pub task_id: Option<&'a str>,
    /// For whom the calling agent acts, by its certificate.
    pub principal_id: Option<&'a str>,
    /// For whom it acts, by its token. Base 7.4.
    pub acting_principal_id: Option<&'a str>,
    /// Names the action, if it may change something.
    pub action_id: Option<&'a str>,
    /// The method that was sent, where another one was meant. AGTP-API 9.2.
    pub requested_method: Option<&'a str>,
    /// The contract that the action ran under. AGTP-API 10.1.6.
    pub contract: Option<ContractFields<'a>>,
    /// What the caller says that it did before, elsewhere too.
    pub prior_actions: &'a [PriorAction],
    /// How well the calling agent's name is proven: `certificate-bound`, `token-bound` or `unverified`.
    pub identity_assurance: Option<&'static str>,
}

/// The contract that an action ran under. AGTP-API 10.1.6.
#[derive(Debug, Clone, Copy)]
pub struct ContractFields<'a> {
    /// The contract.
    pub synthesis_id: &'a str,
    /// SHA-256 of what it says.
    pub contract_hash: &'a str,
    /// How it came about: `rcns-gate`, `propose` or `pre-registered`.
    pub negotiation_origin: &'a str,
}

/// An action that a caller names as one that led to this one. Base 8.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorAction {
    /// Who did it: 64 hexadecimal digits.
    pub agent_id: String,
    /// The record of it: 64 hexadecimal digits.
    pub audit_id: String,
    /// Where that agent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_uri: Option<String>,
}

/// A payload that knows its place in no chain yet.
#[derive(Debug)]
pub(crate) struct Payload {
    /// Compact JSON with its keys in order.
    pub bytes: Vec<u8>,
    /// Where the 64 digits of the record before it stand.
    pub previous_at: usize,
}

/// Writes members of one object.
struct Object {
    text: String,
    previous_at: usize,
}

impl RecordDraft<'_> {
    /// Writes it.
    ///
    /// # Errors
    /// It is longer than [`PAYLOAD_BYTES_MAX`].
    pub(crate) fn write(&self, node: Option<&str>) -> Result<Payload, LogError> {
        let mut out = Object::new();
        // In the order of their names: the payload is canonical JSON (RFC 8785) without being sorted.
        out.maybe("acting_principal_id", self.acting_principal_id);
        out.maybe("action_id", self.action_id);
        out.text("agent_id", self.agent.map_or("", AgentId::as_str));
        out.text("audit_record_version", RECORD_VERSION);
        out.maybe("contract_hash", self.contract.map(|contract| contract.contract_hash));
        self.extra(node, &mut out);
        out.text("issued_at", &moment(self.issued_at));
        out.maybe("negotiation_origin", self.contract.map(|contract| contract.negotiation_origin));
        out.text("owner_id", self.owner_id);
        out.previous();
        out.maybe("principal_id", self.principal_id);
        if !self.prior_actions.is_empty() {
            out.value("prior_actions", &self.prior_actions);
        }
        out.maybe("request_hash", self.request_hash.as_ref().map(to_hex).as_deref());
        out.text("request_id", self.request_id);
        out.maybe("requested_method", self.requested_method);
        out.text("response_id", self.response_id);
        out.text("server_id", self.server_id);
        out.maybe("session_id", self.session_id);
        out.value("status", &self.status);
        out.maybe("synthesis_id", self.contract.map(|contract| contract.synthesis_id));
        out.maybe("task_id", self.task_id);
        out.end()
    }

    /// What other readers look for under `extra`.
    fn extra(&self, node: Option<&str>, out: &mut Object) {
        #[derive(Serialize)]
        struct Extra<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            identity_assurance: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            node: Option<&'a str>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            prior_actions: &'a [PriorAction],
        }
        if self.identity_assurance.is_some() || node.is_some() || !self.prior_actions.is_empty() {
            let (identity_assurance, prior_actions) = (self.identity_assurance, self.prior_actions);
            out.value("extra", &Extra { identity_assurance, node, prior_actions });
        }
    }
}

/// An event of an agent's life. What it says of itself goes before what is known here. Base 8.2.
///
/// # Errors
/// It is longer than [`PAYLOAD_BYTES_MAX`].
pub(crate) fn event(
    agent: &AgentId,
    server_id: &str,
    node: Option<&str>,
    now: Timestamp,
    mut said: Map<String, Value>,
) -> Result<Payload, LogError> {
    for (name, value) in [("issued_at", moment(now)), ("server_id", server_id.to_owned())] {
        said.entry(name).or_insert_with(|| value.into());
    }
    for name in ["owner_id", "request_id", "response_id"] {
        said.entry(name).or_insert_with(|| "".into());
    }
    if let Some(node) = node {
        said.insert("extra".to_owned(), serde_json::json!({"node": node}));
    }
    said.insert("agent_id".to_owned(), agent.as_str().into());
    said.insert("audit_record_version".to_owned(), RECORD_VERSION.into());
    // What the event says of its own place in the chain does not count: these are set after its members.
    said.insert(PREVIOUS.to_owned(), Value::Null);
    let mut names: Vec<&String> = said.keys().collect();
    names.sort_unstable();
    let mut out = Object::new();
    for name in names {
        match name.as_str() {
            PREVIOUS => out.previous(),
            name => out.value(name, &said[name]),
        }
    }
    out.end()
}

impl Object {
    fn new() -> Self {
        let mut text = String::with_capacity(1024);
        text.push('{');
        Self { text, previous_at: 0 }
    }

    fn name(&mut self, name: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.string(name);
        self.text.push(':');
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    fn maybe(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn value(&mut self, name: &str, value: &impl Serialize) {
        self.name(name);
        // What is ours to say has text keys only, and so is always written.
        let written = serde_json::to_string(value);
        self.text.push_str(written.as_deref().unwrap_or("null"));
    }

    fn previous(&mut self) {
        self.name(PREVIOUS);
        // Behind the quotation mark. The 64 digits are written over when the place in the chain is known, so that
        // nothing is serialized under the lock.
        self.previous_at = self.text.len() + 1;
        self.string(ZEROS);
    }

    fn string(&mut self, value: &str) {
        // Nearly all texts are plain, and need no escapes looked for one by one.
        let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\');
        if !is_plain {
            // Text is always written.
            self.text.push_str(serde_json::to_string(value).as_deref().unwrap_or("\"\""));
            return;
        }
        self.text.push('"');
        self.text.push_str(value);
        self.text.push('"');
    }

    fn end(mut self) -> Result<Payload, LogError> {
        self.text.push('}');
        match self.text.len() <= PAYLOAD_BYTES_MAX {
            true => Ok(Payload { bytes: self.text.into_bytes(), previous_at: self.previous_at }),
            false => Err(LogError::TooLarge),
        }
    }
}

/// A moment in RFC 3339, to the millisecond.
fn moment(at: Timestamp) -> String {
    let whole = Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at);
    whole.to_string()
}
