//! How much the store keeps, for the operator's metrics: counted now and then, so that whoever asks for metrics never
//! waits for the database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use forecourt_core::Clock;
use forecourt_store::{StoreOverview, StoreReads};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use tokio_util::sync::CancellationToken;

use super::queued_deliveries::{QueueCounts, QueuedDeliveries};

/// How often it is counted.
const COUNT_EVERY: Duration = Duration::from_secs(15);

/// The gauges of the store, as they were counted last.
#[derive(Clone, Default)]
pub(super) struct StoreGauges(Arc<ArcSwapOption<StoreCounts>>);

struct StoreCounts {
    overview: StoreOverview,
    queued: QueueCounts,
    clock: Arc<dyn Clock>,
}

impl StoreGauges {
    /// Counts until `stop`, by the clock of the store. What can't be counted is left out until it can.
    pub(super) async fn keep_counting(
        self,
        store: Arc<dyn StoreReads>,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) {
        let mut ticks = tokio::time::interval(COUNT_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut deliveries = QueuedDeliveries::default();
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            let overview = store.overview(clock.now()).await;
            let queued = deliveries.count(&*store).await;
            // What can't be counted is absent: a number of before would look like one of now.
            self.0.store(
                overview
                    .ok()
                    .zip(queued.ok())
                    .map(|(overview, queued)| Arc::new(StoreCounts { overview, queued, clock: clock.clone() })),
            );
        }
    }
}

/// What is waited for in the store, as it is when somebody asks.
pub(super) struct StoreLoadMetrics(pub(super) Arc<dyn StoreReads>);

impl fmt::Debug for StoreLoadMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLoadMetrics").finish_non_exhaustive()
    }
}

impl Collector for StoreLoadMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let load = self.0.load();
        let gauge = |count: u64| ConstGauge::new(count.cast_signed());
        if let Some(waiting) = load.writes_waiting {
            let about = "Writes that wait for the writer of the store";
            gauge(waiting).encode(encoder.encode_descriptor(
                "store_writes_waiting",
                about,
                None,
                MetricType::Gauge,
            )?)?;
        }
        let about =
            "Tasks of callers who proved nothing that were removed before their time, since they were out of room";
        let removed = ConstCounter::new(load.strangers_tasks_removed);
        removed.encode(encoder.encode_descriptor(
            "store_strangers_tasks_removed",
            about,
            None,
            MetricType::Counter,
        )?)?;
        let Some(pool) = load.pool else { return Ok(()) };
        let about = "Connections to the database, by state: in_use, idle";
        let mut metric = encoder.encode_descriptor("store_connections", about, None, MetricType::Gauge)?;
        for (state, count) in [("in_use", pool.in_use), ("idle", pool.idle)] {
            gauge(count).encode(metric.encode_family(&[("state", state)])?)?;
        }
        let about = "Connections to the database at most";
        gauge(pool.max).encode(encoder.encode_descriptor(
            "store_connections_max",
            about,
            None,
            MetricType::Gauge,
        )?)?;
        let about = "Operations that wait for a connection to the database";
        gauge(pool.waiting).encode(encoder.encode_descriptor("store_waiters", about, None, MetricType::Gauge)?)?;
        let about = "Connections to the database that were lent to operations";
        let lent = ConstCounter::new(pool.lent);
        lent.encode(encoder.encode_descriptor("store_connections_lent", about, None, MetricType::Counter)?)?;
        let about = "Seconds that operations waited for connections to the database, new ones included";
        let waited = ConstCounter::new(pool.waited_seconds);
        waited.encode(encoder.encode_descriptor("store_connection_wait_seconds", about, None, MetricType::Counter)?)
    }
}

impl fmt::Debug for StoreGauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreGauges").finish_non_exhaustive()
    }
}

impl Collector for StoreGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(counted) = self.0.load_full() else { return Ok(()) };
        let StoreCounts { overview, queued: QueueCounts { by_protocol, oldest_due }, clock } = counted.as_ref();
        let gauge = |count: u64| ConstGauge::new(count.cast_signed());
        if !overview.tasks.is_empty() {
            let about = "Tasks that are kept, by agent and state";
            let mut metric = encoder.encode_descriptor("tasks", about, None, MetricType::Gauge)?;
            for (agent, state, count) in &overview.tasks {
                gauge(*count).encode(metric.encode_family(&[("agent", agent.as_str()), ("state", state.name())])?)?;
            }
        }
        let about = "Conversations that are kept";
        let metric = encoder.encode_descriptor("conversations", about, None, MetricType::Gauge)?;
        gauge(overview.conversations).encode(metric)?;
        let about = "Deliveries that wait";
        let metric = encoder.encode_descriptor("deliveries_waiting", about, None, MetricType::Gauge)?;
        gauge(overview.deliveries).encode(metric)?;
        if !by_protocol.is_empty() {
            let about = "Deliveries that wait, by whose they are and whether an attempt failed";
            let mut metric = encoder.encode_descriptor("deliveries_queued", about, None, MetricType::Gauge)?;
            for ((of, state), count) in by_protocol {
                gauge(*count).encode(metric.encode_family(&[("of", of.as_str()), ("state", state)])?)?;
            }
        }
        let about = "How long the delivery that was queued first is overdue";
        let metric = encoder.encode_descriptor("deliveries_overdue", about, Some(&Unit::Seconds), MetricType::Gauge)?;
        // Of the delivery that was queued first; one that waits for a retry is not overdue.
        let overdue = oldest_due.map_or(0.0, |due| clock.now().duration_since(due).as_secs_f64().max(0.0));
        ConstGauge::new(overdue).encode(metric)
    }
}
