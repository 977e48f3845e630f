//! A loud client: one thread, some connections, and an exact count of what came back.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;

/// Where a request has these, each time it is sent it has a number of its own there, of as many digits: two messages
/// under one id are one message that came twice.
pub(crate) const NUMBER: &str = "############";

/// Connections of one round.
pub(crate) const CONNECTIONS: usize = 32;

/// What one visit to a server came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub requests: u64,
    pub elapsed: Duration,
}

/// What is sent over and over, one after the other, and what every answer to it holds.
#[derive(Clone)]
pub(crate) struct Asked {
    pub texts: Vec<String>,
    pub holds: &'static str,
    /// What it is sent within.
    pub tls: Option<TlsConnector>,
    /// Whether each is sent on a connection of its own.
    pub anew: bool,
    /// Whether each connection comes from an address of its own, as callers do.
    pub apart: bool,
    /// How many are sent on a connection before the first of their answers is read.
    pub at_once: usize,
}

impl Asked {
    /// One request.
    pub(crate) fn of(text: String, holds: &'static str) -> Self {
        Self::each(vec![text], holds)
    }

    /// Several requests in turn.
    pub(crate) fn each(texts: Vec<String>, holds: &'static str) -> Self {
        Self { texts, holds, tls: None, anew: false, apart: false, at_once: 1 }
    }

    /// The same within TLS.
    pub(crate) fn within(self, tls: &TlsConnector) -> Self {
        Self { tls: Some(tls.clone()), ..self }
    }

    /// The same, each on a connection of its own.
    pub(crate) fn each_anew(self) -> Self {
        Self { anew: true, ..self }
    }

    /// The same, so many on a connection at once.
    pub(crate) fn pipelined(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    /// The same, each connection from an address of its own.
    pub(crate) fn each_apart(self) -> Self {
        Self { apart: true, ..self }
    }
}

/// Sends `request` over and over for `time`. Any status but 200 and 202 voids the visit, as does an answer that
/// does not hold what it must.
pub(crate) fn visit(port: u16, request: &Asked, time: Duration) -> anyhow::Result<Visit> {
    visit_all(&[port], request, time)
}

/// The same with connections to several servers in turn.
pub(crate) fn visit_all(ports: &[u16], request: &Asked, time: Duration) -> anyhow::Result<Visit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let begin = Instant::now();
        let clients = ports.iter().cycle().zip(0..CONNECTIONS);
        let clients = clients.map(|(port, first)| client(*port, request, first, begin + time));
        let counts = futures::future::try_join_all(clients).await?;
        Ok(Visit { requests: counts.iter().sum(), elapsed: begin.elapsed() })
    })
}

async fn client(port: u16, request: &Asked, first: usize, end: Instant) -> anyhow::Result<u64> {
    let mut stream = match request.apart {
        true => Box::new(connect_from(first, port).await?),
        false => connect(port, request.tls.as_ref()).await?,
    };
    let mut answers = Answers::default();
    let mut count = 0;
    let mut texts = request.texts.iter().cycle().skip(first % request.texts.len().max(1));
    while Instant::now() < end {
        if request.anew && count > 0 {
            stream = connect(port, request.tls.as_ref()).await?;
        }
        let together: Vec<&str> = texts.by_ref().take(request.at_once).map(String::as_str).collect();
        match together.as_slice() {
            [one] => send(&mut stream, one).await?,
            several => {
                let all: Vec<_> = several.iter().map(|text| numbered(text)).collect();
                send(&mut stream, &all.concat()).await?;
            }
        }
        for _ in &together {
            let answer = answers.next(&mut stream).await?;
            let held = request.holds.is_empty() || find(answer, request.holds.as_bytes()).is_some();
            ensure!(held, "an answer without {}: {}", request.holds, String::from_utf8_lossy(answer));
            count += 1;
        }
    }
    Ok(count)
}

/// Sends one request whole. A TLS stream may keep bytes that it has taken, and a connection that waits for
/// the answer to them waits for ever.
pub(crate) async fn send(stream: &mut (impl AsyncWrite + Unpin), request: &str) -> anyhow::Result<()> {
    stream.write_all(numbered(request).as_bytes()).await?;
    Ok(stream.flush().await?)
}

/// A request with its number in place of [`NUMBER`].
fn numbered(request: &str) -> Cow<'_, str> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    match request.contains(NUMBER) {
        true => Cow::Owned(request.replace(NUMBER, &format!("{:012x}", NEXT.fetch_add(1, Ordering::Relaxed)))),
        false => Cow::Borrowed(request),
    }
}

/// The answers on one connection, one after the other.
#[derive(Default)]
pub(crate) struct Answers {
    buffer: Vec<u8>,
    /// Bytes of the answer that was read last.
    taken: usize,
}

impl Answers {
    /// Reads the next answer whole. What was asked for conditionally may not have changed; any other status than
    /// success (263 says so over AGTP, of a contract that was made) is an error.
    pub(crate) async fn next(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> anyhow::Result<&[u8]> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            ensure!(stream.read_buf(&mut self.buffer).await? > 0, "the connection closed in the head");
        };
        let text = std::str::from_utf8(&self.buffer[..head])?;
        let status = text.split(' ').nth(1).unwrap_or_default();
        let length = text.lines().find_map(length_of);
        let whole = match status {
            "304" => head,
            "200" | "202" | "263" => head + length.context("an answer has a length")?,
            _ => {
                let line = text.lines().next().unwrap_or_default().to_owned();
                let body = String::from_utf8_lossy(&self.buffer[head..]);
                bail!("{line}: {body}");
            }
        };
        while self.buffer.len() < whole {
            ensure!(stream.read_buf(&mut self.buffer).await? > 0, "the connection closed in the body");
        }
        self.taken = whole;
        Ok(&self.buffer[..whole])
    }
}

/// Reads the one answer that is waited for.
pub(crate) async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(Answers::default().next(stream).await?).into_owned())
}

fn length_of(line: &str) -> Option<usize> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Both kinds of stream.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Connection for T {}

/// A connection to this machine from the address of one of its callers: each of 127.0.0.0/8 is one.
async fn connect_from(caller: usize, port: u16) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let host = u8::try_from(caller + 2)?;
    socket.bind(([127, 0, 0, host], 0).into())?;
    let stream = socket.connect(([127, 0, 0, 1], port).into()).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A connection to this machine, within TLS where that is spoken.
pub(crate) async fn connect(port: u16, tls: Option<&TlsConnector>) -> anyhow::Result<Box<dyn Connection>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    Ok(match tls {
        None => Box::new(stream),
        Some(tls) => Box::new(tls.connect(ServerName::try_from("demo.localhost")?, stream).await?),
    })
}

/// A client that trusts the local authority of a daemon with this data folder, and resumes nothing:
/// every handshake is whole.
pub(crate) fn trusting(data: &Path) -> anyhow::Result<TlsConnector> {
    let mut roots = rustls::RootCertStore::empty();
    let file = data.join("ca.pem");
    roots.add(CertificateDer::from_pem_file(&file).context("the local authority has a certificate")?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// One answer, head and body, for comparing what two servers send.
pub(crate) fn sample(port: u16, request: &str) -> anyhow::Result<String> {
    sample_within(port, None, request)
}

/// The same within TLS.
pub(crate) fn sample_within(port: u16, tls: Option<&TlsConnector>, request: &str) -> anyhow::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut stream = connect(port, tls).await?;
        send(&mut stream, request).await?;
        answer(&mut stream).await
    })
}
