//! Connections on which a protocol of its own is spoken: the guard, the slots and the deadlines of
//! HTTP, without HTTP.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::version::TLS13;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::body::Turn;
use crate::certificate::ClientCertificate;
use crate::egress::{Egress, SetupError};
use crate::error::{EgressError, Refusal};
use crate::purpose::Purpose;
use crate::target::CheckedUrl;
use crate::trust;

/// How raw connections are encrypted: TLS 1.3 with one protocol offered. Cheap to clone; made once for
/// all connections of a client.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    /// Where the protocol listens unless somebody says otherwise.
    usual_port: u16,
}

/// A connection to a checked address.
///
/// It takes part in the count of what is under way at once, until it [rests](Connection::rest).
pub struct Connection {
    stream: Stream,
    peer: SocketAddr,
    egress: Egress,
    purpose: Purpose,
    target: CheckedUrl,
    turn: Option<Turn>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Egress {
    /// TLS 1.3 that offers `protocol` by ALPN (a server that knows no ALPN is fine), and shows
    /// `certificate` to servers that ask for one. `usual_port` is where the protocol listens everywhere:
    /// open on public hosts for connections of this kind alone, as 443 is for https.
    pub fn tls(
        &self,
        protocol: &[u8],
        usual_port: u16,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Tls, SetupError> {
        let tls = self.inner.judge.tls(&[&TLS13], certificate)?;
        Ok(Tls { config: Arc::new(trust::raw(tls, protocol)), usual_port })
    }

    /// Connects to a host in plain text, which is as closed as `http://` is for `purpose`.
    ///
    /// # Errors
    /// As for a request to such a URL: refused, busy, or unconnected within the time to connect.
    pub async fn connect(&self, purpose: Purpose, host: &str, port: u16) -> Result<Connection, EgressError> {
        self.open(purpose, CheckedUrl::of_host(host, port, false)?, None).await
    }

    /// [`Egress::connect`] with TLS, as closed as `https://` is for `purpose`, on the usual port of its
    /// protocol in place of that of https. The time to connect includes the handshake.
    pub async fn connect_tls(
        &self,
        purpose: Purpose,
        host: &str,
        port: u16,
        tls: &Tls,
    ) -> Result<Connection, EgressError> {
        let target = CheckedUrl::of_host(host, port, true)?.usually_on(tls.usual_port);
        self.open(purpose, target, Some(tls)).await
    }

    async fn open(&self, purpose: Purpose, target: CheckedUrl, tls: Option<&Tls>) -> Result<Connection, EgressError> {
        let bounds = purpose.deadlines(self.config());
        let turn = self.inner.turn_by(purpose, &target, Instant::now() + bounds.total).await?;
        let addresses = self.inner.guard.admit(purpose, &target).await?;
        let deadline = Instant::now() + bounds.connect;
        let (stream, peer) = dial(&addresses, bounds.connect).await?;
        let stream = match tls {
            None => Stream::Plain(stream),
            Some(tls) => {
                let shaken = timeout_at(deadline, handshake(stream, &target, tls)).await;
                Stream::Tls(Box::new(shaken.map_err(|_| unconnected("the TLS handshake took too long"))??))
            }
        };
        Ok(Connection { stream, peer, egress: self.clone(), purpose, target, turn: Some(turn) })
    }
}

/// Connects to the first address that answers. Each gets an equal share of what is left of the time.
async fn dial(addresses: &[SocketAddr], within: Duration) -> Result<(TcpStream, SocketAddr), EgressError> {
    let deadline = Instant::now() + within;
    let mut reason = "there is no address".to_owned();
    for (at, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - at).unwrap_or(u32::MAX);
        let share = deadline.saturating_duration_since(Instant::now()) / left;
        match timeout_at(Instant::now() + share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return checked(stream, *address),
            Ok(Err(error)) => reason = error.to_string(),
            Err(_) => "the connection took too long".clone_into(&mut reason),
        }
    }
    Err(EgressError::Unconnected(reason))
}

/// The peer is compared once more: the connection must lead to the address that was checked.
fn checked(stream: TcpStream, address: SocketAddr) -> Result<(TcpStream, SocketAddr), EgressError> {
    let peer = stream.peer_addr().map_err(|error| unconnected(error.to_string()))?;
    if peer.ip() != address.ip() {
        return Err(Refusal::PrivateAddress.into());
    }
    stream.set_nodelay(true).map_err(|error| unconnected(error.to_string()))?;
    Ok((stream, peer))
}

async fn handshake(stream: TcpStream, target: &CheckedUrl, tls: &Tls) -> Result<TlsStream<TcpStream>, EgressError> {
    let name = ServerName::try_from(target.host()).map_err(|_| Refusal::Text("has a malformed host"))?;
    let connector = TlsConnector::from(tls.config.clone());
    connector.connect(name, stream).await.map_err(|error| unconnected(error.to_string()))
}

fn unconnected(reason: impl Into<String>) -> EgressError {
    EgressError::Unconnected(reason.into())
}

impl Connection {
    /// Where it leads.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Gives its turn back while nothing is under way on it, so that kept connections keep nobody
    /// waiting.
    pub fn rest(&mut self) {
        self.turn = None;
    }

    /// Takes a turn again before more is sent. [`EgressError::Busy`] when none comes free in time.
    pub async fn resume(&mut self) -> Result<(), EgressError> {
        if self.turn.is_none() {
            let bounds = self.purpose.deadlines(self.egress.config());
            let until = Instant::now() + bounds.total;
            self.turn = Some(self.egress.inner.turn_by(self.purpose, &self.target, until).await?);
        }
        Ok(())
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
