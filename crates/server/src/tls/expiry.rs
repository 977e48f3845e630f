//! When the certificates in use end, for the operator's metrics.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::certificates::Certificates;

/// Looks at the certificates in use whenever somebody asks.
#[derive(Debug)]
pub struct ExpiryMetrics(pub Arc<Certificates>);

impl Collector for ExpiryMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let about =
            "When the certificate in use for a name ends, in seconds of Unix time; 0 while there is none to trust";
        let mut metric = encoder.encode_descriptor("certificate_expiry_seconds", about, None, MetricType::Gauge)?;
        for entry in self.0.entries().iter() {
            // Zero lets the usual alarm ("ends in less than a week") speak for a missing certificate as well.
            let ends = if entry.is_provisional() { 0 } else { entry.expires_at().as_second() };
            let ends = ConstGauge::new(ends);
            for name in entry.hosts().names() {
                ends.encode(metric.encode_family(&[("name", name.as_str())])?)?;
            }
        }
        Ok(())
    }
}
