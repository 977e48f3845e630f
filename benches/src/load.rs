//! A loud client: one thread, some connections, and an exact count of what came back.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Connections of one round.
pub(crate) const CONNECTIONS: usize = 32;

/// What one visit to a server came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub requests: u64,
    pub elapsed: Duration,
}

/// What is sent over and over, one after the other, and what every answer to it holds.
pub(crate) struct Asked {
    pub texts: Vec<String>,
    pub holds: &'static str,
}

impl Asked {
    /// One request.
    pub(crate) fn of(text: String, holds: &'static str) -> Self {
        Self { texts: vec![text], holds }
    }
}

/// Sends `request` over and over for `time`. Any status but 200 voids the visit, as does an answer that
/// does not hold what it must.
pub(crate) fn visit(port: u16, request: &Asked, time: Duration) -> anyhow::Result<Visit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let begin = Instant::now();
        let clients = (0..CONNECTIONS).map(|first| client(port, request, first, begin + time));
        let counts = futures::future::try_join_all(clients).await?;
        Ok(Visit { requests: counts.iter().sum(), elapsed: begin.elapsed() })
    })
}

async fn client(port: u16, request: &Asked, first: usize, end: Instant) -> anyhow::Result<u64> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 * 1024);
    let mut count = 0;
    let texts = request.texts.iter().cycle().skip(first % request.texts.len().max(1));
    for text in texts.take_while(|_| Instant::now() < end) {
        stream.write_all(text.as_bytes()).await?;
        answer(&mut stream, &mut buffer).await?;
        let held = request.holds.is_empty() || find(&buffer, request.holds.as_bytes()).is_some();
        ensure!(held, "an answer without {}: {}", request.holds, String::from_utf8_lossy(&buffer));
        count += 1;
    }
    Ok(count)
}

/// Reads one answer whole. What was asked for conditionally may not have changed; any other status than
/// success is an error.
pub(crate) async fn answer(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    buffer.clear();
    let head = loop {
        if let Some(end) = find(buffer, b"\r\n\r\n") {
            break end + 4;
        }
        ensure!(stream.read_buf(buffer).await? > 0, "the connection closed in the head");
    };
    let text = std::str::from_utf8(&buffer[..head])?;
    if text.starts_with("HTTP/1.1 304") {
        return Ok(());
    }
    if !text.starts_with("HTTP/1.1 200") {
        bail!("{}", text.lines().next().unwrap_or_default());
    }
    let length = text.lines().find_map(length_of).context("an answer has a length")?;
    while buffer.len() < head + length {
        ensure!(stream.read_buf(buffer).await? > 0, "the connection closed in the body");
    }
    Ok(())
}

fn length_of(line: &str) -> Option<usize> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// One answer, head and body, for comparing what two servers send.
pub(crate) fn sample(port: u16, request: &str) -> anyhow::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let mut buffer = Vec::new();
        stream.write_all(request.as_bytes()).await?;
        answer(&mut stream, &mut buffer).await?;
        Ok(String::from_utf8_lossy(&buffer).into_owned())
    })
}
