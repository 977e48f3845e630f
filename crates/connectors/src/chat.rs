//! A message of a chat, as a platform tells of it.

use forecourt_core::message::Profile;
use forecourt_core::{Handle, Timestamp};
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
    /// The message that it answers, which its writer chose. `None`: none, or that is said by its thread alone.
    pub replies_to: Option<String>,
    /// What came with it.
    pub files: Vec<ChatFile>,
}

/// Where messages are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What the platform gave for answers to this message alone, where it does that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<ReplyTicket>,
}

/// What a platform gives for answers to one message alone, such as the token of a webhook. Whoever has it can answer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTicket {
    /// The secret.
    pub token: String,
    /// When it is good for nothing any more.
    pub until: Timestamp,
}

/// Never prints the secret.
impl std::fmt::Debug for ReplyTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyTicket").field("until", &self.until).finish_non_exhaustive()
    }
}

impl Place {
    /// The same without a ticket whose time is over.
    pub(crate) fn at(&self, now: Timestamp) -> Self {
        let ticket = self.ticket.clone().filter(|ticket| ticket.until > now);
        Self { ticket, ..self.clone() }
    }

    /// The thread, or the channel where it has none: what an agent stays with.
    pub(crate) fn key(&self, connector: &Handle) -> String {
        format!("{connector}/{}/{}", self.channel, self.thread.as_deref().unwrap_or_default())
    }

    /// A message of its channel, as an agent stays with it.
    pub(crate) fn message_key(&self, connector: &Handle, message: &str) -> String {
        // No name of a connector has a colon.
        format!("message:{connector}/{}/{message}", self.channel)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_ticket_is_used_until_its_time_is_over_and_never_printed() {
        let until = Timestamp::from_second(1_000).unwrap();
        let ticket = Some(ReplyTicket { token: "a-secret".to_owned(), until });
        let place = Place { channel: "C1".to_owned(), ticket, ..Place::default() };
        assert_eq!(place.at(until - Duration::from_millis(1)), place);
        assert_eq!(place.at(until).ticket, None);
        assert!(!format!("{place:?}").contains("a-secret"));
        let written = serde_json::to_string(&place).unwrap();
        assert_eq!(serde_json::from_str::<Place>(&written).unwrap(), place);
        let older: Place = serde_json::from_str(r#"{"channel":"C1"}"#).unwrap();
        assert_eq!(older, Place { ticket: None, ..place });
    }
}
