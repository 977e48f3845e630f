//! Messages of channels, with the checks that Discord makes.

use serde_json::{Value, json};

use super::call::{Call, Refused};
use super::{DiscordBooks, DiscordDouble, DiscordMessage};

const UNKNOWN_MESSAGE: Refused = (404, 10_008, "Unknown Message");
const INVALID: Refused = (400, 50_035, "Invalid Form Body");
/// Fields of a message, and of an edit.
pub(super) const POSTED: [&str; 8] = [
    "content",
    "allowed_mentions",
    "flags",
    "components",
    "message_reference",
    "nonce",
    "enforce_nonce",
    "attachments",
];
pub(super) const EDITED: [&str; 3] = ["content", "allowed_mentions", "components"];

pub(super) fn post(books: &mut DiscordBooks, call: &Call<'_>, channel: &str) -> Result<Value, Refused> {
    if books.closed.iter().any(|user| DiscordDouble::direct(user) == channel) {
        return Err((403, 50_007, "Cannot send messages to this user"));
    }
    if let Some(sent) = file(books, call, channel) {
        return sent;
    }
    let fields = call.fields(&POSTED)?;
    check(&fields, &[0, 4])?;
    if let Some(reference) = fields.get("message_reference") {
        let keys = reference.as_object().ok_or(INVALID)?;
        let is_fine = keys.keys().all(|key| matches!(key.as_str(), "message_id" | "fail_if_not_exists"));
        if !is_fine || reference["fail_if_not_exists"] != false || !reference["message_id"].is_string() {
            return Err((400, 50_035, "a reference that is none"));
        }
    }
    if let Some(nonce) = fields["nonce"].as_str().filter(|_| fields["enforce_nonce"] == true) {
        if nonce.len() > 25 {
            return Err((400, 50_035, "a nonce that is too long"));
        }
        if let Some(id) = books.nonces.get(&format!("{channel}/{nonce}")).cloned() {
            let there = books.messages.iter().find(|message| message.id == id).ok_or(UNKNOWN_MESSAGE)?;
            return Ok(shown(there));
        }
    }
    let nonce = fields["nonce"].as_str().map(|nonce| format!("{channel}/{nonce}"));
    let sent = add(books, channel, fields, false);
    if let Some(nonce) = nonce {
        books.nonces.insert(nonce, sent["id"].as_str().unwrap_or_default().to_owned());
    }
    Ok(sent)
}

/// What people wrote in a channel behind a message: the first of it, the newest first.
pub(super) fn after(books: &mut DiscordBooks, call: &Call<'_>, channel: &str) -> Result<Value, Refused> {
    let field = |name: &str| {
        let value = call.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|value| value.parse::<u64>().ok()).ok_or(INVALID)
    };
    let (after, limit) = (field("after")?, field("limit")?);
    if !(1..=100).contains(&limit) {
        return Err(INVALID);
    }
    let number = |message: &Value| message["id"].as_str().and_then(|id| id.parse::<u64>().ok()).unwrap_or_default();
    let mut found: Vec<Value> = books.said.get(channel).cloned().unwrap_or_default();
    found.retain(|message| number(message) > after);
    found.sort_by_key(number);
    found.truncate(usize::try_from(limit).unwrap_or_default());
    found.reverse();
    Ok(json!(found))
}

pub(super) fn edit(books: &mut DiscordBooks, call: &Call<'_>, channel: &str, id: &str) -> Result<Value, Refused> {
    let fields = call.fields(&EDITED)?;
    check(&fields, &[])?;
    change(books, &fields, |message| message.id == id && message.channel == channel && !message.is_ephemeral)
}

pub(super) fn delete(books: &mut DiscordBooks, channel: &str, id: &str) -> Result<Value, Refused> {
    remove(books, |message| message.id == id && message.channel == channel && !message.is_ephemeral)
}

/// A form with a file: its message stands in one field of it.
pub(super) fn file(books: &mut DiscordBooks, call: &Call<'_>, channel: &str) -> Option<Result<Value, Refused>> {
    if !call.kind.starts_with("multipart/form-data; boundary=") {
        return None;
    }
    let text = String::from_utf8_lossy(call.body);
    if !text.contains("name=\"payload_json\"") || !text.contains("name=\"files[0]\"") {
        return Some(Err(INVALID));
    }
    if !text.contains("\"allowed_mentions\":{\"parse\":[]}") {
        return Some(Err((400, 50_035, "a message that could mention somebody")));
    }
    books.files.push((channel.to_owned(), call.body.clone()));
    let id = books.next_id();
    Some(Ok(json!({"id": id, "channel_id": channel, "content": ""})))
}

/// Adds a message, and gives it as Discord does.
pub(super) fn add(books: &mut DiscordBooks, channel: &str, fields: Value, is_ephemeral: bool) -> Value {
    let id = books.next_id();
    let message = DiscordMessage { id, channel: channel.to_owned(), fields, edits: 0, is_ephemeral, is_deleted: false };
    let shown = shown(&message);
    books.messages.push(message);
    shown
}

pub(super) fn change(
    books: &mut DiscordBooks,
    fields: &Value,
    is_it: impl Fn(&DiscordMessage) -> bool,
) -> Result<Value, Refused> {
    let message = books.messages.iter_mut().find(|message| !message.is_deleted && is_it(message));
    let message = message.ok_or(UNKNOWN_MESSAGE)?;
    for (key, value) in fields.as_object().into_iter().flatten() {
        message.fields[key] = value.clone();
    }
    message.edits += 1;
    Ok(shown(message))
}

pub(super) fn remove(books: &mut DiscordBooks, is_it: impl Fn(&DiscordMessage) -> bool) -> Result<Value, Refused> {
    let message = books.messages.iter_mut().find(|message| !message.is_deleted && is_it(message));
    message.ok_or(UNKNOWN_MESSAGE)?.is_deleted = true;
    Ok(Value::Null)
}

fn shown(message: &DiscordMessage) -> Value {
    json!({"id": message.id, "channel_id": message.channel, "content": message.fields["content"]})
}

/// Holds what every message has against the rules.
pub(super) fn check(fields: &Value, flags: &[u64]) -> Result<(), Refused> {
    let content = fields["content"].as_str().filter(|text| !text.trim().is_empty());
    let content = content.ok_or((400, 50_006, "Cannot send an empty message"))?;
    if content.chars().count() > 2_000 {
        return Err((400, 50_035, "Must be 2000 or fewer in length."));
    }
    if fields["allowed_mentions"] != json!({"parse": []}) {
        return Err((400, 50_035, "a message that could mention somebody"));
    }
    let has = fields["flags"].as_u64().unwrap_or_default();
    if !flags.is_empty() && !flags.contains(&has) {
        return Err((400, 50_035, "flags that can't be set"));
    }
    let rows = fields["components"].as_array().into_iter().flatten();
    let is_row =
        |row: &Value| row["type"] == 1 && row["components"].as_array().is_some_and(|all| all.iter().all(is_button));
    match rows.into_iter().all(is_row) {
        true => Ok(()),
        false => Err((400, 50_035, "a component that is none")),
    }
}

fn is_button(button: &Value) -> bool {
    let url = button["url"].as_str().unwrap_or_default();
    let label = button["label"].as_str().unwrap_or_default().chars().count();
    let is_link = button["type"] == 2 && button["style"] == 5 && button["custom_id"].is_null();
    is_link && (1..=80).contains(&label) && url.starts_with("https://") && url.len() <= 512
}
