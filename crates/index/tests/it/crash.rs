//! A process that is killed while it loads: the old index serves on, the next run completes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forecourt_index::{Library, LoadProgress, Options, Query};
use forecourt_loaders::ContentSource;

use crate::common::Shelf;

const INDEX: &str = "FORECOURT_TEST_CRASH_DIR";
const STEPS: &str = "FORECOURT_TEST_CRASH_AFTER";
const ITEMS: usize = 1_200;

/// Not a test of its own: the process that gets killed. It loads up to a point, says so, and waits.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(INDEX).map(PathBuf::from) else { return };
    let mut left: usize = std::env::var(STEPS).unwrap().parse().unwrap();
    let library = Library::open(&dir.join("index"), Options::default()).unwrap();
    let mut wait = |_: &LoadProgress| {
        left -= 1;
        if left == 0 {
            println!("reached");
            loop {
                std::thread::park();
            }
        }
    };
    library.index(&[ContentSource::new(dir.join("content"))], &mut wait, &|| false).unwrap();
    unreachable!("killed before");
}

fn items(word: &str) -> String {
    (0..ITEMS).map(|n| format!("{{\"@id\":\"urn:{n}\",\"name\":\"{word} {n}\"}}\n")).collect()
}

fn kill_after(steps: usize, dir: &Path) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture"])
        .env(INDEX, dir)
        .env(STEPS, steps.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let reached = BufReader::new(child.stdout.take().unwrap()).lines().any(|line| line.unwrap().contains("reached"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(reached, "the child ended early");
}

#[test]
fn a_killed_run_leaves_the_old_index() {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &items("soup"));
    shelf.index();
    shelf.put("a.jsonl", &items("stew"));
    let Shelf { library, dir } = shelf;
    drop(library);
    // At the first items, in the middle, and when all is read and nothing is committed.
    for steps in 1..=3 {
        kill_after(steps, dir.path());
        let library = Library::open(&dir.path().join("index"), Options::default()).unwrap();
        assert_eq!(library.len(), ITEMS as u64);
        assert!(library.search(&Query::new("stew")).unwrap().is_empty());
        assert_eq!(library.search(&Query::new("soup 7")).unwrap()[0].name, "soup 7");
    }
    let library = Library::open(&dir.path().join("index"), Options::default()).unwrap();
    let report = library.index(&[ContentSource::new(dir.path().join("content"))], &mut (), &|| false).unwrap();
    assert_eq!((report.updated, report.unchanged), (ITEMS as u64, 0));
    assert_eq!(library.search(&Query::new("stew 7")).unwrap()[0].name, "stew 7");
}
