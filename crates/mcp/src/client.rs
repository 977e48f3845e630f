//! Talking to other MCP servers over HTTP: the client of the SDK on our guarded way out, and posts beside it.

mod early_answer;
mod out;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forecourt_agents::declined::UpstreamError;
use forecourt_egress::{Egress, EgressError, Purpose};
use http::HeaderMap;
use parking_lot::Mutex;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::worker::WorkerQuitReason;

use crate::limits::CALLS_PER_SESSION_MAX;

pub(crate) use early_answer::{EarlyAnswer, PostOutcome, RenamedIds};
pub(crate) use out::{Out, repeat};

/// Where a request says, in its metadata, how many agents stand in line before it.
pub(crate) const HOPS: &str = "forecourt/hops";

/// What is noted of a connection while it is used.
#[derive(Debug, Default)]
pub(crate) struct ConnectionNotes {
    /// Whether the server has given out a session.
    has_session: AtomicBool,
    /// The session of the last message, if it had one.
    session: Mutex<Option<Arc<str>>>,
    /// The last challenge that it sent with 401.
    challenge: Mutex<Option<String>>,
    /// Requests that were posted without the SDK.
    pub(crate) renamed: RenamedIds,
}

impl ConnectionNotes {
    /// Whether the server has given out a session: it may keep something for whoever has it.
    pub(crate) fn has_session(&self) -> bool {
        self.has_session.load(Ordering::Relaxed)
    }

    /// The session that messages are sent in by now.
    pub(crate) fn session(&self) -> Option<Arc<str>> {
        self.session.lock().clone()
    }

    /// The last challenge of the server, as it came.
    pub(crate) fn challenge(&self) -> Option<String> {
        self.challenge.lock().clone()
    }
}

/// The connection of the SDK on our way out.
pub(crate) type Connection = StreamableHttpClientTransport<Out>;
/// Why a request came to nothing.
pub(crate) type TransportError = StreamableHttpError<OutError>;

/// Why our way out gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutError {
    /// The way itself.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// The server said with its status that we are not served, or not now; and in its own words, if any.
    #[error("the server {declined}")]
    Declined {
        /// Why not.
        declined: UpstreamError,
        /// What it said about it.
        message: String,
    },
}

/// A connection to the server at `url`. Connects to nothing yet.
pub(crate) fn connection(egress: Egress, purpose: Purpose, url: &str, headers: HeaderMap) -> Connection {
    let out = Out::unnoted(egress, purpose, headers);
    StreamableHttpClientTransport::with_client(out, StreamableHttpClientTransportConfig::with_uri(url))
}

/// The same that hears what the server tells without being asked, and whose notes are kept.
pub(crate) fn listening_connection(out: Out, url: &str) -> Connection {
    // Answers that take long are waited for each on a connection of its own.
    let config = StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(CALLS_PER_SESSION_MAX);
    StreamableHttpClientTransport::with_client(out, config)
}

/// What went wrong on our way out, behind an error of the SDK.
pub(crate) fn http_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a TransportError> {
    match error.downcast_ref::<WorkerQuitReason<TransportError>>() {
        Some(WorkerQuitReason::Fatal { error, .. }) => Some(error),
        _ => error.downcast_ref(),
    }
}
