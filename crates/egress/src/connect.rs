//! Connections on which a protocol of its own is spoken: the guard, the slots and the deadlines of
//! HTTP, without HTTP.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use rustls::ClientConfig;
use rustls::version::TLS13;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::body::Turn;
use crate::certificate::ClientCertificate;
use crate::egress::Egress;
use crate::error::EgressError;
use crate::purpose::Purpose;
use crate::setup_error::SetupError;
use crate::stream::{self, NetStream};
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
    stream: NetStream,
    peer: SocketAddr,
    egress: Egress,
    purpose: Purpose,
    target: CheckedUrl,
    turn: Option<Turn>,
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

    /// TLS 1.3 or 1.2 without ALPN, for protocols that are older than it, such as mail. `usual_port` as in
    /// [`Egress::tls`].
    pub fn tls_without_alpn(&self, usual_port: u16) -> Result<Tls, SetupError> {
        let tls = self.inner.judge.tls(rustls::DEFAULT_VERSIONS, None)?;
        Ok(Tls { config: Arc::new(trust::nameless(tls)), usual_port })
    }

    /// Connects to a host in plain text, which is as closed as `http://` is for `purpose`.
    ///
    /// # Errors
    /// As for a request to such a URL: refused, busy, or unconnected within the time to connect.
    pub fn connect<'a>(
        &'a self,
        purpose: Purpose,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, Result<Connection, EgressError>> {
        Box::pin(async move { self.open(purpose, CheckedUrl::of_host(host, port, false)?, None).await })
    }

    /// [`Egress::connect`] with TLS, as closed as `https://` is for `purpose`, on the usual port of its
    /// protocol in place of that of https. The time to connect includes the handshake.
    pub fn connect_tls<'a>(
        &'a self,
        purpose: Purpose,
        host: &'a str,
        port: u16,
        tls: &'a Tls,
    ) -> BoxFuture<'a, Result<Connection, EgressError>> {
        Box::pin(async move {
            let target = CheckedUrl::of_host(host, port, true)?.usually_on(tls.usual_port);
            self.open(purpose, target, Some(tls)).await
        })
    }

    async fn open(&self, purpose: Purpose, target: CheckedUrl, tls: Option<&Tls>) -> Result<Connection, EgressError> {
        if self.inner.recordings.as_ref().is_some_and(|all| !all.may_connect(&target.host(), target.port())) {
            return Err(EgressError::Unconnected("nothing is connected to in a test".to_owned()));
        }
        let bounds = purpose.deadlines(self.config());
        // The turn comes before the lookup, so that the bound also covers questions to the resolver.
        let turn = self.inner.turn_by(purpose, &target, Instant::now() + bounds.total).await?;
        let addresses = self.inner.guard.admit(purpose, &target).await?;
        let (stream, peer) = stream::open(&target, &addresses, tls.map(|tls| &tls.config), bounds.connect).await?;
        Ok(Connection { stream, peer, egress: self.clone(), purpose, target, turn: Some(turn) })
    }
}

impl Connection {
    /// Where it leads.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Goes on within TLS on the connection that stands, for protocols that ask for that in words of their own
    /// (STARTTLS). The time to connect is that of the handshake.
    ///
    /// # Errors
    /// The connection is within TLS already, or the server's certificate is not that of the host.
    pub fn start_tls(mut self, tls: &Tls) -> BoxFuture<'_, Result<Self, EgressError>> {
        Box::pin(async move {
            let within = self.purpose.deadlines(self.egress.config()).connect;
            self.stream = stream::start_tls(self.stream, &self.target, &tls.config, within).await?;
            Ok(self)
        })
    }

    /// Gives its turn back while nothing is under way on it, so that kept connections keep nobody
    /// waiting.
    pub fn rest(&mut self) {
        self.turn = None;
    }

    /// Takes a turn again before more is sent. [`EgressError::Busy`] when none comes free in time.
    pub fn resume(&mut self) -> BoxFuture<'_, Result<(), EgressError>> {
        Box::pin(async move {
            if self.turn.is_none() {
                let bounds = self.purpose.deadlines(self.egress.config());
                let until = Instant::now() + bounds.total;
                self.turn = Some(self.egress.inner.turn_by(self.purpose, &self.target, until).await?);
            }
            Ok(())
        })
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
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
