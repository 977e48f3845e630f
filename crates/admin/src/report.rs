//! What each node tells the others once a minute through the store: how it does, and which alerts are firing there. A
//! report is readable for as long as the next ones may take, so that a node which is gone tells nothing.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::store::Span;
use forecourt_core::{Error, Timestamp};
use forecourt_host::Host;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::OWNER;

const STREAM: &str = "node-reports";
/// How long a report can be read: one that does not come is made up for by the next.
const READABLE: Duration = Duration::from_secs(150);
/// Reports that are read, the last ones: some three of each node.
const READ_MAX: usize = 500;

/// How a node does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeReport {
    /// What the node is called here.
    pub node: String,
    /// When it said so.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// The version of its program.
    pub version: String,
    /// When its process began.
    #[schemars(with = "Option<String>")]
    pub started_at: Option<Timestamp>,
    /// What tells its settings from others: the beginning of a hash of its files as they were read, without secrets.
    pub settings: String,
    /// The load of its machine, over a minute.
    pub load: Option<f64>,
    /// Bytes of memory in use.
    pub memory_bytes: Option<u64>,
    /// Files that are open.
    pub open_files: Option<u64>,
    /// Answers in the making.
    pub running: Option<u64>,
    /// Operations that wait for its store.
    pub store_waiting: Option<u64>,
    /// Messages that wait to be sent to other nodes.
    pub bus_waiting: Option<u64>,
    /// Seconds by which the delivery that was queued first is late.
    pub deliveries_late_seconds: Option<f64>,
    /// The clock of its machine less the store's time, in seconds.
    pub clock_seconds: Option<f64>,
    /// What is firing there.
    pub alerts: Vec<FiringAlert>,
}

/// An alert that is firing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FiringAlert {
    /// The name of its rule.
    pub rule: String,
    /// `warning` or `critical`.
    pub severity: String,
    /// What tells it from others of the same rule.
    pub labels: BTreeMap<String, String>,
    /// What was measured.
    pub value: f64,
    /// Since when it is so.
    #[schemars(with = "String")]
    pub since: Timestamp,
    /// The same for people.
    pub summary: String,
    /// What to do about it.
    pub description: String,
}

impl FiringAlert {
    /// Whether somebody should look at it now.
    pub fn is_critical(&self) -> bool {
        self.severity == "critical"
    }
}

/// A rule, as the operator is shown it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AlertRuleInfo {
    /// Its name.
    pub rule: String,
    /// `warning` or `critical`.
    pub severity: String,
    /// What it watches for, as Prometheus writes it.
    pub condition: String,
    /// Seconds for which that has to be so.
    pub for_seconds: u64,
}

/// The rules that hold: set up among the services of a house.
pub struct AlertRules(pub Vec<AlertRuleInfo>);

/// Tells the others how a node does.
pub fn write<'a>(host: &'a Host, report: &'a NodeReport) -> BoxFuture<'a, Result<(), Error>> {
    Box::pin(async move {
        let body = serde_json::to_value(report).map_err(Error::internal)?;
        host.ledger(OWNER).append(STREAM, body, Some(after(report.at, READABLE)), None).await?;
        Ok(())
    })
}

/// What each node said last, in the order of their names.
pub(crate) async fn read(host: &Host) -> Result<Vec<NodeReport>, Error> {
    let entries = host.ledger(OWNER).entries(STREAM, Span::Before(u64::MAX), READ_MAX).await?;
    let reports = entries.into_iter().filter_map(|(_, entry)| serde_json::from_value::<NodeReport>(entry.body).ok());
    let mut seen = HashSet::new();
    let mut newest: Vec<NodeReport> = reports.filter(|report| seen.insert(report.node.clone())).collect();
    newest.sort_by(|a, b| a.node.cmp(&b.node));
    Ok(newest)
}
