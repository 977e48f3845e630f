//! Opens a TCP connection to an address that was checked, with TLS on it where that is wanted.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::{EgressError, Refusal};
use crate::target::CheckedUrl;

/// The bytes of a connection.
pub(crate) enum NetStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Connects to one of `addresses`, which are those of `target`, and to no other. The time includes the
/// handshake of TLS.
pub(crate) async fn open(
    target: &CheckedUrl,
    addresses: &[SocketAddr],
    tls: Option<&Arc<ClientConfig>>,
    within: Duration,
) -> Result<(NetStream, SocketAddr), EgressError> {
    let deadline = Instant::now() + within;
    let (stream, peer) = dial(addresses, within).await?;
    let Some(tls) = tls else { return Ok((NetStream::Plain(stream), peer)) };
    let shaken = timeout_at(deadline, handshake(stream, target, tls)).await;
    let stream = shaken.map_err(|_| unconnected("the TLS handshake took too long"))??;
    Ok((NetStream::Tls(Box::new(stream)), peer))
}

/// TLS on a stream that stands.
pub(crate) async fn start_tls(
    stream: NetStream,
    target: &CheckedUrl,
    tls: &Arc<ClientConfig>,
    within: Duration,
) -> Result<NetStream, EgressError> {
    let NetStream::Plain(stream) = stream else { return Err(unconnected("the connection is within TLS already")) };
    let shaken = timeout_at(Instant::now() + within, handshake(stream, target, tls)).await;
    let stream = shaken.map_err(|_| unconnected("the TLS handshake took too long"))??;
    Ok(NetStream::Tls(Box::new(stream)))
}

/// Connects to the first address that answers. Each gets an equal share of what is left of the time.
pub(crate) async fn dial(addresses: &[SocketAddr], within: Duration) -> Result<(TcpStream, SocketAddr), EgressError> {
    let deadline = Instant::now() + within;
    let mut reason = "there is no address".to_owned();
    for (at, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - at).unwrap_or(u32::MAX);
        // So that one dead address (IPv6 without a route, often) leaves time for the next.
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
    // Requests are written whole; Nagle's algorithm would hold the last small segment back for a round trip.
    stream.set_nodelay(true).map_err(|error| unconnected(error.to_string()))?;
    Ok((stream, peer))
}

async fn handshake(
    stream: TcpStream,
    target: &CheckedUrl,
    tls: &Arc<ClientConfig>,
) -> Result<TlsStream<TcpStream>, EgressError> {
    let shaken = shake_hands(stream, name(target)?, tls).await;
    shaken.map_err(|error| unconnected(error.to_string()))
}

/// The name that a server is asked for.
pub(crate) fn name(target: &CheckedUrl) -> Result<ServerName<'static>, Refusal> {
    let name = ServerName::try_from(target.host()).map_err(|_| Refusal::Text("has a malformed host"))?;
    Ok(name.to_owned())
}

/// The handshake of TLS on a stream that stands.
pub(crate) async fn shake_hands(
    stream: TcpStream,
    name: ServerName<'static>,
    tls: &Arc<ClientConfig>,
) -> io::Result<TlsStream<TcpStream>> {
    TlsConnector::from(tls.clone()).connect(name, stream).await
}

fn unconnected(reason: impl Into<String>) -> EgressError {
    EgressError::Unconnected(reason.into())
}

impl NetStream {
    /// The protocol that was agreed on with ALPN.
    pub(crate) fn protocol(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol(),
        }
    }
}

impl AsyncRead for NetStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for NetStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
