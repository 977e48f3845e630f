//! What tracing costs: GET markdown from `echo` with no collector, and with one that is told of some requests.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::arm::{Arm, ECHO, ECHO_AGENT, OPEN_LIMITS};
use crate::load::Asked;
use crate::report::{compare, sides};
use crate::run::Run;

/// Runs the comparison.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let collector = collector()?;
    let traced = |name, share: &str| {
        let telemetry =
            format!("{OPEN_LIMITS}[telemetry]\nendpoint = \"http://127.0.0.1:{collector}\"\ntraces = {share}\n");
        // The collector is on this machine.
        let settings = format!("{telemetry}[egress]\nallow = [\"127.0.0.0/8\"]\nallow_http = true\n");
        Arm::forecourt(name, &[("forecourt.toml", settings.as_str()), ("agents/echo.toml", ECHO_AGENT)])
    };
    let arms = [
        Arm::forecourt("no traces", ECHO)?,
        Arm::forecourt("no traces, again", ECHO)?,
        traced("of none", "0.0")?,
        traced("of 1 %", "0.01")?,
        traced("of 10 %", "0.1")?,
        traced("of all", "1.0")?,
    ];
    let asked = |port| {
        let host = format!("Host: demo.localhost:{port}");
        Asked::of(format!("GET /~echo?user=hello HTTP/1.1\r\n{host}\r\nAccept: text/markdown\r\n\r\n"), "hello")
    };
    compare(run, "", &sides(&arms, asked))
}

/// What takes whatever it is told; gives its port.
fn collector() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || take(connection));
        }
    });
    Ok(port)
}

/// Answers one request after the other, until the connection ends or says something else than one with a length.
fn take(mut connection: TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 64 * 1024];
    loop {
        let head = loop {
            match bytes.windows(4).position(|end| end == b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => read(&mut connection, &mut chunk, &mut bytes)?,
            }
        };
        let text = std::str::from_utf8(bytes.get(..head)?).ok()?.to_ascii_lowercase();
        let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
        while bytes.len() < head + length {
            read(&mut connection, &mut chunk, &mut bytes)?;
        }
        bytes.drain(..head + length);
        connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
    }
}

fn read(connection: &mut TcpStream, chunk: &mut [u8], bytes: &mut Vec<u8>) -> Option<()> {
    let count = connection.read(chunk).ok().filter(|count| *count > 0)?;
    bytes.extend_from_slice(&chunk[..count]);
    Some(())
}
