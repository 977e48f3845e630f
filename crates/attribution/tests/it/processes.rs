//! Several processes on one folder.

use std::process::{Command, Stdio};
use std::sync::Arc;

use forecourt_attribution::{LogOptions, limits};
use forecourt_testkit::HandClock;

use crate::support::{agent, draft, open_in, options, verified};

/// Names the folder for the test that is run as a process of its own.
const FOLDER: &str = "ATTRIBUTION_TEST_FOLDER";
const RECORDS: usize = 150;

fn small() -> LogOptions {
    LogOptions { segment_bytes: limits::SEGMENT_BYTES_MIN, ..options() }
}

/// Records of one agent, many at once. A test of its own only where it is told a folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorder() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let log = open_in(folder.as_ref(), small(), Arc::new(HandClock::new()));
    let one = agent(1);
    let all = (0..RECORDS).map(|number| {
        let (log, one) = (log.clone(), one.clone());
        tokio::spawn(async move { log.record(draft(Some(&one), &number.to_string())).await.unwrap() })
    });
    futures::future::join_all(all.collect::<Vec<_>>()).await.into_iter().for_each(|done| drop(done.unwrap()));
}

#[test]
fn no_chain_forks_though_several_processes_record_for_one_agent() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::recorder", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut all = [start(), start(), start()];
    all.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    let told = verified(folder.path());
    assert!(told.is_fine() && told.agents == 1, "{told:?}");
    assert_eq!(told.records, 3 * RECORDS as u64);
}
