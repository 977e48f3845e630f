//! A message of a chat, as a platform tells of it.

use forecourt_core::Handle;
use forecourt_core::message::Profile;
use serde::{Deserialize, Serialize};

/// A message as a platform tells of it, in its own ids. Whatever the platform did not sign is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// Where it is.
    pub place: Place,
    /// Its own id, which tells it from all others of its channel.
    pub message: String,
    /// The group that the speaker is of, such as a workspace; empty where the platform has none.
    pub group: String,
    /// Who speaks.
    pub user: String,
    /// What the speaker shows of itself, where the event says that.
    pub profile: Option<Profile>,
    /// What was said, as plain text; mentions of the connector are taken out.
    pub text: String,
    /// Whether it mentions the connector.
    pub mentions_connector: bool,
    /// Whether it begins with a mention of somebody else.
    pub is_for_others: bool,
    /// What came with it.
    pub files: Vec<ChatFile>,
}

/// Where messages are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The channel, or the conversation of two.
    pub channel: String,
    /// The thread in it that an answer goes into. `None`: it stands in the channel itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Whether the thread was there before: the message is a reply.
    #[serde(default)]
    pub is_reply: bool,
    /// Whether nobody else reads it.
    #[serde(default)]
    pub is_direct: bool,
}

impl Place {
    /// The thread, or the channel where it has none: what an agent stays with.
    pub(crate) fn key(&self, connector: &Handle) -> String {
        format!("{connector}/{}/{}", self.channel, self.thread.as_deref().unwrap_or_default())
    }
}

/// A file of a message, which the platform hands out to the connector alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatFile {
    /// Where the connector gets it.
    pub url: String,
    /// Its name.
    pub name: String,
    /// Its media type, as the platform says.
    pub mime: String,
    /// Bytes.
    pub size_bytes: u64,
}
