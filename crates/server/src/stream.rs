//! Listeners for protocols that are not HTTP: from a socket to a stream that can be spoken on.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use forecourt_core::Entropy;
use forecourt_telemetry::spans::{self, Origin};
use forecourt_telemetry::{RemoteParent, RequestLines, RequestTrace, policy};
use futures::future::BoxFuture;
use prometheus_client::metrics::gauge::Gauge;
use rustls::ServerConfig;
use rustls_pki_types::CertificateDer;
use tokio::io::{self, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::accept::{BoundAddress, Open, within};
use crate::access_log::AccessEntry;
use crate::connections::Connections;
use crate::error::ServeError;
use crate::limits::ARRIVING_MAX;
use crate::metrics::{GaugeGuard, LastStreamSeries, Metrics};
use crate::peer::random;
use crate::request_id::RequestId;

/// Speaks a protocol on one connection, until that ends. Deadlines within it are its own affair, and
/// so is ending soon once [`Connection::stop`] comes.
pub type Speak = Arc<dyn Fn(Connection) -> BoxFuture<'static, ()> + Send + Sync>;

/// A connection whose handshake is done.
pub struct Connection {
    /// The bytes.
    pub stream: Stream,
    /// Whose they are, in its shortest form.
    pub peer: IpAddr,
    /// Whether TLS protects them.
    pub tls: bool,
    /// The name that the client asked for in the handshake.
    pub server_name: Option<Arc<str>>,
    /// The chain that the client showed and that was checked, its own certificate first. Empty: none.
    pub certificates: Vec<CertificateDer<'static>>,
    /// Cancelled when the host stops: what is in flight may be finished, and nothing begun.
    pub stop: CancellationToken,
    /// Names and counts the requests on it.
    pub requests: StreamRequests,
}

/// Names and counts the requests of a protocol that has sockets of its own.
#[derive(Clone)]
pub struct StreamRequests {
    protocol: &'static str,
    metrics: Arc<Metrics>,
    entropy: Arc<dyn Entropy>,
    /// Whose they are, where that is known.
    peer: Option<IpAddr>,
    /// How many are under way.
    in_flight: Gauge<i64, AtomicI64>,
    /// Where the last answer was counted.
    last: Arc<LastStreamSeries>,
}

impl StreamRequests {
    /// For requests of `protocol`, counted in `metrics`, with ids made from `entropy`.
    pub fn new(protocol: &'static str, metrics: Arc<Metrics>, entropy: Arc<dyn Entropy>) -> Self {
        let in_flight = metrics.stream_in_flight(protocol);
        Self { protocol, metrics, entropy, peer: None, in_flight, last: Arc::default() }
    }

    /// A request whose head was read. `method` is of a closed set: it becomes a label of the metrics.
    pub fn begin(&self, method: &'static str) -> StreamRequest {
        self.begin_within(method, None)
    }

    /// The same of a request that says by which span of its sender it was made.
    pub fn begin_within(&self, method: &'static str, parent: Option<RemoteParent>) -> StreamRequest {
        let id = RequestId::mint(&*self.entropy);
        let protocol = self.protocol;
        let lines = RequestLines::new(
            id.clone(),
            move |id| tracing::info_span!("request", %id, protocol, method, status = tracing::field::Empty),
        );
        let metrics = Arc::clone(&self.metrics);
        let theirs = parent.as_ref().map(RemoteParent::trace_id);
        let trace = self.trace(method, parent, &lines);
        StreamRequest {
            trace_id: trace.trace_id().or(theirs),
            trace,
            id,
            lines,
            protocol,
            method,
            _counted: GaugeGuard::new(self.in_flight.clone()),
            last: Arc::clone(&self.last),
            metrics,
            peer: self.peer,
            begun: Instant::now(),
        }
    }

    /// What a request is traced by. Nobody is a proxy here, so that
    /// nobody's word is taken on what is recorded unless everybody's is.
    fn trace(&self, method: &'static str, parent: Option<RemoteParent>, within: &RequestLines) -> RequestTrace {
        let Some(policy) = policy() else { return RequestTrace::off() };
        let random = random(&*self.entropy);
        let is_sampled = policy.is_sampled(parent.as_ref(), false, || random);
        spans::stream_request(Origin { parent, is_sampled, random, within }, self.protocol, method)
    }
}

/// A request that is being answered, on a socket of a protocol's own.
pub struct StreamRequest {
    /// What it is called in the log and in errors.
    pub id: RequestId,
    lines: RequestLines,
    trace: RequestTrace,
    trace_id: Option<String>,
    protocol: &'static str,
    method: &'static str,
    metrics: Arc<Metrics>,
    _counted: GaugeGuard,
    last: Arc<LastStreamSeries>,
    peer: Option<IpAddr>,
    begun: Instant,
}

impl StreamRequest {
    /// What is done for its sake, so that lines of the log and spans belong to it.
    pub fn carry<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        self.lines.carry(self.trace.carry(work))
    }

    /// Counts it, now that its answer is there: its status, of three digits as HTTP's are, and the bytes of its body.
    pub fn answered(self, status: u16, bytes: u64) {
        let after = self.begun.elapsed();
        self.metrics.stream_answered(&self.last, self.protocol, self.method, status, after);
        self.lines.record_status(status);
        spans::record_answer(&self.trace, status);
        if let Some(log) = self.metrics.access() {
            let entry = AccessEntry {
                client: self.peer,
                protocol: self.protocol,
                // Paths of these protocols may hold ids that open something, and there is no pattern to write instead.
                route: "-".to_owned(),
                method: self.method,
                status,
                bytes,
                seconds: after,
                request_id: self.id.to_string(),
                trace_id: self.trace_id.clone(),
                ..AccessEntry::default()
            };
            log.write(&entry);
        }
        tracing::debug!(parent: self.lines.span(), seconds = after.as_secs_f32(), "the answer is ready");
    }
}

/// The bytes of a connection.
pub enum Stream {
    /// As they are, on loopback.
    Plain(TcpStream),
    /// Within TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// What one client may use of a listener.
#[derive(Debug, Clone)]
pub struct StreamSettings {
    /// What is spoken, for metrics and the log.
    pub protocol: &'static str,
    /// Connections open at once.
    pub connections_max: usize,
    /// Connections open at once from one IPv4 address or one IPv6 /64.
    pub connections_per_address_max: usize,
    /// How long a TLS handshake may take.
    pub handshake_time: Duration,
    /// How long connections have to end once the host is told to stop.
    pub drain_time: Duration,
    /// Where connections and requests are counted.
    pub metrics: Arc<Metrics>,
    /// What the ids of requests are made from.
    pub entropy: Arc<dyn Entropy>,
}

impl StreamSettings {
    fn requests(&self) -> StreamRequests {
        StreamRequests::new(self.protocol, Arc::clone(&self.metrics), Arc::clone(&self.entropy))
    }
}

/// A bound address on which something else than HTTP is spoken.
pub struct StreamListener(BoundAddress);

impl StreamListener {
    /// Binds for plain bytes.
    ///
    /// # Errors
    /// [`ServeError::PlainOffLoopback`] unless the address is one of this machine only.
    pub fn plain(address: SocketAddr) -> BoxFuture<'static, Result<Self, ServeError>> {
        Box::pin(async move { BoundAddress::plain(address).await.map(Self) })
    }

    /// Binds for TLS.
    ///
    /// # Errors
    /// When the address can't be had.
    pub fn tls(address: SocketAddr, config: Arc<ServerConfig>) -> BoxFuture<'static, Result<Self, ServeError>> {
        Box::pin(async move { BoundAddress::tls(address, config).await.map(Self) })
    }

    /// The address, with the port that the system chose if it was asked to.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// The same socket once more, to be served with other settings: by `config`, if it is for TLS and that is given.
    /// Both take connections until one of them is told to retire.
    #[must_use]
    pub fn again(&self, config: Option<Arc<ServerConfig>>) -> Self {
        Self(self.0.again(config))
    }

    /// Is cancelled once the socket is closed, by whoever held it last: from then on the address may be bound again.
    pub fn closed(&self) -> CancellationToken {
        self.0.closed()
    }

    /// Serves until `stop`, then lets connections end within the drain time.
    pub fn serve(self, settings: StreamSettings, speak: Speak, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.serve_until(settings, speak, CancellationToken::new(), stop).await;
        })
    }

    /// [`StreamListener::serve`], where from `retire` on no connection is taken any more and those that are open go
    /// on until they end, or until `stop`.
    pub fn serve_until(
        self,
        settings: StreamSettings,
        speak: Speak,
        retire: CancellationToken,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let drain_time = settings.drain_time;
            let connections = Connections::new(settings.connections_max, settings.connections_per_address_max);
            let server = Arc::new(Server { connections, settings, tls: self.0.tls.clone(), speak });
            let admit = |stream, peer, open: &mut JoinSet<()>| server.admit(stream, peer, &stop, open);
            self.0.accept(drain_time, &retire, &stop, admit).await;
        })
    }
}

/// What all connections of a listener share.
struct Server {
    connections: Arc<Connections>,
    settings: StreamSettings,
    tls: Option<TlsAcceptor>,
    speak: Speak,
}

impl Server {
    /// Starts a connection, or closes it when there is no room.
    fn admit(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, stop: &CancellationToken, open: &mut JoinSet<()>) {
        let Ok(counted) = self.connections.admit(peer.ip(), false) else {
            self.settings.metrics.connection_refused("full");
            return;
        };
        let (guard, server, stop) = (Open::new(counted, &self.settings.metrics), Arc::clone(self), stop.clone());
        open.spawn(async move {
            let _guard = guard;
            if let Some(connection) = server.open(stream, peer.ip().to_canonical(), stop).await {
                server.settings.metrics.stream_opened(server.settings.protocol);
                (server.speak)(connection).await;
            }
        });
    }

    /// From a socket to a connection. `None`: the client did not get there.
    async fn open(&self, stream: TcpStream, peer: IpAddr, stop: CancellationToken) -> Option<Connection> {
        // Small answers must not wait for more; failing to say so costs only time.
        let _ = stream.set_nodelay(true);
        let requests = StreamRequests { peer: Some(peer), ..self.settings.requests() };
        let Some(acceptor) = &self.tls else {
            let stream = Stream::Plain(stream);
            return Some(Connection {
                stream,
                peer,
                tls: false,
                server_name: None,
                certificates: Vec::new(),
                stop,
                requests,
            });
        };
        let handshake = acceptor.accept(stream);
        match within(self.settings.handshake_time, (&stop, ARRIVING_MAX), handshake).await {
            Some(Ok(stream)) => {
                let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
                let certificates = shown.iter().map(|der| der.clone().into_owned()).collect();
                let server_name = stream.get_ref().1.server_name().map(Arc::from);
                let stream = Stream::Tls(Box::new(stream));
                Some(Connection { stream, peer, tls: true, server_name, certificates, stop, requests })
            }
            Some(Err(_)) | None => {
                self.settings.metrics.connection_refused("handshake");
                None
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }
}
