//! What the listeners count. Every label is of a closed set; nothing a client writes becomes one.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Method, StatusCode};
use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::access_log::AccessLog;
use crate::durations::{EndLabels, LastDuration, RequestDurations};
use crate::route_class::RouteClass;

/// How often it is looked whether a request is still half sent.
const ARRIVING_LOOK: Duration = Duration::from_millis(20);

/// Domains that are told apart while a process runs, those that went too; the ones that come then are `other`.
pub const DOMAIN_LABELS_MAX: usize = 200;

/// What metrics call a domain that is served.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DomainLabel(Arc<str>);

impl DomainLabel {
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// Of no domain that is served.
    pub(crate) fn none() -> &'static Self {
        static NONE: OnceLock<DomainLabel> = OnceLock::new();
        NONE.get_or_init(|| Self::named("none"))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Of no domain that is served.
impl Default for DomainLabel {
    fn default() -> Self {
        Self::none().clone()
    }
}

impl EncodeLabelValue for DomainLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        self.as_str().encode(encoder)
    }
}

/// The listeners' counters.
#[derive(Debug)]
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, Buckets>,
    ends: RequestDurations,
    stream_requests: Family<StreamRequestLabels, Counter>,
    stream_durations: Family<ProtocolLabel, Histogram, Buckets>,
    stream_connections: Family<ProtocolLabel, Counter>,
    refused: Family<RefusalLabel, Counter>,
    in_flight: Family<ProtocolLabel, Gauge<i64, AtomicI64>>,
    stream_in_flight: Family<ProtocolLabel, Gauge<i64, AtomicI64>>,
    pub(crate) arriving: Gauge<i64, AtomicI64>,
    pub(crate) connections: Gauge<i64, AtomicI64>,
    pub(crate) panics: Counter,
    /// The domains that are told apart.
    domains: Mutex<HashSet<DomainLabel>>,
    /// Where each request is written down, too.
    access: OnceLock<AccessLog>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    protocol: &'static str,
    route: &'static str,
    method: &'static str,
    status: &'static str,
    domain: DomainLabel,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    protocol: &'static str,
    route: &'static str,
    domain: DomainLabel,
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
            ends: RequestDurations::default(),
            stream_requests: Family::default(),
            stream_durations: Family::new_with_constructor(Buckets),
            stream_connections: Family::default(),
            refused: Family::default(),
            in_flight: Family::default(),
            stream_in_flight: Family::default(),
            arriving: Gauge::default(),
            connections: Gauge::default(),
            panics: Counter::default(),
            domains: Mutex::default(),
            access: OnceLock::new(),
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

/// The series in which the last answer of a connection was counted: the next one is most often counted there, too, and
/// then nothing is looked up by its labels.
#[derive(Debug, Default)]
pub(crate) struct LastSeries {
    answers: Mutex<Option<Box<AnswerSeries>>>,
    ends: LastDuration,
    in_flight: Mutex<Option<(&'static str, Gauge<i64, AtomicI64>)>>,
}

#[derive(Debug)]
struct AnswerSeries {
    labels: RequestLabels,
    requests: Counter,
    seconds: Histogram,
}

impl AnswerSeries {
    fn is_of(&self, class: RouteClass, method: &str, status: &str, domain: &DomainLabel) -> bool {
        let labels = &self.labels;
        (labels.protocol, labels.route) == (class.protocol, class.route)
            && (labels.method, labels.status) == (method, status)
            // The pointer settles it nearly always; the text is compared only after a house was replaced.
            && (Arc::ptr_eq(&labels.domain.0, &domain.0) || labels.domain == *domain)
    }
}

/// The same on a socket of a protocol's own.
#[derive(Debug, Default)]
pub(crate) struct LastStreamSeries(Mutex<Option<Box<StreamSeries>>>);

#[derive(Debug)]
struct StreamSeries {
    labels: StreamRequestLabels,
    requests: Counter,
    seconds: Histogram,
}

/// One of something. Counted until it is dropped.
#[derive(Debug)]
pub(crate) struct GaugeGuard(Gauge<i64, AtomicI64>);

impl GaugeGuard {
    pub(crate) fn new(gauge: Gauge<i64, AtomicI64>) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Whether a request is half sent.
    pub fn is_arriving(&self) -> bool {
        self.arriving.get() > 0
    }

    /// Waits until no request is half sent, `patience` at most: what was begun before a stop is not lost
    /// to it.
    pub fn arrived(&self, patience: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let until = tokio::time::Instant::now() + patience;
            // Looked at again and again, since a gauge wakes nobody, and this happens once in the life of a process.
            while self.is_arriving() && tokio::time::Instant::now() < until {
                tokio::time::sleep(ARRIVING_LOOK).await;
            }
        })
    }

    /// Names every counter in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "http_requests",
            "Requests by protocol, route, method, status and domain",
            self.requests.clone(),
        );
        let help = "Seconds until the head of the answer, by protocol, route and domain";
        registry.register("http_request_seconds", help, self.durations.clone());
        let help = "Requests on sockets of a protocol's own, by protocol, method and status";
        registry.register("stream_requests", help, self.stream_requests.clone());
        let help = "Seconds until the answer on sockets of a protocol's own, by protocol";
        registry.register("stream_request_seconds", help, self.stream_durations.clone());
        let help = "Connections that were opened on sockets of a protocol's own, by protocol";
        registry.register("stream_connections", help, self.stream_connections.clone());
        registry.register("http_in_flight", "Answers that are not written yet, by protocol", self.in_flight.clone());
        let help = "Requests under way on sockets of a protocol's own, by protocol";
        registry.register("stream_in_flight", help, self.stream_in_flight.clone());
        registry.register("http_arriving", "Requests of which more is to come", self.arriving.clone());
        registry.register("http_connections", "Connections open", self.connections.clone());
        registry.register("http_connections_refused", "Connections closed unheard, by reason", self.refused.clone());
        registry.register("http_panics", "Requests that ended in a panic", self.panics.clone());
        if let Some(access) = self.access.get() {
            access.register(registry);
        }
    }

    /// Names in `registry` what is called by the conventions of OpenTelemetry, without a prefix of ours.
    pub fn register_conventional(&self, registry: &mut Registry) {
        self.ends.register(registry);
    }

    /// Counts a request whose answer is at its end, on a connection whose `last` one was counted in these series.
    pub(crate) fn ended(&self, last: &LastSeries, labels: EndLabels, after: Duration) {
        self.ends.ended(&last.ends, labels, after);
    }

    /// Writes every request down in `access`, too. Said once, before [`Metrics::register`].
    pub fn write_to(&self, access: AccessLog) {
        let _ = self.access.set(access);
    }

    /// Waits until the access log has everything so far. Blocks.
    pub fn flush_access_log(&self) {
        if let Some(access) = self.access() {
            access.flush();
        }
    }

    /// Where requests are written down, if they are.
    pub(crate) fn access(&self) -> Option<&AccessLog> {
        self.access.get()
    }

    /// Counts an answer of `protocol` that is not written yet, until it is dropped.
    pub(crate) fn count_in_flight(&self, last: &LastSeries, protocol: &'static str) -> GaugeGuard {
        let found = last.in_flight.lock().as_ref().filter(|(of, _)| *of == protocol).map(|(_, gauge)| gauge.clone());
        GaugeGuard::new(found.unwrap_or_else(|| {
            let gauge = self.in_flight.get_or_create(&ProtocolLabel { protocol }).clone();
            *last.in_flight.lock() = Some((protocol, gauge.clone()));
            gauge
        }))
    }

    /// The same on a socket of `protocol`'s own.
    pub(crate) fn stream_in_flight(&self, protocol: &'static str) -> Gauge<i64, AtomicI64> {
        self.stream_in_flight.get_or_create(&ProtocolLabel { protocol }).clone()
    }

    /// Requests that ended in a panic so far. The target is 0.
    pub fn panics(&self) -> u64 {
        self.panics.get()
    }

    /// What a domain that is served is called here: `other` once there were [`DOMAIN_LABELS_MAX`].
    pub fn domain(&self, name: &str) -> DomainLabel {
        let mut domains = self.domains.lock();
        let label = DomainLabel::named(name);
        if !domains.contains(&label) {
            // Series are never removed, so domains that come and go would fill the memory of whoever scrapes them.
            if domains.len() >= DOMAIN_LABELS_MAX {
                return DomainLabel::named("other");
            }
            domains.insert(label.clone());
        }
        label
    }

    /// Counts an answer on a connection whose `last` one was counted in these series.
    pub(crate) fn answered(
        &self,
        last: &LastSeries,
        class: RouteClass,
        method: &Method,
        status: StatusCode,
        domain: &DomainLabel,
        after: Duration,
    ) {
        let (method, status) = (method_label(method), status_label(status.as_u16()));
        let mut last = last.answers.lock();
        let series = match last.take().filter(|last| last.is_of(class, method, status, domain)) {
            Some(series) => series,
            None => self.series(class, method, status, domain),
        };
        let series = last.insert(series);
        series.requests.inc();
        series.seconds.observe(after.as_secs_f64());
    }

    fn series(
        &self,
        class: RouteClass,
        method: &'static str,
        status: &'static str,
        domain: &DomainLabel,
    ) -> Box<AnswerSeries> {
        let RouteClass { protocol, route } = class;
        let labels = RequestLabels { protocol, route, method, status, domain: domain.clone() };
        let requests = self.requests.get_or_create(&labels).clone();
        let seconds = self.durations.get_or_create(&RouteLabels { protocol, route, domain: domain.clone() }).clone();
        Box::new(AnswerSeries { labels, requests, seconds })
    }

    /// Counts a connection on a socket of `protocol`'s own.
    pub(crate) fn stream_opened(&self, protocol: &'static str) {
        self.stream_connections.get_or_create(&ProtocolLabel { protocol }).inc();
    }

    /// Counts a request on a socket of `protocol`'s own, on a connection whose `last` one was counted in these series.
    /// `status` is of three digits, as HTTP's are.
    pub(crate) fn stream_answered(
        &self,
        last: &LastStreamSeries,
        protocol: &'static str,
        method: &'static str,
        status: u16,
        after: Duration,
    ) {
        let labels = StreamRequestLabels { protocol, method, status: status_label(status) };
        let mut last = last.0.lock();
        let series = match last.take().filter(|last| last.labels == labels) {
            Some(series) => series,
            None => {
                let requests = self.stream_requests.get_or_create(&labels).clone();
                let seconds = self.stream_durations.get_or_create(&ProtocolLabel { protocol }).clone();
                Box::new(StreamSeries { labels, requests, seconds })
            }
        };
        let series = last.insert(series);
        series.requests.inc();
        series.seconds.observe(after.as_secs_f64());
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
        // A method that a caller makes up must not become a label.
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
    fn so_many_domains_are_told_apart_and_no_more() {
        let metrics = Metrics::default();
        for n in 0..DOMAIN_LABELS_MAX {
            assert_eq!(metrics.domain(&format!("d{n}.example")).as_str(), format!("d{n}.example"));
        }
        assert_eq!(metrics.domain("one-more.example").as_str(), "other");
        assert_eq!(metrics.domain("d7.example").as_str(), "d7.example", "those that are known stay");
    }

    #[test]
    fn made_up_methods_make_no_series() {
        let metrics = Metrics::default();
        for n in 0..50 {
            let method = Method::from_bytes(format!("M{n}").as_bytes()).unwrap_or_default();
            metrics.answered(
                &LastSeries::default(),
                RouteClass::UNMATCHED,
                &method,
                StatusCode::METHOD_NOT_ALLOWED,
                DomainLabel::none(),
                Duration::ZERO,
            );
        }
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        assert!(prometheus_client::encoding::text::encode(&mut text, &registry).is_ok());
        assert_eq!(text.matches("http_requests_total{").count(), 1, "{text}");
    }
}
