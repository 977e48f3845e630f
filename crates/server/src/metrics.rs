//! What the listeners count. Every label is of a closed set; nothing a client writes becomes one.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::route_class::RouteClass;

/// How often it is looked whether a request is still half sent.
const ARRIVING_LOOK: Duration = Duration::from_millis(20);

/// The listeners' counters.
#[derive(Debug)]
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, Buckets>,
    stream_requests: Family<StreamRequestLabels, Counter>,
    stream_durations: Family<ProtocolLabel, Histogram, Buckets>,
    stream_connections: Family<ProtocolLabel, Counter>,
    refused: Family<RefusalLabel, Counter>,
    pub(crate) in_flight: Gauge<i64, AtomicI64>,
    pub(crate) arriving: Gauge<i64, AtomicI64>,
    pub(crate) connections: Gauge<i64, AtomicI64>,
    pub(crate) panics: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    protocol: &'static str,
    route: &'static str,
    method: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    protocol: &'static str,
    route: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StreamRequestLabels {
    protocol: &'static str,
    method: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProtocolLabel {
    protocol: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabel {
    reason: &'static str,
}

/// From half a millisecond to half a minute.
#[derive(Clone, Debug)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(0.0005, 4.0, 9))
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            requests: Family::default(),
            durations: Family::new_with_constructor(Buckets),
            stream_requests: Family::default(),
            stream_durations: Family::new_with_constructor(Buckets),
            stream_connections: Family::default(),
            refused: Family::default(),
            in_flight: Gauge::default(),
            arriving: Gauge::default(),
            connections: Gauge::default(),
            panics: Counter::default(),
        }
    }
}

/// A request of which more is to come. Counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Arriving(Arc<Metrics>);

impl Arriving {
    pub(crate) fn new(metrics: &Arc<Metrics>) -> Self {
        metrics.arriving.inc();
        Self(Arc::clone(metrics))
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.0.arriving.dec();
    }
}

impl Metrics {
    /// Whether a request is half sent.
    pub fn is_arriving(&self) -> bool {
        self.arriving.get() > 0
    }

    /// Waits until no request is half sent, `patience` at most: what was begun before a stop is not lost
    /// to it.
    pub async fn arrived(&self, patience: Duration) {
        let until = tokio::time::Instant::now() + patience;
        while self.is_arriving() && tokio::time::Instant::now() < until {
            tokio::time::sleep(ARRIVING_LOOK).await;
        }
    }

    /// Names every counter in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("http_requests", "Requests by protocol, route, method and status", self.requests.clone());
        let help = "Seconds until the head of the answer, by protocol and route";
        registry.register("http_request_seconds", help, self.durations.clone());
        let help = "Requests on sockets of a protocol's own, by protocol, method and status";
        registry.register("stream_requests", help, self.stream_requests.clone());
        let help = "Seconds until the answer on sockets of a protocol's own, by protocol";
        registry.register("stream_request_seconds", help, self.stream_durations.clone());
        let help = "Connections that were opened on sockets of a protocol's own, by protocol";
        registry.register("stream_connections", help, self.stream_connections.clone());
        registry.register("http_in_flight", "Answers that are not written yet", self.in_flight.clone());
        registry.register("http_arriving", "Requests of which more is to come", self.arriving.clone());
        registry.register("http_connections", "Connections open", self.connections.clone());
        registry.register("http_connections_refused", "Connections closed unheard, by reason", self.refused.clone());
        registry.register("http_panics", "Requests that ended in a panic", self.panics.clone());
    }

    /// Requests that ended in a panic so far. The target is 0.
    pub fn panics(&self) -> u64 {
        self.panics.get()
    }

    pub(crate) fn answered(&self, class: RouteClass, method: &Method, status: StatusCode, after: Duration) {
        let RouteClass { protocol, route } = class;
        let labels =
            RequestLabels { protocol, route, method: method_label(method), status: status_label(status.as_u16()) };
        self.requests.get_or_create(&labels).inc();
        self.durations.get_or_create(&RouteLabels { protocol, route }).observe(after.as_secs_f64());
    }

    /// Counts a connection on a socket of `protocol`'s own.
    pub(crate) fn stream_opened(&self, protocol: &'static str) {
        self.stream_connections.get_or_create(&ProtocolLabel { protocol }).inc();
    }

    /// Counts a request on a socket of `protocol`'s own. `status` is of three digits, as HTTP's are.
    pub(crate) fn stream_answered(&self, protocol: &'static str, method: &'static str, status: u16, after: Duration) {
        let labels = StreamRequestLabels { protocol, method, status: status_label(status) };
        self.stream_requests.get_or_create(&labels).inc();
        self.stream_durations.get_or_create(&ProtocolLabel { protocol }).observe(after.as_secs_f64());
    }

    pub(crate) fn connection_refused(&self, reason: &'static str) {
        self.refused.get_or_create(&RefusalLabel { reason }).inc();
    }
}

pub(crate) fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::OPTIONS => "OPTIONS",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn status_label(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_methods_make_no_series() {
        let metrics = Metrics::default();
        for n in 0..50 {
            let method = Method::from_bytes(format!("M{n}").as_bytes()).unwrap_or_default();
            metrics.answered(RouteClass::UNMATCHED, &method, StatusCode::METHOD_NOT_ALLOWED, Duration::ZERO);
        }
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        assert!(prometheus_client::encoding::text::encode(&mut text, &registry).is_ok());
        assert_eq!(text.matches("http_requests_total{").count(), 1, "{text}");
    }
}
