//! How long requests take until their answers are at their end, by OpenTelemetry's conventions for HTTP:
//! `http.server.request.duration`. Every label is of a closed set.

use std::fmt;
use std::time::Duration;

use forecourt_telemetry::spans::AnswerBreak;
use http::StatusCode;
use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeLabel, EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds in seconds, which the conventions advise.
const SECONDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// What a request is counted by when its answer is at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndLabels {
    /// As OpenTelemetry has it: `_OTHER` for those that are not known.
    pub(crate) method: &'static str,
    /// The pattern of its path, where one is mounted.
    pub(crate) route: Option<&'static str>,
    pub(crate) scheme: &'static str,
    /// The version of HTTP.
    pub(crate) version: &'static str,
    /// None was sent to a caller who left before.
    pub(crate) status: Option<StatusCode>,
    /// Why the answer is not whole.
    pub(crate) broke: Option<AnswerBreak>,
}

impl EncodeLabelSet for EndLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        let status = self.status.map(|status| told(status).as_u16());
        let fault = status.filter(|status| *status >= 500 && self.broke.is_none());
        // A label without a value is none: what is not known is left out.
        label(encoder, "http_request_method", Some(self.method))?;
        label(encoder, "http_route", self.route)?;
        label(encoder, "http_response_status_code", status)?;
        label(encoder, "url_scheme", Some(self.scheme))?;
        label(encoder, "network_protocol_version", Some(self.version))?;
        label(encoder, "error_type", fault)?;
        label(encoder, "error_type", self.broke.map(AnswerBreak::name))
    }
}

fn label<V>(encoder: &mut LabelSetEncoder<'_>, name: &'static str, value: Option<V>) -> Result<(), fmt::Error>
where
    (&'static str, V): EncodeLabel,
{
    value.map_or(Ok(()), |value| (name, value).encode(encoder.encode_label()))
}

/// A status that is registered; one that is not counts as the first of its class (RFC 9110 15), or what others answer
/// through us would make series.
fn told(status: StatusCode) -> StatusCode {
    let class = match status.as_u16() / 100 {
        class @ 1..=4 => class,
        _ => 5,
    };
    match status.canonical_reason() {
        Some(_) => status,
        None => StatusCode::from_u16(class * 100).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

#[derive(Clone, Debug)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(SECONDS)
    }
}

/// How long requests took.
#[derive(Debug)]
pub(crate) struct RequestDurations(Family<EndLabels, Histogram, Buckets>);

/// Where the last answer of a connection was counted: the next one is most often counted there, too.
#[derive(Debug, Default)]
pub(crate) struct LastDuration(Mutex<Option<Box<(EndLabels, Histogram)>>>);

impl Default for RequestDurations {
    fn default() -> Self {
        Self(Family::new_with_constructor(Buckets))
    }
}

impl RequestDurations {
    /// Names it in `registry`, which has no prefix: it is called here as everywhere.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Seconds until the end of the answer, by OpenTelemetry's conventions";
        registry.register_with_unit("http_server_request_duration", help, Unit::Seconds, self.0.clone());
    }

    /// Counts a request on a connection whose `last` one was counted there.
    pub(crate) fn ended(&self, last: &LastDuration, labels: EndLabels, after: Duration) {
        let mut last = last.0.lock();
        let series = match last.take().filter(|last| last.0 == labels) {
            Some(series) => series,
            None => Box::new((labels, self.0.get_or_create(&labels).clone())),
        };
        last.insert(series).1.observe(after.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    const WHOLE: EndLabels = EndLabels {
        method: "GET",
        route: Some("/~{handle}"),
        scheme: "https",
        version: "2",
        status: Some(StatusCode::OK),
        broke: None,
    };

    fn text(ended: &[EndLabels]) -> String {
        let (durations, mut registry, mut text) = (RequestDurations::default(), Registry::default(), String::new());
        durations.register(&mut registry);
        let last = LastDuration::default();
        ended.iter().for_each(|labels| durations.ended(&last, *labels, Duration::from_millis(30)));
        encode(&mut text, &registry).unwrap();
        text
    }

    #[test]
    fn a_label_without_a_value_is_left_out() {
        let of = |labels: EndLabels| {
            let text = text(&[labels]);
            let line = text.lines().find_map(|line| line.strip_prefix("http_server_request_duration_seconds_count"));
            line.unwrap_or_default().to_owned()
        };
        let head = "{http_request_method=\"GET\",http_route=\"/~{handle}\",http_response_status_code=";
        let tail = "url_scheme=\"https\",network_protocol_version=\"2\"";
        assert_eq!(of(WHOLE), format!("{head}\"200\",{tail}}} 1"));
        let failed = EndLabels { status: Some(StatusCode::BAD_GATEWAY), ..WHOLE };
        assert_eq!(of(failed), format!("{head}\"502\",{tail},error_type=\"502\"}} 1"));
        let broke = EndLabels { broke: Some(AnswerBreak::BrokeOff), ..WHOLE };
        assert_eq!(of(broke), format!("{head}\"200\",{tail},error_type=\"broke_off\"}} 1"));
        let left = EndLabels { route: None, status: None, broke: Some(AnswerBreak::CallerLeft), ..WHOLE };
        assert_eq!(of(left), format!("{{http_request_method=\"GET\",{tail},error_type=\"caller_left\"}} 1"));
    }

    #[test]
    fn statuses_that_nobody_registered_make_no_series() {
        let all = (100..=999).filter_map(|status| StatusCode::from_u16(status).ok());
        let told: std::collections::HashSet<_> = all.map(told).collect();
        assert!(told.len() < 70, "{}", told.len());
        assert_eq!(super::told(StatusCode::from_u16(299).unwrap()), StatusCode::OK);
        assert_eq!(super::told(StatusCode::from_u16(999).unwrap()), StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[test]
    fn bounds_are_those_of_the_conventions() {
        let text = text(&[WHOLE, WHOLE, EndLabels { version: "1.1", ..WHOLE }]);
        let buckets: Vec<_> = text.lines().filter(|line| line.contains("_bucket{") && line.contains("\"2\"")).collect();
        assert_eq!(buckets.len(), SECONDS.len() + 1);
        assert!(buckets.iter().any(|line| line.contains("le=\"0.05\"") && line.ends_with(" 2")), "{buckets:?}");
    }
}
