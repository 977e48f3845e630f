//! One request to the collector, and what became of what it carried. OTLP 1.x over HTTP with protocol buffers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use forecourt_admin::TelemetryState;
use forecourt_egress::{Deadlines, Egress, Purpose, UpstreamRequest, UpstreamResponse};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// How often what a collector has no time for is sent again.
const RETRIES: u32 = 2;
/// How long it is waited before that, unless the collector says how long.
const RETRY_AFTER_SECONDS: u64 = 1;
/// How long it is waited at most, whatever the collector says.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(30);

/// What a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// Spans.
    Traces,
    /// Samples of metrics.
    Metrics,
    /// Lines of the log.
    Logs,
}

/// What was sent, and what was lost.
#[derive(Debug, Default)]
pub struct ExportMetrics {
    sent: Family<SignalLabel, Counter>,
    dropped: Family<DropLabels, Counter>,
    /// Whether there is a collector.
    is_on: AtomicBool,
    /// Whether the last request to it failed.
    is_failing: AtomicBool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SignalLabel {
    signal: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DropLabels {
    signal: &'static str,
    reason: &'static str,
}

impl ExportMetrics {
    /// Names every counter in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Spans, metrics and lines of the log that the collector took, by signal";
        registry.register("telemetry_sent_items", help, self.sent.clone());
        let help = "Spans, metrics and lines of the log that were lost, by signal and reason";
        registry.register("telemetry_dropped_items", help, self.dropped.clone());
    }

    /// How it goes with the collector.
    pub(crate) fn state(&self) -> TelemetryState {
        match (self.is_on.load(Ordering::Relaxed), self.is_failing.load(Ordering::Relaxed)) {
            (false, _) => TelemetryState::Off,
            (true, false) => TelemetryState::Sending,
            (true, true) => TelemetryState::Failing,
        }
    }

    pub(super) fn sent(&self, signal: Signal, items: u64) {
        self.sent.get_or_create(&SignalLabel { signal: signal.name() }).inc_by(items);
    }

    pub(super) fn dropped(&self, signal: Signal, reason: &'static str, items: u64) {
        self.dropped.get_or_create(&DropLabels { signal: signal.name(), reason }).inc_by(items);
    }
}

/// The way to the collector.
pub(super) struct Exporter {
    egress: Egress,
    headers: HeaderMap,
    timeout: Duration,
    counts: Arc<ExportMetrics>,
}

impl Exporter {
    pub(super) fn new(egress: Egress, mut headers: HeaderMap, timeout: Duration, counts: Arc<ExportMetrics>) -> Self {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        counts.is_on.store(true, Ordering::Relaxed);
        Self { egress, headers, timeout, counts }
    }

    pub(super) fn counts(&self) -> &Arc<ExportMetrics> {
        &self.counts
    }

    /// Sends `items` of `signal` in `body`. Counts them as sent or lost; a collector that is away is asked once.
    pub(super) async fn send(&self, signal: Signal, url: &str, body: Bytes, items: u64) {
        let mut retries = RETRIES;
        let lost = loop {
            match self.once(url, body.clone()).await {
                Ok(answer) if answer.status.is_success() => break None,
                Ok(answer) if is_busy(answer.status) && retries > 0 => {
                    retries -= 1;
                    tokio::time::sleep(wait(&answer.headers)).await;
                }
                Ok(answer) => break Some(("refused", format!("it answered {}", answer.status))),
                Err(error) => break Some(("unreachable", error)),
            }
        };
        match lost {
            None => self.counts.sent(signal, items),
            Some((reason, _)) => self.counts.dropped(signal, reason, items),
        }
        // So that it is said once.
        let was_failing = self.counts.is_failing.swap(lost.is_some(), Ordering::Relaxed);
        match lost {
            Some((_, error)) if !was_failing => {
                tracing::warn!(error, "the collector of [telemetry] took nothing; what is for it is dropped meanwhile");
            }
            None if was_failing => tracing::info!("the collector of [telemetry] takes what it is sent again"),
            _ => {}
        }
    }

    async fn once(&self, url: &str, body: Bytes) -> Result<UpstreamResponse, String> {
        let bounds = Purpose::Telemetry.deadlines(self.egress.config());
        let deadlines = Deadlines { first_byte: self.timeout, total: self.timeout, ..bounds };
        let request =
            UpstreamRequest { headers: self.headers.clone(), ..UpstreamRequest::post(url, body) }.within(deadlines);
        self.egress.send(Purpose::Telemetry, request).await.map_err(|error| error.log_reason())
    }
}

/// Whether the collector wants to be asked again. OTLP, "Failures".
fn is_busy(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn wait(headers: &HeaderMap) -> Duration {
    let said = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Duration::from_secs(said.unwrap_or(RETRY_AFTER_SECONDS)).min(RETRY_WAIT_MAX)
}
