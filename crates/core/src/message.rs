//! A message to an agent: who sent it, what it holds, and what was said before.
//!
//! The JSON form is that of Mentionable's normalized message, so one reader serves every place
//! where it travels: webhooks, worker processes, sidecars and our own storage.

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::account::Account;
use crate::address::Handle;
use crate::authority::Authority;
use crate::caller::CallerKey;
use crate::credential::SubjectToken;
use crate::findings::{SearchOptions, SearchRefinement};
use crate::identity::IdentityEvidence;
use crate::ids::{MessageId, ThreadId};
use crate::language::Language;
use crate::network::Network;
use crate::part::Part;
use crate::policy::{PolicyResolution, Submission};
use crate::question::{Question, QuestionAnswer};
use crate::usage::UsageMeter;

mod caller;
mod history;
mod json;
mod notes;

pub use history::History;
pub use notes::GateNotes;

/// How a message reached this host: a name such as `rest` or `a2a`. Data for people and logs;
/// no step of the trip branches on it.
pub type Transport = &'static str;

/// The network address behind a request: the peer, or what a trusted proxy says of it. Listeners
/// attach it to each request, protocols copy it to [`Sender::peer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddr(pub IpAddr);

/// What one caller says to one agent, whatever protocol it came by.
#[derive(Debug, Clone)]
pub struct Message {
    /// The caller's own id where the protocol has one, ours otherwise.
    pub id: MessageId,
    /// The conversation this continues, as the caller named it. The host replaces an unknown one.
    pub thread: Option<ThreadId>,
    /// The agent it is for.
    pub recipient: Handle,
    /// Who speaks, as far as was proven.
    pub sender: Sender,
    /// The current turn; at most [`crate::limits::PARTS_MAX`].
    pub parts: Vec<Part>,
    /// Earlier turns, oldest first. When empty, the host recalls those of the thread.
    pub history: History,
    /// The language the caller would like an answer in.
    pub language: Option<Language>,
    /// How many agents stand in line before this one. Bounds chains of agents.
    pub hop: u32,
    /// The protocol it came by.
    pub received_via: Transport,
    /// When it arrived.
    pub received_at: Timestamp,
    /// What the caller said about the message, by namespaced keys. Unverified: whatever would carry
    /// evidence has been taken out. Most messages have none.
    pub metadata: Map<String, Value>,
    /// URIs of the extensions of its protocol that the caller activated.
    pub extensions: Vec<String>,
    /// What our own protocol wants of an agent that finds items. Never from the caller's bytes alone.
    pub search: SearchOptions,
    /// Answers that the caller gave by name, to the fields of a question that it was asked. Text may hold
    /// others: [`Question::answers`].
    pub answers: Vec<QuestionAnswer>,
    /// What its protocol keeps of it beside its parts, to show it again as it was said: for that protocol
    /// alone. No agent and no step reads it.
    pub annotations: Map<String, Value>,
    /// Whether the caller wants nothing of this turn and its answer remembered. What was said before
    /// is still recalled.
    pub unrecorded: bool,
    /// What the caller brings to go on after a refusal; claims for the host to check. No agent sees it.
    pub submission: Option<Box<Submission>>,
    /// Whether the caller's own credit may be used for it: not, where something else than its caller may have had it
    /// sent, such as a link on another site.
    pub may_spend: bool,
    /// What was done about an earlier refusal. The host alone says so, from its own records.
    pub policy_resolution: Option<Box<PolicyResolution>>,
    /// What the host and the gate note of it on its way.
    pub gate: GateNotes,
    /// Where agents say what models used for the answer. The host's; nobody's for a message that did not come to one.
    pub usage: UsageMeter,
}

/// The annotation of a turn with the receipt of the payment by which it passed, in the words of its scheme. The host
/// alone writes it; wires show it with the answer.
pub const RECEIPT: &str = "receipt";

impl Message {
    /// A message of `parts` from nobody in particular, that begins a conversation.
    pub fn new(
        id: MessageId,
        recipient: Handle,
        parts: Vec<Part>,
        received_via: Transport,
        received_at: Timestamp,
    ) -> Self {
        Self {
            id,
            thread: None,
            recipient,
            sender: Sender::anonymous(),
            parts,
            history: History::default(),
            language: None,
            hop: 0,
            received_via,
            received_at,
            metadata: Map::new(),
            extensions: Vec::new(),
            search: SearchOptions::default(),
            answers: Vec::new(),
            annotations: Map::new(),
            unrecorded: false,
            submission: None,
            may_spend: true,
            policy_resolution: None,
            gate: GateNotes::default(),
            usage: UsageMeter::default(),
        }
    }

    /// The text of the current turn: text parts unchanged, joined by a newline.
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }

    /// [`Self::text`] without the mention of its recipient that it may begin with: for agents that
    /// take words at their value, and not as a person would.
    pub fn addressed_text(&self) -> String {
        let text = self.text();
        let words = crate::mention::behind_mention(&text, &self.recipient);
        if words.len() == text.len() { text } else { words.to_owned() }
    }
}

/// The text parts of `parts`, joined by a newline.
pub fn text_of(parts: &[Part]) -> String {
    let mut texts = parts.iter().filter_map(Part::as_text);
    let mut joined = texts.next().unwrap_or_default().to_owned();
    for text in texts {
        joined.push('\n');
        joined.push_str(text);
    }
    joined
}

/// Who sent a message. Mentionable normalized-message, `Sender`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sender {
    /// `@x@domain`, empty when anonymous; a platform's subject in histories.
    pub address: String,
    /// How the transport authenticated the sender; an open list, `none` when it did not.
    #[serde(default = "no_method")]
    pub auth_method: String,
    /// Whether this host checked that proof.
    #[serde(default)]
    pub verified: bool,
    /// Which key signed, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// For people and models, never for authorization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Verified evidence: the only thing to authorize on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<IdentityEvidence>,
    /// What may be done in its name. Lies in here, so that nobody who hands its wish on can leave it behind.
    #[serde(default, skip_serializing_if = "Authority::is_unbounded")]
    pub authority: Authority,
    /// The agent of this host that it was proven to be, if it is one. Never serialized.
    #[serde(skip)]
    pub agent: Option<Handle>,
    /// The bearer token that it was known by, to be exchanged for another one where the operator says so. Never
    /// serialized, and in no history.
    #[serde(skip)]
    pub token: Option<SubjectToken>,
    /// An address the sender claims without proof. A hint for display and threading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_address: Option<String>,
    /// The network address behind the request, for limits. Never serialized.
    #[serde(skip)]
    pub peer: Option<IpAddr>,
}

fn no_method() -> String {
    "none".to_owned()
}

impl Sender {
    /// Nobody in particular. Mentionable REST 7.1.
    pub fn anonymous() -> Self {
        Self {
            address: String::new(),
            auth_method: no_method(),
            verified: false,
            key_id: None,
            profile: None,
            identities: Vec::new(),
            authority: Authority::default(),
            agent: None,
            token: None,
            claimed_address: None,
            peer: None,
        }
    }

    /// Whether a bearer token is among what proved who it is.
    pub fn showed_token(&self) -> bool {
        self.verified && self.identities.iter().any(IdentityEvidence::is_of_token)
    }

    /// The authenticated subject that owns what this sender begins, if there is one.
    pub fn owner(&self) -> Option<&str> {
        if !self.verified {
            return None;
        }
        match self.identities.first() {
            Some(evidence) => Some(&evidence.subject),
            None => (!self.address.is_empty()).then_some(self.address.as_str()),
        }
    }

    /// The network that stands for a caller who proved nothing: its address, of IPv6 the first half.
    /// `None` for what did not come over a network.
    pub fn network(&self) -> Option<Network> {
        self.peer.map(Network::of)
    }

    /// Whose stored bytes it is that this sender has the host keep.
    pub fn account(&self) -> Account {
        self.caller(None).account()
    }

    /// Who it is to this host; `conversation` is the key of one that is kept here and that it goes on with.
    pub fn caller<'a>(&'a self, conversation: Option<&'a str>) -> CallerKey<'a> {
        CallerKey::of(self.owner(), conversation, self.network())
    }

    /// This sender as a body may describe it: everything that would need a proof is taken away.
    /// Mentionable REST 3.2.2.
    #[must_use]
    pub fn stripped_of_proof(mut self) -> Self {
        self.auth_method = no_method();
        self.verified = false;
        self.key_id = None;
        self.identities.clear();
        self.authority = Authority::default();
        self.agent = None;
        self.token = None;
        self
    }
}

impl Default for Sender {
    fn default() -> Self {
        Self::anonymous()
    }
}

/// What people may like to know about a sender. All of it is hearsay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// A name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Everything else the profile held, unread.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Who spoke in an earlier turn, seen from the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The caller.
    User,
    /// The agent itself.
    Assistant,
}

/// Fields of a [`Turn`] that our own parts tell each other in what is stored: the normalized message has no
/// such, and nobody else may say them.
const OWN_FIELDS: [&str; 4] = ["question", "answers", "narrowing", "annotations"];

/// One earlier turn. Mentionable normalized-message, `HistoricalMessage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Who spoke.
    pub role: Role,
    /// Who that was, as far as is known.
    #[serde(default = "Sender::anonymous")]
    pub sender: Sender,
    /// What was said.
    pub parts: Vec<Part>,
    /// When, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The message's own id, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the agent asked with this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<Question>>,
    /// What the caller answered by name with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<QuestionAnswer>,
    /// How the search that it asked for was narrowed down.
    #[serde(default, skip_serializing_if = "SearchRefinement::is_empty")]
    pub narrowing: SearchRefinement,
    /// [`Message::annotations`].
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub annotations: Map<String, Value>,
}

impl Turn {
    /// A turn of these parts, of which nothing else is known.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self {
            role,
            sender: Sender::anonymous(),
            parts,
            timestamp: None,
            id: None,
            question: None,
            answers: Vec::new(),
            narrowing: SearchRefinement::default(),
            annotations: Map::new(),
        }
    }

    /// A turn of plain text by `role`.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Part::text(text)])
    }
}
