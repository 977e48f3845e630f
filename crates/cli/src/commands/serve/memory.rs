//! Memory that nobody uses any more goes back to the system.
//!
//! The allocator gives pages back that are free, and each thread finds out which of its own are: what another thread
//! freed in them it sees when it looks through all of them, which it does with every 10,000th block that it takes the
//! long way. Threads of a host on which ten thousand connections have just ended take none, so that all of that
//! memory stayed until the next burst. So each of them takes that many blocks now and then, which costs it a fraction
//! of a millisecond.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{MissedTickBehavior, interval};

/// How often each thread is made to look. What one look finds free goes back with the next one.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Blocks that make a thread look, and a few more.
const BLOCKS: usize = 10_500;
/// Bytes of a block that is taken the long way: more than the 1 KiB of those for which there is a short one.
const BLOCK_BYTES: usize = 2 * 1024;
/// Tasks for each thread, so that those that are idle find one when they are woken.
const TASKS_PER_THREAD: usize = 2;

thread_local! {
    /// The look that this thread had part in last.
    static LOOKED: Cell<u64> = const { Cell::new(0) };
}

/// Has the threads of the runtime look for what is free, for as long as this is polled.
pub(super) async fn give_back() {
    let tasks = Handle::current().metrics().num_workers() * TASKS_PER_THREAD;
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first one comes at once, when there is nothing yet.
    looks.tick().await;
    for look in 1.. {
        looks.tick().await;
        for _ in 0..tasks {
            tokio::spawn(async move { look_once(look) });
        }
    }
}

/// Makes the allocator look on this thread, once for each `look`.
fn look_once(look: u64) {
    if LOOKED.replace(look) != look {
        (0..BLOCKS).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(BLOCK_BYTES))));
    }
}
