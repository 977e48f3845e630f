//! An event as Telegram sends it, after its secret was checked.

use forecourt_connectors::{ChatFile, ChatMessage, EventError, Incoming, Place};
use forecourt_core::json;
use forecourt_core::message::Profile;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Map;

use crate::limits::NAME_CHARS_MAX;
use crate::text::{self, Entity};

/// The bot, as events name it.
pub(crate) struct Bot {
    pub(crate) id: i64,
    pub(crate) username: String,
}

/// What is sent. Telegram adds fields as it likes; those that are not read are passed over.
#[derive(Deserialize)]
struct Update {
    message: Option<Message>,
    edited_message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    message_id: i64,
    message_thread_id: Option<i64>,
    #[serde(default)]
    is_topic_message: bool,
    from: Option<User>,
    /// The chat that speaks; `from` is then a user that stands for all of them.
    sender_chat: Option<IgnoredAny>,
    chat: Chat,
    text: Option<String>,
    #[serde(default)]
    entities: Vec<Entity>,
    caption: Option<String>,
    #[serde(default)]
    caption_entities: Vec<Entity>,
    reply_to_message: Option<Box<RepliedMessage>>,
    document: Option<Document>,
    #[serde(default)]
    photo: Vec<Document>,
    voice: Option<Document>,
    audio: Option<Document>,
    video: Option<Document>,
}

#[derive(Deserialize)]
struct RepliedMessage {
    message_id: Option<i64>,
    from: Option<User>,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    #[serde(default)]
    first_name: String,
    last_name: Option<String>,
    username: Option<String>,
    language_code: Option<String>,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Document {
    file_id: String,
    file_name: Option<String>,
    mime_type: Option<String>,
    file_size: Option<u64>,
}

/// Reads an event.
///
/// # Errors
/// [`EventError::Malformed`]: it is none that Telegram sends.
pub(crate) fn read(body: &[u8], bot: &Bot) -> Result<Incoming, EventError> {
    let malformed = EventError::Malformed("the event can't be read");
    let value = json::parse(body).map_err(|_| malformed)?;
    let update: Update = serde_json::from_value(value).map_err(|_| malformed)?;
    let (message, is_edit) = match (update.message, update.edited_message) {
        (Some(message), _) => (message, false),
        (None, Some(message)) => (message, true),
        // Such as a poll, or somebody who joined.
        (None, None) => return Ok(Incoming::Nothing),
    };
    Ok(match (chat_message(message, bot), is_edit) {
        (None, _) => Incoming::Nothing,
        (Some(message), false) => Incoming::Message(Box::new(message)),
        (Some(message), true) => Incoming::Edited(Box::new(message)),
    })
}

/// A message of a person. `None`: of a program, of a channel, in the name of a chat, or without anything that is said.
fn chat_message(message: Message, bot: &Bot) -> Option<ChatMessage> {
    let from = message.from.as_ref().filter(|from| !from.is_bot && message.sender_chat.is_none())?;
    let is_direct = message.chat.kind == "private";
    if !is_direct && !matches!(message.chat.kind.as_str(), "group" | "supergroup") {
        return None;
    }
    let (said, entities) = match (&message.text, &message.caption) {
        (Some(text), _) => (text.as_str(), &message.entities),
        (None, Some(caption)) => (caption.as_str(), &message.caption_entities),
        (None, None) => ("", &message.entities),
    };
    // What Telegram itself writes when somebody opens the bot.
    if is_direct && (said == "/start" || said.starts_with("/start ")) {
        return None;
    }
    let read = text::read(said, entities, &bot.username);
    let files = files(&message);
    if read.words.is_empty() && files.is_empty() && !read.mentions_us {
        return None;
    }
    let replies_to_us = message.reply_to_message.as_ref().and_then(|replied| replied.from.as_ref());
    let topic = message.message_thread_id.filter(|_| message.is_topic_message);
    Some(ChatMessage {
        place: Place {
            channel: message.chat.id.to_string(),
            thread: topic.map(|topic| topic.to_string()),
            is_reply: replies_to_us.is_some_and(|from| from.id == bot.id),
            is_direct,
            ticket: None,
        },
        message: message.message_id.to_string(),
        group: String::new(),
        user: from.id.to_string(),
        profile: Some(profile(from)),
        mentions_connector: read.mentions_us,
        is_for_others: read.is_for_others,
        replies_to: message.reply_to_message.as_ref().and_then(|replied| Some(replied.message_id?.to_string())),
        text: read.words,
        files,
    })
}

fn profile(from: &User) -> Profile {
    let name = [Some(from.first_name.as_str()), from.last_name.as_deref()].into_iter().flatten();
    let name = name.collect::<Vec<_>>().join(" ");
    let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    let mut more = Map::new();
    for (key, value) in [("username", &from.username), ("locale", &from.language_code)] {
        if let Some(value) = value {
            more.insert(key.to_owned(), value.chars().take(NAME_CHARS_MAX).collect::<String>().into());
        }
    }
    Profile { display_name: Some(shown).filter(|name| !name.trim().is_empty()), more }
}

/// What came with a message: of a picture in several sizes the largest.
fn files(message: &Message) -> Vec<ChatFile> {
    let picture = message.photo.iter().max_by_key(|photo| photo.file_size);
    let all = [
        (message.document.as_ref(), "file", "application/octet-stream"),
        (picture, "photo.jpg", "image/jpeg"),
        (message.voice.as_ref(), "voice.ogg", "audio/ogg"),
        (message.audio.as_ref(), "audio", "audio/mpeg"),
        (message.video.as_ref(), "video.mp4", "video/mp4"),
    ];
    let file = |(document, name, mime): (Option<&Document>, &str, &str)| {
        let document = document?;
        let name = document.file_name.as_deref().unwrap_or(name).replace(['/', '\\'], "_");
        let kind = document.mime_type.as_deref().filter(|kind| kind.len() < 128 && kind.contains('/'));
        Some(ChatFile {
            url: document.file_id.clone(),
            name: name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect(),
            mime: kind.unwrap_or(mime).to_owned(),
            size_bytes: document.file_size.unwrap_or(u64::MAX),
        })
    };
    all.into_iter().filter_map(file).collect()
}

#[cfg(test)]
mod tests;
