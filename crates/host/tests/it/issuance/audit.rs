//! The audit tells what happened, and nothing that opens anything.

use std::sync::Arc;
use std::time::Duration;

use forecourt_audit::{
    AUDIT_QUEUE_MAX, AUDIT_STREAM, Audit, AuditOutcome, AuditReader, AuditRecord, PendingRecords, RequestOrigin,
};
use forecourt_core::policy::PaidFor;
use forecourt_core::{Clock, MessageId, Store};
use forecourt_store::Memory;
use forecourt_testkit::{HandClock, ScriptedAgent};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::support::{Till, Wants, ask, coins, payment, setup, stores, submitting, with_state};
use crate::dice::Dice;
use crate::faulty::{FaultyStore, Weather};
use crate::support::{Setup, handle, message};

pub(super) async fn records(setup: &Setup) -> Vec<AuditRecord> {
    read(&setup.store, &setup.clock).await
}

async fn read(store: &Arc<dyn Store>, clock: &HandClock) -> Vec<AuditRecord> {
    let mut reader = AuditReader::new(store.clone());
    let mut all = Vec::new();
    while let Some(records) = reader.next(clock.now()).await.unwrap() {
        all.extend(records);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn every_step_is_told_without_states_or_words() {
    let store = stores().remove(0).0;
    let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("a-secret-question")).await;
    let state = refused.state();
    let page = RequestOrigin::new("rest", &MessageId::parse("page-1").unwrap());
    host.pay(&state, &coins("5", "a-secret-nonce"), &page).await.unwrap();
    ask(&host, with_state("", refused.thread.clone(), &state)).await;
    ask(&host, with_state("a-secret-question", refused.thread.clone(), &state)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let records = records(&setup).await;
    let outcomes: Vec<AuditOutcome> = records.iter().map(|record| record.outcome).collect();
    use AuditOutcome::{Issued, Paid, Replayed, Resumed};
    assert_eq!(outcomes, [Issued, Paid, Resumed, Replayed, Issued]);
    assert!(records[..4].iter().all(|record| record.state == records[0].state), "one state, one name");
    let by: Vec<_> = records.iter().map(|record| record.origin.request.as_deref().unwrap()).collect();
    assert_eq!(by, ["m1", "page-1", "m2", "m2", "m2"]);
    let over: Vec<_> = records.iter().map(|record| record.origin.transport.as_deref().unwrap()).collect();
    assert_eq!(over, ["test", "rest", "test", "test", "test"]);
    assert_eq!(records[0].state.as_ref().unwrap().len(), 8);
    assert_eq!((records[0].rule.as_str(), records[0].who.as_str()), ("fee", "192.0.2.1"));
    let all = serde_json::to_string(&records).unwrap();
    let thread = refused.thread.as_ref().unwrap();
    for secret in ["a-secret", state.expose(), thread.expose()] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    // Kept for its time, and then no more.
    let entries = |now| setup.store.entries(AUDIT_STREAM, forecourt_core::store::Span::After(0), 9, now);
    let last = setup.clock.now() + Duration::from_secs(90 * 24 * 60 * 60);
    assert!(entries(last).await.unwrap().is_empty());
    assert!(!entries(last - Duration::from_secs(1)).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_state_that_comes_again_is_told_of_once_whatever_comes_with_it() {
    let store = stores().remove(0).0;
    let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    let (state, thread) = (refused.state(), refused.thread.clone());
    ask(&host, submitting("", thread.clone(), Some(state.clone()), Some(coins("5", "a")))).await;
    ask(&host, submitting("Again.", thread, Some(state), Some(coins("5", "b")))).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let outcomes: Vec<AuditOutcome> = records(&setup).await.iter().map(|record| record.outcome).collect();
    use AuditOutcome::{Issued, Paid, Replayed, Resumed};
    assert_eq!(outcomes, [Issued, Paid, Resumed, Replayed, Issued, Paid, Resumed]);
}

/// An audit on a store that may be away, while its records are written.
struct Written {
    audit: Audit,
    store: Arc<dyn Store>,
    faulty: Arc<FaultyStore>,
    clock: Arc<HandClock>,
    stop: CancellationToken,
    writing: JoinHandle<()>,
}

impl Written {
    fn begin() -> Self {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let (faulty, clock) = (Arc::new(FaultyStore::of(store.clone())), Arc::new(HandClock::new()));
        let (audit, pending): (Audit, PendingRecords) = Audit::new();
        let stop = CancellationToken::new();
        let kept = Duration::from_secs(60 * 60);
        let writing = tokio::spawn(pending.write(faulty.clone(), clock.clone(), kept, stop.clone()));
        Self { audit, store, faulty, clock, stop, writing }
    }

    fn record(&self, number: usize) {
        self.record_of("192.0.2.1", number);
    }

    fn record_of(&self, who: &str, number: usize) {
        let origin = RequestOrigin { request: Some(number.to_string()), ..RequestOrigin::default() };
        self.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: handle(),
            who: who.to_owned(),
            rule: "fee".to_owned(),
            kind: "payment_required".to_owned(),
            outcome: AuditOutcome::Paid,
            state: None,
            origin,
            usage: Default::default(),
            dropped: 0,
        });
    }

    /// What is kept, by its numbers, and how many records are told to be dropped.
    async fn kept(&self) -> (Vec<usize>, u64) {
        let records = read(&self.store, &self.clock).await;
        let number = |record: &AuditRecord| record.origin.request.as_deref().unwrap().parse().unwrap();
        (records.iter().map(number).collect(), records.iter().map(|record| record.dropped).sum())
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_store_does_not_take_is_written_until_it_does_in_its_order_and_once() {
    let written = Written::begin();
    written.faulty.set_away(true);
    written.record(1);
    tokio::time::sleep(Duration::from_millis(500)).await;
    written.record(2);
    tokio::time::sleep(Duration::from_secs(60)).await;
    // It takes the batch, and can't say so.
    written.faulty.set_away(false);
    written.faulty.set_mute(true);
    tokio::time::sleep(Duration::from_secs(20)).await;
    written.record(3);
    written.faulty.set_mute(false);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(written.kept().await, (vec![1, 2, 3], 0));
}

#[tokio::test(start_paused = true)]
async fn while_a_store_is_away_so_many_records_wait_and_the_next_one_tells_of_those_that_are_dropped() {
    for more in [0, 1] {
        let written = Written::begin();
        written.faulty.set_away(true);
        written.record(0);
        // It is taken out of the queue, and tried again.
        tokio::time::sleep(Duration::from_secs(1)).await;
        (1..=AUDIT_QUEUE_MAX + more).for_each(|number| written.record(number));
        written.faulty.set_away(false);
        tokio::time::sleep(Duration::from_secs(60)).await;
        written.record(usize::MAX);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (kept, dropped) = written.kept().await;
        assert_eq!((kept.len(), dropped), (AUDIT_QUEUE_MAX + 2, more as u64));
        assert!(kept.is_sorted());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_a_store_that_is_away_and_not_for_ever() {
    // It is asked at the stop, and three times more, 200 ms apart.
    for (back_after, kept) in [(500, 1_000), (700, 0)] {
        let written = Written::begin();
        written.faulty.set_away(true);
        (0..1_000).for_each(|number| written.record(number));
        tokio::time::sleep(Duration::from_secs(1)).await;
        written.stop.cancel();
        tokio::time::sleep(Duration::from_millis(back_after)).await;
        written.faulty.set_away(false);
        let Written { writing, store, clock, .. } = written;
        tokio::time::timeout(Duration::from_secs(5), writing).await.unwrap().unwrap();
        assert_eq!(read(&store, &clock).await.len(), kept);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_asks_a_slow_store_no_more_than_so_often_however_much_waits() {
    let written = Written::begin();
    let slow = Weather { lost: 100, late_max: Duration::from_secs(5), ..Weather::default() };
    written.faulty.set_weather(Some((slow, Arc::new(Dice::new(7)))));
    (0..AUDIT_QUEUE_MAX).for_each(|number| written.record(number));
    written.stop.cancel();
    // Four questions of five seconds each, and what is between them; there are 64 batches.
    tokio::time::timeout(Duration::from_secs(21), written.writing).await.unwrap().unwrap();
    assert_eq!(read(&written.store, &written.clock).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn names_that_fill_an_entry_lose_no_record() {
    let written = Written::begin();
    // As JSON six bytes each, and more than an entry has room for.
    (0..256).for_each(|number| written.record_of(&"\u{1}".repeat(256), number));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(written.kept().await, ((0..256).collect(), 0));
}
