//! What this process shares with the other nodes of its deployment: the bus, and how sure it is of its tasks.

use std::sync::Arc;
use std::time::Duration;

use forecourt_bus::{LocalBus, NatsBus};
use forecourt_core::{Bus, Clock, Store};
use forecourt_host::{DeploymentId, DeploymentIdError, SystemEntropy};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::deployment::Deployment;
use crate::error::Error;
use crate::storage::Storage;

/// How long the first connection to the bus is waited for. Without one, a node works by looking into the store.
const BUS_WAIT_MAX: Duration = Duration::from_secs(3);

/// The bus between the nodes of a deployment, and whether there are other nodes at all.
pub(crate) struct NodeLinks {
    /// The bus; within this process where there is no NATS.
    pub(crate) bus: Arc<dyn Bus>,
    /// The same as a NATS connection, where there is one.
    pub(crate) nats: Option<Arc<NatsBus>>,
    /// Whether nobody else has the store.
    pub(crate) alone: bool,
}

impl NodeLinks {
    /// Opens the bus of a deployment. A bus that is away is said and tried again; its settings were checked.
    ///
    /// # Errors
    /// The store is another deployment's or can't be read; a file of the bus can't be read any more.
    pub(crate) async fn open(
        deployment: &Deployment,
        storage: &Storage,
        store: &Arc<dyn Store>,
        clock: &dyn Clock,
    ) -> Result<Self, Error> {
        if !storage.is_shared(deployment) {
            return Ok(Self { bus: Arc::new(LocalBus::default()), nats: None, alone: true });
        }
        if let Some(notice) = deployment.node_notice() {
            tracing::warn!("{notice}");
        }
        // The store says which deployment it belongs to: a database that another one uses is refused.
        let agreed = DeploymentId::agree(&**store, clock, &SystemEntropy, deployment.domain()).await;
        let id = agreed.map_err(|error| match error {
            DeploymentIdError::OtherDeployment { .. } => Error::new(error.to_string())
                .hint("give each deployment a database of its own: another name at the end of `url` in [store]"),
            error @ DeploymentIdError::Store(_) => Error::new(format!("the store: {error}")),
        })?;
        let Some(options) = deployment.bus.options(id.id) else {
            return Ok(Self { bus: Arc::new(LocalBus::default()), nats: None, alone: false });
        };
        let nats = NatsBus::open(&options, &SystemEntropy, BUS_WAIT_MAX).await.map_err(|error| {
            Error::new(format!("[bus]: {error}")).hint("`forecourt check` tells what is wrong with its settings")
        })?;
        match nats.fault() {
            None => tracing::info!(servers = deployment.bus.servers().join(", "), "the bus is there"),
            Some(fault) => {
                tracing::warn!("{fault}: this node looks into the store for what others do, until it is back")
            }
        }
        Ok(Self { bus: nats.clone(), nats: Some(nats), alone: false })
    }
}

/// Metrics of the bus: connection, subscriptions and messages.
#[derive(Debug)]
pub(crate) struct BusMetrics(pub(crate) NatsHandle);

/// The bus, for whoever only counts.
pub(crate) struct NatsHandle(pub(crate) Arc<NatsBus>);

impl std::fmt::Debug for NatsHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NatsHandle")
    }
}

impl Collector for BusMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let bus = &self.0.0;
        let up = ConstGauge::new(i64::from(bus.fault().is_none()));
        up.encode(encoder.encode_descriptor(
            "bus_up",
            "Whether a server of the bus is connected",
            None,
            up.metric_type(),
        )?)?;
        let counts = bus.counts();
        let open = ConstGauge::new(i64::try_from(counts.subscriptions).unwrap_or(i64::MAX));
        open.encode(encoder.encode_descriptor(
            "bus_subscriptions",
            "Topics of the bus that this node hears",
            None,
            open.metric_type(),
        )?)?;
        let waiting = ConstGauge::new(counts.waiting.cast_signed());
        let help = "Messages that wait to be sent over the bus";
        waiting.encode(encoder.encode_descriptor("bus_waiting", help, None, waiting.metric_type())?)?;
        let all = [
            ("bus_published", "Messages that were taken to be sent over the bus", counts.published),
            ("bus_received", "Messages of other nodes", counts.received),
            ("bus_dropped", "Messages for the bus that found no room in its queue", counts.dropped),
            ("bus_foreign", "Messages on this deployment's subject that no node sent", counts.foreign),
            ("bus_reconnects", "Times that the bus was connected again", counts.reconnects),
        ];
        for (name, help, count) in all {
            let counter = ConstCounter::new(count);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)?;
        }
        Ok(())
    }
}
