//! What goes out, counted: by what it is for and what became of it. Labels are of closed sets; no host becomes one.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::purpose::Purpose;

/// What all clients of a process count together.
#[derive(Debug)]
pub struct EgressMetrics {
    requests: Family<OutcomeLabels, Counter>,
    durations: Family<PurposeLabel, Histogram, Buckets>,
    in_flight: Family<PurposeLabel, Gauge<i64, AtomicI64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    purpose: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PurposeLabel {
    purpose: &'static str,
}

/// From a millisecond to a minute.
#[derive(Clone, Debug)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(0.001, 4.0, 9))
    }
}

impl Default for EgressMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(Buckets),
            in_flight: Family::default(),
        }
    }
}

/// A request under way, counted until it is dropped.
pub(crate) struct InFlightGuard(Gauge<i64, AtomicI64>);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl EgressMetrics {
    /// Names every counter in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Requests that went out, or were to, by purpose and outcome";
        registry.register("egress_requests", help, self.requests.clone());
        let help = "Seconds until the head of the answer, by purpose";
        registry.register("egress_request_seconds", help, self.durations.clone());
        let help = "Requests out whose heads are waited for, by purpose";
        registry.register("egress_in_flight", help, self.in_flight.clone());
    }

    pub(crate) fn begin(&self, purpose: Purpose) -> InFlightGuard {
        let gauge = self.in_flight.get_or_create(&PurposeLabel { purpose: purpose.name() }).clone();
        gauge.inc();
        InFlightGuard(gauge)
    }

    pub(crate) fn ended(&self, purpose: Purpose, outcome: &'static str, after: Duration) {
        let purpose = purpose.name();
        self.requests.get_or_create(&OutcomeLabels { purpose, outcome }).inc();
        self.durations.get_or_create(&PurposeLabel { purpose }).observe(after.as_secs_f64());
    }
}
