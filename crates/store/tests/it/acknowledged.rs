//! What a process said that was durable, line by line, and whether it is: for stores whose process or disk fails.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use aws_lc_rs::rand;
use forecourt_core::store::{Span, Store};
use forecourt_core::{Entropy, TaskId, TaskState, ThreadId};
use forecourt_testkit::store_suite::{after, chef, start};

/// Randomness of the machine: ids of several processes must differ.
#[derive(Debug)]
pub(crate) struct System;

impl Entropy for System {
    fn fill(&self, bytes: &mut [u8]) {
        rand::fill(bytes).expect("random bytes");
    }
}

pub(crate) fn database(dir: &Path) -> PathBuf {
    dir.join("forecourt.db")
}

/// Everything that a child said was durable.
#[derive(Default)]
pub(crate) struct Acknowledged {
    /// The events of each task, and whether it was completed.
    pub(crate) tasks: HashMap<String, (u64, bool)>,
    turns: HashMap<String, usize>,
    claims: Vec<String>,
    artifacts: Vec<String>,
    entries: HashMap<String, usize>,
    routes: Vec<String>,
}

impl Acknowledged {
    pub(crate) fn take(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ack", "task", id] => drop(self.tasks.insert(id.to_owned(), (0, false))),
            ["ack", "event", id] => self.tasks.entry(id.to_owned()).or_default().0 += 1,
            ["ack", "done", id] => self.tasks.entry(id.to_owned()).or_default().1 = true,
            ["ack", "turn", id] => *self.turns.entry(id.to_owned()).or_default() += 1,
            ["ack", "claim", id] => self.claims.push(id.to_owned()),
            ["ack", "artifact", id] => self.artifacts.push(id.to_owned()),
            ["ack", "entry", stream] => *self.entries.entry(stream.to_owned()).or_default() += 1,
            ["ack", "route", id] => self.routes.push(id.to_owned()),
            // The test harness speaks on the same stream.
            _ => {}
        }
    }

    pub(crate) async fn check(&self, store: &dyn Store) {
        for (id, (events, done)) in &self.tasks {
            let id = TaskId::parse(id).expect("an id");
            let task = store.task(&id, start()).await.unwrap().expect("an acknowledged task is there");
            assert!(task.state == TaskState::Completed || !done);
            let kept = store.events(&id, 0, 1_000).await.unwrap();
            assert!(kept.len() as u64 >= *events, "{} of {events} events", kept.len());
        }
        for (id, turns) in &self.turns {
            let thread = ThreadId::parse(id).expect("an id");
            let kept = store.thread(&thread, &chef(), start()).await.unwrap().expect("an acknowledged turn is there");
            assert!(kept.turns.len() >= *turns);
        }
        for key in &self.claims {
            assert!(!store.claim_once(key, start(), after(60)).await.unwrap(), "a claim can be made again");
        }
        for id in &self.artifacts {
            let id = TaskId::parse(id).expect("an id");
            assert!(store.artifact(&id, "plot", start()).await.unwrap().is_some(), "an acknowledged artifact is gone");
        }
        for (stream, entries) in &self.entries {
            let kept = store.entries(stream, Span::After(0), 1_000, start()).await.unwrap();
            let numbers: Vec<u64> = kept.iter().map(|(number, _)| *number).collect();
            assert!(numbers.len() >= *entries, "{numbers:?} of {entries} entries");
            assert!(numbers.windows(2).all(|two| two[1] == two[0] + 1), "{numbers:?}");
        }
        for id in &self.routes {
            let thread = ThreadId::parse(id).expect("an id");
            assert_eq!(store.route(&thread, start()).await.unwrap(), Some(chef()), "an acknowledged route is gone");
        }
    }
}

/// Says that something is durable; `false` when nobody listens any more.
pub(crate) fn acknowledge(what: &str, id: &str) -> bool {
    // The harness may have left a line unfinished, so each begins with a line's end.
    let mut output = std::io::stdout().lock();
    output.write_all(format!("\nack {what} {id}\n").as_bytes()).and_then(|()| output.flush()).is_ok()
}
