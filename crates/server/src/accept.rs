//! Accepting connections, whatever is spoken on them, and letting them finish.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::connections::ConnectionGuard;
use crate::error::ServeError;
use crate::metrics::Metrics;

/// How long to wait when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long connections are taken yet that wait in the system's queue when a socket closes.
const QUEUE_TIME: Duration = Duration::from_millis(50);

/// An address that is taken, before anything is served on it.
pub(crate) struct BoundAddress {
    /// Shared with whoever serves the same address on other terms.
    socket: Arc<OpenSocket>,
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<TlsAcceptor>,
}

/// A socket of the system, and who waits for its end.
struct OpenSocket {
    // The socket goes first: fields are dropped in their order.
    tcp: TcpListener,
    closed: DropGuard,
}

impl BoundAddress {
    /// For plain bytes. [`ServeError::PlainOffLoopback`] unless the address is one of this machine only.
    pub(crate) async fn plain(address: SocketAddr) -> Result<Self, ServeError> {
        // Canonical first: `::ffff:127.0.0.1` is loopback too, and `::ffff:10.0.0.1` is not.
        if !address.ip().to_canonical().is_loopback() {
            return Err(ServeError::PlainOffLoopback(address));
        }
        Self::bind(address, None).await
    }

    /// For plain bytes that leave this machine: whoever binds it serves nothing there that is anybody's.
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, ServeError> {
        Self::bind(address, None).await
    }

    /// For TLS.
    pub(crate) async fn tls(address: SocketAddr, config: Arc<ServerConfig>) -> Result<Self, ServeError> {
        Self::bind(address, Some(TlsAcceptor::from(config))).await
    }

    async fn bind(address: SocketAddr, tls: Option<TlsAcceptor>) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Bind { address, source };
        let tcp = TcpListener::bind(address).await.map_err(failed)?;
        let address = tcp.local_addr().map_err(failed)?;
        let socket = OpenSocket { tcp, closed: CancellationToken::new().drop_guard() };
        Ok(Self { socket: Arc::new(socket), address, tls })
    }

    /// Is cancelled once nobody holds the socket any more, so that the address may be bound again.
    pub(crate) fn closed(&self) -> CancellationToken {
        self.socket.closed.token().clone()
    }

    /// The same address once more, to be served on other terms: within TLS by `config`, where it was within TLS.
    pub(crate) fn again(&self, config: Option<Arc<ServerConfig>>) -> Self {
        let tls = self.tls.clone().map(|before| config.map_or(before, TlsAcceptor::from));
        Self { socket: Arc::clone(&self.socket), address: self.address, tls }
    }

    /// Hands out connections until `retire` or `stop`. What was begun goes on after `retire`, and has up to
    /// `drain_time` after `stop`.
    pub(crate) async fn accept(
        self,
        drain_time: Duration,
        retire: &CancellationToken,
        stop: &CancellationToken,
        begin: impl Fn(TcpStream, SocketAddr, &mut JoinSet<()>),
    ) {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.socket.tcp.accept() => match accepted {
                    Ok((stream, peer)) => begin(stream, peer, &mut open),
                    Err(error) => pause_if_full(&error).await,
                },
                // Ended connections are taken out as they end, or the set would grow for as long as the host runs.
                Some(_ended) = open.join_next() => {}
                () = retire.cancelled() => break,
                () = stop.cancelled() => break,
            }
        }
        // What the system has taken already would be reset with the socket, and its client told of a failure. Not after
        // `retire`: then the same socket is served on other terms.
        if stop.is_cancelled() {
            let until = Instant::now() + QUEUE_TIME;
            while let Ok(Ok((stream, peer))) = timeout_at(until, self.socket.tcp.accept()).await {
                begin(stream, peer, &mut open);
            }
        }
        // Before the draining: once nobody holds the socket, new connections are refused at once and go elsewhere.
        drop(self.socket);
        tokio::select! {
            // After `retire` alone nothing hurries: the connections go on under the old settings until their clients
            // end them.
            () = stop.cancelled() => {}
            () = all_ended(&mut open) => return,
        }
        if timeout(drain_time, all_ended(&mut open)).await.is_err() {
            tracing::warn!(connections = open.len(), "closed with requests in flight");
            open.shutdown().await;
        }
    }
}

/// What comes of `work` within `time_max`, and within `last` once `stop` has come; `None` when it is late.
pub(crate) async fn within<T>(
    time_max: Duration,
    (stop, last): (&CancellationToken, Duration),
    work: impl Future<Output = T>,
) -> Option<T> {
    let late = async {
        stop.cancelled().await;
        sleep(last).await;
    };
    tokio::select! {
        // What is here in time is taken.
        biased;
        done = timeout(time_max, work) => done.ok(),
        () = late => None,
    }
}

async fn all_ended(open: &mut JoinSet<()>) {
    while open.join_next().await.is_some() {}
}

/// A connection that broke before it was accepted is nothing; no descriptors left is worth a pause.
async fn pause_if_full(error: &std::io::Error) {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    // With no descriptors left, `accept` fails at once and forever; without a pause this loop would keep a core busy.
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::warn!(%error, "can't accept connections");
        sleep(ACCEPT_PAUSE).await;
    }
}

/// An open connection, counted in metrics and against the caps until it is dropped.
pub(crate) struct Open {
    _counted: ConnectionGuard,
    metrics: Arc<Metrics>,
}

impl Open {
    pub(crate) fn new(counted: ConnectionGuard, metrics: &Arc<Metrics>) -> Self {
        metrics.connections.inc();
        Self { _counted: counted, metrics: Arc::clone(metrics) }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.metrics.connections.dec();
    }
}
