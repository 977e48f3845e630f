//! A server of a caller: takes posts on loopback and keeps them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use serde_json::Value;

use crate::support::{DOMAIN, PATIENCE};

/// Takes every request, answers 204 unless it has something to say, and keeps what came.
pub(crate) struct Receiver {
    port: u16,
    posts: mpsc::Receiver<Post>,
}

/// One request as it came.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) target: String,
    fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Receiver {
    /// Listens on a free port of 127.0.0.1.
    pub(crate) fn start() -> Self {
        Self::answering(Vec::new())
    }

    /// The same, but the first requests are answered with these, one for each.
    pub(crate) fn answering(answers: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (send, posts) = mpsc::channel();
        thread::spawn(move || {
            let mut answers = answers.into_iter();
            for stream in listener.incoming().map_while(Result::ok) {
                if let Some(post) = take(stream, &mut answers) {
                    let _ = send.send(post);
                }
            }
        });
        Self { port, posts }
    }

    /// An address of it under the deployment's own name, as callbacks need it.
    pub(crate) fn callback_url(&self) -> String {
        format!("http://{DOMAIN}:{}/told", self.port)
    }

    /// An address of it under another name, as webhooks need it.
    pub(crate) fn webhook_url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// A request that has come by now.
    pub(crate) fn posted(&self) -> Option<Post> {
        self.posts.try_recv().ok()
    }

    /// The next request.
    #[track_caller]
    pub(crate) fn post(&self) -> Post {
        self.posts.recv_timeout(PATIENCE).expect("a request comes")
    }

    /// The next request of those that came already.
    pub(crate) fn waiting(&self) -> Option<Post> {
        self.posts.try_recv().ok()
    }
}

impl Post {
    /// A header field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn take(mut stream: TcpStream, answers: &mut impl Iterator<Item = Value>) -> Option<Post> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let target = line.split(' ').nth(1)?.to_owned();
    let mut fields = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = fields.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let answer = answers.next().map_or_else(
        || "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned(),
        |body| format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{body}"),
    );
    stream.write_all(answer.as_bytes()).ok()?;
    Some(Post { target, fields, body })
}
