//! A connection from its handshake to its end. Base 1.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forecourt_agtp_wire::message::{Request, Response};
use forecourt_core::in_place;
use forecourt_server::{Connection, Speak, StreamRequests};
use forecourt_telemetry::{RemoteParent, TRACEPARENT, TRACESTATE};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::connection::{Answer, ConnectionError, speak};
use crate::manifest::metric_label;
use crate::reply::Problem;
use crate::service::{ConnectionInfo, Service};

/// The requests of one connection.
struct Session {
    /// What answered last. A connection that is idle keeps it until its idle time is over.
    service: Mutex<Arc<Service>>,
    info: ConnectionInfo,
    /// Names and counts the requests.
    requests: StreamRequests,
    /// Whether an answer went out already.
    is_open: AtomicBool,
}

/// Speaks the protocol on connections.
pub(crate) fn on_connections(service: Arc<Service>) -> Speak {
    Arc::new(move |connection: Connection| {
        let Connection { stream, peer, certificates, stop, requests, .. } = connection;
        let info = ConnectionInfo::new(peer, certificates.first().map(AsRef::as_ref));
        let info = info.named(service.host.entropy().as_ref());
        Box::pin(serve(Arc::clone(&service), stream, info, requests, stop))
    })
}

/// Answers on one stream until it ends, or until `stop` comes between two requests.
pub(crate) async fn serve<S>(
    service: Arc<Service>,
    stream: S,
    info: ConnectionInfo,
    requests: StreamRequests,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (bounds, patience) = (service.settings.limits.bounds(), service.settings.limits.patience());
    // Before the first answer, since `AGTP-API-Version` goes with every one, refusals included. Base 2.5.
    Box::pin(service.discovery.prepare()).await;
    let session = Session { service: Mutex::new(service), info, requests, is_open: AtomicBool::new(false) };
    speak(stream, &session, bounds, patience, stop).await;
    // Contracts may be bound to a connection, and are over with it.
    if let Some(id) = &session.info.id {
        Box::pin(session.service().connection_ended(id)).await;
    }
}

impl Session {
    /// The service as it is now: a request is answered by the deployment as it was when the request came.
    fn service(&self) -> Arc<Service> {
        let mut service = self.service.lock();
        if let Some(now) = service.current.load() {
            *service = now;
        }
        Arc::clone(&service)
    }

    /// Whether this is the first answer.
    fn begins(&self) -> bool {
        !self.is_open.swap(true, Ordering::Relaxed)
    }
}

/// The span of the sender, by the fields that HTTP has for it; the specification has none of its own.
fn parent(request: &Request) -> Option<RemoteParent> {
    RemoteParent::parse(request.field(TRACEPARENT.as_str())?, request.field(TRACESTATE.as_str()))
}

impl Answer for Session {
    async fn answer(&self, request: Request) -> Response {
        // On the heap, so that connections that wait don't carry the size of an answer around.
        let service = self.service();
        let answering = in_place(|| service.answered(&request, &self.info));
        let counted = self.requests.begin_within(metric_label(&request.start.method), parent(&request));
        let answered = counted.carry(answering).await;
        let begins = self.begins();
        let response = in_place(|| service.responder().response(&request, answered, begins)).await;
        counted.answered(response.start.code, response.body.len() as u64);
        response
    }

    async fn refuse(&self, refused: ConnectionError) -> Response {
        Box::pin(self.service().responder().refusal(Problem::from(refused), self.begins())).await
    }
}
