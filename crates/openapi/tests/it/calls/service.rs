//! The service of a document on this machine: it holds each request against the document and answers as that says.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::modern::Document;
use super::{answer, body, parameters};

/// A request as it arrived.
pub(super) struct Request {
    method: String,
    pub(super) path: String,
    query: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The pairs of the query, names decoded, values as they came.
    pub(super) fn query(&self) -> Vec<(String, String)> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        let split = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        split
            .map(|(name, raw)| (percent_decode_str(name).decode_utf8().unwrap().into_owned(), raw.to_owned()))
            .collect()
    }

    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    }

    pub(super) fn cookies(&self) -> BTreeMap<String, String> {
        let all = self.header("cookie").unwrap_or_default();
        let pairs = all.split("; ").filter_map(|pair| pair.split_once('='));
        pairs.map(|(n, v)| (n.to_owned(), percent_decode_str(v).decode_utf8().unwrap().into_owned())).collect()
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What a request was, or what is wrong with it.
pub(super) type Arrival = Result<Value, String>;

pub(super) struct MockService {
    address: SocketAddr,
    document: Arc<Document>,
    /// The operation that is called next, and what came.
    state: Arc<Mutex<(String, String, Option<Arrival>)>>,
}

impl MockService {
    pub(super) async fn new(document: &Value) -> MockService {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = MockService { address, document: Arc::new(Document::new(document)), state: Arc::default() };
        let (document, state) = (Arc::clone(&service.document), Arc::clone(&service.state));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A task of its own: a document that this reader stumbles over costs one call, not all that follow.
                let (document, state) = (Arc::clone(&document), Arc::clone(&state));
                tokio::spawn(async move { serve(stream, &document, &state).await });
            }
        });
        service
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The operation that is called next.
    pub(super) fn expect(&self, http: &str, path: &str) {
        *self.state.lock().unwrap() = (http.to_owned(), path.to_owned(), None);
    }

    /// What came of it. `None`: nothing came.
    pub(super) fn seen(&self) -> Option<Arrival> {
        self.state.lock().unwrap().2.clone()
    }
}

async fn serve(mut stream: TcpStream, document: &Document, state: &Mutex<(String, String, Option<Arrival>)>) {
    let Some(request) = read(&mut stream).await else { return };
    let (http, path, _) = state.lock().unwrap().clone();
    let item = document.resolve(&document.root["paths"][&path]);
    let operation = &item[http.to_ascii_lowercase()];
    let arrival = held(document, item, operation, (&http, &path), &request);
    state.lock().unwrap().2 = Some(arrival);
    let (status, media, content) = answer::answer(document, operation);
    let media = media.map(|media| format!("Content-Type: {media}\r\n")).unwrap_or_default();
    let place = if status / 100 == 3 { "Location: https://example.com/elsewhere\r\n" } else { "" };
    let length = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", content.len()) };
    let head = format!("HTTP/1.1 {status} Status\r\n{media}{place}{length}Connection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes()).await;
    if status != 204 {
        let _ = stream.write_all(&content).await;
    }
    let _ = stream.shutdown().await;
}

/// A request as a value, if it is what the document says.
fn held(
    document: &Document,
    item: &Value,
    operation: &Value,
    (http, path): (&str, &str),
    request: &Request,
) -> Arrival {
    if request.method != http {
        return Err(format!("{} instead of {http}", request.method));
    }
    // A fragment tells operations apart and is never sent.
    let path = path.split('#').next().unwrap_or_default();
    let mut found = parameters::read(document, item, operation, path, request)?;
    if let Some(body) = body::read(document, operation, request)? {
        found.insert("body".to_owned(), body);
    }
    Ok(json!(found))
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 16 * 1024]);
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let mut lines = head.lines();
            let mut first = lines.next()?.split(' ');
            let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
            let headers: Vec<(String, String)> =
                lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
            let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let (path, query) = target.split_once('?').unwrap_or((&target, ""));
                let (path, query) = (path.to_owned(), query.to_owned());
                return Some(Request { method, path, query, headers, body: bytes[end + 4..].to_vec() });
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}
