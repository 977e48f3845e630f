//! What goes on when one host takes the place of another: what is kept, what is under way, and what is counted.

use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_core::{Clock, Entropy, Error, Store, ids};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::HostBuilder;
use crate::conversations::{ConversationWriter, Conversations};
use crate::counters::HostCounters;
use crate::deliver::{DeliveryWakeup, Outbound};
use crate::deployment_id::{DeploymentId, DeploymentIdError};
use crate::host::Host;
use crate::lease::Lease;
use crate::lifecycle::Lifecycle;
use crate::metrics::Metrics;
use crate::rates::RateTable;
use crate::tasks::{TaskParts, Tasks};

/// The parts that last when one host of a process replaces another: store, tasks, counters, deliveries.
pub(crate) struct HostFoundation {
    pub(crate) conversations: Conversations,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) outbound: Arc<ArcSwap<Outbound>>,
    pub(crate) wakeup: DeliveryWakeup,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    /// Ends when the posts under way are made.
    pub(crate) posting: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl HostFoundation {
    /// That of a host.
    pub(crate) fn of(host: &Host) -> Self {
        Self {
            conversations: host.conversations.clone(),
            lifecycle: host.lifecycle.clone(),
            outbound: host.outbound.clone(),
            wakeup: host.wakeup.clone(),
            tasks: host.tasks.clone(),
            store: host.store.clone(),
            clock: host.clock.clone(),
            entropy: host.entropy.clone(),
            metrics: host.metrics.clone(),
            posting: host.posting.clone(),
            stop: host.stop.clone(),
        }
    }

    /// That of the first host of a process, after earlier runs that are gone were ended.
    ///
    /// # Errors
    /// The store can't be read, or is another deployment's.
    pub(crate) async fn lay(of: &HostBuilder, stop: CancellationToken) -> Result<Self, Error> {
        let (store, entropy) = (of.store.clone(), of.entropy.clone());
        let host_clock = of.host_clock().await?;
        let clock = host_clock.clock();
        let writer = ConversationWriter::new(store.clone(), clock.clone(), stop.clone(), of.alone);
        let conversations = Conversations { writer: Arc::new(writer), clock: clock.clone(), entropy: entropy.clone() };
        let (metrics, wakeup) = (Arc::new(Metrics::default()), DeliveryWakeup::default());
        let rates = match of.alone {
            true => RateTable::new(),
            false => shared_rates(of, &*clock).await?,
        };
        let parts = TaskParts {
            site: Arc::new(of.site.clone()),
            store: store.clone(),
            conversations: conversations.clone(),
            host_clock,
            metrics: metrics.clone(),
            wakeup: wakeup.clone(),
            bus: of.bus.clone(),
            rates: Arc::new(rates),
            lease: Lease::new(of.lease, of.alone, ids::mint(&*entropy)),
            entropy: entropy.clone(),
        };
        let tasks = Arc::new(Tasks::new(parts, &of.limits));
        of.rules.set(Arc::new(HostCounters { tasks: tasks.clone() }));
        recover(&tasks, of.alone).await?;
        let standings = of.standings.clone().unwrap_or_else(|| store.clone());
        let lifecycle = Lifecycle::read(standings, clock.clone(), of.bus.clone(), &of.directory).await?;
        Ok(Self {
            conversations,
            lifecycle: Arc::new(lifecycle),
            outbound: Arc::new(ArcSwap::from_pointee(of.outbound())),
            wakeup,
            tasks,
            store,
            clock,
            entropy,
            metrics,
            posting: TaskTracker::new(),
            stop,
        })
    }
}

/// Ends earlier runs, as far as they are gone, and has their posts be made again. Their tasks wait for agents to be
/// there, who may go on with them.
async fn recover(tasks: &Arc<Tasks>, alone: bool) -> Result<(), Error> {
    tasks.recover().await?;
    // Where others have the store, a delivery that was taken may be theirs: its own lease gives it back.
    let cut_off = if alone { tasks.store.release_deliveries(tasks.clock.now()).await? } else { 0 };
    if cut_off > 0 {
        tracing::info!(cut_off, "posts that an earlier run had begun are due again");
    }
    Ok(())
}

/// The counters of a host that others count with.
async fn shared_rates(of: &HostBuilder, clock: &dyn Clock) -> Result<RateTable, Error> {
    let entropy = &of.entropy;
    let agreed = DeploymentId::agree(&*of.store, clock, &**entropy, &of.site.domain).await;
    let deployment = agreed.map_err(|error| match error {
        DeploymentIdError::Store(error) => error.into(),
        error @ DeploymentIdError::OtherDeployment { .. } => Error::internal(error),
    })?;
    let mut node = [0; 8];
    entropy.fill(&mut node);
    Ok(RateTable::shared(deployment.seed(), u64::from_be_bytes(node), of.bus.clone()))
}
