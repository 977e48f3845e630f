//! Alerts, looked at once a minute: rules are evaluated over what is counted, the other nodes are told what is firing here
//! and how this node does, and the operator is told of what begins and ends.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_admin::ReadSettings;
use forecourt_admin::nouns::alerts::silenced;
use forecourt_admin::nouns::nodes::mark;
use forecourt_admin::report::{self, FiringAlert, NodeReport};
use forecourt_completions::budget::{AgentBudgets, used};
use forecourt_core::Timestamp;
use forecourt_host::Host;
use nix::sys::statvfs::statvfs;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use serde_json::{Map, Value, json};

use crate::alerts::{AlertChange, AlertEvaluator};
use crate::live::OpenHouse;
use crate::openmetrics::{FamilyText, read};
use crate::running::Running;

/// Posts to the operator about alerts in one minute. What begins or ends beyond them is in the log and on the console.
const POSTS_MAX: usize = 20;

/// How much of each budget is spent: agent, key and part.
type BudgetParts = Vec<(String, &'static str, f64)>;

/// Looks at the rules of a domain once a minute.
pub(super) struct AlertKeeper {
    evaluator: Arc<AlertEvaluator>,
    budgets: Arc<ArcSwap<BudgetParts>>,
    data: PathBuf,
}

impl AlertKeeper {
    /// Of the domain whose state is in `data`.
    pub(super) fn new(data: PathBuf) -> Self {
        Self { evaluator: Arc::default(), budgets: Arc::default(), data }
    }

    /// What is counted for alerts, and by them.
    pub(super) fn metrics(&self) -> AlertMetrics {
        let Self { evaluator, budgets, data } = self;
        AlertMetrics { evaluator: evaluator.clone(), budgets: budgets.clone(), data: data.clone() }
    }

    /// Looks once, over what `registry` counts. What the store does not take is made up for by the next look.
    pub(super) async fn look(&self, running: &Running, registry: Arc<Registry>) {
        let Some(house) = running.live().now() else { return };
        let now = house.host.clock().now();
        self.count_budgets(running, &house, now).await;
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
        if let Err(error) = report::write(&house.host, &report).await {
            tracing::warn!(%error, "the other nodes are not told how this one does");
        }
        if let Some(webhook) = &deployment.alerts.webhook {
            let posts = posts(&change, &node, &silenced(&house.host).await);
            for details in posts {
                tell(&house.host, webhook.clone(), details).await;
            }
        }
    }

    async fn count_budgets(&self, running: &Running, house: &OpenHouse, now: Timestamp) {
        let budgets = house.services.get::<AgentBudgets>();
        let mut parts = BudgetParts::new();
        for (agent, settings) in budgets.iter().flat_map(|budgets| &budgets.0) {
            // What can't be counted is absent: a number of before would look like one of now.
            let bounds = used(settings, agent, &**running.reads(), now).await.unwrap_or_default();
            let part = |used: u64, most: u64| used as f64 / most.max(1) as f64;
            parts.extend(bounds.iter().filter_map(|of| Some((agent.to_string(), of.key, part(of.used?, of.most)))));
        }
        self.budgets.store(Arc::new(parts));
    }
}

async fn tell(host: &Host, webhook: forecourt_host::OperatorWebhook, details: Map<String, Value>) {
    if let Err(error) = host.tell_operator(webhook, details).await {
        tracing::warn!(%error, "the operator is not told of an alert");
    }
}

fn log(change: &AlertChange) {
    for FiringAlert { rule, severity, summary, .. } in &change.begun {
        tracing::warn!(rule, severity, summary, "an alert is firing");
    }
    for FiringAlert { rule, summary, .. } in &change.ended {
        tracing::info!(rule, summary, "an alert has ended");
    }
}

/// What the operator is told of what began and ended, but for what is silenced.
fn posts(change: &AlertChange, node: &str, silenced: &std::collections::BTreeSet<String>) -> Vec<Map<String, Value>> {
    let begun = change.begun.iter().map(|alert| (alert, "firing"));
    let all = begun.chain(change.ended.iter().map(|alert| (alert, "ended")));
    let heard = all.filter(|(alert, _)| !silenced.contains(&alert.rule));
    let details = |(alert, state): (&FiringAlert, &str)| {
        let mut details = Map::new();
        details.insert("event".to_owned(), "alert".into());
        details.insert("state".to_owned(), state.into());
        details.insert("node".to_owned(), node.into());
        if let Value::Object(alert) = json!(alert) {
            details.extend(alert);
        }
        details
    };
    heard.take(POSTS_MAX).map(details).collect()
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
    use std::collections::BTreeSet;

    use super::*;

    fn alert(rule: &str) -> FiringAlert {
        FiringAlert {
            rule: rule.to_owned(),
            severity: "warning".to_owned(),
            labels: [("agent".to_owned(), "chef".to_owned())].into(),
            value: 0.5,
            since: Timestamp::UNIX_EPOCH,
            summary: "s".to_owned(),
            description: String::new(),
        }
    }

    #[test]
    fn the_operator_is_told_what_begins_and_ends_within_a_bound_and_not_what_is_silenced() {
        let change =
            AlertChange { begun: vec![alert("A"), alert("B")], ended: vec![alert("A")], ..AlertChange::default() };
        let told = posts(&change, "n1", &BTreeSet::from(["B".to_owned()]));
        let told: Vec<_> =
            told.iter().map(|post| (post["rule"].as_str(), post["state"].as_str(), &post["node"])).collect();
        assert_eq!(told, [(Some("A"), Some("firing"), &json!("n1")), (Some("A"), Some("ended"), &json!("n1"))]);
        let many = |count| AlertChange { begun: vec![alert("A"); count], ..AlertChange::default() };
        let count = |of| posts(&many(of), "n1", &BTreeSet::new()).len();
        assert_eq!((count(POSTS_MAX), count(POSTS_MAX + 1)), (POSTS_MAX, POSTS_MAX));
    }

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
