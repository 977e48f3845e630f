//! This module has the message to an agent: its sender, its parts, and the earlier turns.
//!
//! The JSON form is that of Mentionable's normalized message, so one reader serves every place
//! where it travels: webhooks, worker processes, sidecars and our own storage.

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::account::Account;
use crate::address::Handle;
use crate::agent_state::AgentState;
use crate::authority::Authority;
use crate::bot::Bot;
use crate::caller::CallerKey;
use crate::credential::SubjectToken;
use crate::findings::{SearchOptions, SearchRefinement};
use crate::identity::IdentityEvidence;
use crate::ids::{ConsentToken, MessageId, ThreadId};
use crate::journal::WorkJournal;
use crate::language::Language;
use crate::network::Network;
use crate::part::Part;
use crate::policy::{PolicyResolution, Submission};
use crate::question::{Question, QuestionAnswer};
use crate::stop::StopSign;
use crate::usage::UsageMeter;

mod allowance;
mod caller;
mod history;
mod json;
mod notes;

pub use allowance::Allowance;
pub use history::History;
pub use notes::GateNotes;

/// How a message reached this host: a name such as `rest` or `a2a`. Data for people and logs;
/// no step of the trip branches on it.
pub type Transport = &'static str;

/// The network address behind a request: the peer, or what a trusted proxy says of it. Listeners
/// attach it to each request, protocols copy it to [`Sender::peer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddr(pub IpAddr);

/// One caller's message to one agent, in the same form whatever protocol it came by.
#[derive(Debug, Clone)]
pub struct Message {
    /// The caller's own id where the protocol has one, ours otherwise.
    pub id: MessageId,
    /// The conversation this continues, as the caller named it. The host replaces an unknown one.
    pub thread: Option<ThreadId>,
    /// The agent it is for.
    pub recipient: Handle,
    /// The sender: verified identity, authority and profile.
    pub sender: Sender,
    /// The current turn; at most [`crate::limits::PARTS_MAX`].
    pub parts: Vec<Part>,
    /// Earlier turns, oldest first. When empty, the host recalls those of the thread.
    pub history: History,
    /// The language the caller would like an answer in.
    pub language: Option<Language>,
    /// How many agents handed the request on before it came here, 0 for a caller's own. At most
    /// [`crate::limits::HOPS_MAX`].
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
    /// What our own protocol crate asks of an agent that searches. Never filled from a caller's bytes alone.
    pub search: SearchOptions,
    /// Answers that the caller gave by name, to the fields of a question that it was asked. Text may hold
    /// others: [`Question::answers`].
    pub answers: Vec<QuestionAnswer>,
    /// Data that its protocol stores with the turn, to show the message again as it came. No agent and no other
    /// protocol reads it.
    pub annotations: Map<String, Value>,
    /// Whether this turn and its answer must not be stored in the conversation. Earlier turns are still recalled.
    pub unrecorded: bool,
    /// What the caller brings to go on after a refusal; claims for the host to check. No agent sees it.
    pub submission: Option<Box<Submission>>,
    /// What the browser that sent it keeps its consents by, where nobody is signed in. Filled from a cookie that counts,
    /// and from nothing else; it lets consents hold that were given there, and opens nothing. No agent sees it.
    pub consents: Option<ConsentToken>,
    /// The consent or payment that answered an earlier refusal. Set by the host alone, from its own records. PolicyPart
    /// F-3.
    pub policy_resolution: Option<Box<PolicyResolution>>,
    /// Notes of the host and the gate about this message: which rules have counted it.
    pub gate: GateNotes,
    /// The meter to which agents report the tokens that models used. Counts nothing unless the host has set it.
    pub usage: UsageMeter,
    /// Where agents note how far their work has come. Keeps nothing unless the host has set it.
    pub journal: WorkJournal,
    /// Why the work is stopped before its end, once it is.
    pub stop: StopSign,
    /// What its agent keeps in the conversation. Set by the host alone, from its own records.
    pub state: AgentState,
}

/// The annotation of a turn with the receipt of the payment by which it passed, in the words of its scheme. The host
/// alone writes it; wires show it with the answer.
pub const RECEIPT: &str = "receipt";

impl Message {
    /// A message of `parts` from an anonymous sender that begins a conversation.
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
            consents: None,
            policy_resolution: None,
            gate: GateNotes::default(),
            usage: UsageMeter::default(),
            journal: WorkJournal::default(),
            stop: StopSign::default(),
            state: AgentState::default(),
        }
    }

    /// The text of the current turn: text parts unchanged, joined by a newline.
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }

    /// [`Self::text`] without the mention of its recipient that it may begin with. The host takes that out before an
    /// agent is called, but not where it is the whole message: for who takes such a message for one without words, and
    /// for who reads messages before that.
    pub fn addressed_text(&self) -> String {
        let text = self.text();
        let words = crate::mention::behind_mention(&text, &self.recipient);
        // Of equal length means nothing was cut: the text is handed on without a copy.
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

/// The sender of a message. Mentionable normalized-message, `Sender`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sender {
    /// `@x@domain`, empty when anonymous; a platform's subject in histories.
    pub address: String,
    /// How the transport authenticated the sender; an open list, `none` when it did not.
    #[serde(default = "no_method")]
    pub auth_method: String,
    /// Whether this host verified that proof. Everything that a caller's body says about its sender is unverified.
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
    /// The scopes that may be used in its name. Part of the sender, so that code that hands a request on can't forget
    /// it.
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
    /// The crawler that it is, if it proved or says that it is one. Never serialized.
    #[serde(skip)]
    pub bot: Option<Box<Bot>>,
    /// What may be used up in its name. Part of the sender, so that code that hands a request on can't forget it. Never
    /// serialized.
    #[serde(skip)]
    pub allowance: Allowance,
}

fn no_method() -> String {
    "none".to_owned()
}

impl Sender {
    /// A sender who proved nothing. Mentionable REST 7.1.
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
            bot: None,
            allowance: Allowance::Whole,
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
        // The first evidence names the owner everywhere, so that a caller with several proofs has one set of tasks.
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

    /// The account that the bytes stored for this sender count towards.
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
        self.bot = None;
        self
    }
}

impl Default for Sender {
    fn default() -> Self {
        Self::anonymous()
    }
}

/// A sender's own profile, for display. None of it is verified.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// A name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Everything else the profile held, unread.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The speaker of a turn, seen from the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The caller.
    User,
    /// The agent itself.
    Assistant,
}

/// Fields of a [`Turn`] in our own storage that the normalized message does not have: they are removed from what
/// callers send and from what backends get.
const OWN_FIELDS: [&str; 5] = ["question", "answers", "narrowing", "annotations", "state"];

/// One earlier turn. Mentionable normalized-message, `HistoricalMessage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The speaker: the caller or the agent.
    pub role: Role,
    /// The speaker's identity; anonymous where it is not known.
    #[serde(default = "Sender::anonymous")]
    pub sender: Sender,
    /// The content of the turn.
    pub parts: Vec<Part>,
    /// When, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The message's own id, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The question that the agent asked with this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<Question>>,
    /// The caller's answers to the fields of a question, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<QuestionAnswer>,
    /// The refinement of the search that it asked for, so that "more" keeps it.
    #[serde(default, skip_serializing_if = "SearchRefinement::is_empty")]
    pub narrowing: SearchRefinement,
    /// [`Message::annotations`].
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub annotations: Map<String, Value>,
    /// What the agent keeps in the conversation from this turn on, where it said so with this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Box<TurnState>>,
}

/// What an agent keeps from one turn on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnState {
    /// The state; `null` for nothing any more.
    pub value: Value,
    /// Whether the host has only kept it anew, before the turn that it came with is left out: what an agent has kept
    /// goes before it, whichever turn is the later one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_renewed: bool,
}

impl Turn {
    /// A turn of these parts by an anonymous sender, without a time or an id.
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
            state: None,
        }
    }

    /// A turn of plain text by `role`.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Part::text(text)])
    }
}
