//! Records of several nodes, in the store that they share: one view, and one chain for each agent.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forecourt_attribution::copies::HeadCopy;
use forecourt_attribution::heads::HEADS;
use forecourt_attribution::verify::Verification;
use forecourt_attribution::{ExportFilter, FileCopy, LogOptions, RecordLog, SharedLog, export_shared, verify_shared};
use forecourt_core::store::Span;
use forecourt_core::{Clock, Store};
use forecourt_host::Ledger;
use forecourt_store::Memory;
use forecourt_testkit::HandClock;
use futures::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use serde_json::{Map, json};

use crate::kept::{messages, passes};
use crate::support::{UnsignedRecords, agent, draft, options, payload, signer, source};

/// A store that nodes share.
struct Nodes {
    store: Arc<dyn Store>,
    clock: Arc<HandClock>,
}

impl Nodes {
    fn new() -> Self {
        Self { store: Arc::new(Memory::new()), clock: Arc::new(HandClock::new()) }
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(self.store.clone(), self.clock.clone(), HEADS)
    }

    fn shared(&self, name: &str, options: LogOptions) -> Arc<SharedLog> {
        SharedLog::new(self.ledger(), name.to_owned(), options, source(&signer()), self.clock.clone())
    }

    fn node(&self, name: &str) -> RecordLog {
        RecordLog::Shared(self.shared(name, options()))
    }

    async fn verified(&self, elsewhere: &[String]) -> Verification {
        verify_shared(&self.ledger(), None, elsewhere, self.clock.now()).await.unwrap()
    }

    /// The same store without some entries, as somebody who writes to its database leaves it.
    async fn without(&self, stream: &str, is_gone: impl Fn(u64) -> bool) -> Self {
        let other = Self::new();
        for name in ["chains", "signers", "retentions", &format!("chain:{}", agent(1)), &format!("chain:{}", agent(2))]
        {
            for (number, entry) in self.ledger().entries(name, Span::After(0), 1_000).await.unwrap() {
                if name != stream || !is_gone(number) {
                    other.store.append_entry(&format!("of:{HEADS}:{name}"), entry, None).await.unwrap();
                }
            }
        }
        other
    }
}

#[tokio::test]
async fn a_record_of_one_node_is_found_from_another_and_the_chain_goes_on_there() {
    let nodes = Nodes::new();
    let (a, b) = (nodes.node("a"), nodes.node("b"));
    let one = agent(1);
    let first = a.record(draft(Some(&one), "r1")).await.unwrap();
    assert_eq!(b.find(&first.audit_id).await.unwrap(), Some(first.jws.clone()));
    assert_eq!(b.head(&one).await.unwrap().unwrap().audit_id, first.audit_id);
    let second = b.record(draft(Some(&one), "r2")).await.unwrap();
    assert_eq!(payload(&second.jws)["previous_audit_id"], json!(first.audit_id));
    assert_eq!(payload(&second.jws)["extra"]["node"], "b");
    // `a` still takes its own for the last one, and signs anew behind that of `b`.
    let third = a.event(&one, Map::from_iter([("event_type".to_owned(), json!("x"))])).await.unwrap();
    let event = b.events(&one, 10).await.unwrap();
    assert_eq!(payload(&event[0])["previous_audit_id"], json!(second.audit_id));
    assert_eq!(b.find(&third).await.unwrap().as_ref(), Some(&event[0]));
    assert_eq!(a.chain(&one, 2).await.unwrap(), [event[0].clone(), second.jws]);
    let told = nodes.verified(&[]).await;
    assert!(told.is_fine() && (told.records, told.events, told.agents) == (2, 1, 1), "{told:?}");
    assert_eq!(b.find(&"0".repeat(64)).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_chain_forks_while_nodes_write_into_it_at_once() {
    let nodes = Nodes::new();
    let all = ["a", "b", "c"].map(|name| nodes.node(name));
    let written = (0..90).map(|number| {
        let log = all[number % 3].clone();
        tokio::spawn(async move {
            let one = agent(1);
            let known = (number % 10 != 0).then_some(&one);
            log.record(draft(known, &number.to_string())).await.unwrap()
        })
    });
    let records = join_all(written).await;
    let told = nodes.verified(&[]).await;
    assert!(told.is_fine() && (told.records, told.agents) == (90, 1), "{told:?}");
    for record in records.into_iter().map(Result::unwrap) {
        assert_eq!(all[0].find(&record.audit_id).await.unwrap(), Some(record.jws));
    }
    let mut lines = 0;
    let mut take = |_: forecourt_attribution::ExportedRecord<'_>| {
        lines += 1;
        Ok(())
    };
    let filter = ExportFilter { agent: Some(agent(1)), since: None };
    assert_eq!(export_shared(&nodes.ledger(), &filter, &mut take).await.unwrap().unwrap(), 81);
    assert_eq!(lines, 81);
}

#[tokio::test]
async fn a_record_that_was_taken_out_or_changed_is_found_and_an_end_by_a_second_place() {
    let nodes = Nodes::new();
    let folder = tempfile::tempdir().unwrap();
    let copy = FileCopy::new(&folder.path().join("heads"));
    let log = nodes.shared("a", options());
    log.copy_heads(Some(Arc::new(copy.clone())));
    let log = RecordLog::Shared(log);
    for number in 0..8u8 {
        log.record(draft(Some(&agent(number % 2 + 1)), &number.to_string())).await.unwrap();
    }
    log.close().await.unwrap();
    let elsewhere = copy.statements(nodes.clock.now()).unwrap();
    assert_eq!(elsewhere.len(), 2, "one for each chain");
    assert!(nodes.verified(&elsewhere).await.is_fine());
    let stream = format!("chain:{}", agent(1));
    let holed = nodes.without(&stream, |number| number == 2).await;
    assert!(messages(&holed.verified(&[]).await).contains("the chain breaks"));
    let beheaded = nodes.without(&stream, |number| number == 1).await;
    assert!(messages(&beheaded.verified(&[]).await).contains("the chain breaks"));
    let cut = nodes.without(&stream, |number| number == 4).await;
    assert!(cut.verified(&[]).await.is_fine(), "whole in itself");
    let told = cut.verified(&elsewhere).await;
    assert!(messages(&told).contains("records are gone"), "{told:?}");
    let gone = nodes.without(&stream, |_| true).await;
    assert!(messages(&gone.verified(&elsewhere).await).contains("records are gone"), "a whole chain");
    // Another record in place of the last one.
    let other = cut.shared("b", options());
    RecordLog::Shared(other).record(draft(Some(&agent(1)), "other")).await.unwrap();
    assert!(messages(&cut.verified(&elsewhere).await).contains("another record stands here"));
}

#[tokio::test]
async fn records_end_by_age_where_the_operator_wishes_and_that_is_no_loss() {
    let nodes = Nodes::new();
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    let folder = tempfile::tempdir().unwrap();
    let copy = FileCopy::new(&folder.path().join("heads"));
    let log = nodes.shared("a", LogOptions { retention: Some(day), ..options() });
    log.copy_heads(Some(Arc::new(copy.clone())));
    let log = RecordLog::Shared(log);
    let old = log.record(draft(Some(&agent(1)), "old")).await.unwrap();
    log.close().await.unwrap();
    nodes.clock.advance(day * 2);
    assert_eq!(log.find(&old.audit_id).await.unwrap(), None);
    assert!(nodes.verified(&copy.statements(nodes.clock.now()).unwrap()).await.is_fine());
    let new = log.record(draft(Some(&agent(1)), "new")).await.unwrap();
    assert_eq!(payload(&new.jws)["previous_audit_id"], json!("0".repeat(64)), "the chain begins anew");
    assert!(nodes.verified(&copy.statements(nodes.clock.now()).unwrap()).await.is_fine());
}

#[tokio::test]
async fn records_that_went_by_age_under_another_setting_than_now_are_no_loss_and_others_are() {
    let nodes = Nodes::new();
    let day = Duration::from_secs(24 * 60 * 60);
    let shared = nodes.shared("a", options());
    let log = RecordLog::Shared(shared.clone());
    for (response, retention) in [("1", None), ("2", Some(day)), ("3", Some(day)), ("4", None)] {
        log.replace(LogOptions { retention, ..options() }, source(&signer()), None);
        log.record(draft(Some(&agent(1)), response)).await.unwrap();
        nodes.clock.advance(Duration::from_secs(60));
    }
    assert!(nodes.verified(&[]).await.is_fine());
    nodes.clock.advance(day * 2);
    let told = nodes.verified(&[]).await;
    assert!(told.is_fine() && told.records == 2, "{told:?}");
    assert!(told.notes.iter().any(|note| note.contains("between entries 1 and 4 were removed by age")), "{told:?}");
    // What was written last is gone, and the next one stands behind what is left under the number that comes.
    log.replace(LogOptions { retention: Some(day), ..options() }, source(&signer()), None);
    log.record(draft(Some(&agent(1)), "5")).await.unwrap();
    nodes.clock.advance(day * 2);
    for _ in 0..2 {
        let next = log.record(draft(Some(&agent(1)), "6")).await.unwrap();
        assert_eq!(log.find(&next.audit_id).await.unwrap(), Some(next.jws));
    }
    let told = nodes.verified(&[]).await;
    assert!(told.is_fine() && told.records == 4, "{told:?}");
    // Nothing went by age before anybody said that it may.
    let stream = format!("chain:{}", agent(1));
    let holed = nodes.without(&stream, |number| number == 1).await;
    assert!(!holed.verified(&[]).await.is_fine());
}

/// A second place that takes nothing at first.
#[derive(Default)]
struct Refusing {
    takes: AtomicBool,
    taken: Mutex<Vec<String>>,
}

impl HeadCopy for Refusing {
    fn take(&self, heads: Vec<String>) -> BoxFuture<'_, Result<(), String>> {
        let takes = self.takes.load(Ordering::Relaxed);
        Box::pin(async move {
            if takes {
                self.taken.lock().extend(heads);
            }
            takes.then_some(()).ok_or_else(|| "full".to_owned())
        })
    }

    fn last(&self, _node: Option<&str>) -> io::Result<Option<String>> {
        Ok(None)
    }
}

#[tokio::test(start_paused = true)]
async fn heads_that_a_second_place_refused_are_told_again_and_can_be_verified() {
    let (nodes, copy) = (Nodes::new(), Arc::new(Refusing::default()));
    let source = Arc::new(UnsignedRecords);
    let log = SharedLog::new(nodes.ledger(), "a".to_owned(), options(), source, nodes.clock.clone());
    log.copy_heads(Some(copy.clone()));
    let log = RecordLog::Shared(log);
    for number in 1..3 {
        log.record(draft(Some(&agent(number)), "r")).await.unwrap();
    }
    passes(Duration::from_secs(90)).await;
    assert!(copy.taken.lock().is_empty());
    copy.takes.store(true, Ordering::Relaxed);
    log.record(draft(Some(&agent(1)), "r")).await.unwrap();
    passes(Duration::from_secs(60)).await;
    let taken = copy.taken.lock().clone();
    assert_eq!(taken.len(), 2, "one for each chain");
    assert!(nodes.verified(&taken).await.is_fine(), "the key of what nobody signs records with is there too");
    passes(Duration::from_secs(600)).await;
    assert_eq!(copy.taken.lock().len(), 2, "once");
    // In an order that is not that of the chain, as nodes may tell them.
    log.record(draft(Some(&agent(1)), "r")).await.unwrap();
    log.close().await.unwrap();
    let mut taken = copy.taken.lock().clone();
    taken.reverse();
    let cut = nodes.without(&format!("chain:{}", agent(1)), |number| number == 3).await;
    assert!(messages(&cut.verified(&taken).await).contains("records are gone"));
}

#[tokio::test]
async fn keys_are_in_the_store_before_they_sign_and_unsigned_records_are_told() {
    let nodes = Nodes::new();
    nodes.node("a").record(draft(Some(&agent(1)), "r")).await.unwrap();
    let log = SharedLog::new(nodes.ledger(), "b".to_owned(), options(), Arc::new(UnsignedRecords), nodes.clock.clone());
    RecordLog::Shared(log).record(draft(Some(&agent(1)), "r")).await.unwrap();
    let told = nodes.verified(&[]).await;
    assert!(told.is_fine() && told.unsigned == 1, "{told:?}");
    assert!(Nodes::new().verified(&[]).await.is_unwritten);
}
