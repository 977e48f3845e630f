//! A service elsewhere that answers what it is told to, byte for byte, and keeps what it was sent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the service does with a request.
#[derive(Clone)]
pub(crate) enum Act {
    /// Sends these bytes and closes.
    Send(Vec<u8>),
    /// Sends these bytes and then nothing.
    Hang(Vec<u8>),
    /// Sends the head, and a body that does not end.
    Flood,
}

pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Upstream {
    /// A service that does the same with every request.
    pub(crate) async fn new(act: Act) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = Upstream { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let seen = Arc::clone(&upstream.seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, act.clone(), Arc::clone(&seen)));
            }
        });
        upstream
    }

    /// A service that answers every request with this status and body.
    pub(crate) async fn answering(status: &str, body: &str) -> Upstream {
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        Upstream::new(Act::Send(text.into_bytes())).await
    }

    pub(crate) fn url(&self, rest: &str) -> String {
        format!("http://{}{rest}", self.address)
    }

    /// The requests so far, head and body.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// The one request: its first line, its fields in lower case, its body.
    pub(crate) fn request(&self) -> (String, Vec<String>, String) {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        let (head, body) = seen[0].split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines().map(str::to_owned);
        (lines.next().unwrap(), lines.map(|line| line.to_lowercase()).collect(), body.to_owned())
    }
}

async fn serve(mut stream: TcpStream, act: Act, seen: Arc<Mutex<Vec<String>>>) {
    let request = read(&mut stream).await;
    seen.lock().unwrap().push(request);
    match act {
        Act::Send(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Act::Hang(bytes) => {
            let _ = stream.write_all(&bytes).await;
            std::future::pending::<()>().await;
        }
        Act::Flood => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\"").await;
            while stream.write_all(&[b'a'; 64 * 1024]).await.is_ok() {}
        }
    }
}

async fn read(stream: &mut TcpStream) -> String {
    let (mut text, mut chunk) = (String::new(), [0; 4096]);
    loop {
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| body.len() >= length(head));
        if whole {
            return text;
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return text,
            Ok(count) => text.push_str(&String::from_utf8_lossy(&chunk[..count])),
        }
    }
}

fn length(head: &str) -> usize {
    let line =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned));
    line.map_or(0, |text| text.trim().parse().unwrap())
}
