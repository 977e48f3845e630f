//! This module sends a request again as it came: by the same way over a socket of this machine, so that it meets
//! everything that a caller meets.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use forecourt::development::{FinishedTrace, KeptRequest};
use http::header::HOST;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::steps::{is_message, is_request};

/// How long an answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(15 * 60);
/// Bytes that are read at once. Nothing of the answer is kept: what came of it is shown as of any request.
const READ_BYTES: usize = 16 * 1024;
/// The fields of one connection, which are another one's here.
const OF_CONNECTION: [&str; 6] = ["connection", "content-length", "expect", "te", "transfer-encoding", "upgrade"];
/// With it the host would give the answer that it gave before, and ask nobody.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The message that is the last one once this trace is over, `kept` being what it is of. One that was not kept, such as a
/// long one, leaves none: the one before it is not what somebody means who sends the last one again.
pub(super) fn last_message(
    before: Option<KeptRequest>,
    trace: &FinishedTrace,
    kept: Option<KeptRequest>,
) -> Option<KeptRequest> {
    match is_message(trace) {
        true if kept.is_some() => kept,
        // What nobody asked, such as work in the background, takes the place of no message.
        true if is_request(trace) => None,
        _ => before,
    }
}

/// Sends a request to this address, and reads the answer to its end.
///
/// # Errors
/// Nobody takes it, or the answer takes too long.
pub(super) async fn send(address: SocketAddr, request: &KeptRequest) -> io::Result<()> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(&head(address, request)).await?;
        stream.write_all(&request.body).await?;
        let mut bytes = vec![0; READ_BYTES];
        while stream.read(&mut bytes).await? > 0 {}
        Ok(())
    };
    match timeout(ANSWER_TIME_MAX, exchange).await {
        Ok(answered) => answered,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "it takes too long")),
    }
}

/// The head of a request of HTTP/1.1 (RFC 9112 3), whose connection ends with the answer.
fn head(address: SocketAddr, request: &KeptRequest) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path).into_bytes();
    let mut add = |name: &str, value: &[u8]| {
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    };
    if !request.headers.contains_key(HOST) {
        // One that came over HTTP/2 said its host beside its fields.
        add("host", address.to_string().as_bytes());
    }
    for (name, value) in &request.headers {
        if !OF_CONNECTION.contains(&name.as_str()) && name != IDEMPOTENCY_KEY {
            add(name.as_str(), value.as_bytes());
        }
    }
    add("content-length", request.body.len().to_string().as_bytes());
    add("connection", b"close");
    head.extend_from_slice(b"\r\n");
    head
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, Method};
    use tokio::net::TcpListener;

    use super::super::report::tests::{span, trace};
    use super::*;

    #[test]
    fn the_last_message_is_never_one_before_it() {
        let root = |name: &str| span(1, 0, name, 9, &[("forecourt.protocol", "rest"), ("http.request.method", "POST")]);
        let message = trace(vec![root("POST /~{handle}"), span(2, 1, "receive", 8, &[])]);
        let page = trace(vec![root("GET /")]);
        let work = trace(vec![span(1, 0, "task 7", 9, &[]), span(2, 1, "receive", 8, &[])]);
        let paths = |trace: &FinishedTrace, kept: Option<KeptRequest>| {
            last_message(Some(request(&[])), trace, kept).map(|last| last.path)
        };
        let other = || Some(KeptRequest { path: "/other".to_owned(), ..request(&[]) });
        assert_eq!(paths(&message, other()).as_deref(), Some("/other"));
        assert_eq!(paths(&message, None), None, "it was too long to be kept");
        assert_eq!(paths(&page, other()).as_deref(), Some("/~chef?x=1"));
        assert_eq!(paths(&work, None).as_deref(), Some("/~chef?x=1"));
    }

    fn request(headers: &[(&'static str, &'static str)]) -> KeptRequest {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
        KeptRequest { method: Method::POST, path: "/~chef?x=1".to_owned(), headers, body: "{}".into() }
    }

    #[tokio::test]
    async fn a_request_is_sent_as_it_came_but_for_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let request = request(&[
            ("host", "demo.localhost:8080"),
            ("authorization", "Bearer x"),
            ("transfer-encoding", "chunked"),
            ("connection", "keep-alive"),
            ("idempotency-key", "7"),
        ]);
        let answer = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 1024];
            let mut read = 0;
            while !bytes[..read].ends_with(b"{}") {
                read += stream.read(&mut bytes[read..]).await.unwrap();
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await.unwrap();
            String::from_utf8(bytes[..read].to_vec()).unwrap()
        };
        let (sent, came) = tokio::join!(send(address, &request), answer);
        sent.unwrap();
        let wanted = "POST /~chef?x=1 HTTP/1.1\r\nhost: demo.localhost:8080\r\nauthorization: Bearer x\r\n\
                      content-length: 2\r\nconnection: close\r\n\r\n{}";
        assert_eq!(came, wanted);
    }

    #[test]
    fn what_came_without_a_host_has_that_of_the_listener() {
        let head = head("127.0.0.1:8080".parse().unwrap(), &request(&[]));
        assert!(String::from_utf8(head).unwrap().contains("\r\nhost: 127.0.0.1:8080\r\n"));
    }
}
