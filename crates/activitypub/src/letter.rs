//! What an answer needs to be a note in the thread of its question.

use forecourt_core::Transport;
use forecourt_correspondence::Address;
use serde::{Deserialize, Serialize};

use crate::NAME;
use crate::actors::RemoteActor;
use crate::iri::Iri;

/// Further attempts at what can't even be written down to be delivered later. A server that is away is another matter.
const RETRIES: u32 = 9;

/// Where the answer to a note goes.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NoteAddress {
    /// Who asked.
    pub(crate) actor: Iri,
    /// The name before the `@`, for the mention.
    pub(crate) username: String,
    /// Where its server takes notes for it.
    pub(crate) inbox: Iri,
    /// The note that is answered.
    pub(crate) note: Iri,
    /// Whether everybody may read that one.
    pub(crate) is_public: bool,
    /// How many agents handed the question on.
    pub(crate) hop: u32,
    /// Which edit of the question it answers; 0 for the question as it was first.
    #[serde(default)]
    pub(crate) revision: u32,
}

/// What an answer is sent to.
pub(crate) type Letter = forecourt_correspondence::Letter<NoteAddress>;
/// Where messages are put.
pub(crate) type Desk = forecourt_correspondence::Desk<NoteAddress>;

impl NoteAddress {
    /// Where the answer to this note of `actor` goes.
    pub(crate) fn new(actor: &RemoteActor, note: Iri, is_public: bool, hop: u32) -> Self {
        Self {
            actor: actor.id.clone(),
            username: actor.username.clone(),
            inbox: actor.inbox.clone(),
            note,
            is_public,
            hop,
            revision: 0,
        }
    }
}

impl Address for NoteAddress {
    const PROTOCOL: Transport = NAME;
    const KEY: &'static str = "note_letter";
    const RETRIES: u32 = RETRIES;
    const ANSWERS_HAVE_TOKENS: bool = true;

    fn url(&self) -> String {
        self.inbox.as_str().to_owned()
    }

    fn stranger(&self) -> String {
        format!("unverified:{}", self.actor)
    }
}
