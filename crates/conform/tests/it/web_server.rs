//! A host over HTTP that keeps every rule that is checked, in as few words as that takes; and the place where a test
//! breaks one.

#[path = "web_server/a2a.rs"]
mod a2a;
#[path = "web_server/mcp.rs"]
mod mcp;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it was read.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer in the making.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What a test changes of an answer.
pub(crate) type Change = fn(&Request, &mut Reply);

impl Request {
    pub(crate) fn field(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Reply {
    fn new(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let fields = vec![("content-type".to_owned(), media_type.to_owned())];
        Self { status, fields, body }
    }

    fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    fn empty(status: u16) -> Self {
        Self { status, fields: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut Value)) {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap();
        edit(&mut body);
        self.body = body.to_string().into_bytes();
    }

    pub(crate) fn without(&mut self, name: &str) {
        self.fields.retain(|(known, _)| known != name);
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.without(name);
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    /// Replaces words of the body.
    pub(crate) fn replace(&mut self, from: &str, to: &str) {
        self.body = String::from_utf8(std::mem::take(&mut self.body)).unwrap().replace(from, to).into_bytes();
    }
}

/// Listens on a free port.
pub(crate) async fn listen(change: Change) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let sessions = Sessions::default();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, change, port, sessions.clone()));
        }
    });
    port
}

/// Sessions that are open, and how many were opened.
type Sessions = Arc<Mutex<(HashSet<String>, usize)>>;

async fn serve(mut stream: TcpStream, change: Change, port: u16, sessions: Sessions) {
    let mut buffer = Vec::new();
    let request = loop {
        if let Some(request) = read(&buffer) {
            break request;
        }
        let mut chunk = [0; 65536];
        match stream.read(&mut chunk).await {
            Ok(count) if count > 0 => buffer.extend_from_slice(&chunk[..count]),
            _ => return,
        }
    };
    let mut reply = answer(&request, port, &sessions);
    reply.set("x-robots-tag", "noindex, nofollow, noarchive");
    reply.set("access-control-allow-origin", "*");
    change(&request, &mut reply);
    let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.fields {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let body = if request.method == "HEAD" { &[][..] } else { &reply.body };
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
    let _ = stream.shutdown().await;
}

fn read(bytes: &[u8]) -> Option<Request> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut start = lines.next()?.split(' ');
    let (method, target) = (start.next()?.to_owned(), start.next()?.to_owned());
    let split = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    let fields: Vec<_> = lines.filter_map(split).collect();
    let length = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.map_or(0, |(_, text)| text.parse().unwrap());
    let body = bytes.get(end + 4..end + 4 + length)?.to_vec();
    Some(Request { method, target, fields, body })
}

fn answer(request: &Request, port: u16, sessions: &Sessions) -> Reply {
    let at = |path: &str| format!("http://127.0.0.1:{port}{path}");
    match (request.method.as_str(), request.path()) {
        ("GET", "/.well-known/mentionable-agents.json") => Reply::json(
            200,
            &json!({"contactPoint": [{
            "@type": "ContactPoint", "name": "Chef", "email": "chef@demo.localhost",
            "url": at("/.well-known/agent-card/chef")}]}),
        ),
        ("GET", "/.well-known/webfinger") => webfinger(request, &at("/.well-known/agent-card/chef")),
        ("GET", "/.well-known/agent-card/chef") => Reply::json(200, &card(&at("/~chef"), &at("/a2a"))),
        ("GET", "/.well-known/agent-card.json") => {
            let mut reply = Reply::json(200, &a2a::card(&at));
            reply.set("cache-control", "max-age=60");
            reply.set("etag", "\"1\"");
            reply
        }
        (_, "/~chef") => chef(request),
        (method, path) if path.starts_with("/tasks/") => match method {
            "PUT" | "PATCH" | "DELETE" => Reply::empty(405),
            _ => Reply::json(404, &json!({"error": "task not found or expired"})),
        },
        ("POST", "/a2a") => a2a::rpc(request),
        (_, path) if path.starts_with("/a2a/") => a2a::rest(request),
        ("POST", "/ask") => items(request),
        ("POST", "/await") => Reply::json(
            200,
            &json!({
            "_meta": {"response_type": "failure", "version": "0.55"}, "error": {"code": "INVALID_QUERY"}}),
        ),
        (_, "/mcp") => mcp::answer(request, sessions),
        _ => Reply::json(404, &json!({"error": "nothing is here"})),
    }
}

fn webfinger(request: &Request, card: &str) -> Reply {
    let Some((_, query)) = request.target.split_once('?') else { return Reply::json(400, &json!({})) };
    let resource = query.split('&').next().unwrap().to_lowercase();
    if resource != "resource=acct%3achef%40demo.localhost" {
        return Reply::json(404, &json!({}));
    }
    let rel = "https://mentionable.dev/ns/rel/agent-card";
    let links = if query.contains("rel=") { json!([]) } else { json!([{"rel": rel, "href": card}]) };
    Reply::new(200, "application/jrd+json", json!({"subject": "acct:chef@demo.localhost", "links": links}).to_string())
}

fn card(rest: &str, a2a: &str) -> Value {
    json!({
        "address": "@chef@demo.localhost", "name": "Chef", "version": "1.0.0", "protocol_version": "0.1",
        "a2a": {"endpoint": a2a, "transport": "https+jsonrpc", "skills": [], "input_modes": [], "output_modes": [],
            "auth": {"scheme": "none"},
            "capabilities": {"extensions": [{"uri": "https://mentionable.dev/ns/transport-rest/v0.1", "endpoint": rest}]}},
        "mentionable": {"supported_inbound": ["rest"]}
    })
}

fn chef(request: &Request) -> Reply {
    let query = request.target.split_once('?').map_or("", |(_, query)| query);
    let media_type = request.field("content-type");
    let mut reply = match request.method.as_str() {
        "GET" | "HEAD" if query.len() > 8 * 1024 => Reply::empty(413),
        "GET" | "HEAD" if query.contains("assistant=") => Reply::empty(400),
        "POST" if !media_type.starts_with("multipart/form-data") => Reply::empty(415),
        "POST" if request.body.len() > 1024 * 1024 => Reply::empty(413),
        "GET" | "HEAD" | "POST" => said(request.field("accept")),
        _ => Reply::empty(405),
    };
    reply.set("content-language", "en");
    reply.set("x-mentionable-agent", "@chef@demo.localhost");
    reply.set("cache-control", "private, no-cache");
    reply.set("content-security-policy", "default-src 'none'");
    reply
}

const PAGE: &str = "<!doctype html><html><head><title>@chef@demo.localhost</title>\
    <link rel=\"alternate\" type=\"text/markdown\" href=\"\"><meta name=\"mentionable:agent\" content=\"@chef@demo.localhost\">\
    <meta name=\"robots\" content=\"noindex, nofollow, noarchive\"></head><body><article>&lt;script&gt;</article></body></html>";

fn said(accept: &str) -> Reply {
    match accept {
        "application/x-conform-unknown" => Reply::empty(406),
        "text/markdown" => Reply::new(200, "text/markdown; charset=utf-8", "hello"),
        "application/json" => {
            Reply::json(200, &json!({"v": "v0.1", "agent": "@chef@demo.localhost", "parts": [{"kind": "text"}]}))
        }
        "text/event-stream" => Reply::new(200, "text/event-stream", "data: hello\n\nevent: end\ndata: {}\n\n"),
        _ => Reply::new(200, "text/html; charset=utf-8", PAGE),
    }
}

fn items(request: &Request) -> Reply {
    let body = request.json();
    let action = json!({"name": "go", "description": "Go.", "protocol": "HTTP", "method": "GET", "endpoint": "https://a.example"});
    let item = json!({"@type": "Recipe", "name": "Soup", "actions": [action]});
    let meta = |format: &str| json!({"response_type": "answer", "version": "0.55", "response_format": format});
    if body["query"]["text"].is_null() {
        return Reply::json(400, &json!({"error": "malformed"}));
    }
    if body["prefer"]["streaming"] == true {
        let start = json!({"_meta": {"response_type": "answer", "version": "0.55", "streaming": true}});
        let text = format!(
            "event: start\ndata: {start}\n\nevent: result\ndata: {}\n\nevent: complete\ndata: {}\n\n",
            json!({"index": 0, "item": item}),
            json!({"_meta": meta("conversational_search")})
        );
        return Reply::new(200, "text/event-stream", text);
    }
    if body["prefer"]["mode"] == "list, summarize" {
        let summary = json!({"@type": "SearchSummary", "text": "Soup."});
        return Reply::json(200, &json!({"_meta": meta("conversational_search"), "results": [summary, item]}));
    }
    match body["prefer"]["response_format"] == "chatgpt_app" {
        true => Reply::json(
            200,
            &json!({"_meta": meta("chatgpt_app"), "content": [{"type": "text", "text": "Soup."}], "structuredData": [item]}),
        ),
        false => Reply::json(200, &json!({"_meta": meta("conversational_search"), "results": [item]})),
    }
}
