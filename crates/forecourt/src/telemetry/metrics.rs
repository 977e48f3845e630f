//! The operator's metrics on their way to the collector.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, metric::Data, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use prometheus_client::registry::Registry;
use prost::Message;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::conventions::ConventionalMetric;
use super::export::Exporter;
use crate::export_metrics::Signal;
use crate::openmetrics::{FamilyText, SampleText, read};
use crate::span_layer::SCOPE;

/// The labels of one series: names and values.
type Labels = Vec<(String, String)>;

/// The label with the upper bound of a bucket.
const BOUND: &str = "le";

/// When it is, and since when is counted: in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    now: u64,
}

/// Sends what `registry` has, now, every so often, and once more at `stop`.
pub(super) async fn send(
    exporter: Arc<Exporter>,
    url: String,
    registry: Arc<Registry>,
    resource: Arc<ResourceAttributesWithSchema>,
    every: Duration,
    stop: CancellationToken,
) {
    let start = nanoseconds(SystemTime::now());
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_last = false;
    while !is_last {
        // At `stop` they are sent once more, or what was counted since the last time would be lost.
        is_last = stop.run_until_cancelled(ticks.tick()).await.is_none();
        let mut text = String::new();
        if prometheus_client::encoding::text::encode(&mut text, &registry).is_err() {
            continue;
        }
        let span = Span { start, now: nanoseconds(SystemTime::now()) };
        let metrics: Vec<Metric> = read(&text).into_iter().filter_map(|family| metric(family, span)).collect();
        let items = metrics.len() as u64;
        let resource = Resource { attributes: resource.attributes.0.clone(), ..Resource::default() };
        let scope = InstrumentationScope { name: SCOPE.to_owned(), ..InstrumentationScope::default() };
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }];
        let resource_metrics =
            vec![ResourceMetrics { resource: Some(resource), scope_metrics, ..ResourceMetrics::default() }];
        let body = ExportMetricsServiceRequest { resource_metrics }.encode_to_vec();
        exporter.send(Signal::Metrics, &url, body.into(), items).await;
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A family as OTLP has it. `None` for kinds that it has no word for.
fn metric(family: FamilyText, span: Span) -> Option<Metric> {
    let FamilyText { name, help, kind, unit, samples } = family;
    let conventional = ConventionalMetric::find(&name);
    let points = |suffix: &str| -> Vec<NumberDataPoint> {
        let of_it = samples.iter().filter(|sample| sample.suffix == suffix);
        of_it.map(|sample| point(sample, span, conventional)).collect()
    };
    let cumulative = AggregationTemporality::Cumulative as i32;
    let (name, data) = match kind.as_str() {
        "counter" => {
            let sum = Sum { data_points: points("_total"), aggregation_temporality: cumulative, is_monotonic: true };
            (name, Data::Sum(sum))
        }
        "histogram" => {
            let data_points = histograms(&samples, span, conventional);
            (name, Data::Histogram(Histogram { data_points, aggregation_temporality: cumulative }))
        }
        "info" => (format!("{name}_info"), Data::Gauge(Gauge { data_points: points("_info") })),
        "gauge" | "unknown" => (name, Data::Gauge(Gauge { data_points: points("") })),
        _ => return None,
    };
    // OTLP wants units of UCUM: seconds are `s`, bytes are `By`.
    let unit = match unit.as_str() {
        "seconds" => "s".to_owned(),
        "bytes" => "By".to_owned(),
        _ => unit,
    };
    let (name, unit) = match conventional {
        Some(metric) => (metric.name.to_owned(), metric.unit.to_owned()),
        None => (name, unit),
    };
    Some(Metric { name, description: help, unit, data: Some(data), ..Metric::default() })
}

fn point(sample: &SampleText, Span { start, now }: Span, conventional: Option<ConventionalMetric>) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(&sample.labels, conventional),
        start_time_unix_nano: start,
        time_unix_nano: now,
        value: Some(number_data_point::Value::AsDouble(sample.value)),
        ..NumberDataPoint::default()
    }
}

/// The histograms of a family, one for each set of labels. Buckets are exposed as sums up to their bound, and are sent
/// each by itself.
fn histograms(
    samples: &[SampleText],
    Span { start, now }: Span,
    conventional: Option<ConventionalMetric>,
) -> Vec<HistogramDataPoint> {
    let mut points: Vec<(Labels, HistogramDataPoint, f64)> = Vec::new();
    for sample in samples {
        // Without `le`: the buckets of one histogram are one point.
        let labels: Vec<_> = sample.labels.iter().filter(|(name, _)| name != BOUND).cloned().collect();
        let at = points.iter().position(|(known, ..)| *known == labels).unwrap_or_else(|| {
            let point = HistogramDataPoint {
                attributes: attributes(&labels, conventional),
                start_time_unix_nano: start,
                time_unix_nano: now,
                ..HistogramDataPoint::default()
            };
            points.push((labels, point, 0.0));
            points.len() - 1
        });
        let (_, point, below) = &mut points[at];
        match sample.suffix.as_str() {
            "_sum" => point.sum = Some(sample.value),
            "_count" => point.count = sample.value as u64,
            "_bucket" => {
                // The exposition counts up to each bound, OTLP counts within each bucket.
                point.bucket_counts.push((sample.value - *below) as u64);
                *below = sample.value;
                let bound = sample.labels.iter().find(|(name, _)| name == BOUND).and_then(|(_, le)| le.parse().ok());
                // OTLP has no bound for the last bucket: `+Inf` is implied.
                point.explicit_bounds.extend(bound.filter(|bound: &f64| bound.is_finite()));
            }
            _ => {}
        }
    }
    points.into_iter().map(|(_, point, _)| point).collect()
}

fn attributes(labels: &[(String, String)], conventional: Option<ConventionalMetric>) -> Vec<KeyValue> {
    let one = |(name, value): &(String, String)| {
        let (key, value) = match conventional {
            Some(metric) => metric.attribute(name, value),
            None => (name.clone(), any_value::Value::StringValue(value.clone())),
        };
        KeyValue { key, value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
    };
    labels.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { start: 1, now: 2 };

    #[test]
    fn buckets_are_told_apart_and_their_counts_are_their_own() {
        let text = "# TYPE wait histogram\nwait_sum{a=\"x\"} 9.8\nwait_count{a=\"x\"} 3\nwait_bucket{le=\"0.5\",a=\"x\"} 1\n\
                    wait_bucket{le=\"1.0\",a=\"x\"} 2\nwait_bucket{le=\"+Inf\",a=\"x\"} 3\nwait_count{a=\"y\"} 0\n";
        let Some(Data::Histogram(histogram)) = metric(read(text).remove(0), SPAN).unwrap().data else { panic!() };
        assert_eq!(histogram.data_points.len(), 2);
        let point = &histogram.data_points[0];
        assert_eq!((point.count, point.sum), (3, Some(9.8)));
        assert_eq!((&point.bucket_counts[..], &point.explicit_bounds[..]), (&[1, 1, 1][..], &[0.5, 1.0][..]));
        assert_eq!(point.attributes.len(), 1, "the bound is no attribute");
    }

    #[test]
    fn a_counter_keeps_its_name_and_grows() {
        let text = "# HELP a_things Things.\n# TYPE a_things counter\na_things_total{b=\"c\"} 7\n";
        let metric = metric(read(text).remove(0), SPAN).unwrap();
        assert_eq!(metric.name, "a_things");
        let Some(Data::Sum(sum)) = metric.data else { panic!() };
        assert!(sum.is_monotonic);
        assert_eq!((sum.data_points[0].start_time_unix_nano, sum.data_points[0].time_unix_nano), (1, 2));
    }
}
