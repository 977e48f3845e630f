//! This module sends a request again as it came: by the same way over a socket of this machine, so that it meets
//! everything that a caller meets.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use forecourt::development::KeptRequest;
use http::header::HOST;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long an answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(15 * 60);
/// Bytes that are read at once. Nothing of the answer is kept: what came of it is shown as of any request.
const READ_BYTES: usize = 16 * 1024;
/// The fields of one connection, which are another one's here.
const OF_CONNECTION: [&str; 6] = ["connection", "content-length", "expect", "te", "transfer-encoding", "upgrade"];
/// With it the host would give the answer that it gave before, and ask nobody.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

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

    use super::*;

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
