use bytes::Bytes;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn the_burst_may_come_at_once_and_then_one_at_a_time() {
    let (table, pace) = (RateTable::new(), Pace::new(6, MINUTE, 3));
    for _ in 0..3 {
        table.take(&"a", pace).unwrap();
    }
    assert_eq!(table.take(&"a", pace), Err(Duration::from_secs(10)));
    table.take(&"b", pace).unwrap();
    tokio::time::advance(Duration::from_secs(10)).await;
    table.take(&"a", pace).unwrap();
    assert!(table.take(&"a", pace).is_err());
    tokio::time::advance(MINUTE).await;
    for _ in 0..3 {
        table.take(&"a", pace).unwrap();
    }
    assert!(table.take(&"a", pace).is_err());
}

#[test]
fn sec12_a_hundred_thousand_keys_are_remembered_in_32_mib() {
    let (table, pace) = (RateTable::new(), Pace::new(1, MINUTE, 1));
    let fresh = (0..100_000).filter(|key| table.take(key, pace).is_ok()).count();
    let (keys, bytes) = table.size();
    assert!(bytes <= RATE_BYTES_MAX, "{bytes} bytes");
    // A few sets are full, where a newcomer waits for somebody else.
    assert!(keys >= 99_900 && fresh >= 99_900, "{keys} keys, {fresh} fresh");
    println!("100,000 keys: {keys} remembered, {bytes} bytes");
}

#[test]
fn sec12_no_flood_of_keys_takes_more_or_gives_a_hot_caller_a_fresh_bucket() {
    let (table, hourly) = (RateTable::new(), Pace::new(1, 60 * MINUTE, 1));
    table.take(&"hot", hourly).unwrap();
    let brisk = Pace::new(1, Duration::from_millis(1), 1);
    for key in 0..3 * RATE_KEYS_MAX {
        let _ = table.take(&key, brisk);
    }
    assert!(table.take(&"hot", hourly).is_err(), "the flood reset it");
    let (keys, bytes) = table.size();
    assert!(keys <= RATE_KEYS_MAX && bytes <= RATE_BYTES_MAX, "{keys} keys, {bytes} bytes");
}

#[test]
fn sec12_a_newcomer_in_a_full_set_begins_with_what_another_had_left_to_wait() {
    let mut buckets = Vec::new();
    for key in 0..16 {
        bucket_of(&mut buckets, key).full_at = 100 + key;
    }
    assert_eq!(bucket_of(&mut buckets, 99).full_at, 100);
    assert_eq!(buckets.len(), KEYS_PER_SET);
    assert!(buckets.iter().all(|bucket| bucket.key != 0));
}

/// Counters of so many nodes on one bus, each of which hears the others when it is told to.
struct Nodes {
    tables: Vec<RateTable>,
    heard: Vec<futures::stream::BoxStream<'static, Bytes>>,
}

impl Nodes {
    fn new(count: u64) -> Self {
        let bus = Arc::new(TestBus::default());
        let tables = (0..count).map(|node| RateTable::shared([1, 2], node, bus.clone())).collect::<Vec<_>>();
        tables.iter().for_each(|table| table.set_nodes(tables.len(), false));
        let heard = tables.iter().map(|_| bus.subscribe(RATES)).collect();
        Self { tables, heard }
    }

    /// What was said so far is heard by everybody.
    fn hear(&mut self) {
        for (table, heard) in self.tables.iter().zip(&mut self.heard) {
            while let Some(Some(message)) = futures::FutureExt::now_or_never(futures::StreamExt::next(heard)) {
                table.hear(&message);
            }
        }
    }

    /// How many of `count` requests pass, one node after the other asked.
    fn pass(&mut self, count: usize, pace: Pace, is_heard: bool) -> u64 {
        let mut passed = 0;
        for request in 0..count {
            let node = request % self.tables.len();
            passed += u64::from(self.tables[node].take(&"caller", pace).is_ok());
            if is_heard {
                self.hear();
            }
        }
        passed
    }
}

#[derive(Default)]
struct TestBus(Mutex<Vec<futures::channel::mpsc::UnboundedSender<Bytes>>>);

impl Bus for TestBus {
    fn publish(&self, _: &str, message: Bytes) {
        self.0.lock().iter().for_each(|heard| drop(heard.unbounded_send(message.clone())));
    }

    fn subscribe(&self, _: &str) -> futures::stream::BoxStream<'static, Bytes> {
        let (send, heard) = futures::channel::mpsc::unbounded();
        self.0.lock().push(send);
        Box::pin(heard)
    }

    fn fault(&self) -> Option<String> {
        None
    }
}

#[tokio::test(start_paused = true)]
async fn three_nodes_together_give_out_the_burst_and_an_eighth_of_it_at_most() {
    for burst in [1, 3, 8, 24, 200, 1_000] {
        let pace = Pace::new(1, 60 * MINUTE, burst);
        let passed = Nodes::new(3).pass(9_000, pace, true);
        let burst = u64::from(burst);
        assert!((burst..=burst + burst / 8).contains(&passed), "{passed} of a burst of {burst}");
        println!("three nodes, a burst of {burst}: {passed} passed");
    }
}

#[tokio::test(start_paused = true)]
async fn in_the_long_run_three_nodes_give_out_what_one_would() {
    let (mut nodes, pace) = (Nodes::new(3), Pace::new(10, Duration::from_secs(1), 40));
    let mut passed = 0;
    for _ in 0..1_000 {
        tokio::time::advance(Duration::from_millis(100)).await;
        passed += nodes.pass(9, pace, true);
    }
    // A hundred seconds.
    assert!((1_000..=1_045).contains(&passed), "{passed}");
}

#[tokio::test(start_paused = true)]
async fn nodes_that_do_not_hear_each_other_give_out_their_shares() {
    let (mut nodes, pace) = (Nodes::new(3), Pace::new(1, 60 * MINUTE, 30));
    nodes.tables.iter().for_each(|table| table.set_nodes(3, true));
    assert_eq!(nodes.pass(900, pace, false), 30);
    let one = Pace::new(1, 60 * MINUTE, 1);
    let mut nodes = Nodes::new(3);
    nodes.tables.iter().for_each(|table| table.set_nodes(3, true));
    assert_eq!(nodes.pass(900, one, false), 3, "each gives out one at least");
}

#[tokio::test(start_paused = true)]
async fn no_word_of_others_keeps_a_caller_out_for_longer_than_an_empty_bucket() {
    let (bus, pace) = (Arc::new(TestBus::default()), Pace::new(1, Duration::from_secs(1), 5));
    let table = RateTable::shared([1, 2], 0, bus);
    let key = table.hash(&"caller");
    for _ in 0..100 {
        table.hear(&GivenOut { node: 9, key, pace, count: u64::MAX }.write());
    }
    tokio::time::advance(Duration::from_secs(5)).await;
    table.take(&"caller", pace).unwrap();
    for foreign in [&b""[..], b"x", &[0xff; 39], &[0xff; 41]] {
        assert_eq!(GivenOut::read(foreign), None);
        table.hear(foreign);
    }
    table.hear(&[0xff; 40]);
}
