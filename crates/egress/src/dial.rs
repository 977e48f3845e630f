//! The HTTP client itself. The only file that names it; everything it does by itself is off: no proxies, no
//! redirects, no cookies, no decompression.
//!
//! Backends of the operator share a pool of connections. Everything else gets a connection of its own to
//! the addresses that were checked, which ends with the exchange, so that nothing is shared between callers.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{HOST, USER_AGENT};
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tower_service::Service;

use crate::error::{EgressError, error_chain};
use crate::limits::{CONNECT_TIME_MAX, HEAD_BYTES_MAX, HEAD_FIELDS_MAX, RESOLVE_TIME_MAX, UPSTREAM_IDLE_MAX};
use crate::resolve::Resolve;
use crate::stream::{self, NetStream};
use crate::target::CheckedUrl;
use crate::trust::{self, Judge};

/// How every request names its sender.
const AGENT: HeaderValue = HeaderValue::from_static(concat!("forecourt/", env!("CARGO_PKG_VERSION")));
/// How long a connection of the pool may rest.
const IDLE_TIME_MAX: Duration = Duration::from_secs(90);

/// The HTTP client: a pool for operators' backends, a new connection for every guarded exchange.
pub(crate) struct Dialer {
    tls: Arc<LazyTls>,
    upstream: Client<UpstreamConnector, Full<Bytes>>,
}

/// How TLS is spoken, made for the first connection that speaks it.
struct LazyTls {
    judge: Arc<Judge>,
    guarded: OnceLock<Arc<ClientConfig>>,
    upstream: OnceLock<Arc<ClientConfig>>,
}

impl LazyTls {
    fn guarded(&self) -> Result<&Arc<ClientConfig>, EgressError> {
        self.made(&self.guarded, trust::guarded)
    }

    fn upstream(&self) -> Result<&Arc<ClientConfig>, EgressError> {
        self.made(&self.upstream, trust::upstream)
    }

    fn made<'a>(
        &self,
        slot: &'a OnceLock<Arc<ClientConfig>>,
        make: impl FnOnce(&ClientConfig) -> ClientConfig,
    ) -> Result<&'a Arc<ClientConfig>, EgressError> {
        if let Some(made) = slot.get() {
            return Ok(made);
        }
        let tls = self.judge.tls(rustls::DEFAULT_VERSIONS, None);
        let tls = tls.map_err(|error| EgressError::Unconnected(error.to_string()))?;
        // Two at once may each make one; the first is kept. `get_or_try_init` is not stable.
        Ok(slot.get_or_init(|| Arc::new(make(&tls))))
    }
}

/// Ends a connection of one exchange when it is dropped.
pub(crate) struct ConnectionGuard(AbortHandle);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Dialer {
    pub(crate) fn new(judge: Arc<Judge>, resolver: Arc<dyn Resolve>) -> Self {
        let tls = Arc::new(LazyTls { judge, guarded: OnceLock::new(), upstream: OnceLock::new() });
        let connector = UpstreamConnector { resolver, tls: tls.clone() };
        let upstream = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME_MAX)
            .pool_max_idle_per_host(UPSTREAM_IDLE_MAX)
            // HTTP/2 heads are compressed: without this the bound would be checked after they were unpacked.
            .http2_max_header_list_size(HEAD_BYTES_MAX as u32)
            .build(connector);
        Self { tls, upstream }
    }

    /// Sends a request to a backend that the operator named, over the pool.
    pub(crate) async fn send_upstream(
        &self,
        target: &CheckedUrl,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, EgressError> {
        *request.uri_mut() = target.uri().clone();
        request.headers_mut().entry(USER_AGENT).or_insert(AGENT);
        self.upstream.request(request).await.map_err(|error| match error.is_connect() {
            // Nothing was sent then, and callers may try again exactly in that case.
            true => EgressError::Unconnected(error_chain(&error)),
            false => EgressError::Failed(error_chain(&error)),
        })
    }

    /// Sends a request over a connection of its own to one of `addresses`, and to no other. The answer
    /// breaks off when the guard is dropped.
    pub(crate) async fn send_pinned(
        &self,
        target: &CheckedUrl,
        addresses: &[SocketAddr],
        connect: Duration,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, ConnectionGuard), EgressError> {
        let tls = if target.is_https() { Some(self.tls.guarded()?) } else { None };
        let (stream, _) = stream::open(target, addresses, tls, connect).await?;
        let failed = |error: hyper::Error| EgressError::Failed(error_chain(&error));
        let mut builder = http1::Builder::new();
        builder.max_headers(HEAD_FIELDS_MAX);
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // Hyper drives a connection in a task of its own, which would outlive a caller who goes away.
        let running = ConnectionGuard(tokio::spawn(connection).abort_handle());
        *request.uri_mut() = target.origin_form();
        request.headers_mut().insert(HOST, target.host_field());
        request.headers_mut().entry(USER_AGENT).or_insert(AGENT);
        let response = sender.send_request(request).await.map_err(failed)?;
        Ok((response, running))
    }
}

/// Connects to backends of the operator, whose names may mean any address.
#[derive(Clone)]
struct UpstreamConnector {
    resolver: Arc<dyn Resolve>,
    tls: Arc<LazyTls>,
}

impl Service<Uri> for UpstreamConnector {
    type Response = TokioIo<PooledStream>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            // A backend may think for long before it answers, but not before it takes the connection.
            let stream = timeout(CONNECT_TIME_MAX, connector.connect(&uri)).await?;
            let stream = stream.map_err(|error| io::Error::other(error.log_reason()))?;
            Ok(TokioIo::new(PooledStream(stream)))
        })
    }
}

impl UpstreamConnector {
    async fn connect(&self, uri: &Uri) -> Result<NetStream, EgressError> {
        // The pool knows no path; what it was given was checked.
        let target = CheckedUrl::parse(&uri.to_string())?;
        let addresses = match target.address() {
            Some(address) => vec![address],
            None => {
                let found = timeout(RESOLVE_TIME_MAX, self.resolver.resolve(&target.host())).await;
                let found = found.map_err(|_| EgressError::timed_out("the lookup"))?;
                found.map_err(|error| EgressError::Unconnected(error.to_string()))?
            }
        };
        let addresses: Vec<_> = addresses.into_iter().map(|ip| SocketAddr::new(ip, target.port())).collect();
        let tls = if target.is_https() { Some(self.tls.upstream()?) } else { None };
        Ok(stream::open(&target, &addresses, tls, CONNECT_TIME_MAX).await?.0)
    }
}

/// A connection of the pool, which says whether HTTP/2 was agreed on.
struct PooledStream(NetStream);

impl Connection for PooledStream {
    fn connected(&self) -> Connected {
        match self.0.protocol() {
            Some(b"h2") => Connected::new().negotiated_h2(),
            _ => Connected::new(),
        }
    }
}

impl AsyncRead for PooledStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for PooledStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
