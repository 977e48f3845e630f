//! An event as Slack sends it, after its signature was checked.

use forecourt_connectors::limits::ID_BYTES_MAX;
use forecourt_connectors::{ChatFile, ChatMessage, EventError, Incoming, Place};
use forecourt_core::json;
use serde::Deserialize;
use serde_json::json as value;

use crate::limits::{FILES_MAX, NAME_CHARS_MAX};
use crate::text;

/// The workspace of a user of whom Slack does not say it: no rule for members of one admits it.
const UNKNOWN_TEAM: &str = "unknown";

/// What is sent. Slack adds fields as it likes; those that are not read are passed over.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    challenge: Option<String>,
    team_id: Option<String>,
    /// Whether other workspaces have a part in the channel.
    #[serde(default)]
    is_ext_shared_channel: bool,
    event: Option<Event>,
    #[serde(default)]
    authorizations: Vec<Authorization>,
}

/// For whom the event is.
#[derive(Deserialize)]
struct Authorization {
    user_id: Option<String>,
    #[serde(default)]
    is_bot: bool,
}

/// What happened; within a change, the message as it is now.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    subtype: Option<String>,
    channel: Option<String>,
    channel_type: Option<String>,
    user: Option<String>,
    /// The workspace of the user, in channels that several share; some events have `team` instead.
    user_team: Option<String>,
    team: Option<String>,
    text: Option<String>,
    ts: Option<String>,
    thread_ts: Option<String>,
    bot_id: Option<String>,
    deleted_ts: Option<String>,
    #[serde(default)]
    files: Vec<FileObject>,
    message: Option<Box<Event>>,
    previous_message: Option<Box<Event>>,
}

#[derive(Deserialize)]
struct FileObject {
    name: Option<String>,
    mimetype: Option<String>,
    size: Option<u64>,
    url_private_download: Option<String>,
    url_private: Option<String>,
}

/// Reads an event. Interactions are acknowledged and mean nothing: the buttons of our messages open pages.
///
/// # Errors
/// [`EventError::Malformed`]: it is none that Slack sends.
pub(crate) fn read(body: &[u8], is_form: bool) -> Result<Incoming, EventError> {
    if is_form {
        return match url::form_urlencoded::parse(body).any(|(key, _)| key == "payload") {
            true => Ok(Incoming::Nothing),
            false => Err(EventError::Malformed("slash commands are not taken here: mention the app, or write to it")),
        };
    }
    let malformed = EventError::Malformed("the event can't be read");
    let value = json::parse(body).map_err(|_| malformed)?;
    let envelope: Envelope = serde_json::from_value(value).map_err(|_| malformed)?;
    match envelope.kind.as_str() {
        "url_verification" => {
            let challenge = envelope.challenge.ok_or(EventError::Malformed("the challenge is missing"))?;
            Ok(Incoming::Reply(value!({ "challenge": challenge })))
        }
        "event_callback" => of_callback(envelope),
        // Such as `app_rate_limited`, which only says that other events were not sent.
        _ => Ok(Incoming::Nothing),
    }
}

fn of_callback(envelope: Envelope) -> Result<Incoming, EventError> {
    // In a channel that several share, that of the event says nothing about who speaks.
    let usual = if envelope.is_ext_shared_channel { Some(UNKNOWN_TEAM.to_owned()) } else { envelope.team_id };
    let team = usual.unwrap_or_default();
    let us = envelope.authorizations.into_iter().find(|of| of.is_bot).and_then(|of| of.user_id).unwrap_or_default();
    let Some(event) = envelope.event else { return Err(EventError::Malformed("the event is missing")) };
    let is_mention = event.kind.as_deref() == Some("app_mention");
    if !is_mention && event.kind.as_deref() != Some("message") {
        return Ok(Incoming::Nothing);
    }
    match event.subtype.as_deref() {
        None | Some("file_share" | "thread_broadcast") => {
            let message = message(&event, &event, &team, &us, is_mention)?;
            Ok(message.map_or(Incoming::Nothing, |message| Incoming::Message(Box::new(message))))
        }
        Some("message_changed") => {
            let Some(now) = &event.message else { return Ok(Incoming::Nothing) };
            // A deletion of a message with replies leaves a stone in its place.
            if now.subtype.as_deref() == Some("tombstone") {
                return deleted(&event, now.ts.as_deref());
            }
            let message = message(now, &event, &team, &us, false)?;
            Ok(message.map_or(Incoming::Nothing, |message| Incoming::Edited(Box::new(message))))
        }
        Some("message_deleted") => deleted(&event, event.deleted_ts.as_deref()),
        Some(_) => Ok(Incoming::Nothing),
    }
}

/// A message of a person. `None`: of a program, such as this one.
fn message(
    said: &Event,
    outer: &Event,
    team: &str,
    us: &str,
    is_mention: bool,
) -> Result<Option<ChatMessage>, EventError> {
    let (Some(user), Some(ts)) = (&said.user, &said.ts) else { return Ok(None) };
    if said.bot_id.is_some() || user == us {
        return Ok(None);
    }
    let place = place(said, outer)?;
    let group = said.user_team.as_deref().or(said.team.as_deref()).unwrap_or(team);
    [user, ts, group].into_iter().try_for_each(id)?;
    let text = text::read(said.text.as_deref().unwrap_or_default(), us);
    Ok(Some(ChatMessage {
        place,
        message: ts.clone(),
        group: group.to_owned(),
        user: user.clone(),
        profile: None,
        mentions_connector: is_mention || text.mentions_us,
        is_for_others: text.is_for_others,
        // Slack has threads alone.
        replies_to: None,
        text: text.words,
        files: said.files.iter().take(FILES_MAX).filter_map(file).collect(),
    }))
}

/// Where a message is: answers to one in a channel go into the thread that it begins, those to a direct one beside it.
fn place(said: &Event, outer: &Event) -> Result<Place, EventError> {
    let channel = outer.channel.clone().ok_or(EventError::Malformed("the channel is missing"))?;
    id(&channel)?;
    let is_direct = match outer.channel_type.as_deref() {
        Some(kind) => kind == "im",
        None => channel.starts_with('D'),
    };
    let thread = said.thread_ts.clone().or_else(|| said.ts.clone().filter(|_| !is_direct));
    thread.as_deref().map_or(Ok(()), id)?;
    let is_reply = said.thread_ts.is_some() && said.thread_ts != said.ts;
    Ok(Place { channel, thread, is_reply, is_direct, ticket: None })
}

fn deleted(event: &Event, ts: Option<&str>) -> Result<Incoming, EventError> {
    let Some(ts) = ts else { return Err(EventError::Malformed("the deleted message is not named")) };
    id(ts)?;
    let before = event.previous_message.as_deref().unwrap_or(event);
    let place = place(before, event)?;
    Ok(Incoming::Deleted { place, message: ts.to_owned() })
}

fn file(file: &FileObject) -> Option<ChatFile> {
    let url = file.url_private_download.clone().or_else(|| file.url_private.clone())?;
    let name = file.name.as_deref().unwrap_or("file").replace(['/', '\\'], "_");
    let mime = file.mimetype.clone().filter(|mime| mime.len() < 128 && mime.contains('/'));
    Some(ChatFile {
        url,
        name: name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect(),
        mime: mime.unwrap_or_else(|| "application/octet-stream".to_owned()),
        size_bytes: file.size.unwrap_or(u64::MAX),
    })
}

/// Ids are short words: longer ones, and those that could be taken apart otherwise, are none of Slack's.
fn id(text: &str) -> Result<(), EventError> {
    let fits = (1..=ID_BYTES_MAX).contains(&text.len());
    match fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_') {
        true => Ok(()),
        false => Err(EventError::Malformed("an id of the event is none of Slack's")),
    }
}

#[cfg(test)]
mod tests;
