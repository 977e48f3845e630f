//! Thirty days of time series, made up, for pictures of the console: written by two nodes as nodes write them.
//!
//! `cargo run -p forecourt-store --example trends -- DATABASE [AGENT…]`, while no daemon has it open.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Store, Timestamp};
use forecourt_store::trends::{Counts, LATENCY_BOUNDS, Metric, Resolution, Series, TrendKeeper};
use forecourt_store::{Sqlite, SqliteOptions};

/// How far apart the writes are that are made up: thirty days of minutes would take minutes.
const EVERY: Duration = Duration::from_secs(600);
/// How many there are.
const WRITES: u32 = 30 * 24 * 6;
/// For how long minutes are written.
const MINUTES: u32 = 120;

fn main() {
    let mut given = std::env::args().skip(1);
    let database = given.next().expect("the database of a data folder");
    let agents: Vec<String> = given.collect();
    let store: Arc<dyn Store> = Sqlite::open(Path::new(&database), SqliteOptions::default()).expect("a store");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(write(store, &agents)).expect("a store that can be written");
}

async fn write(store: Arc<dyn Store>, agents: &[String]) -> Result<(), forecourt_core::StoreError> {
    let keeper = TrendKeeper::new(store);
    let end = Resolution::Minute.floor(Timestamp::now());
    let past = (0..WRITES).map(|n| (n, EVERY, end - EVERY * (WRITES - n) - EVERY * 12));
    let lately = (0..MINUTES).map(|n| (n, Duration::from_secs(60), end - Duration::from_secs(60) * (MINUTES - n)));
    for (n, step, at) in past.chain(lately) {
        for node in ["c0ffee01", "c0ffee02"] {
            keeper.write(node, counted(agents, u64::from(n), step), at - step, at).await?;
        }
        keeper.roll_up(at, false).await?;
    }
    keeper.roll_up(end, false).await
}

/// What a node counts: more at noon than at night, and a bad hour now and then.
fn counted(agents: &[String], n: u64, step: Duration) -> Counts {
    let mut counts = Counts::default();
    let mut add = |metric, labels: [&str; 2], count| counts.add(Series::new(metric, labels), count);
    let minutes = step.as_secs() / 60;
    let hour = n * minutes / 60 % 24;
    let tide = 2 + 12_u64.saturating_sub(hour.abs_diff(13));
    for (place, agent) in agents.iter().enumerate() {
        let share = (agents.len() - place) as u64;
        let noise = (n * 2_654_435_761 + share * 40_503) % 7;
        let asked = minutes * share * tide / 4 + noise;
        add(Metric::Requests, [agent, "a2a"], asked);
        add(Metric::Requests, [agent, "rest"], asked / 3);
        add(Metric::Refusals, [agent, "too_many_requests"], noise / 3);
        add(Metric::Refusals, [agent, "consent_required"], asked / 20);
        add(Metric::Failures, [agent, "timed-out"], if n % 97 < 4 { noise } else { 0 });
        add(Metric::TasksBegun, [agent, ""], asked / 9);
        add(Metric::TasksEnded, [agent, "complete"], asked / 9);
        add(Metric::Items, [agent, ""], 400 * share + n / 40);
        add(Metric::LoadAge, [agent, ""], n % 144 * 600);
        add(Metric::Unfound, [agent, ""], noise / 4);
    }
    for (place, bound) in LATENCY_BOUNDS.iter().enumerate() {
        let far = (place as u64).abs_diff(2 + n % 97 / 90);
        add(Metric::Latency, ["rest", bound], minutes * tide * 8 / (1 + far * far * far));
    }
    let first = agents.first().map_or("chef", String::as_str);
    add(Metric::TokensRead, [first, "small"], minutes * tide * 900);
    add(Metric::TokensWritten, [first, "small"], minutes * tide * 120);
    add(Metric::Cost, [first, "small"], minutes * tide * 410);
    add(Metric::Paid, [first, "USDC"], minutes * tide * 5_000);
    add(Metric::Payments, [first, "USDC"], minutes * tide / 10);
    counts
}
