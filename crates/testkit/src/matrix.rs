//! A homeserver of Matrix on loopback, after the public description of its Client-Server API: strict about what it is
//! sent, and failing as it is told to, which a real one does not do on demand.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The token that it takes.
pub const MATRIX_TOKEN: &str = "as-double-0123456789abcdef";
/// The user that the bot is.
pub const MATRIX_BOT: &str = "@kitchen:demo.test";
/// Bytes of an event, with what the homeserver adds to it.
const EVENT_BYTES_MAX: usize = 65_536;
/// What it adds to one, at most.
const ADDED_BYTES: usize = 4 * 1024;

/// How a call fails, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixFault {
    /// It is not done, and answered with this status; 429 says to come again after a second.
    Status(u16),
    /// It is done, and its answer is lost.
    Lost,
    /// It is neither done nor answered.
    Hang,
}

/// A message that was sent by the bot.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixMessage {
    /// Its room.
    pub room: String,
    /// Its id.
    pub id: String,
    /// What was sent.
    pub content: Value,
}

/// What it knows.
#[derive(Debug, Default)]
pub struct MatrixBooks {
    /// What the bot sent, in order; edits are messages of their own.
    pub messages: Vec<MatrixMessage>,
    /// Who is in which room.
    pub members: HashMap<String, Vec<String>>,
    /// Whose invitations into a room stand, beside the members.
    pub invited: HashMap<String, Vec<String>>,
    /// Rooms that anybody can come into.
    pub open: Vec<String>,
    /// Events of people, by id, as the homeserver gives them.
    pub events: HashMap<String, Value>,
    /// Messages that were taken back, by id.
    pub redacted: Vec<String>,
    /// Who took which message of the bot's down, by its id.
    pub taken_down: HashMap<String, String>,
    /// What was called, as a method and the last words of its path.
    pub called: Vec<String>,
    /// Calls that fail once, by what they do.
    pub faults: Vec<(&'static str, MatrixFault)>,
    /// Files by name, and whether they are given by the older path alone.
    pub files: HashMap<String, (Bytes, bool)>,
    transactions: HashMap<String, String>,
    direct: Option<Value>,
}

/// A homeserver. Clones share its books.
#[derive(Debug, Clone, Default)]
pub struct MatrixDouble {
    /// What it knows.
    pub books: Arc<Mutex<MatrixBooks>>,
}

impl MatrixDouble {
    /// Listens on this machine, and gives the address.
    pub async fn start(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().fallback(on_call).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        address
    }

    /// Has the next call of this kind fail.
    pub fn fail(&self, what: &'static str, fault: MatrixFault) {
        self.books.lock().faults.push((what, fault));
    }

    /// These people are in a room with the bot.
    pub fn gather(&self, room: &str, people: &[&str]) {
        let members = people.iter().chain([&MATRIX_BOT]).map(|user| (*user).to_owned()).collect();
        self.books.lock().members.insert(room.to_owned(), members);
    }

    /// What the bot wrote into a room.
    pub fn messages(&self, room: &str) -> Vec<MatrixMessage> {
        self.books.lock().messages.iter().filter(|message| message.room == room).cloned().collect()
    }
}

type Done = Result<Value, (u16, &'static str)>;

async fn on_call(
    State(matrix): State<MatrixDouble>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match answer(&matrix, &method, &uri, &headers, &body) {
        Some(answer) => answer,
        None => std::future::pending().await,
    }
}

/// What a call is answered. `None`: nothing, ever.
fn answer(matrix: &MatrixDouble, method: &Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> Option<Response> {
    let mut books = matrix.books.lock();
    if headers.get("authorization").is_none_or(|value| *value != *format!("Bearer {MATRIX_TOKEN}")) {
        return Some(refused(401, "M_UNKNOWN_TOKEN"));
    }
    let decoded: Vec<String> = uri.path().split('/').skip(1).map(decoded).collect();
    let path: Vec<&str> = decoded.iter().map(String::as_str).collect();
    let what = kind(&path);
    books.called.push(format!("{method} {what}"));
    let fault = books.faults.iter().position(|(of, _)| *of == what).map(|at| books.faults.remove(at).1);
    match fault {
        Some(MatrixFault::Status(status)) => {
            return Some(refused(status, if status == 429 { "M_LIMIT_EXCEEDED" } else { "M_UNKNOWN" }));
        }
        Some(MatrixFault::Hang) => return None,
        Some(MatrixFault::Lost) | None => {}
    }
    if let ("media", Some(name)) = (what, path.last()) {
        return Some(file(&books, name, path[1] == "client"));
    }
    if what == "upload" {
        return Some(axum::Json(json!({"content_uri": "mxc://demo.test/uploaded"})).into_response());
    }
    let fields = if body.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(body) };
    let done = fields.map_err(|_| (400, "M_NOT_JSON")).and_then(|fields| call(&mut books, method, &path, fields));
    Some(match done {
        _ if fault == Some(MatrixFault::Lost) => refused(502, "M_UNKNOWN"),
        Ok(value) => axum::Json(value).into_response(),
        Err((status, code)) => refused(status, code),
    })
}

/// What a call does, by a word.
fn kind(path: &[&str]) -> &'static str {
    match path {
        [.., "download", _, _] => "media",
        [.., "send", "m.room.message", _] => "send",
        ["_matrix", "media", "v3", "upload"] => "upload",
        [.., "redact", _, _] => "redact",
        [.., "event", _] => "event",
        [.., "joined_members"] => "members",
        [.., "join", _] => "join",
        [.., "createRoom"] => "create",
        [.., "account_data", _] => "account_data",
        _ => "other",
    }
}

fn call(books: &mut MatrixBooks, method: &Method, path: &[&str], fields: Value) -> Done {
    if let ["_matrix", "client", "v1", "rooms", room, "relations", id, "m.replace"] = path {
        let is_edit = |message: &&MatrixMessage| {
            message.room == *room && message.content["m.relates_to"] == json!({"rel_type": "m.replace", "event_id": id})
        };
        let edits = books.messages.iter().rev().filter(is_edit).map(|message| json!({"event_id": message.id}));
        return Ok(json!({"chunk": edits.collect::<Vec<_>>()}));
    }
    let ["_matrix", "client", "v3", rest @ ..] = path else { return Err((404, "M_UNRECOGNIZED")) };
    match (method.as_str(), rest) {
        ("GET", ["rooms", room, "joined_members"]) => {
            let members = books.members.get(*room).ok_or((403, "M_FORBIDDEN"))?;
            let joined: HashMap<&String, Value> = members.iter().map(|user| (user, json!({}))).collect();
            Ok(json!({"joined": joined}))
        }
        ("GET", ["rooms", room, "members"]) => {
            let invited = books.invited.get(*room).into_iter().flatten();
            let events = invited.map(|user| json!({"type": "m.room.member", "state_key": user}));
            Ok(json!({"chunk": events.collect::<Vec<_>>()}))
        }
        ("GET", ["rooms", _, "event", id]) => {
            let ours = books.messages.iter().find(|message| message.id == *id).map(|message| {
                let (content, unsigned) = match books.taken_down.get(*id) {
                    Some(by) => (json!({}), json!({"redacted_because": {"type": "m.room.redaction", "sender": by}})),
                    None => (message.content.clone(), json!({})),
                };
                json!({"type": "m.room.message", "event_id": id, "room_id": message.room, "sender": MATRIX_BOT,
                    "content": content, "unsigned": unsigned})
            });
            ours.or_else(|| books.events.get(*id).cloned()).ok_or((404, "M_NOT_FOUND"))
        }
        ("GET", ["rooms", room, "state", "m.room.join_rules"]) => {
            Ok(json!({"join_rule": if books.open.iter().any(|open| open == room) { "public" } else { "invite" }}))
        }
        ("GET", ["rooms", _, "state", "m.room.history_visibility"]) => Ok(json!({"history_visibility": "shared"})),
        ("PUT", ["rooms", room, "send", "m.room.message", transaction]) => send(books, room, transaction, fields),
        ("PUT", ["rooms", _, "redact", id, _]) => {
            books.redacted.push((*id).to_owned());
            Ok(json!({"event_id": format!("$redaction-of-{id}")}))
        }
        ("POST", ["createRoom"]) => {
            let is_direct = fields["is_direct"] == true && fields["preset"] == "trusted_private_chat";
            let person = fields["invite"][0].as_str().filter(|_| is_direct).ok_or((400, "M_BAD_JSON"))?.to_owned();
            let room = format!("!room-{}:demo.test", books.members.len());
            books.members.insert(room.clone(), vec![MATRIX_BOT.to_owned(), person]);
            Ok(json!({"room_id": room}))
        }
        ("POST", ["join", room]) => Ok(json!({"room_id": room})),
        ("GET", ["user", MATRIX_BOT, "account_data", "m.direct"]) => books.direct.clone().ok_or((404, "M_NOT_FOUND")),
        ("PUT", ["user", MATRIX_BOT, "account_data", "m.direct"]) if fields.is_object() => {
            books.direct = Some(fields);
            Ok(json!({}))
        }
        ("GET", ["profile", user]) => Ok(json!({"displayname": user})),
        _ => Err((404, "M_UNRECOGNIZED")),
    }
}

fn send(books: &mut MatrixBooks, room: &str, transaction: &str, content: Value) -> Done {
    if books.members.get(room).is_none_or(|members| members.iter().all(|user| user != MATRIX_BOT)) {
        return Err((403, "M_FORBIDDEN"));
    }
    if content.to_string().len() + ADDED_BYTES > EVENT_BYTES_MAX {
        return Err((413, "M_TOO_LARGE"));
    }
    // Whoever may be mentioned is named, and nobody is.
    let is_edit = content["m.relates_to"]["rel_type"] == "m.replace";
    let new = if is_edit { &content["m.new_content"] } else { &content };
    let has_words = new["body"].as_str().is_some_and(|body| !body.trim().is_empty());
    let is_quiet = content["m.mentions"] == json!({}) && new["m.mentions"] == json!({});
    if !has_words || !is_quiet || !new["formatted_body"].as_str().is_none_or(is_whole) {
        return Err((400, "M_BAD_JSON"));
    }
    let known = format!("{room}/{transaction}");
    if let Some(id) = books.transactions.get(&known) {
        return Ok(json!({"event_id": id}));
    }
    let id = format!("$message-{}", books.messages.len());
    books.transactions.insert(known, id.clone());
    books.messages.push(MatrixMessage { room: room.to_owned(), id: id.clone(), content });
    Ok(json!({"event_id": id}))
}

/// Whether every tag is one that clients keep, and is closed.
fn is_whole(html: &str) -> bool {
    let mut open = Vec::new();
    for piece in html.split('<').skip(1) {
        let Some((tag, _)) = piece.split_once('>') else { return false };
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        match (name, tag.starts_with('/')) {
            ("br", _) => {}
            ("strong" | "em" | "del" | "code" | "pre" | "a" | "blockquote", false) => open.push(name),
            (name, true) if open.pop() == Some(name) => {}
            _ => return false,
        }
    }
    open.is_empty()
}

fn file(books: &MatrixBooks, name: &str, is_new_path: bool) -> Response {
    match books.files.get(name) {
        Some((_, is_old)) if *is_old && is_new_path => refused(404, "M_UNRECOGNIZED"),
        Some((bytes, _)) => bytes.clone().into_response(),
        None => refused(404, "M_NOT_FOUND"),
    }
}

fn refused(status: u16, code: &str) -> Response {
    let mut answer = json!({"errcode": code, "error": "as it was told to"});
    if code == "M_LIMIT_EXCEEDED" {
        answer["retry_after_ms"] = json!(1_000);
    }
    (StatusCode::from_u16(status).unwrap(), axum::Json(answer)).into_response()
}

/// A segment of a path without its escapes.
fn decoded(segment: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).unwrap_or_default() as u8;
        bytes.push(if byte == b'%' { digit(rest.next()) * 16 + digit(rest.next()) } else { byte });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
