//! A message, or its end, as the gateway tells of it.

use forecourt_connectors::{ChatFile, ChatMessage, Place};
use forecourt_core::message::Profile;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::ids::is_id;
use crate::limits::{FILES_MAX, NAME_CHARS_MAX};
use crate::text::{self, Names};

/// What happened.
#[derive(Debug)]
pub(crate) enum Happening {
    /// Somebody wrote, or changed what was written.
    Written {
        /// What is written now.
        message: Box<MessageEvent>,
        /// Whether it said something else before.
        is_edit: bool,
    },
    /// Messages are gone.
    Gone {
        /// Their channel.
        channel: String,
        /// Their ids.
        messages: Vec<String>,
    },
}

/// A message. Discord adds fields as it likes; those that are not read are passed over.
#[derive(Debug, Deserialize)]
pub(crate) struct MessageEvent {
    pub(crate) id: String,
    pub(crate) channel_id: String,
    /// The server. None in a conversation of two.
    pub(crate) guild_id: Option<String>,
    author: Option<User>,
    member: Option<Member>,
    webhook_id: Option<IgnoredAny>,
    #[serde(rename = "type", default)]
    kind: u64,
    #[serde(default)]
    content: String,
    edited_timestamp: Option<String>,
    #[serde(default)]
    mentions: Vec<User>,
    /// The roles that are mentioned.
    #[serde(default)]
    pub(crate) mention_roles: Vec<String>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    /// The message that it replies to.
    referenced_message: Option<Box<ReferencedMessage>>,
}

#[derive(Debug, Deserialize)]
struct ReferencedMessage {
    id: Option<String>,
    author: Option<User>,
}

/// A user, as events have it.
#[derive(Debug, Deserialize)]
pub(crate) struct User {
    pub(crate) id: String,
    #[serde(default)]
    bot: bool,
    username: Option<String>,
    global_name: Option<String>,
}

/// A user within a server.
#[derive(Debug, Deserialize)]
pub(crate) struct Member {
    pub(crate) user: Option<User>,
    nick: Option<String>,
}

/// A file of a message.
#[derive(Debug, Deserialize)]
pub(crate) struct Attachment {
    filename: Option<String>,
    content_type: Option<String>,
    size: Option<u64>,
    url: String,
}

#[derive(Deserialize)]
struct Deletion {
    id: Option<String>,
    #[serde(default)]
    ids: Vec<String>,
    channel_id: String,
}

/// What is said in the place of a message, once it is known where that is.
pub(crate) struct Surroundings<'a> {
    /// The user that the connector is.
    pub(crate) us: &'a str,
    /// The roles that it has there.
    pub(crate) our_roles: &'a [String],
    /// Whether the channel is a thread.
    pub(crate) is_thread: bool,
}

/// Reads an event. `None`: nothing that an agent is to hear of, or that can be read.
pub(crate) fn read(kind: &str, data: Value, us: &str) -> Option<Happening> {
    match kind {
        "MESSAGE_CREATE" | "MESSAGE_UPDATE" => {
            let message: MessageEvent = serde_json::from_value(data).ok()?;
            let is_edit = kind == "MESSAGE_UPDATE";
            // A preview of a link changes a message, too.
            let says_so = !is_edit || message.edited_timestamp.is_some();
            (says_so && message.is_of_a_person(us)).then(|| Happening::Written { message: Box::new(message), is_edit })
        }
        "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => {
            let Deletion { id, ids, channel_id } = serde_json::from_value(data).ok()?;
            let messages: Vec<String> = id.into_iter().chain(ids).filter(|id| is_id(id)).collect();
            (is_id(&channel_id) && !messages.is_empty()).then_some(Happening::Gone { channel: channel_id, messages })
        }
        _ => None,
    }
}

impl Happening {
    /// The channel in which it happened.
    pub(crate) fn channel(&self) -> &str {
        match self {
            Self::Written { message, .. } => &message.channel_id,
            Self::Gone { channel, .. } => channel,
        }
    }
}

impl MessageEvent {
    /// Whether a person wrote it, and no program. Kinds 0 and 19 are messages and replies; others are written by Discord.
    fn is_of_a_person(&self, us: &str) -> bool {
        let author = self.author.as_ref().is_some_and(|author| !author.bot && author.id != us && is_id(&author.id));
        let ids = [Some(&self.id), Some(&self.channel_id), self.guild_id.as_ref()];
        author
            && self.webhook_id.is_none()
            && matches!(self.kind, 0 | 19)
            && ids.into_iter().flatten().all(|id| is_id(id))
    }

    /// Whether it replies to a message of the connector.
    fn replies_to(&self, us: &str) -> Option<bool> {
        self.referenced_message.as_ref()?.author.as_ref().map(|author| author.id == us)
    }

    /// Whether it is for the bot, as far as its mentions, its place and what it replies to say.
    pub(crate) fn is_for(&self, us: &str) -> bool {
        self.guild_id.is_none() || self.replies_to(us) == Some(true) || self.mentions.iter().any(|user| user.id == us)
    }

    /// Whether it must be known if the channel is a thread: nothing else says for whom the message is. One that mentions
    /// the bot alone is for the agent of its thread, and in a channel for that of the connector.
    pub(crate) fn needs_thread(&self, us: &str) -> bool {
        self.guild_id.is_some() && self.replies_to(us) != Some(true)
    }

    /// The message as agents hear it.
    pub(crate) fn to_chat(&self, around: &Surroundings<'_>) -> Option<ChatMessage> {
        let author = self.author.as_ref()?;
        let user = |id: &str| shown(self.mentions.iter().find(|user| user.id == id)?, None);
        let names = Names { us: around.us, our_roles: around.our_roles, user: &user };
        let read = text::read(&self.content, &names);
        let files: Vec<ChatFile> = self.attachments.iter().take(FILES_MAX).map(Attachment::file).collect();
        // What others mention in a reply stands in `mentions`, too: the text counts.
        let replies_to_us = self.replies_to(around.us);
        if read.words.is_empty() && files.is_empty() && !read.mentions_us {
            return None;
        }
        let nick = self.member.as_ref().and_then(|member| member.nick.as_deref());
        Some(ChatMessage {
            place: Place {
                channel: self.channel_id.clone(),
                // A thread of Discord is a channel of its own.
                thread: None,
                is_reply: around.is_thread || replies_to_us == Some(true),
                is_direct: self.guild_id.is_none(),
                ticket: None,
            },
            message: self.id.clone(),
            group: String::new(),
            user: author.id.clone(),
            profile: Some(profile(author, nick, None)),
            mentions_connector: read.mentions_us,
            is_for_others: !read.mentions_us && (read.is_for_others || replies_to_us == Some(false)),
            replies_to: self.referenced_message.as_ref().and_then(|replied| replied.id.clone()),
            text: read.words,
            files,
        })
    }
}

/// What a user shows of itself.
pub(crate) fn profile(user: &User, nick: Option<&str>, locale: Option<&str>) -> Profile {
    let mut more = Map::new();
    for (key, value) in [("username", user.username.as_deref()), ("locale", locale)] {
        if let Some(value) = value {
            more.insert(key.to_owned(), name(value).into());
        }
    }
    Profile { display_name: shown(user, nick), more }
}

impl Member {
    /// What the user is called in the server.
    pub(crate) fn nick(&self) -> Option<&str> {
        self.nick.as_deref()
    }
}

fn shown(user: &User, nick: Option<&str>) -> Option<String> {
    let names = [nick, user.global_name.as_deref(), user.username.as_deref()];
    names.into_iter().flatten().map(name).find(|name| !name.trim().is_empty())
}

fn name(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect()
}

impl Attachment {
    pub(crate) fn file(&self) -> ChatFile {
        let mime = self.content_type.clone().filter(|mime| mime.len() < 128 && mime.contains('/'));
        ChatFile {
            url: self.url.clone(),
            name: name(&self.filename.as_deref().unwrap_or("file").replace(['/', '\\'], "_")),
            mime: mime.unwrap_or_else(|| "application/octet-stream".to_owned()),
            size_bytes: self.size.unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests;
