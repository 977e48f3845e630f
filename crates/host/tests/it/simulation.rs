//! Three nodes, their store and their bus in one process, on clocks that only the simulation moves. What is asked, what
//! goes wrong, and when, follows from a seed; the invariants of ARCHITECTURE.md hold for each.
//!
//! `FORECOURT_SEEDS=10000` tries so many, from `FORECOURT_SEED` on; a seed that fails names the command that repeats it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

mod worker;
mod world;

use world::World;

use crate::dice::{asked_for, seeds};

/// Seeds that are tried when nobody says how many.
const SEEDS: u64 = 2_000;
/// What happens in one seed, one thing after another.
const STEPS: usize = 24;

/// Lives one seed through, to its end.
fn live(seed: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let mut world = World::begin(seed).await;
        for _ in 0..STEPS {
            world.step().await;
        }
        world.heal().await;
        world.check().await;
    });
}

#[test]
fn whatever_goes_wrong_nothing_acknowledged_is_lost_stuck_begun_twice_or_told_otherwise() {
    let one = asked_for("FORECOURT_SEED");
    let (first, count) = (one.unwrap_or(1), seeds(if one.is_some() { 1 } else { SEEDS }));
    let next = AtomicU64::new(first);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            if let Err(failure) = catch_unwind(AssertUnwindSafe(|| live(seed))) {
                let filter = "test(/^simulation::/)";
                eprintln!("repeat: FORECOURT_SEED={seed} cargo nextest run -p forecourt-host -E '{filter}'");
                resume_unwind(failure);
            }
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(work)));
    });
}
