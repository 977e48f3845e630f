//! What a collector of OpenTelemetry was told, and what it was not, counted.

use std::sync::atomic::{AtomicBool, Ordering};

use forecourt_admin::TelemetryState;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// What a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
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

    pub(crate) fn sent(&self, signal: Signal, items: u64) {
        self.sent.get_or_create(&SignalLabel { signal: signal.name() }).inc_by(items);
    }

    pub(crate) fn dropped(&self, signal: Signal, reason: &'static str, items: u64) {
        self.dropped.get_or_create(&DropLabels { signal: signal.name(), reason }).inc_by(items);
    }

    /// There is a collector.
    pub(crate) fn turn_on(&self) {
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Whether the last request to it failed; gives whether the one before it did.
    pub(crate) fn set_failing(&self, is_failing: bool) -> bool {
        self.is_failing.swap(is_failing, Ordering::Relaxed)
    }
}
