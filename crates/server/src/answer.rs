//! An answer on its way out, and what is told of its request once it is at its end, or given up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use forecourt_telemetry::spans::{self, AnswerBreak};
use forecourt_telemetry::{RequestLines, RequestTrace, known_method};
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;

use crate::access_log::AccessEntry;
use crate::durations::EndLabels;
use crate::head_facts::{scheme, version};
use crate::metrics::GaugeGuard;
use crate::peer::Peer;
use crate::route_class::RouteClass;

/// A request in flight: until its answer is written or given up.
pub(crate) struct InFlight {
    pub(crate) peer: Arc<Peer>,
    _counted: GaugeGuard,
}

impl InFlight {
    /// Counts one more. True: its framing is refused.
    pub(crate) fn begin(peer: Arc<Peer>, protocol: &'static str) -> (InFlight, bool) {
        let counted = peer.front.settings.metrics.count_in_flight(&peer.last, protocol);
        let ambiguous = peer.traffic.begin();
        (InFlight { peer, _counted: counted }, ambiguous)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.peer.traffic.end();
    }
}

/// A request and its answer, from its head on. When it is dropped, it is counted, its span ends, and it is written down.
pub(crate) struct Exchange {
    in_flight: InFlight,
    begun: Instant,
    labels: EndLabels,
    trace: RequestTrace,
    access: Option<Box<AccessEntry>>,
    /// Whether a body would not be sent.
    is_head: bool,
    /// Bytes of the body that were handed to the connection.
    bytes: u64,
    /// Bytes that it has, where that is known.
    length: Option<u64>,
    /// Whether all of the answer was handed to the connection.
    is_whole: bool,
}

impl Exchange {
    pub(crate) fn new(
        in_flight: InFlight,
        request: &Request<Incoming>,
        class: RouteClass,
        begun: Instant,
        trace: RequestTrace,
        access: Option<Box<AccessEntry>>,
    ) -> Self {
        let labels = EndLabels {
            method: known_method(request.method().as_str()),
            route: class.pattern(),
            scheme: scheme(in_flight.peer.tls),
            version: version(request.version()),
            status: None,
            broke: None,
        };
        let is_head = *request.method() == Method::HEAD;
        Self { in_flight, begun, labels, trace, access, is_head, bytes: 0, length: None, is_whole: false }
    }

    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.in_flight.peer
    }

    pub(crate) fn trace(&self) -> &RequestTrace {
        &self.trace
    }

    /// The head of the answer is on its way.
    pub(crate) fn answered(&mut self, status: StatusCode, headers: &HeaderMap, body: &Body) {
        self.labels.status = Some(status);
        spans::record_answer(&self.trace, status.as_u16());
        let told = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        self.length = told.or_else(|| body.size_hint().exact());
        // The bodies of these are never polled to their end, and would count as cut off.
        let is_bare = self.is_head || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        self.is_whole = is_bare || body.is_end_stream();
    }

    /// The next piece of the body was asked for.
    fn polled(&mut self, frame: &Poll<Option<Result<Frame<Bytes>, axum::Error>>>, is_at_end: bool) {
        match frame {
            Poll::Pending => {}
            Poll::Ready(None) => self.is_whole = true,
            Poll::Ready(Some(Err(_))) => self.broke(AnswerBreak::BrokeOff),
            Poll::Ready(Some(Ok(frame))) => {
                self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                // A connection asks for nothing behind the length that was announced.
                self.is_whole |= is_at_end || self.length.is_some_and(|length| self.bytes >= length);
            }
        }
    }

    /// The answer ends here, and is not whole. What was first counts.
    fn broke(&mut self, broke: AnswerBreak) {
        self.labels.broke.get_or_insert(broke);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let settings = &self.in_flight.peer.front.settings;
        let is_cut = !self.is_whole || self.labels.broke.is_some();
        if is_cut && self.labels.broke.is_none() {
            let is_leaving = settings.leaving.is_begun();
            self.labels.broke = Some(if is_leaving { AnswerBreak::HostLeft } else { AnswerBreak::CallerLeft });
        }
        // A status that is a fault already says what failed, and an attribute stands once.
        let is_fault = self.labels.status.is_some_and(|status| status.is_server_error());
        self.labels.broke = self.labels.broke.filter(|_| !is_fault);
        if let Some(broke) = self.labels.broke {
            spans::record_break(&self.trace, broke);
        }
        let after = self.begun.elapsed();
        settings.metrics.ended(&self.in_flight.peer.last, self.labels, after);
        if let (Some(mut entry), Some(log)) = (self.access.take(), settings.metrics.access()) {
            entry.status = self.labels.status.map_or(0, |status| status.as_u16());
            (entry.bytes, entry.seconds, entry.is_cut) = (self.bytes, after, is_cut);
            log.write(&entry);
        }
    }
}

pin_project! {
    /// The body of an answer, which keeps its request in flight.
    pub(crate) struct Answer {
        #[pin]
        body: Body,
        lines: RequestLines,
        exchange: Exchange,
    }
}

impl Answer {
    pub(crate) fn new(body: Body, lines: RequestLines, exchange: Exchange) -> Self {
        Self { body, lines, exchange }
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.project();
        let mut body = this.body;
        // Here too: a stream of events runs an agent's code long after the head was answered.
        let polled = {
            // What is said while an answer streams belongs to its request, too.
            let (_entered, _traced) = (this.lines.enter(), this.exchange.trace.enter());
            catch_unwind(AssertUnwindSafe(|| body.as_mut().poll_frame(cx)))
        };
        match polled {
            Ok(frame) => {
                this.exchange.polled(&frame, body.is_end_stream());
                frame
            }
            Err(_panic) => {
                let _entered = this.lines.enter();
                this.exchange.peer().front.settings.metrics.panics.inc();
                tracing::error!("an answer ended in a panic");
                this.exchange.broke(AnswerBreak::Panic);
                Poll::Ready(Some(Err(axum::Error::new("the answer broke off"))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
