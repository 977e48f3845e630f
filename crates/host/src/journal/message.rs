//! A message as it is kept, so that its agent can be asked again with the same words, sender and evidence.

use std::net::IpAddr;

use forecourt_core::message::GateNotes;
use forecourt_core::network::Network;
use forecourt_core::policy::PolicyResolution;
use forecourt_core::{
    Account, AgentState, Allowance, CallerKey, Handle, Language, Message, MessageId, Part, QuestionAnswer,
    SearchOptions, Sender, ThreadId, Timestamp, Transport, Turn,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Names of protocols that are remembered: more than there are.
const TRANSPORTS_MAX: usize = 32;
/// What stands for the names of further ones.
const OTHER_TRANSPORT: Transport = "other";

/// A message as its agent was given it. What met its refusals and requirements is in it; tokens of its sender are not,
/// since no secret of another host is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct KeptMessage {
    pub(crate) id: MessageId,
    pub(crate) thread: Option<ThreadId>,
    recipient: Handle,
    sender: Sender,
    /// The agent of this host that its sender was proven to be.
    agent: Option<Handle>,
    peer: Option<IpAddr>,
    parts: Vec<Part>,
    history: Vec<Turn>,
    language: Option<Language>,
    hop: u32,
    received_via: String,
    pub(super) received_at: Timestamp,
    metadata: Map<String, Value>,
    extensions: Vec<String>,
    search: SearchOptions,
    answers: Vec<QuestionAnswer>,
    annotations: Map<String, Value>,
    unrecorded: bool,
    may_spend: bool,
    policy_resolution: Option<Box<PolicyResolution>>,
    continues: bool,
    /// What its agent had kept in the conversation. Of an earlier version there is none.
    #[serde(default)]
    state: Option<Value>,
}

impl KeptMessage {
    pub(crate) fn of(message: &Message) -> Self {
        let message = message.clone();
        Self {
            continues: message.gate.continues(),
            agent: message.sender.agent.clone(),
            peer: message.sender.peer,
            may_spend: message.sender.allowance.has_credit(),
            sender: message.sender,
            id: message.id,
            thread: message.thread,
            recipient: message.recipient,
            parts: message.parts,
            // Its state is that of the conversation now: those of earlier turns are not asked for.
            history: message.history.iter().map(|turn| Turn { state: None, ..turn.clone() }).collect(),
            language: message.language,
            hop: message.hop,
            received_via: message.received_via.to_owned(),
            received_at: message.received_at,
            metadata: message.metadata,
            extensions: message.extensions,
            search: message.search,
            answers: message.answers,
            annotations: message.annotations,
            unrecorded: message.unrecorded,
            policy_resolution: message.policy_resolution,
            state: message.state.kept().cloned(),
        }
    }

    /// Whose bytes it counts towards.
    pub(crate) fn account(&self) -> Account {
        CallerKey::of(self.sender.owner(), None, self.peer.map(Network::of)).account()
    }

    /// The message, for its agent to be asked again.
    pub(crate) fn into_message(self) -> Message {
        // What is tried out is never kept: it has no task.
        let allowance = if self.may_spend { Allowance::Whole } else { Allowance::WithoutCredit };
        let sender = Sender { agent: self.agent, peer: self.peer, token: None, allowance, ..self.sender };
        let via = transport(&self.received_via);
        // Without a conversation nothing can be kept in it.
        let state = self.thread.as_ref().map_or_else(AgentState::default, |_| AgentState::of(self.state));
        Message {
            thread: self.thread,
            sender,
            history: self.history.into(),
            language: self.language,
            hop: self.hop,
            metadata: self.metadata,
            extensions: self.extensions,
            search: self.search,
            answers: self.answers,
            annotations: self.annotations,
            unrecorded: self.unrecorded,
            policy_resolution: self.policy_resolution,
            gate: GateNotes::arriving(self.continues),
            state,
            ..Message::new(self.id, self.recipient, self.parts, via, self.received_at)
        }
    }
}

/// The name of a protocol, as those of this program are: for as long as the process lives. There are a few, and the
/// table of them is bounded.
fn transport(name: &str) -> Transport {
    static KNOWN: Mutex<Vec<Transport>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock();
    if let Some(found) = known.iter().find(|known| **known == name) {
        return found;
    }
    if known.len() >= TRANSPORTS_MAX {
        return OTHER_TRANSPORT;
    }
    let new: Transport = String::leak(name.to_owned());
    known.push(new);
    new
}

#[cfg(test)]
mod tests {
    use forecourt_core::message::TurnState;
    use forecourt_core::{Role, Turn};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_asked_again_as_it_was_but_for_the_token_of_its_sender() {
        let id = MessageId::parse("m1").unwrap();
        let handle = Handle::parse("bot").unwrap();
        let mut message = Message::new(id, handle.clone(), vec![Part::text("hi")], "rest", Timestamp::UNIX_EPOCH);
        message.sender = Sender {
            address: "@ann@demo.localhost".to_owned(),
            verified: true,
            agent: Some(handle),
            peer: Some("192.0.2.1".parse().unwrap()),
            token: Some(forecourt_core::SubjectToken::new("secret")),
            ..Sender::anonymous()
        };
        let state = Some(Box::new(TurnState { value: json!("earlier"), is_renewed: false }));
        message.history = vec![Turn { state, ..Turn::text(Role::User, "before") }].into();
        (message.hop, message.unrecorded, message.sender.allowance) = (3, true, Allowance::WithoutCredit);
        message.language = Language::parse("de");
        message.metadata.insert("a".to_owned(), json!({"b": 1}));
        message.gate = GateNotes::arriving(true);
        let written = serde_json::to_string(&KeptMessage::of(&message)).unwrap();
        assert!(!written.contains("secret"));
        let read: KeptMessage = serde_json::from_str(&written).unwrap();
        assert!(!written.contains("earlier"));
        message.sender.token = None;
        message.history.for_each_mut(|turn| turn.state = None);
        assert_eq!(format!("{:?}", read.into_message()), format!("{message:?}"));
    }

    #[test]
    fn names_of_protocols_are_kept_once_and_bounded() {
        let first = transport("rest");
        assert!(std::ptr::eq(first, transport("rest")));
        for number in 0..TRANSPORTS_MAX {
            transport(&format!("t{number}"));
        }
        assert_eq!((transport("one more"), transport("rest")), (OTHER_TRANSPORT, "rest"));
    }
}
