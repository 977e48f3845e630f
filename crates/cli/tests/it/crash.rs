//! Nothing acknowledged is lost: pushes, the hard end of the daemon in the middle of them, and damaged files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Deployment, Served, within};
use crate::wire::{Answer, curl};

const TOKEN: &str = "a-token-of-the-operator";
const LINES: &str = "Content-Type: application/x-ndjson";
/// Rounds of pushing and killing, unless the environment says how many.
const ROUNDS: usize = 3;
/// Says how many; 110 are worth an hour before a release.
const ROUNDS_VARIABLE: &str = "FORECOURT_CRASH_ROUNDS";

fn deployment() -> Deployment {
    Deployment::kitchen().with("admin", &format!("token = \"{TOKEN}\""))
}

fn item(id: &str, name: &str) -> String {
    serde_json::json!({"@type": "Recipe", "@id": format!("urn:{id}"), "name": name}).to_string() + "\n"
}

fn put(served: &Served, lines: &str) -> Value {
    let url = format!("http://127.0.0.1:{}/content/chef", served.admin);
    let authorization = format!("Authorization: Bearer {TOKEN}");
    let fields = ["-H", &authorization, "-H", LINES, "--data-binary", lines];
    curl(&url, &fields).with_status(200).json()
}

fn asked(served: &Served, text: &str) -> String {
    served.curl(&format!("/~chef?user={text}"), &["-H", "Accept: text/markdown"]).text()
}

fn is_ready(served: &Served) -> Option<()> {
    (served.operator("/readyz").status == 200).then_some(())
}

/// Pushes from a process of its own, call after call, and says which items were acknowledged until the daemon
/// was gone: each call has a new item, and another version of one that is there.
fn pushing(admin: u16, round: usize) -> mpsc::Receiver<usize> {
    let (acknowledged, receiver) = mpsc::channel();
    thread::spawn(move || {
        for call in 0.. {
            let lines = item(&format!("r{round}c{call}"), &name(round, call))
                + &item("shared", &format!("Shared {round} {call}"));
            let authorization = format!("Authorization: Bearer {TOKEN}");
            let url = format!("http://127.0.0.1:{admin}/content/chef");
            let curl = Command::new("curl")
                .args(["-sS", "--fail", &url, "-H", &authorization, "-H", LINES, "--data-binary", &lines])
                .stderr(Stdio::null())
                .output();
            if !curl.is_ok_and(|output| output.status.success()) || acknowledged.send(call).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A word that no other item has.
fn name(round: usize, call: usize) -> String {
    format!("Quiverbread{round}x{call}")
}

#[test]
fn every_acknowledged_item_is_found_after_the_daemon_was_killed_while_it_was_pushed() {
    let rounds = std::env::var(ROUNDS_VARIABLE).ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let mut deployment = deployment();
    let mut all = 0;
    for round in 0..rounds {
        let served = deployment.serve();
        let acknowledgements = pushing(served.admin, round);
        // Between the first call and the seventh, each time a little later within one of them.
        let first: Vec<usize> = acknowledgements.iter().take(1 + round % 6).collect();
        let next = acknowledgements.recv_timeout(Duration::from_millis((round as u64 * 7) % 60)).ok();
        deployment = served.killed();
        let acknowledged: Vec<usize> = first.into_iter().chain(next).chain(acknowledgements).collect();
        let served = deployment.serve();
        within("everything that was acknowledged is searchable", || is_ready(&served));
        for call in &acknowledged {
            let name = name(round, *call);
            assert!(asked(&served, &name).contains(&name), "round {round}: {name} is lost");
        }
        let last = put(&served, &item("shared", &format!("Shared last {round}")));
        assert_eq!(last["searchable"], true, "round {round}: {last}");
        all += acknowledged.len();
        deployment = served.killed();
    }
    assert!(all >= rounds, "{all} items of {rounds} rounds");
    eprintln!("{all} items of {rounds} rounds were found");
}

fn words(deployment: &Deployment) -> PathBuf {
    deployment.data().join("index/chef/words")
}

/// What a daemon leaves that is killed between the deletions of a commit and the commit itself.
fn leave_deletions(words: &Path) {
    let meta: Value = serde_json::from_slice(&fs::read(words.join("meta.json")).unwrap()).unwrap();
    let last = meta["opstamp"].as_u64().unwrap();
    for segment in meta["segments"].as_array().unwrap() {
        let id = segment["segment_id"].as_str().unwrap().replace('-', "");
        for opstamp in last..last + 50 {
            let file = words.join(format!("{id}.{opstamp}.del"));
            if !file.exists() {
                fs::write(file, "half").unwrap();
            }
        }
    }
}

#[test]
fn files_that_a_killed_commit_left_keep_nothing_from_being_found() {
    let served = deployment().serve();
    put(&served, &item("a", "Xanthic pie"));
    let deployment = served.killed();
    leave_deletions(&words(&deployment));
    let served = deployment.serve();
    within("it is ready", || is_ready(&served));
    let done = put(&served, &item("a", "Xanthic quiverbread"));
    assert_eq!(done["searchable"], true, "{done}");
    assert!(asked(&served, "quiverbread").contains("Xanthic quiverbread"));
    // Left by a commit of this daemon that failed: the next one is in nobody's way either.
    leave_deletions(&words(&served.deployment));
    assert_eq!(put(&served, &item("a", "Xanthic dumplings"))["searchable"], true);
    assert!(asked(&served, "dumplings").contains("Xanthic dumplings"));
}

#[test]
fn damaged_index_files_are_named_and_built_again_before_a_port_opens() {
    let served = deployment().serve();
    put(&served, &item("a", "Xanthic pie"));
    let mut deployment = served.killed();
    for kind in ["store", "term", "idx"] {
        let entries = fs::read_dir(words(&deployment)).unwrap().map(|entry| entry.unwrap().path());
        let file = entries.filter(|path| path.extension().is_some_and(|found| found == kind)).min().unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 4;
        fs::write(&file, bytes).unwrap();
        let served = deployment.serve();
        assert!(asked(&served, "xanthic").contains("Xanthic pie") && asked(&served, "chickpea").contains("hickpea"));
        within("it is ready", || is_ready(&served));
        served.signal(nix::sys::signal::Signal::SIGTERM);
        let (_, log, left) = served.ended();
        let name = file.file_name().unwrap().to_string_lossy();
        assert!(log.contains("the search index is damaged") && log.contains(&*name), "{log}");
        deployment = left;
    }
}

#[test]
fn readiness_tells_of_what_is_acknowledged_and_not_searchable() {
    let served = deployment().serve();
    within("it is ready", || is_ready(&served));
    // A folder in the place of what is written at every commit: no index can be.
    let meta = words(&served.deployment).join("meta.json");
    fs::remove_file(&meta).unwrap();
    fs::create_dir_all(meta.join("x")).unwrap();
    assert_eq!(put(&served, &item("a", "Xanthic pie"))["searchable"], false);
    let said: Answer = served.operator("/readyz").with_status(200);
    assert!(said.text().contains("note:"), "for half a minute it takes requests: {said:?}");
    assert!(said.text().contains("@chef") && said.text().contains("not searchable yet"), "{said:?}");
    assert!(asked(&served, "chickpea").contains("hickpea"), "what was there is found meanwhile");
    fs::remove_dir_all(&meta).unwrap();
    within("it repairs itself", || {
        let said = served.operator("/readyz");
        (said.status == 200 && !said.text().contains("note: items")).then_some(())
    });
    assert!(asked(&served, "xanthic").contains("Xanthic pie"));
}
