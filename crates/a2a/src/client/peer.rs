//! One remote agent, ready to be asked.

use std::pin::Pin;
use std::sync::Arc;

use async_stream::stream;
use bytes::Bytes;
use forecourt_agents::declined::UpstreamError;
use forecourt_egress::{CheckedUrl, Egress, Purpose, RequestUrl, hops};
use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::endpoint::Endpoint;
use super::error::{self, PeerError};
use super::exchange::{self, ClientTimeouts, PeerResponse};
use super::limits::EVENT_ID_BYTES_MAX;
use super::wire::{self, RawAnswer};
use crate::model::{Item, Operation, OperationOutcome, Version};

/// Which generation a request speaks.
const VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// Which extensions are at work, as 1.0 calls the field.
const EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
/// The same, as 0.3 calls it.
const X_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");
/// Where a stream is to go on.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// What a client of ours understands beside A2A itself. PolicyPart 1, tool events.
const UNDERSTOOD: HeaderValue =
    HeaderValue::from_static("https://mentionable.dev/ns/policy/v0.1, https://mentionable.dev/ns/a2a-tool-events/v0.1");

/// One remote agent, ready to be asked. Cheap to clone.
#[derive(Clone)]
pub struct Peer {
    line: Arc<PeerContext>,
}

struct PeerContext {
    egress: Egress,
    purpose: Purpose,
    endpoint: Endpoint,
    /// Where it is, parsed once for all requests.
    url: RequestUrl,
    /// The fields of every request.
    headers: HeaderMap,
    patience: ClientTimeouts,
    streams: bool,
}

/// What a [`Peer`] is made of.
pub struct PeerConfig {
    /// The way out.
    pub egress: Egress,
    /// Who wrote the URL: [`Purpose::Upstream`] for an operator, [`Purpose::RemoteAgent`] for a card.
    pub purpose: Purpose,
    /// Where and how.
    pub endpoint: Endpoint,
    /// Fields for each request, such as credentials.
    pub headers: HeaderMap,
    /// How long to wait.
    pub patience: ClientTimeouts,
    /// Whether the agent says that it streams.
    pub streams: bool,
}

/// One item of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamItem {
    /// What it says.
    pub item: Item,
    /// How it was spelled.
    pub raw: RawAnswer,
    /// The id that the stream may go on from, if the server gives any.
    pub id: Option<String>,
}

/// Items as they come. Ends after the first fault.
pub type Arrivals = Pin<Box<dyn Stream<Item = Result<StreamItem, PeerError>> + Send>>;

impl Peer {
    /// The agent behind `config`. Connects to nothing yet.
    pub fn new(config: PeerConfig) -> Self {
        let PeerConfig { egress, purpose, endpoint, mut headers, patience, streams } = config;
        let (version, extensions) = match endpoint.version {
            Version::V1_0 => ("1.0", EXTENSIONS),
            Version::V0_3 => ("0.3", X_EXTENSIONS),
        };
        headers.insert(VERSION, HeaderValue::from_static(version));
        headers.insert(extensions, UNDERSTOOD);
        let text = endpoint.url.as_str();
        // What is wrong with it is said when it is asked, as of any other URL.
        let url = CheckedUrl::parse(text).map_or_else(|_| text.into(), |url| RequestUrl::from(&url));
        Self { line: Arc::new(PeerContext { egress, purpose, endpoint, url, headers, patience, streams }) }
    }

    /// The interface that this peer is asked at.
    pub fn endpoint(&self) -> &Endpoint {
        &self.line.endpoint
    }

    /// The time-outs of each request and of a whole answer.
    pub fn patience(&self) -> ClientTimeouts {
        self.line.patience
    }

    /// Whether it says that it streams.
    pub fn streams(&self) -> bool {
        self.line.streams
    }

    /// Carries out `operation` on behalf of a message with `hop` agents before it.
    pub fn call<'a>(
        &'a self,
        operation: &'a Operation,
        hop: u32,
    ) -> BoxFuture<'a, Result<OperationOutcome, PeerError>> {
        Box::pin(async move { self.call_raw(operation, hop).await.map(|(outcome, _)| outcome) })
    }

    /// [`Peer::call`], with the answer as it was spelled.
    pub(crate) fn call_raw<'a>(
        &'a self,
        operation: &'a Operation,
        hop: u32,
    ) -> BoxFuture<'a, Result<(OperationOutcome, RawAnswer), PeerError>> {
        Box::pin(async move {
            let begun = self.send(operation, hop, None).await?;
            self.whole(operation, begun).await
        })
    }

    /// Begins a stream: [`Operation::Stream`] or [`Operation::Subscribe`], the latter from behind
    /// `last_id`. An answer in one piece is a stream of one.
    pub fn stream<'a>(
        &'a self,
        operation: &'a Operation,
        hop: u32,
        last_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Arrivals, PeerError>> {
        Box::pin(async move {
            let begun = self.send(operation, hop, last_id).await?;
            if begun.is_stream() && begun.status.is_success() {
                return Ok(self.items(begun));
            }
            let one = match self.whole(operation, begun).await? {
                (OperationOutcome::Sent(item), raw) => StreamItem { item, raw, id: None },
                (OperationOutcome::Task(task), raw) => StreamItem { item: Item::Task(task), raw, id: None },
                _ => return Err(PeerError::unreadable("an answer to another question")),
            };
            Ok(Box::pin(futures::stream::iter([Ok(one)])))
        })
    }

    fn items(&self, begun: PeerResponse) -> Arrivals {
        let peer = self.clone();
        Box::pin(stream! {
            let mut events = std::pin::pin!(begun.events());
            while let Some(event) = events.next().await {
                let arrived = event.and_then(|event| {
                    let data = Bytes::from(event.data);
                    let item = wire::item(&peer.line.endpoint, &data)?;
                    let raw = RawAnswer::new(peer.line.endpoint.binding, data);
                    // The id goes back in a header field: a stranger's very long one is dropped, and the stream is then
                    // taken up without.
                    Ok(StreamItem { item, raw, id: event.last_id.filter(|id| id.len() <= EVENT_ID_BYTES_MAX) })
                });
                let is_over = arrived.is_err();
                yield arrived;
                if is_over {
                    return;
                }
            }
        })
    }

    async fn whole(
        &self,
        operation: &Operation,
        begun: PeerResponse,
    ) -> Result<(OperationOutcome, RawAnswer), PeerError> {
        let status = begun.status;
        let endpoint = &self.line.endpoint;
        if let Some(declined) = UpstreamError::of(status, &begun.headers) {
            let body = begun.bytes().await.and_then(|bytes| exchange::read_json(status, &bytes));
            return Err(error::of_declined(declined, &body.unwrap_or_default()));
        }
        let bytes = begun.bytes().await?;
        let outcome = match wire::plain_outcome(endpoint, wire::method_of(operation), status, &bytes) {
            Some(outcome) => outcome,
            None => {
                let body = exchange::read_json(status, &bytes)?;
                wire::outcome(endpoint, wire::method_of(operation), status.as_u16(), body)?
            }
        };
        Ok((outcome, RawAnswer::new(endpoint.binding, bytes)))
    }

    async fn send(&self, operation: &Operation, hop: u32, last_id: Option<&str>) -> Result<PeerResponse, PeerError> {
        let line = &self.line;
        let mut request = wire::request(&line.endpoint, &line.url, operation);
        for (name, value) in &line.headers {
            request.headers.insert(name, value.clone());
        }
        if let Some(id) = last_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            request.headers.insert(LAST_EVENT_ID, id);
        }
        hops::write(&mut request.headers, hop);
        exchange::send(&line.egress, line.purpose, request, line.patience).await
    }
}

/// Never prints the fields: they may hold credentials.
impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("endpoint", &self.line.endpoint).finish_non_exhaustive()
    }
}
