//! Alerts, looked at once a minute: rules are evaluated over what is counted, the other nodes are told what is firing here
//! and how this node does, and the operator is told of what begins and ends.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_admin::ReadSettings;
use forecourt_admin::nouns::alerts::silenced;
use forecourt_admin::nouns::nodes::mark;
use forecourt_admin::report::{self, FiringAlert, NodeReport};
use forecourt_completions::budget::{AgentBudgets, used};
use forecourt_core::Timestamp;
use forecourt_host::{Host, OperatorWebhook};
use nix::sys::statvfs::statvfs;
use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use crate::alerts::{AlertChange, AlertEvaluator, AlertPosts};
use crate::live::OpenHouse;
use crate::openmetrics::{FamilyText, read};
use crate::running::Running;

/// How long the store may take for each thing that a look asks of it: one that hangs stops no evaluation.
const STORE_WAIT_MAX: Duration = Duration::from_secs(5);

/// How much of each budget is spent: agent, key and part.
type BudgetParts = Vec<(String, &'static str, f64)>;

/// Looks at the rules of a domain once a minute.
pub(super) struct AlertKeeper {
    evaluator: Arc<AlertEvaluator>,
    budgets: Arc<ArcSwap<BudgetParts>>,
    posts: Mutex<AlertPosts>,
    data: PathBuf,
}

impl AlertKeeper {
    /// Of the domain whose state is in `data`.
    pub(super) fn new(data: PathBuf) -> Self {
        Self { evaluator: Arc::default(), budgets: Arc::default(), posts: Mutex::default(), data }
    }

    /// What is counted for alerts, and by them.
    pub(super) fn metrics(&self) -> AlertMetrics {
        let Self { evaluator, budgets, data, .. } = self;
        AlertMetrics { evaluator: evaluator.clone(), budgets: budgets.clone(), data: data.clone() }
    }

    /// Looks once, over what `registry` counts. What the store does not take is made up for by the next look.
    pub(super) async fn look(&self, running: &Running, registry: Arc<Registry>) {
        let Some(house) = running.live().now() else { return };
        let now = house.host.clock().now();
        // What can't be counted in time stays as it was: a budget that is absent would be one that is kept.
        if in_time(self.count_budgets(running, &house, now)).await.is_none() {
            tracing::warn!("how much of budgets is spent is not known anew");
        }
        // Encoding looks at disks, where content is counted.
        let families = tokio::task::spawn_blocking(move || {
            let mut text = String::new();
            // Writing into a text can't fail.
            let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
            read(&text)
        });
        let Ok(families) = families.await else { return };
        let (deployment, node) = (running.deployment(), mark(&house.host.run()));
        let change = self.evaluator.evaluate(&deployment.alerts.rules, &families, &node, now);
        log(&change);
        let settings = house.services.get::<ReadSettings>();
        let report = NodeReport { alerts: change.firing.clone(), ..told(&families, &node, settings.as_deref(), now) };
        match in_time(report::write(&house.host, &report)).await {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::warn!(%error, "the other nodes are not told how this one does"),
            None => tracing::warn!("the other nodes are not told in time how this one does"),
        }
        if let Some(webhook) = &deployment.alerts.webhook {
            self.tell(&house.host, webhook, &change, &node).await;
        }
    }

    /// Queues what the operator is to be told. Where the store takes none of it, or does not say what is silenced, the
    /// next look does.
    async fn tell(&self, host: &Host, webhook: &OperatorWebhook, change: &AlertChange, node: &str) {
        let Some(Ok(silenced)) = in_time(silenced(host)).await else {
            tracing::warn!(
                "the operator is not told of alerts in this minute: the store does not say which are silenced"
            );
            return;
        };
        let due = self.posts.lock().due(&change.firing, &silenced, node);
        for post in due {
            match in_time(host.tell_operator(webhook.clone(), post.details())).await {
                Some(Ok(())) => self.posts.lock().queued(post),
                Some(Err(error)) => tracing::warn!(%error, "the operator is not told of an alert yet"),
                None => {
                    tracing::warn!("the operator is not told of an alert yet: the store takes too long");
                    return;
                }
            }
        }
    }

    async fn count_budgets(&self, running: &Running, house: &OpenHouse, now: Timestamp) {
        let budgets = house.services.get::<AgentBudgets>();
        let (mut parts, earlier) = (BudgetParts::new(), self.budgets.load_full());
        for (agent, settings) in budgets.iter().flat_map(|budgets| &budgets.0) {
            let Ok(bounds) = used(settings, agent, &**running.reads(), now).await else {
                parts.extend(earlier.iter().filter(|(of, ..)| *of == agent.to_string()).cloned());
                continue;
            };
            let part = |used: u64, most: u64| used as f64 / most.max(1) as f64;
            parts.extend(bounds.iter().filter_map(|of| Some((agent.to_string(), of.key, part(of.used?, of.most)))));
        }
        self.budgets.store(Arc::new(parts));
    }
}

async fn in_time<T>(asked: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(STORE_WAIT_MAX, asked).await.ok()
}

fn log(change: &AlertChange) {
    for FiringAlert { rule, severity, summary, .. } in &change.begun {
        tracing::warn!(rule, severity, summary, "an alert is firing");
    }
    for FiringAlert { rule, summary, .. } in &change.ended {
        tracing::info!(rule, summary, "an alert has ended");
    }
}

/// How this node does, by what it counts.
fn told(families: &[FamilyText], node: &str, settings: Option<&ReadSettings>, now: Timestamp) -> NodeReport {
    let value = |name: &str| {
        let family = families.iter().find(|family| family.name == name)?;
        family.samples.first().map(|sample| sample.value).filter(|value| value.is_finite())
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float that is cast saturates")]
    let whole = |name: &str| value(name).map(|value| value as u64);
    let waiting = [whole("forecourt_store_writes_waiting"), whole("forecourt_store_waiters")];
    #[expect(clippy::cast_possible_truncation, reason = "a float that is cast saturates")]
    let began = |seconds: f64| Timestamp::from_second(seconds as i64).ok();
    let files: Option<String> =
        settings.map(|settings| settings.files.iter().map(|file| format!("{}\n{}", file.name, file.text)).collect());
    NodeReport {
        node: node.to_owned(),
        at: now,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: value("process_start_time_seconds").and_then(began),
        settings: mark(&files.unwrap_or_default()),
        load: load(&fs::read_to_string("/proc/loadavg").unwrap_or_default()),
        memory_bytes: whole("process_resident_memory_bytes"),
        open_files: whole("process_open_fds"),
        running: whole("forecourt_replies_running"),
        store_waiting: waiting.into_iter().flatten().reduce(u64::saturating_add),
        bus_waiting: whole("forecourt_bus_waiting"),
        deliveries_late_seconds: value("forecourt_deliveries_overdue_seconds"),
        clock_seconds: value("forecourt_clock_skew_seconds"),
        alerts: Vec::new(),
    }
}

/// The load of a minute out of `/proc/loadavg`.
fn load(text: &str) -> Option<f64> {
    text.split(' ').next()?.parse().ok()
}

/// What is firing by rule, what of budgets is spent, and what the disk has left.
pub(super) struct AlertMetrics {
    evaluator: Arc<AlertEvaluator>,
    budgets: Arc<ArcSwap<BudgetParts>>,
    data: PathBuf,
}

impl fmt::Debug for AlertMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlertMetrics").finish_non_exhaustive()
    }
}

impl Collector for AlertMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let about = "Alerts that are firing on this node, by rule";
        let mut metric = encoder.encode_descriptor("alerts_firing", about, None, MetricType::Gauge)?;
        for (rule, count) in self.evaluator.firing_by_rule() {
            ConstGauge::new(count.cast_signed()).encode(metric.encode_family(&[("rule", rule.as_str())])?)?;
        }
        let budgets = self.budgets.load();
        if !budgets.is_empty() {
            let about = "The part of a budget that is spent, by agent and key, as of the last minute";
            let mut metric = encoder.encode_descriptor("budget_used_ratio", about, None, MetricType::Gauge)?;
            for (agent, key, part) in budgets.iter() {
                let labels = [("agent", agent.as_str()), ("budget", *key)];
                ConstGauge::new(*part).encode(metric.encode_family(&labels)?)?;
            }
        }
        let Ok(disk) = statvfs(&self.data) else { return Ok(()) };
        let bytes = |blocks: u64| ConstGauge::new(blocks.saturating_mul(disk.fragment_size()).cast_signed());
        let about = "Bytes that are free for this program on the disk of the data folder";
        let metric = encoder.encode_descriptor("disk_free", about, Some(&Unit::Bytes), MetricType::Gauge)?;
        bytes(disk.blocks_available()).encode(metric)?;
        let about = "Bytes of the disk of the data folder";
        let metric = encoder.encode_descriptor("disk_size", about, Some(&Unit::Bytes), MetricType::Gauge)?;
        bytes(disk.blocks()).encode(metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_says_how_it_does_by_what_it_counts() {
        let text = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1800000000.5\n\
                    # TYPE forecourt_store_writes_waiting gauge\nforecourt_store_writes_waiting 3\n\
                    # TYPE forecourt_store_waiters gauge\nforecourt_store_waiters 4\n\
                    # TYPE forecourt_clock_skew_seconds gauge\nforecourt_clock_skew_seconds -2.5\n";
        let told = told(&read(text), "n1", None, Timestamp::UNIX_EPOCH);
        assert_eq!((told.store_waiting, told.clock_seconds, told.bus_waiting), (Some(7), Some(-2.5), None));
        assert_eq!(told.started_at.unwrap().as_second(), 1_800_000_000);
        assert_eq!((load("0.52 0.58 0.59 1/1 2"), load("")), (Some(0.52), None));
    }
}
