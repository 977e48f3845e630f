//! Telegram on loopback, after the public description of its Bot API: strict about what it is sent, failing as it is
//! told to. What people do there is for the test to say.

use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// The token that it takes.
pub const TELEGRAM_TOKEN: &str = "42:double-of-a-bot-token";
/// The user name of the bot.
pub const TELEGRAM_BOT: &str = "cook_bot";

/// A message that was sent by the bot.
#[derive(Debug, Clone, PartialEq)]
pub struct TelegramMessage {
    /// Its id.
    pub id: i64,
    /// What was sent, as it is by now.
    pub fields: Value,
    /// Whether it was deleted.
    pub is_deleted: bool,
}

/// What it knows.
#[derive(Debug, Default)]
pub struct TelegramBooks {
    /// What the bot sent, in order.
    pub messages: Vec<TelegramMessage>,
    /// Bodies of the documents that it sent.
    pub documents: Vec<Bytes>,
    /// Users who have not begun a chat with the bot.
    pub strangers: HashSet<String>,
    /// Methods that fail once, with this code.
    pub faults: Vec<(String, u16)>,
    /// Files that people send, by id.
    pub files: HashMap<String, Bytes>,
}

/// Telegram. Clones share its books.
#[derive(Debug, Clone, Default)]
pub struct TelegramDouble {
    /// What it knows.
    pub books: Arc<Mutex<TelegramBooks>>,
}

impl TelegramDouble {
    /// Listens on this machine, and gives the address.
    pub async fn start(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new()
            .route("/{bot}/{method}", post(on_method))
            .route("/file/{bot}/documents/{id}", get(on_file))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        address
    }

    /// Somebody sends a file, which has this id.
    pub fn share(&self, id: &str, bytes: &'static [u8]) {
        self.books.lock().files.insert(id.to_owned(), Bytes::from_static(bytes));
    }

    /// Messages that are there, in order.
    pub fn messages(&self) -> Vec<TelegramMessage> {
        self.books.lock().messages.iter().filter(|message| !message.is_deleted).cloned().collect()
    }
}

fn is_bot(bot: &str) -> bool {
    bot == format!("bot{TELEGRAM_TOKEN}")
}

async fn on_method(
    State(telegram): State<TelegramDouble>,
    Path((bot, method)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut books = telegram.books.lock();
    let fault = books.faults.iter().position(|(of, _)| *of == method).map(|at| books.faults.remove(at).1);
    let kind = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let done = match fault {
        Some(code) => Err((code, "as it was told to")),
        None if !is_bot(&bot) => Err((401, "Unauthorized")),
        None => call(&mut books, &method, kind, &body),
    };
    match done {
        Ok(result) => axum::Json(json!({"ok": true, "result": result})).into_response(),
        Err((code, words)) => {
            let mut answer = json!({"ok": false, "error_code": code, "description": words});
            if code == 429 {
                answer["parameters"] = json!({"retry_after": 1});
            }
            (StatusCode::from_u16(code).unwrap(), axum::Json(answer)).into_response()
        }
    }
}

type Done = Result<Value, (u16, &'static str)>;

fn call(books: &mut TelegramBooks, method: &str, kind: &str, body: &Bytes) -> Done {
    if method == "sendDocument" {
        if !kind.starts_with("multipart/form-data; boundary=") {
            return Err((400, "Bad Request: there is no document in the request"));
        }
        books.documents.push(body.clone());
        return Ok(json!({"message_id": 9_000 + books.documents.len()}));
    }
    if kind != "application/json" {
        return Err((400, "Bad Request: unsupported content type"));
    }
    let fields: Map<String, Value> = serde_json::from_slice(body).map_err(|_| (400, "Bad Request: object expected"))?;
    let has = |known: &[&str]| match fields.keys().all(|key| known.contains(&key.as_str())) {
        true => Ok(()),
        false => Err((400, "Bad Request: unknown parameter")),
    };
    match method {
        "getMe" => Ok(json!({"id": 42, "is_bot": true, "first_name": "Cook", "username": TELEGRAM_BOT})),
        "sendMessage" => {
            has(&[
                "chat_id",
                "text",
                "parse_mode",
                "message_thread_id",
                "reply_parameters",
                "link_preview_options",
                "reply_markup",
            ])?;
            send(books, &fields)
        }
        "editMessageText" => {
            has(&["chat_id", "message_id", "text", "parse_mode", "link_preview_options"])?;
            let text = checked(&fields)?;
            let message = find(books, &fields).ok_or((400, "Bad Request: message to edit not found"))?;
            if message.fields["text"] == text {
                return Err((400, "Bad Request: message is not modified: specified new message content is the same"));
            }
            message.fields["text"] = json!(text);
            Ok(json!({"message_id": message.id}))
        }
        "deleteMessage" => {
            has(&["chat_id", "message_id"])?;
            let message = find(books, &fields).ok_or((400, "Bad Request: message to delete not found"))?;
            message.is_deleted = true;
            Ok(json!(true))
        }
        "getFile" => {
            let id = fields.get("file_id").and_then(Value::as_str).filter(|id| books.files.contains_key(*id));
            let id = id.ok_or((400, "Bad Request: invalid file_id"))?;
            Ok(json!({"file_id": id, "file_path": format!("documents/{id}")}))
        }
        _ => Err((404, "Not Found")),
    }
}

fn send(books: &mut TelegramBooks, fields: &Map<String, Value>) -> Done {
    let text = checked(fields)?;
    let chat = fields.get("chat_id").and_then(Value::as_str).ok_or((400, "Bad Request: chat_id is empty"))?;
    if books.strangers.contains(chat) {
        return Err((403, "Forbidden: bot can't initiate conversation with a user"));
    }
    let buttons = fields.get("reply_markup").map(|markup| &markup["inline_keyboard"]);
    let are_fine = buttons.is_none_or(|rows| {
        rows.as_array().into_iter().flatten().flat_map(|row| row.as_array().into_iter().flatten()).all(is_button)
    });
    if !are_fine {
        return Err((400, "Bad Request: BUTTON_URL_INVALID"));
    }
    let id = books.messages.len() as i64 + 1_001;
    let mut fields = Value::Object(fields.clone());
    fields["text"] = json!(text);
    books.messages.push(TelegramMessage { id, fields, is_deleted: false });
    Ok(json!({"message_id": id, "date": 1, "text": text}))
}

fn is_button(button: &Value) -> bool {
    let url = button["url"].as_str().unwrap_or_default();
    url.starts_with("https://") && button["text"].as_str().is_some_and(|text| !text.is_empty())
}

/// The text of a message, whose marks are closed and known.
fn checked(fields: &Map<String, Value>) -> Result<String, (u16, &'static str)> {
    let text = fields.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text.ok_or((400, "Bad Request: message text is empty"))?.to_owned();
    let mut open: Vec<String> = Vec::new();
    let mut shown = String::new();
    let mut rest = text.as_str();
    let is_html = fields.get("parse_mode").is_some_and(|mode| mode == "HTML");
    while let Some(at) = rest.find('<').filter(|_| is_html) {
        shown.push_str(&rest[..at]);
        let end = rest[at..].find('>').ok_or((400, "Bad Request: can't parse entities: unclosed start tag"))?;
        let tag = &rest[at + 1..at + end];
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default().to_owned();
        if !["b", "i", "s", "code", "pre", "a", "blockquote"].contains(&name.as_str()) {
            return Err((400, "Bad Request: can't parse entities: unsupported start tag"));
        }
        match tag.starts_with('/') {
            false => open.push(name),
            true if open.pop() == Some(name) => {}
            true => return Err((400, "Bad Request: can't parse entities: unexpected end tag")),
        }
        rest = &rest[at + end + 1..];
    }
    shown.push_str(rest);
    if !open.is_empty() {
        return Err((400, "Bad Request: can't parse entities: can't find end tag"));
    }
    match shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").encode_utf16().count() <= 4_096 {
        true => Ok(text),
        false => Err((400, "Bad Request: message is too long")),
    }
}

fn find<'a>(books: &'a mut TelegramBooks, fields: &Map<String, Value>) -> Option<&'a mut TelegramMessage> {
    let all = books.messages.iter_mut().filter(|message| !message.is_deleted);
    all.into_iter().find(|message| {
        fields.get("message_id") == Some(&json!(message.id))
            && fields.get("chat_id") == Some(&message.fields["chat_id"])
    })
}

async fn on_file(State(telegram): State<TelegramDouble>, Path((bot, id)): Path<(String, String)>) -> Response {
    match telegram.books.lock().files.get(&id).filter(|_| is_bot(&bot)) {
        Some(bytes) => bytes.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
