//! Time series: the same on every store, by one suite.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::store::Span;
use forecourt_core::{Store, Timestamp};
use forecourt_store::limits::{TRENDS_HOURS_KEPT, TRENDS_MINUTES_KEPT, TRENDS_NODES_MAX};
use forecourt_store::trends::{Counts, Metric, OTHERS, Resolution, Series, Slice, TrendKeeper, read};
use futures::future::join_all;

type AnyStore = Arc<dyn Store>;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// A whole hour.
fn noon() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

fn requests(count: u64) -> Counts {
    counted(Metric::Requests, ["chef", "a2a"], count)
}

fn counted(metric: Metric, labels: [&str; 2], count: u64) -> Counts {
    let mut counts = Counts::default();
    counts.add(Series::new(metric, labels), count);
    counts
}

fn sum(slices: &[Slice]) -> u64 {
    slices.iter().flat_map(|slice| slice.all().iter().map(|(_, count)| count).collect::<Vec<_>>()).sum()
}

async fn at(store: &AnyStore, resolution: Resolution, since: Timestamp, now: Timestamp) -> Vec<Slice> {
    read(&**store, resolution, since, now).await.unwrap()
}

/// Writes a minute of `node` that ended at `end`.
async fn write(store: &AnyStore, node: &str, count: u64, end: Timestamp) {
    TrendKeeper::new(store.clone()).write(node, requests(count), end - MINUTE, end).await.unwrap();
}

async fn roll_up(store: &AnyStore, now: Timestamp) {
    TrendKeeper::new(store.clone()).roll_up(now, false).await.unwrap();
}

/// How many entries there are at each resolution.
async fn rows(store: &AnyStore, now: Timestamp) -> [usize; 3] {
    let count = async |stream: &str| store.entries(stream, Span::After(0), 10_000, now).await.unwrap().len();
    [count("trends:minute").await, count("trends:ten-minutes").await, count("trends:hour").await]
}

/// Whatever the resolution, and however far the roll-up is, the same is told.
async fn each_minute_counts_once_at_every_resolution(store: AnyStore) {
    let mut now = noon();
    for n in 1..=150_u64 {
        now = noon() + MINUTE * u32::try_from(n).unwrap();
        write(&store, "a", n, now).await;
        roll_up(&store, now).await;
        if n % 7 == 0 {
            let all: u64 = (1..=n).sum();
            for resolution in [Resolution::Minute, Resolution::TenMinutes, Resolution::Hour] {
                assert_eq!(sum(&at(&store, resolution, noon(), now).await), all, "{n} {resolution:?}");
            }
        }
    }
    // Two hours and fourteen times ten minutes are over, with the time that others have to write.
    assert_eq!(rows(&store, now).await, [150, 14, 2]);
    let hours = at(&store, Resolution::Hour, noon(), now).await;
    let told: Vec<_> = hours.iter().map(|slice| (slice.at, sum(std::slice::from_ref(slice)))).collect();
    let of = |minutes: std::ops::RangeInclusive<u64>| minutes.sum::<u64>();
    assert_eq!(told, [(noon(), of(1..=60)), (noon() + HOUR, of(61..=120)), (noon() + 2 * HOUR, of(121..=150))]);
    let later = at(&store, Resolution::TenMinutes, noon() + HOUR + 15 * MINUTE, now).await;
    assert_eq!(later[0].at, noon() + HOUR + 10 * MINUTE, "from the slice that it is in");
}

/// Nodes that write and roll up at once add up, and can be told apart.
async fn several_nodes_add_up_and_are_told_apart(store: AnyStore) {
    for n in 1..=12 {
        let now = noon() + MINUTE * n;
        join_all(["a", "b", "c"].map(|node| write(&store, node, 1, now))).await;
        join_all([(); 6].map(|()| roll_up(&store, now))).await;
    }
    let now = noon() + 12 * MINUTE;
    assert_eq!(rows(&store, now).await, [36, 1, 0], "of six who rolled up, one did");
    let slices = at(&store, Resolution::TenMinutes, noon(), now).await;
    assert_eq!(sum(&slices), 36);
    let nodes: Vec<_> = slices[0].nodes.iter().map(|(node, counts)| (node.as_str(), counts.clone())).collect();
    assert_eq!(nodes, [("a", requests(10)), ("b", requests(10)), ("c", requests(10))]);
}

/// Who writes late is not lost, nor counted twice.
async fn what_comes_late_counts_too(store: AnyStore) {
    write(&store, "a", 1, noon() + MINUTE).await;
    roll_up(&store, noon() + 12 * MINUTE - Duration::from_nanos(1)).await;
    assert_eq!(rows(&store, noon() + 12 * MINUTE).await, [1, 0, 0], "others may still write");
    roll_up(&store, noon() + 12 * MINUTE).await;
    write(&store, "b", 2, noon() + 2 * MINUTE).await;
    roll_up(&store, noon() + 13 * MINUTE).await;
    assert_eq!(rows(&store, noon() + 13 * MINUTE).await, [2, 2, 0]);
    let slices = at(&store, Resolution::TenMinutes, noon(), noon() + 13 * MINUTE).await;
    assert_eq!((slices.len(), sum(&slices)), (1, 3));
}

/// What a wrong clock wrote holds nobody up.
async fn what_is_to_come_holds_nobody_up(store: AnyStore) {
    write(&store, "a", 1, noon() + 24 * HOUR).await;
    write(&store, "b", 2, noon() + MINUTE).await;
    roll_up(&store, noon() + HOUR).await;
    assert_eq!(rows(&store, noon() + HOUR).await, [2, 2, 1]);
    assert_eq!(sum(&at(&store, Resolution::Hour, noon(), noon() + HOUR).await), 3);
}

/// At the end of a node everything is rolled up, once for each slice however often it ends.
async fn nothing_is_left_behind_at_an_end(store: AnyStore) {
    let keeper = TrendKeeper::new(store.clone());
    for n in 1..=5_u32 {
        let now = noon() + MINUTE * n;
        write(&store, "a", 1, now).await;
        keeper.roll_up(now, true).await.unwrap();
    }
    assert_eq!(rows(&store, noon() + 5 * MINUTE).await, [5, 1, 1]);
    for resolution in [Resolution::Minute, Resolution::TenMinutes, Resolution::Hour] {
        assert_eq!(sum(&at(&store, resolution, noon(), noon() + 5 * MINUTE).await), 5);
    }
    // It begins again a day later: what the first end left is rolled up now.
    roll_up(&store, noon() + 24 * HOUR).await;
    assert_eq!(sum(&at(&store, Resolution::Hour, noon(), noon() + 24 * HOUR).await), 5);
}

/// Slices go when they are old, the finer the sooner; numbers that begin anew are not taken for those from before.
async fn what_is_old_is_forgotten_and_counting_begins_anew(store: AnyStore) {
    for n in 1..=3 {
        write(&store, "a", 1, noon() + MINUTE * n).await;
    }
    roll_up(&store, noon() + 2 * HOUR).await;
    assert_eq!(rows(&store, noon() + 2 * HOUR).await, [3, 1, 1]);
    let later = noon() + TRENDS_MINUTES_KEPT + 3 * MINUTE;
    assert_eq!(rows(&store, later).await, [0, 1, 1]);
    store.expire(later, 1_000).await.unwrap();
    // The stream of minutes begins at 1 again, below what was read of it.
    write(&store, "a", 10, later).await;
    roll_up(&store, later + 2 * HOUR).await;
    let slices = at(&store, Resolution::Hour, noon(), later + 2 * HOUR).await;
    assert_eq!((slices.len(), sum(&slices)), (2, 13));
    let gone = noon() + TRENDS_HOURS_KEPT;
    assert_eq!(at(&store, Resolution::Hour, noon(), gone).await.len(), 1, "thirty days");
}

/// Levels are the last ones, and do not add up over nodes.
async fn a_level_stays_a_level(store: AnyStore) {
    let keeper = TrendKeeper::new(store.clone());
    let items = |count| counted(Metric::Items, ["chef", ""], count);
    for (node, count, minute) in [("a", 70, 1_u32), ("b", 90, 1), ("a", 80, 2), ("b", 60, 2)] {
        let end = noon() + MINUTE * minute;
        keeper.write(node, items(count), end - MINUTE, end).await.unwrap();
    }
    for now in [noon() + 2 * MINUTE, noon() + 2 * HOUR] {
        roll_up(&store, now).await;
        assert_eq!(at(&store, Resolution::Hour, noon(), now).await[0].all(), items(80), "{now}");
    }
}

/// Runs of the program are nodes of their own; so many of them are told apart in what is rolled up.
async fn nodes_beyond_the_bound_are_one(store: AnyStore) {
    let most = TRENDS_NODES_MAX as u64;
    for n in 0..=most {
        write(&store, &format!("node-{n:02}"), 1, noon() + MINUTE).await;
    }
    roll_up(&store, noon() + HOUR).await;
    let slices = at(&store, Resolution::TenMinutes, noon(), noon() + HOUR).await;
    assert_eq!((slices[0].nodes.len() as u64, sum(&slices)), (most, most + 1));
    assert_eq!(slices[0].nodes[OTHERS], requests(2));
}

macro_rules! suite {
    ($fresh:expr) => {
        suite! { @case $fresh;
            each_minute_counts_once_at_every_resolution
            several_nodes_add_up_and_are_told_apart
            what_comes_late_counts_too
            what_is_to_come_holds_nobody_up
            nothing_is_left_behind_at_an_end
            what_is_old_is_forgotten_and_counting_begins_anew
            a_level_stays_a_level
            nodes_beyond_the_bound_are_one
        }
    };
    (@case $fresh:expr; $($case:ident)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                let (store, _guard) = $fresh;
                super::$case(store).await;
            }
        )*
    };
}

mod memory {
    fn fresh() -> (super::AnyStore, ()) {
        (std::sync::Arc::new(forecourt_store::Memory::default()), ())
    }

    suite!(fresh());
}

mod sqlite {
    use forecourt_store::{Sqlite, SqliteOptions};

    fn fresh() -> (super::AnyStore, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        (Sqlite::open(&dir.path().join("forecourt.db"), SqliteOptions::default()).unwrap(), dir)
    }

    suite!(fresh());
}

mod postgres {
    use forecourt_store::{LeaseClock, Postgres, PostgresOptions, StoreKey};
    use forecourt_testkit::postgres::PostgresServer;

    macro_rules! fresh {
        () => {{
            let Some(server) = PostgresServer::shared() else { return };
            let key = StoreKey::from_bytes([7; 32]);
            // The clock of the suite is set by hand.
            let options = PostgresOptions {
                lease_clock: LeaseClock::Caller,
                ..PostgresOptions::new(server.fresh(), key, "example.com")
            };
            (Postgres::open(options).await.unwrap() as super::AnyStore, server)
        }};
    }

    suite!(fresh!());
}
