//! Daemons of one deployment on machines whose clocks are wrong, by libfaketime.

use std::fs;
use std::path::PathBuf;

use crate::nodes::{Nodes, begun, state};
use crate::support::{PATIENCE, Served, within, within_time};

/// What each machine's clock says, as libfaketime has it, and in seconds.
const WRONG: [(&str, i64); 4] = [("+1h", 3_600), ("-1h", -3_600), ("+1d", 86_400), ("-1d", -86_400)];

/// The library; `None`, and a line on standard error, when it is not installed.
fn library() -> Option<String> {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let found = folders.map(|folder| folder.join("faketime/libfaketime.so.1")).find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: faketime is not installed");
    }
    found.map(|path: PathBuf| path.display().to_string())
}

/// How often a node removed what had expired.
fn sweeps(node: &Served) -> u64 {
    let metrics = node.operator("/metrics").text();
    let line = "forecourt_store_operation_seconds_count{operation=\"expire\"} ";
    metrics.lines().find_map(|found| found.strip_prefix(line)).map_or(0, |count| count.parse().unwrap())
}

fn skew(node: &Served) -> f64 {
    let metrics = node.operator("/metrics").text();
    let found = metrics.lines().find_map(|line| line.strip_prefix("forecourt_clock_skew_seconds "));
    found.expect("the gauge").parse().unwrap()
}

#[test]
fn nodes_whose_clocks_are_wrong_delete_nothing_and_say_why_they_are_not_ready() {
    let (Some(library), Some(mut nodes)) = (library(), Nodes::start(0)) else { return };
    for (offset, _) in WRONG {
        let faked = [("LD_PRELOAD", library.as_str()), ("FAKETIME", offset), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")];
        nodes.add_in(nodes.deployment(), &faked);
    }
    // Last, so that the others had their time for it once this one has removed things.
    nodes.add_in(nodes.deployment(), &[]);
    let tasks: Vec<String> = nodes.nodes.iter().flat_map(|node| [begun(node, "this"), begun(node, "this")]).collect();
    let all_there = || {
        for (at, node) in nodes.nodes.iter().enumerate() {
            tasks.iter().for_each(|task| {
                within(&format!("node {at} has it"), || (state(node, task) == "completed").then_some(()))
            });
        }
    };
    all_there();
    let (right, wrong) = nodes.nodes.split_last().unwrap();
    within("it is ready", || (right.operator("/readyz").status == 200).then_some(()));
    assert!(skew(right).abs() < 10.0);
    for (node, (offset, seconds)) in wrong.iter().zip(WRONG) {
        let reason = node.operator("/readyz").with_status(503).text();
        let side = if seconds < 0 { "s behind the store's" } else { "s ahead of the store's" };
        assert!(reason.contains("the clock of this machine is") && reason.contains(side), "{offset}: {reason}");
        assert!((skew(node) - seconds as f64).abs() < 10.0, "{offset}: {}", skew(node));
    }
    within_time(2 * PATIENCE, "it removes what has expired", || (sweeps(right) > 0).then_some(()));
    wrong.iter().zip(WRONG).for_each(|(node, (offset, _))| assert_eq!(sweeps(node), 0, "{offset}"));
    all_there();
}
