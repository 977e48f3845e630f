//! Nodes: the runs of the program that share the store, side by side.

use std::collections::BTreeMap;
use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_store::trends::{Counts, Metric, Resolution, read};
use schemars::JsonSchema;
use serde::Serialize;

use super::trends::latency_of;
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::report::{self, NodeReport};
use crate::secret::hashed;

/// Characters of a node's name.
const MARK_CHARS: usize = 8;
/// How far back is counted what a node did.
const COUNTED: Duration = Duration::from_secs(10 * 60);
/// Seconds by which clocks may be apart.
const APART_SECONDS_MAX: f64 = 10.0;
/// Seconds after which a node is late with its report.
const LATE_SECONDS_MAX: i64 = 90;
/// How many times as slow as the fastest a node may be, and the seconds below which that does not matter.
const SLOWER_MAX: f64 = 3.0;
const SLOW_SECONDS_MIN: f64 = 0.1;

/// The nodes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Nodes {
    /// In the order of their names.
    pub nodes: Vec<Node>,
}

/// A run of the program that was begun and not ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Node {
    /// What it is called here. Another one after each start.
    pub node: String,
    /// Whether it is the one that answers this.
    pub is_this: bool,
    /// How often it has said that it is alive. One whose number does not rise has died, and is about to be ended.
    pub beats: u64,
    /// Tasks that it works on.
    pub tasks: u64,
    /// Requests that it answered in the last ten minutes, the one that is not over aside.
    pub requests: u64,
    /// Of those, refusals.
    pub refusals: u64,
    /// Of those, failures.
    pub failures: u64,
    /// Seconds below which half of its answers began in that time.
    pub latency_p50: Option<f64>,
    /// Seconds below which 19 of 20 did.
    pub latency_p95: Option<f64>,
    /// What it said of itself within the last minutes; none while it has said nothing yet, and once it says nothing more.
    pub report: Option<NodeReport>,
    /// What sets it apart from the others, or is wrong with it: `version`, `settings`, `clock`, `latency`, `report`.
    pub differs: Vec<String>,
}

pub(crate) async fn list(ask: Ask) -> Result<Nodes, ApiError> {
    let now = ask.now();
    let runs = ask.desk.reads.runs().await?;
    let held = ask.desk.reads.overview(now).await?.held;
    let reports = report::read(&ask.house.host).await?;
    let counted = counted(&ask, now).await?;
    let mut nodes: Vec<Node> = runs
        .into_iter()
        .map(|run| {
            let node = mark(&run.run);
            let counts = counted.get(&node).cloned().unwrap_or_default();
            let [latency_p50, latency_p95] = latency_of(&counts);
            Node {
                is_this: ask.house.host.is_own_run(&run.run),
                beats: run.beat,
                tasks: held.iter().find(|(of, _)| *of == run.run).map_or(0, |(_, count)| *count),
                requests: sum(&counts, Metric::Requests),
                refusals: sum(&counts, Metric::Refusals),
                failures: sum(&counts, Metric::Failures),
                latency_p50,
                latency_p95,
                report: reports.iter().find(|report| report.node == node).cloned(),
                differs: Vec::new(),
                node,
            }
        })
        .collect();
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    compare(&mut nodes, now);
    Ok(Nodes { nodes })
}

/// What each node counted in the last minutes.
async fn counted(ask: &Ask, now: Timestamp) -> Result<BTreeMap<String, Counts>, ApiError> {
    let since = now.checked_sub(COUNTED).unwrap_or(Timestamp::MIN);
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    for slice in read(&*ask.desk.reads, Resolution::Minute, since, now).await? {
        for (node, counts) in slice.nodes {
            all.entry(node).or_default().add_later(counts);
        }
    }
    Ok(all)
}

fn sum(counts: &Counts, metric: Metric) -> u64 {
    counts.iter().filter(|(series, _)| series.metric == metric).map(|(_, count)| count).sum()
}

/// Says of each node what sets it apart.
fn compare(nodes: &mut [Node], now: Timestamp) {
    let reports = || nodes.iter().filter_map(|node| node.report.as_ref());
    let (version, settings) = (usual(reports().map(|one| &one.version)), usual(reports().map(|one| &one.settings)));
    let fastest = nodes.iter().filter_map(|node| node.latency_p95).reduce(f64::min);
    for node in nodes {
        let mut differs = Vec::new();
        match &node.report {
            // Of a deployment that has just begun nobody has said anything yet.
            None => differs.extend(version.is_some().then_some("report")),
            Some(report) => {
                let is_late = now.duration_since(report.at).as_secs() > LATE_SECONDS_MAX;
                let is_apart = report.clock_seconds.is_some_and(|apart| apart.abs() > APART_SECONDS_MAX);
                let found = [
                    (version.as_ref() != Some(&report.version), "version"),
                    (settings.as_ref() != Some(&report.settings), "settings"),
                    (is_apart, "clock"),
                    (is_late, "report"),
                ];
                differs.extend(found.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what));
            }
        }
        let is_slow = |p95: f64| p95 > SLOW_SECONDS_MIN && fastest.is_some_and(|fastest| p95 > fastest * SLOWER_MAX);
        if node.latency_p95.is_some_and(is_slow) {
            differs.push("latency");
        }
        node.differs = differs.into_iter().map(str::to_owned).collect();
    }
}

/// What most have; of several as many have, the first one in their order.
fn usual<'a>(all: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(one, _)| one.clone())
}

/// What a run is called where people read it: the beginning of its hash, since its own name is what holds tasks.
pub fn mark(run: &str) -> String {
    hashed(run).chars().take(MARK_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, version: &str, settings: &str, clock: f64) -> Node {
        let at = "2026-11-30T12:00:00Z".parse().unwrap();
        let report = NodeReport {
            node: name.to_owned(),
            at,
            version: version.to_owned(),
            settings: settings.to_owned(),
            clock_seconds: Some(clock),
            ..NodeReport::default()
        };
        Node {
            node: name.to_owned(),
            is_this: false,
            beats: 1,
            tasks: 0,
            requests: 0,
            refusals: 0,
            failures: 0,
            latency_p50: None,
            latency_p95: Some(0.2),
            report: Some(report),
            differs: Vec::new(),
        }
    }

    #[test]
    fn what_sets_a_node_apart_is_marked() {
        let mut nodes = vec![
            node("a", "2", "x", 0.0),
            node("b", "2", "x", -10.0),
            Node { latency_p95: Some(0.61), ..node("c", "1", "y", 10.1) },
            Node { report: None, latency_p95: None, ..node("d", "2", "x", 0.0) },
        ];
        compare(&mut nodes, "2026-11-30T12:01:30Z".parse().unwrap());
        let differs: Vec<String> = nodes.iter().map(|node| node.differs.join(" ")).collect();
        assert_eq!(differs, ["", "", "version settings clock latency", "report"]);
        compare(&mut nodes, "2026-11-30T12:01:31Z".parse().unwrap());
        assert_eq!(nodes[0].differs, ["report"]);
        for report in [node("a", "2", "x", 0.0).report, None] {
            let mut alone = vec![Node { report, ..node("a", "2", "x", 0.0) }];
            compare(&mut alone, "2026-11-30T12:00:00Z".parse().unwrap());
            assert!(alone[0].differs.is_empty());
        }
    }
}
