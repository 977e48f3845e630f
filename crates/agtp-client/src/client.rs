//! The other side of the wire: requests to servers anywhere, over connections that are kept.
//!
//! Nothing here uses the server half; both speak through the same codec. Connections are opened by the
//! guarded way out, so that whoever may choose the server can't choose one of ours.

mod exchange;
mod pool;
mod request_builder;

use std::sync::Arc;

use forecourt_agtp_wire::codec::{Bounds, HeadError};
use forecourt_agtp_wire::limits::PORT;
use forecourt_agtp_wire::message::{Request, Response};
use forecourt_egress::{ClientCertificate, Connection, Egress, EgressError, Purpose, SetupError, Tls};
use forecourt_telemetry::{OutgoingContext, outgoing};
use futures::future::BoxFuture;

use self::exchange::{ExchangeError, ExchangeOutcome, Patience, exchange};
use self::pool::Pool;
use crate::limits::{ANSWER_BODY_BYTES_MAX, ANSWER_REST_TIME_MAX, PIPELINED_MAX};

pub(crate) use request_builder::RequestBuilder;

/// The protocol's name in a TLS handshake. Base 1.
const ALPN: &[u8] = b"agtp";

/// Methods that only look, whatever their path: repeating them does no harm. Base 3.1.
const REPEATABLE: [&str; 6] = ["QUERY", "DISCOVER", "DESCRIBE", "INSPECT", "SUMMARIZE", "PLAN"];

/// A client. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub(crate) struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    egress: Egress,
    purpose: Purpose,
    tls: Option<Tls>,
    bounds: Bounds,
    patience: Patience,
    pool: Pool,
}

/// A client in the making.
pub(crate) struct ClientBuilder {
    egress: Egress,
    purpose: Purpose,
    certificate: Option<ClientCertificate>,
    is_plain: bool,
    bounds: Bounds,
    patience: Patience,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    /// A name, or an address with or without brackets.
    pub(crate) host: String,
    /// The port.
    pub(crate) port: u16,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// No connection: nothing of the request was sent.
    #[error(transparent)]
    Unreachable(EgressError),
    /// Plain text is for loopback alone, and the server is elsewhere. Nothing was sent. AGTP-API 16.3.
    #[error("without TLS only this machine is spoken to")]
    PlainElsewhere,
    /// More requests at once than are sent without waiting for answers.
    #[error("at most {PIPELINED_MAX} requests are sent at once")]
    TooMany,
    /// The server closed the connection instead of answering. The request may have been acted on.
    #[error("the server closed the connection without an answer")]
    Closed,
    /// The connection ended within the answer.
    #[error("the answer broke off")]
    CutOff,
    /// The answer did not come in time.
    #[error("the answer took too long")]
    Late,
    /// What came is no answer.
    #[error("what the server sent is not an AGTP/1.0 response: {}", about(*.0))]
    Malformed(HeadError),
}

/// Fewer answers than requests.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(crate) struct IncompleteExchange {
    /// The answers that came, in the order of the requests.
    pub(crate) answers: Vec<Response>,
    /// Why the next one did not.
    #[source]
    pub(crate) error: ClientError,
}

impl Client {
    /// Begins a client whose connections are for `purpose`.
    pub(crate) fn builder(egress: Egress, purpose: Purpose) -> ClientBuilder {
        // The egress bounds the wait for a first byte; how long a whole answer may take is this client's own.
        let first = purpose.deadlines(egress.config()).first_byte;
        let bounds = Bounds { body_bytes: ANSWER_BODY_BYTES_MAX, ..Bounds::default() };
        let patience = Patience { first, rest: ANSWER_REST_TIME_MAX };
        ClientBuilder { egress, purpose, certificate: None, is_plain: false, bounds, patience }
    }

    /// Sends a request and reads its answer, whatever its status.
    ///
    /// # Errors
    /// When there is no whole answer. A kept connection that the server has closed meanwhile is replaced
    /// by a new one, once, if the request can't have been acted on or only looks.
    pub(crate) fn send<'a>(
        &'a self,
        server: &'a Server,
        request: &'a Request,
    ) -> BoxFuture<'a, Result<Response, ClientError>> {
        Box::pin(async move {
            let answers = self.send_all(server, std::slice::from_ref(request)).await;
            answers.map_err(|interrupted| interrupted.error)?.pop().ok_or(ClientError::Closed)
        })
    }

    /// Sends requests on one connection without waiting between them, at most [`PIPELINED_MAX`]; gives
    /// their answers in order.
    ///
    /// # Errors
    /// As [`Client::send`], with the answers that came before.
    pub(crate) fn send_all<'a>(
        &'a self,
        server: &'a Server,
        requests: &'a [Request],
    ) -> BoxFuture<'a, Result<Vec<Response>, IncompleteExchange>> {
        Box::pin(async move {
            let nothing = |error| IncompleteExchange { answers: Vec::new(), error };
            if requests.len() > PIPELINED_MAX {
                return Err(nothing(ClientError::TooMany));
            }
            let traced = traced(requests);
            let requests = traced.as_deref().unwrap_or(requests);
            // The server may have closed it a moment ago: where that does no harm (`is_stale`), the requests go out
            // once more, on a new connection.
            if let Some(mut kept) = self.inner.pool.take(server) {
                kept.resume().await.map_err(|error| nothing(ClientError::Unreachable(error)))?;
                let exchanged = self.exchange(kept, server, requests).await;
                if !is_stale(&exchanged, requests) {
                    return judged(exchanged);
                }
            }
            let fresh = self.connect(server).await.map_err(nothing)?;
            judged(self.exchange(fresh, server, requests).await)
        })
    }

    async fn exchange(&self, mut connection: Connection, server: &Server, requests: &[Request]) -> ExchangeOutcome {
        let exchanged = exchange(&mut connection, requests, self.inner.bounds, self.inner.patience).await;
        if exchanged.is_clean {
            self.inner.pool.keep(server, connection);
        }
        exchanged
    }

    async fn connect(&self, server: &Server) -> Result<Connection, ClientError> {
        let Inner { egress, purpose, tls, .. } = &*self.inner;
        let Server { host, port } = server;
        let Some(tls) = tls else {
            let connection = egress.connect(*purpose, host, *port).await.map_err(ClientError::Unreachable)?;
            // By the address that was dialled and not by the name, which could lead anywhere. AGTP-API 16.3.
            return match connection.peer().ip().is_loopback() {
                true => Ok(connection),
                false => Err(ClientError::PlainElsewhere),
            };
        };
        egress.connect_tls(*purpose, host, *port, tls).await.map_err(ClientError::Unreachable)
    }
}

/// Whether a kept connection was closed before anything of the answer came, so that another may be tried.
fn is_stale(exchanged: &ExchangeOutcome, requests: &[Request]) -> bool {
    let only_look = || requests.iter().all(|request| REPEATABLE.contains(&request.start.method.as_str()));
    // Of several, the first may have been acted on though the last was never sent.
    let is_untouched = |is_taken: bool| !is_taken && requests.len() == 1;
    let is_closed = match exchanged.broken {
        Some(ExchangeError::Closed { is_taken }) => is_untouched(is_taken) || only_look(),
        _ => false,
    };
    // After a first answer the server was there: what is missing then was not lost with an old connection.
    is_closed && exchanged.answers.is_empty()
}

fn judged(exchanged: ExchangeOutcome) -> Result<Vec<Response>, IncompleteExchange> {
    let error = match exchanged.broken {
        None => return Ok(exchanged.answers),
        Some(ExchangeError::Closed { .. }) => ClientError::Closed,
        Some(ExchangeError::CutOff) => ClientError::CutOff,
        Some(ExchangeError::Late) => ClientError::Late,
        Some(ExchangeError::Malformed(error)) => ClientError::Malformed(error),
    };
    Err(IncompleteExchange { answers: exchanged.answers, error })
}

/// A fault of a status line in words of its own: the codec's are for requests.
fn about(error: HeadError) -> String {
    match error {
        HeadError::Version | HeadError::Line => "it does not begin with `AGTP/1.0 CODE REASON`".to_owned(),
        other => other.to_string(),
    }
}

impl ClientBuilder {
    /// Shows a certificate to servers that ask for one. Base 6.7.
    #[must_use]
    pub(crate) fn certificate(mut self, certificate: ClientCertificate) -> Self {
        self.certificate = Some(certificate);
        self
    }

    /// Speaks without TLS, to this machine alone.
    #[must_use]
    pub(crate) fn plaintext(mut self) -> Self {
        self.is_plain = true;
        self
    }

    /// How much of an answer is taken.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Sets TLS up.
    ///
    /// # Errors
    /// When the client's certificate and key do not belong together.
    pub(crate) fn build(self) -> Result<Client, SetupError> {
        let tls = match self.is_plain {
            true => None,
            false => Some(self.egress.tls(ALPN, PORT, self.certificate.as_ref())?),
        };
        let Self { egress, purpose, bounds, patience, .. } = self;
        let pool = Pool::default();
        Ok(Client { inner: Arc::new(Inner { egress, purpose, tls, bounds, patience, pool }) })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// The same requests with the trace that they belong to, if they belong to one.
fn traced(requests: &[Request]) -> Option<Vec<Request>> {
    let OutgoingContext { traceparent, tracestate } = outgoing()?;
    let mut requests = requests.to_vec();
    // A trace that the caller wrote into its request is the caller's to tell.
    for request in requests.iter_mut().filter(|request| request.field("Traceparent").is_none()) {
        // Both are made of what fields may have.
        let _ = request.fields.push("Traceparent", &traceparent);
        let _ = tracestate.as_deref().map(|state| request.fields.push("Tracestate", state));
    }
    Some(requests)
}

#[cfg(test)]
mod tests;
