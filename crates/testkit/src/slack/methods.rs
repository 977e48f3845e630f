//! The methods of the Web API, with the checks that Slack makes.

use axum::body::Bytes;
use serde_json::{Map, Value, json};

use super::{SlackBooks, SlackMessage};

const POSTED: [&str; 6] = ["channel", "text", "thread_ts", "blocks", "unfurl_links", "unfurl_media"];

/// Calls a method; fails with the word that Slack would answer.
pub(super) fn call(books: &mut SlackBooks, method: &str, kind: &str, body: &Bytes) -> Result<Value, &'static str> {
    match method {
        "auth.test" => Ok(json!({"user": "cook", "team": "Kitchen", "user_id": super::SLACK_BOT, "team_id": "T1"})),
        "users.info" => {
            let form = form(kind, body, &["user", "include_locale"])?;
            let user = form.get("user").and_then(Value::as_str).ok_or("user_not_found")?;
            let profile = json!({"display_name": format!("{user} the guest"), "real_name": "A Guest"});
            Ok(
                json!({"user": {"id": user, "name": "guest", "tz": "Europe/Berlin", "locale": "de-DE", "profile": profile}}),
            )
        }
        "chat.postMessage" => post(books, method, json_of(kind, body, &POSTED)?),
        "chat.postEphemeral" => {
            let mut known = POSTED.to_vec();
            known.push("user");
            let fields = json_of(kind, body, &known)?;
            match fields.get("user").and_then(Value::as_str) {
                Some(user) if user.starts_with('U') => post(books, method, fields),
                _ => Err("user_not_in_channel"),
            }
        }
        "chat.update" => update(books, json_of(kind, body, &["channel", "ts", "text", "parse"])?),
        "chat.delete" => {
            let fields = json_of(kind, body, &["channel", "ts"])?;
            let message = find(books, &fields)?;
            message.is_deleted = true;
            Ok(json!({"ts": message.ts}))
        }
        "files.getUploadURLExternal" => upload(books, &form(kind, body, &["filename", "length"])?),
        "files.completeUploadExternal" => complete(books, json_of(kind, body, &["files", "channel_id", "thread_ts"])?),
        _ => Err("unknown_method"),
    }
}

fn post(books: &mut SlackBooks, method: &str, fields: Map<String, Value>) -> Result<Value, &'static str> {
    let channel = fields.get("channel").and_then(Value::as_str).ok_or("channel_not_found")?;
    if !channel.starts_with(['C', 'D', 'G']) {
        return Err("channel_not_found");
    }
    let text = fields.get("text").and_then(Value::as_str).ok_or("no_text")?;
    if text.is_empty() {
        return Err("no_text");
    }
    if text.chars().count() > 40_000 {
        return Err("msg_too_long");
    }
    check_blocks(fields.get("blocks"))?;
    if fields.get("thread_ts").is_some_and(|ts| !ts.as_str().is_some_and(|ts| ts.contains('.'))) {
        return Err("invalid_thread_ts");
    }
    books.last += 1;
    let ts = format!("9000000000.{:06}", books.last);
    let answer = match method {
        "chat.postEphemeral" => json!({"message_ts": ts}),
        _ => json!({"channel": channel, "ts": ts}),
    };
    let message =
        SlackMessage { method: method.to_owned(), ts, fields: Value::Object(fields), edits: 0, is_deleted: false };
    books.messages.push(message);
    Ok(answer)
}

fn check_blocks(blocks: Option<&Value>) -> Result<(), &'static str> {
    for block in blocks.and_then(Value::as_array).into_iter().flatten() {
        let fits = match block["type"].as_str() {
            Some("section") => {
                block["text"]["text"].as_str().is_some_and(|text| (1..=3_000).contains(&text.chars().count()))
            }
            Some("actions") => block["elements"].as_array().into_iter().flatten().all(|button| {
                let label = button["text"]["text"].as_str().unwrap_or_default().chars().count();
                let url = button["url"].as_str().unwrap_or_default();
                (1..=75).contains(&label) && url.starts_with("https://") && url.len() <= 3_000
            }),
            _ => false,
        };
        if !fits {
            return Err("invalid_blocks");
        }
    }
    Ok(())
}

fn update(books: &mut SlackBooks, fields: Map<String, Value>) -> Result<Value, &'static str> {
    let text = fields.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()).ok_or("no_text")?.to_owned();
    if text.chars().count() > 4_000 {
        return Err("msg_too_long");
    }
    let message = find(books, &fields)?;
    message.edits += 1;
    // Slack's own default here is to link names.
    let links_names = fields.get("parse").and_then(Value::as_str).is_none_or(|parse| parse != "none");
    message.fields["text"] = json!(if links_names { text.replace("@channel", "<!channel>") } else { text });
    Ok(json!({"ts": message.ts}))
}

/// A message of the app that is there. What only one person saw is not found.
fn find<'a>(books: &'a mut SlackBooks, fields: &Map<String, Value>) -> Result<&'a mut SlackMessage, &'static str> {
    let ts = fields.get("ts").and_then(Value::as_str).unwrap_or_default();
    let all = books.messages.iter_mut();
    all.filter(|message| message.method == "chat.postMessage" && !message.is_deleted)
        .find(|message| message.ts == ts && Some(&message.fields["channel"]) == fields.get("channel"))
        .ok_or("message_not_found")
}

fn upload(books: &mut SlackBooks, form: &Map<String, Value>) -> Result<Value, &'static str> {
    let text = |key: &str| form.get(key).and_then(Value::as_str).unwrap_or_default();
    let length = text("length").parse().map_err(|_| "invalid_arguments")?;
    let id = format!("F{}", books.uploads.len() + 1);
    books.uploads.push((id.clone(), text("filename").to_owned(), length, Bytes::new()));
    Ok(json!({"upload_url": format!("{}/upload/{id}", books.origin), "file_id": id}))
}

fn complete(books: &mut SlackBooks, fields: Map<String, Value>) -> Result<Value, &'static str> {
    for file in fields.get("files").and_then(Value::as_array).into_iter().flatten() {
        let uploaded = books.uploads.iter().find(|(id, ..)| file["id"] == **id).ok_or("file_not_found")?;
        let (_, name, length, bytes) = uploaded.clone();
        if bytes.len() != length {
            return Err("file_not_found");
        }
        books.files.push((name, bytes, Value::Object(fields.clone())));
    }
    Ok(json!({"files": []}))
}

fn json_of(kind: &str, body: &Bytes, known: &[&str]) -> Result<Map<String, Value>, &'static str> {
    if kind != "application/json; charset=utf-8" {
        return Err("invalid_post_type");
    }
    let value: Value = serde_json::from_slice(body).map_err(|_| "invalid_json")?;
    let Value::Object(fields) = value else { return Err("json_not_object") };
    match fields.keys().all(|key| known.contains(&key.as_str())) {
        true => Ok(fields),
        false => Err("invalid_arguments"),
    }
}

fn form(kind: &str, body: &Bytes, known: &[&str]) -> Result<Map<String, Value>, &'static str> {
    if kind != "application/x-www-form-urlencoded" {
        return Err("invalid_form_data");
    }
    let pairs =
        url::form_urlencoded::parse(body).map(|(key, value)| (key.into_owned(), Value::String(value.into_owned())));
    let fields: Map<String, Value> = pairs.collect();
    match fields.keys().all(|key| known.contains(&key.as_str())) {
        true => Ok(fields),
        false => Err("invalid_arguments"),
    }
}
