//! What must be known of a message to answer it, now or after a restart.

use forecourt_core::store::Webhook;
use forecourt_core::{Handle, Language, Sender, Timestamp, Transport};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where answers of one protocol go: whatever its [`Carrier`](crate::Carrier) needs beside what every [`Letter`] has.
/// It is stored with the delivery, so it holds no secret, and a field that is added later needs a default. Its fields
/// lie beside those of the letter, and are called otherwise.
pub trait Address: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The protocol: names its deliveries, its ledger and its messages.
    const PROTOCOL: Transport;
    /// Where letters lie in [`Webhook::details`].
    const KEY: &'static str;
    /// Further attempts after a failed first one.
    const RETRIES: u32;
    /// Whether an answer is known by [`Letter::token`], so that whoever names that goes on with the conversation.
    const ANSWERS_HAVE_TOKENS: bool;

    /// It as a URL, for the row of the delivery. Nothing is posted there.
    fn url(&self) -> String;

    /// By what somebody is known who writes from it and was not proven to be anybody.
    fn stranger(&self) -> String;
}

/// A message that is to be answered.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Letter<A> {
    /// Who answers.
    pub agent: Handle,
    /// Who asked, as far as was proven.
    pub sender: Sender,
    /// The language in which refusals are told.
    pub language: Option<Language>,
    /// The name of the conversation, among those of its reader.
    pub conversation: String,
    /// Names the answer: 256 random bits.
    pub token: String,
    /// The token of the letter that was asked first, where this one is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// How often it was asked again since its agent had no room.
    #[serde(default)]
    pub repeats: u32,
    /// When it was asked, or asked again. `None` in letters of an earlier release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// Where the answer goes.
    #[serde(flatten)]
    pub address: A,
}

impl<A: Address> Letter<A> {
    /// What all letters of one question have in common, however often it is asked again.
    pub fn origin(&self) -> &str {
        self.first.as_deref().unwrap_or(&self.token)
    }

    /// Whose conversations they are: those of nobody that was proven are apart from those of the address.
    pub fn reader(&self) -> String {
        reader(&self.sender, &self.address)
    }

    /// What a delivery of the answer is told by, with something beside.
    pub(crate) fn webhook(&self, id: String, beside: impl IntoIterator<Item = (&'static str, Value)>) -> Webhook {
        let mut details = Map::new();
        details.insert(A::KEY.to_owned(), serde_json::to_value(self).unwrap_or_default());
        details.extend(beside.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Webhook {
            id,
            protocol: A::PROTOCOL.to_owned(),
            url: self.address.url(),
            secret: None,
            callback: false,
            retries: A::RETRIES,
            details,
        }
    }

    /// What a delivery tells of. `None` where it holds no letter of this protocol.
    pub(crate) fn of(webhook: &Webhook) -> Option<Self> {
        serde_json::from_value(webhook.details.get(A::KEY)?.clone()).ok()
    }
}

/// Whose conversations those of `sender` at `address` are: the subject that was proven, else a stranger there.
pub(crate) fn reader<A: Address>(sender: &Sender, address: &A) -> String {
    sender.owner().map_or_else(|| address.stranger(), str::to_owned)
}

/// Never prints who asked, nor the conversation.
impl<A: Address> std::fmt::Debug for Letter<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Letter").field("agent", &self.agent).field("repeats", &self.repeats).finish_non_exhaustive()
    }
}
