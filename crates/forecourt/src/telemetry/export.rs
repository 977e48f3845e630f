//! One request to the collector, and what became of what it carried. OTLP 1.x over HTTP with protocol buffers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_egress::{Deadlines, Egress, Purpose, UpstreamRequest, UpstreamResponse};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::export_metrics::{ExportMetrics, Signal};

/// How often what a collector has no time for is sent again.
const RETRIES: u32 = 2;
/// How long it is waited before that, unless the collector says how long.
const RETRY_AFTER_SECONDS: u64 = 1;
/// How long it is waited at most, whatever the collector says.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(30);

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
        counts.turn_on();
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
                // Not tried again: the next batch comes in seconds, and meanwhile the queue would fill.
                Err(error) => break Some(("unreachable", error)),
            }
        };
        match lost {
            None => self.counts.sent(signal, items),
            Some((reason, _)) => self.counts.dropped(signal, reason, items),
        }
        // Told when it begins and when it ends, and not for each batch in between.
        let was_failing = self.counts.set_failing(lost.is_some());
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
