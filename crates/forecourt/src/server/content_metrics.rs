//! How much of what agents know can be found, for the operator's metrics.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

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
        let about = "Items that can be found by meaning, in percent of those that are to be, by agent";
        let mut metric = encoder.encode_descriptor("content_meaning_percent", about, None, MetricType::Gauge)?;
        for content in &house.contents {
            if let Some(embedding) = content.indexing.embedding() {
                let gauge = ConstGauge::new(embedding.percent().cast_signed());
                gauge.encode(metric.encode_family(&[("agent", content.handle.as_str())])?)?;
            }
        }
        Ok(())
    }
}
