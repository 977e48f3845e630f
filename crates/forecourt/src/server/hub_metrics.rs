//! How the hubs elsewhere do whose agents are fronted, for the operator's metrics.

use std::fmt;
use std::sync::Arc;

use forecourt_core::{Clock, SystemClock};
use forecourt_host::HubStates;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::live::LiveHouse;

/// Looks at the hubs of the house as it stands whenever somebody asks.
pub(super) struct HubMetrics {
    pub(super) live: Arc<LiveHouse>,
}

impl fmt::Debug for HubMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubMetrics").finish_non_exhaustive()
    }
}

impl Collector for HubMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(house) = self.live.now() else { return Ok(()) };
        let states = house.services.get::<HubStates>().map(|states| (states.0)()).unwrap_or_default();
        let about = "Whether a hub elsewhere was read when it was last looked at";
        let mut metric = encoder.encode_descriptor("hub_up", about, None, MetricType::Gauge)?;
        for (state, answers) in states.iter().filter_map(|state| Some((state, state.answers?))) {
            ConstGauge::new(i64::from(answers)).encode(metric.encode_family(&[("hub", state.name.as_str())])?)?;
        }
        let about = "Agents of a hub elsewhere that are served";
        let mut metric = encoder.encode_descriptor("hub_agents", about, None, MetricType::Gauge)?;
        for state in &states {
            let agents = i64::try_from(state.agents).unwrap_or(i64::MAX);
            ConstGauge::new(agents).encode(metric.encode_family(&[("hub", state.name.as_str())])?)?;
        }
        let about = "Seconds since a hub elsewhere was seen to have the agents that are served";
        let mut metric = encoder.encode_descriptor("hub_seen_age_seconds", about, None, MetricType::Gauge)?;
        let now = SystemClock.now();
        for (state, at) in states.iter().filter_map(|state| Some((state, state.seen_at?))) {
            let age = now.duration_since(at).as_secs_f64().max(0.0);
            ConstGauge::new(age).encode(metric.encode_family(&[("hub", state.name.as_str())])?)?;
        }
        Ok(())
    }
}
