//! How much of what agents know can be found, for the operator's metrics.

use std::fmt;
use std::sync::Arc;

use forecourt_core::{Clock, SystemClock, Timestamp};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::content::Content;
use crate::live::LiveHouse;

/// Looks at the content of the house as it stands whenever somebody asks.
pub(super) struct ContentMetrics {
    pub(super) live: Arc<LiveHouse>,
}

impl fmt::Debug for ContentMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentMetrics").finish_non_exhaustive()
    }
}

impl Collector for ContentMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(house) = self.live.now() else { return Ok(()) };
        let about = "Items that can be found, by agent";
        let mut metric = encoder.encode_descriptor("content_items", about, None, MetricType::Gauge)?;
        for content in &house.contents {
            let gauge = ConstGauge::new(content.indexing.items().cast_signed());
            gauge.encode(metric.encode_family(&[("agent", content.handle.as_str())])?)?;
        }
        let about = "Items that can be found by meaning, in percent of those that are to be, by agent";
        let mut metric = encoder.encode_descriptor("content_meaning_percent", about, None, MetricType::Gauge)?;
        for content in &house.contents {
            if let Some(embedding) = content.indexing.embedding() {
                let gauge = ConstGauge::new(embedding.percent().cast_signed());
                gauge.encode(metric.encode_family(&[("agent", content.handle.as_str())])?)?;
            }
        }
        let about = "Seconds since the sources of content were read, or found to be as they were read, by agent";
        let metric = encoder.encode_descriptor("content_read_age_seconds", about, None, MetricType::Gauge)?;
        ages(metric, &house.contents, |content| content.indexing.read_at())?;
        let about = "Seconds since something of the content changed that can be found, by agent";
        let metric = encoder.encode_descriptor("content_changed_age_seconds", about, None, MetricType::Gauge)?;
        ages(metric, &house.contents, |content| content.indexing.changed_at())
    }
}

/// How long ago something happened to the content of each agent, where that is known.
fn ages(
    mut metric: MetricEncoder<'_>,
    contents: &[Content],
    at: fn(&Content) -> Option<Timestamp>,
) -> Result<(), fmt::Error> {
    let now = SystemClock.now();
    for (content, at) in contents.iter().filter_map(|content| Some((content, at(content)?))) {
        let age = now.duration_since(at).as_secs_f64().max(0.0);
        ConstGauge::new(age).encode(metric.encode_family(&[("agent", content.handle.as_str())])?)?;
    }
    Ok(())
}
