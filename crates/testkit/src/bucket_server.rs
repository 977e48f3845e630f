//! A server of buckets (S3) of a test's own.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::free_port;

/// How long it may take to open its port: it is a program in Python that reads much before it does.
const OPEN_TIME_MAX: Duration = Duration::from_secs(60);

/// The scripted S3 of `moto` on a free port of loopback, in memory. It ends with the test.
pub struct BucketServer {
    child: Child,
    port: u16,
}

impl BucketServer {
    /// Starts one; `None`, and a word on standard error, where it is not installed.
    pub fn start() -> Option<Self> {
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/sdk/s3/bin/python");
        if !python.exists() {
            eprintln!("skipped: dev/sdk/setup has not installed the server of buckets");
            return None;
        }
        let port = free_port();
        let mut command = Command::new(python);
        command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the server of buckets starts");
        let server = Self { child, port };
        let until = Instant::now() + OPEN_TIME_MAX;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "the server of buckets does not open its port");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    /// Makes a bucket.
    pub fn make(&self, bucket: &str) {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let head = "HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        write!(connection, "PUT /{bucket} {head}").expect("a request");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// Where it is and the keys to it, as the variables of an environment.
    pub fn variables(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        let variables = [
            ("AWS_ENDPOINT", &*endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "testing"),
            ("AWS_SECRET_ACCESS_KEY", "testing"),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
