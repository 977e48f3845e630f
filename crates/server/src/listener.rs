//! Listeners for HTTP: from a connection to the protocol that is spoken on it.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use forecourt_core::in_place;
use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::accept::{BoundAddress, Open, within};
use crate::draining::Draining;
use crate::error::ServeError;
use crate::flood::{Follow, Frames};
use crate::framing::Framing;
use crate::front::{Route, answer};
use crate::hosts::PlainOrigins;
use crate::limits::{ARRIVING_MAX, FIRST_BYTE_MAX, HttpLimits};
use crate::peer::{ListenerContext, Peer, ServerName};
use crate::plain::PlainRules;
use crate::stream::Stream;
use crate::tls::{ACME_ALPN, HttpChallenges};
use crate::wire::{Patience, Traffic, Wire};

/// What a client of the other protocol version sends first. RFC 9113 section 3.4.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A bound address that speaks HTTP/1.1 and HTTP/2.
pub struct Listener {
    bound: BoundAddress,
    plain: PlainRules,
}

impl Listener {
    /// Binds for plain HTTP.
    ///
    /// # Errors
    /// [`ServeError::PlainOffLoopback`] unless the address is one of this machine only.
    pub fn plain(address: SocketAddr) -> BoxFuture<'static, Result<Listener, ServeError>> {
        Box::pin(async move { BoundAddress::plain(address).await.map(Listener::from) })
    }

    /// Binds for plain HTTP at any address, to answer nothing but where HTTPS is: on `https_port` of the same host.
    ///
    /// # Errors
    /// When the address can't be had.
    pub fn redirecting(address: SocketAddr, https_port: u16) -> BoxFuture<'static, Result<Listener, ServeError>> {
        Box::pin(async move {
            let bound = BoundAddress::open(address).await?;
            Ok(Listener { bound, plain: PlainRules { redirect: Some(https_port), challenges: None } })
        })
    }

    /// Binds for plain HTTP at any address, for what watches the host: nothing that is a caller's is to be served there.
    ///
    /// # Errors
    /// When the address can't be had.
    pub fn monitoring(address: SocketAddr) -> BoxFuture<'static, Result<Listener, ServeError>> {
        Box::pin(async move { BoundAddress::open(address).await.map(Listener::from) })
    }

    /// The same listener; one that only says where HTTPS is says that it is on this port.
    #[must_use]
    pub fn with_https_on(mut self, https_port: u16) -> Listener {
        self.plain.redirect = self.plain.redirect.map(|_| https_port);
        self
    }

    /// The same listener, which tells certificate authorities what they ask, whomever a request is for. Of use
    /// without TLS only.
    #[must_use]
    pub fn answering(mut self, challenges: Arc<dyn HttpChallenges>) -> Listener {
        self.plain.challenges = Some(challenges);
        self
    }

    /// Binds for HTTPS with a configuration from [`crate::tls::Certificates::server_config`].
    ///
    /// # Errors
    /// When the address can't be had.
    pub fn tls(address: SocketAddr, config: Arc<ServerConfig>) -> BoxFuture<'static, Result<Listener, ServeError>> {
        Box::pin(async move { BoundAddress::tls(address, config).await.map(Listener::from) })
    }

    /// The address, with the port that the system chose if it was asked to.
    pub fn address(&self) -> SocketAddr {
        self.bound.address
    }

    /// The same socket once more, to be served with other settings: by `config`, if it is for HTTPS and that is
    /// given. Both take connections until one of them is told to retire.
    #[must_use]
    pub fn again(&self, config: Option<Arc<ServerConfig>>) -> Listener {
        Listener { bound: self.bound.again(config), plain: self.plain.clone() }
    }

    /// Is cancelled once the socket is closed, by whoever held it last: from then on the address may be bound again.
    pub fn closed(&self) -> CancellationToken {
        self.bound.closed()
    }

    /// Serves until `stop`, then lets requests in flight finish within the drain time.
    ///
    /// `routes` are asked for every request.
    pub fn serve(
        self,
        front: Arc<ListenerContext>,
        routes: impl Route,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ()> {
        self.serve_until(front, routes, CancellationToken::new(), stop)
    }

    /// [`Listener::serve`], where from `retire` on no connection is taken any more and those that are open go on
    /// until their clients end them, or until `stop`.
    pub fn serve_until(
        self,
        front: Arc<ListenerContext>,
        routes: impl Route,
        retire: CancellationToken,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ()> {
        // One type of server for whoever answers: what hyper makes of it is compiled here, and once.
        Box::pin(self.serve_routes(front, Arc::new(routes), retire, stop))
    }

    async fn serve_routes(
        self,
        front: Arc<ListenerContext>,
        routes: Arc<dyn Route>,
        retire: CancellationToken,
        stop: CancellationToken,
    ) {
        let drain_time = front.settings.limits.drain_time;
        let Listener { bound, plain } = self;
        let (origins, plain) = match &bound.tls {
            Some(_) => Default::default(),
            None => (front.settings.hosts.plain_origins(bound.address.port()), plain),
        };
        let server = Arc::new(Server::new(front, routes, bound.tls.clone(), origins, plain));
        let admit = |stream, peer, open: &mut JoinSet<()>| server.admit(stream, peer, &stop, open);
        bound.accept(drain_time, &retire, &stop, admit).await;
    }
}

impl From<BoundAddress> for Listener {
    fn from(bound: BoundAddress) -> Self {
        Self { bound, plain: PlainRules::default() }
    }
}

/// Whether TLS protects a connection, and by which name it was opened then.
enum ConnectionSecurity {
    Not,
    Tls(Option<ServerName>),
}

/// What all connections of a listener share.
struct Server {
    front: Arc<ListenerContext>,
    routes: Arc<dyn Route>,
    tls: Option<TlsAcceptor>,
    origins: Arc<PlainOrigins>,
    plain: Arc<PlainRules>,
    http1: hyper::server::conn::http1::Builder,
    http2: hyper::server::conn::http2::Builder<TokioExecutor>,
}

/// A running connection, boxed so that its kind costs nothing while another one runs.
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Server {
    fn new(
        front: Arc<ListenerContext>,
        routes: Arc<dyn Route>,
        tls: Option<TlsAcceptor>,
        origins: PlainOrigins,
        plain: PlainRules,
    ) -> Server {
        let limits = &front.settings.limits;
        let (http1, http2) = (http1(limits), http2(limits));
        Server { http1, http2, front, routes, tls, origins: Arc::new(origins), plain: Arc::new(plain) }
    }

    /// Starts a connection, or closes it when there is no room.
    fn admit(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, stop: &CancellationToken, open: &mut JoinSet<()>) {
        let settings = &self.front.settings;
        let exempt = settings.proxies.contains(peer.ip());
        let counted = match self.front.connections.admit(peer.ip(), exempt) {
            Ok(counted) => counted,
            Err(full) => {
                settings.metrics.connection_refused("full");
                if self.tls.is_none() {
                    // Best effort: a client whose buffer is full already is just closed.
                    let _ = stream.try_write(full.answer().as_bytes());
                }
                return;
            }
        };
        let (guard, server, stop) = (Open::new(counted, &settings.metrics), Arc::clone(self), stop.clone());
        open.spawn(async move {
            let _guard = guard;
            // Two boxes, so that the handshake's state is freed before the connection runs, perhaps for hours.
            if let Some(running) = Box::pin(server.open(stream, peer, stop)).await {
                running.await;
            }
        });
    }

    /// From a socket to a connection whose protocol is known. `None`: the client did not get there.
    async fn open(self: Arc<Self>, stream: TcpStream, peer: SocketAddr, stop: CancellationToken) -> Option<Running> {
        let limits = &self.front.settings.limits;
        // Small answers must not wait for more; failing to say so costs only time.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            Some(acceptor) => match within(limits.handshake_time, (&stop, ARRIVING_MAX), acceptor.accept(stream)).await
            {
                Some(Ok(stream)) => {
                    let spoken = stream.get_ref().1.alpn_protocol();
                    if spoken == Some(ACME_ALPN) {
                        // The handshake was the answer. RFC 8737 section 3.
                        return None;
                    }
                    let is_http2 = spoken == Some(b"h2");
                    let name = stream.get_ref().1.server_name().map(|name| ServerName(Arc::from(name)));
                    Some(self.run(Stream::Tls(Box::new(stream)), is_http2, peer, ConnectionSecurity::Tls(name), stop))
                }
                Some(Err(_)) | None => {
                    self.front.settings.metrics.connection_refused("handshake");
                    None
                }
            },
            None => {
                let mut first = [0; HTTP2_PREFACE.len()];
                // Peeked, not read: hyper reads the preface itself. Plain connections have no ALPN to tell the version.
                let peeked = within(limits.head_time, (&stop, FIRST_BYTE_MAX), stream.peek(&mut first));
                let seen = peeked.await?.ok()?;
                // Four bytes are enough: no method of HTTP/1 begins with `PRI `. The rest may still be on its way.
                let is_http2 = seen > 3 && HTTP2_PREFACE.starts_with(&first[..seen]);
                (seen > 0).then(|| self.run(Stream::Plain(stream), is_http2, peer, ConnectionSecurity::Not, stop))
            }
        }
    }

    fn run(
        self: Arc<Self>,
        stream: Stream,
        is_http2: bool,
        peer: SocketAddr,
        secured: ConnectionSecurity,
        stop: CancellationToken,
    ) -> Running {
        let limits = &self.front.settings.limits;
        let patience = Patience { head: limits.head_time, idle: limits.idle_time, stall: limits.stall_time };
        let traffic = Arc::new(Traffic::default());
        let framing = match is_http2 {
            true => Follow::Http2(Frames::new(Instant::now())),
            false => Follow::Http1(Framing::http1()),
        };
        let metrics = Arc::clone(&self.front.settings.metrics);
        let io = TokioIo::new(Wire::new(stream, framing, Arc::clone(&traffic), patience, metrics));
        let (front, origins, plain) = (Arc::clone(&self.front), Arc::clone(&self.origins), Arc::clone(&self.plain));
        let (tls, server_name) = match secured {
            ConnectionSecurity::Tls(name) => (true, name),
            ConnectionSecurity::Not => (false, None),
        };
        // Mapped addresses fold to IPv4, or one client would have two buckets on a dual-stack socket.
        let address = peer.ip().to_canonical();
        let peer =
            Arc::new(Peer { front, address, tls, server_name, origins, plain, traffic, last: Default::default() });
        let traffic = Arc::clone(&peer.traffic);
        let server = Arc::clone(&self);
        let service = service_fn(move |request| {
            let (routes, peer) = (Arc::clone(&server.routes), Arc::clone(&peer));
            // On the heap from the beginning: hyper moves what it is given.
            in_place(move || answer(routes, peer, request).map(Ok::<_, Infallible>))
        });
        let stop = stop.cancelled_owned();
        if is_http2 {
            Box::pin(Draining::new(self.http2.serve_connection(io, service), stop, traffic, true))
        } else {
            Box::pin(Draining::new(self.http1.serve_connection(io, service), stop, traffic, false))
        }
    }
}

fn http1(limits: &HttpLimits) -> hyper::server::conn::http1::Builder {
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // The wire keeps the deadlines, and tells idle time from a slow head.
        .header_read_timeout(None)
        .max_header_size(limits.head_bytes_max)
        .max_buf_size(limits.head_bytes_max.max(32 * 1024) * 2);
    if limits.head_fields_max != HttpLimits::default().head_fields_max {
        // Not set when it is hyper's own value, which needs no allocation for each head.
        builder.max_headers(limits.head_fields_max);
    }
    builder
}

fn http2(limits: &HttpLimits) -> hyper::server::conn::http2::Builder<TokioExecutor> {
    let count = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(count(limits.streams_max))
        .initial_stream_window_size(count(limits.stream_window_bytes))
        .initial_connection_window_size(count(limits.connection_window_bytes))
        .max_header_list_size(count(limits.head_bytes_max))
        // Rapid reset (CVE-2023-44487): a client opens and resets streams faster than they are worked off.
        .max_pending_accept_reset_streams(limits.pending_resets_max)
        .max_local_error_reset_streams(limits.pending_resets_max)
        .max_send_buf_size(64 * 1024)
        // A peer that is gone without a word is noticed while an answer streams, too.
        .keep_alive_interval(limits.idle_time)
        .keep_alive_timeout(limits.stall_time);
    builder
}
