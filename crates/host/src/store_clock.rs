//! The clock of a host whose store says what time it is. In between it counts by the machine's uptime, so that nobody
//! who sets the machine's wall clock changes what has expired.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forecourt_core::clock::{CLOCK_SKEW_MAX, after};
use forecourt_core::{Clock, MachineClock, MachineTime, Store, StoreError, Timestamp};
use futures::future::BoxFuture;
use jiff::SignedDuration;
use parking_lot::RwLock;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;

use crate::machine::SystemMachine;

/// The time of a store, and how far the machine's wall clock is from it.
///
/// As exact as the way to the store is short. All nodes of one store have the same time, whatever their machines say.
#[derive(Debug)]
pub struct StoreClock {
    machine: Arc<dyn MachineClock>,
    anchor: RwLock<Anchor>,
    /// Whether the last measurement came to its end. After one that was given up, nobody can say whether the store has
    /// moved what it keeps.
    is_sure: AtomicBool,
    /// Held while it is measured, and while things are removed by it.
    turn: Mutex<()>,
}

/// The last measurement.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    time: Timestamp,
    /// The uptime of the machine at that time.
    uptime: Duration,
    /// The machine's wall clock less that time.
    skew: SignedDuration,
}

impl StoreClock {
    /// The time of `store`, measured once, on this machine.
    ///
    /// # Errors
    /// The store does not say what time it is.
    pub fn start(store: &dyn Store) -> BoxFuture<'_, Result<Arc<Self>, StoreError>> {
        Self::start_on(store, Arc::new(SystemMachine::new()))
    }

    /// The same on a machine with these clocks.
    ///
    /// # Errors
    /// As [`StoreClock::start`].
    pub fn start_on(store: &dyn Store, machine: Arc<dyn MachineClock>) -> BoxFuture<'_, Result<Arc<Self>, StoreError>> {
        Box::pin(async move {
            let now = MachineTime::read(&*machine);
            let anchor = Anchor { time: now.wall, uptime: now.uptime, skew: SignedDuration::ZERO };
            let clock =
                Self { machine, anchor: RwLock::new(anchor), is_sure: AtomicBool::new(false), turn: Mutex::default() };
            clock.ask(store).await?;
            Ok(Arc::new(clock))
        })
    }

    /// Asks the store what time it is, once nothing is being removed. Where that takes longer than `patience`, nothing
    /// is asked until the next time: the store is busy, and not silent.
    pub(crate) async fn measure(&self, store: &dyn Store, patience: Duration) -> Result<(), StoreError> {
        match timeout(patience, self.turn.lock()).await {
            Ok(_turn) => self.ask(store).await,
            Err(_) => Ok(()),
        }
    }

    /// Asks the store, and says when the machine's wall clock is wrong from here on, or right again.
    async fn ask(&self, store: &dyn Store) -> Result<(), StoreError> {
        let machine = MachineTime::read(&*self.machine);
        let (wall, uptime) = (machine.wall, machine.uptime);
        self.is_sure.store(false, Ordering::Relaxed);
        let told = store.time(machine).await;
        // Also after a fault: what was not moved goes by the time of before.
        self.is_sure.store(true, Ordering::Relaxed);
        let time = told?;
        let before = self.fault();
        *self.anchor.write() = Anchor { time, uptime, skew: wall.duration_since(time) };
        match (before, self.fault()) {
            (None, Some(fault)) => {
                tracing::error!("{fault}: this node is not ready and removes nothing that has expired");
            }
            (Some(_), None) => tracing::info!("the clock of this machine is right again"),
            _ => {}
        }
        Ok(())
    }

    /// The machine's wall clock less the store's time, when it was measured last.
    pub fn skew(&self) -> SignedDuration {
        self.anchor.read().skew
    }

    /// Says that the machine's wall clock is wrong: further from the store's time than [`CLOCK_SKEW_MAX`].
    pub fn fault(&self) -> Option<String> {
        let skew = self.skew();
        let side = if skew.is_negative() { "behind" } else { "ahead of" };
        let seconds = skew.unsigned_abs().as_secs();
        (skew.unsigned_abs() > CLOCK_SKEW_MAX)
            .then(|| format!("the clock of this machine is {seconds} s {side} the store's: set it by NTP"))
    }

    /// The right to remove what has expired, until it is dropped: the time does not change meanwhile. `None` while the
    /// machine's wall clock is wrong, and while nobody knows what time it is.
    pub(crate) async fn removing(&self) -> Option<MutexGuard<'_, ()>> {
        let turn = self.turn.lock().await;
        (self.is_sure.load(Ordering::Relaxed) && self.fault().is_none()).then_some(turn)
    }
}

impl Clock for StoreClock {
    fn now(&self) -> Timestamp {
        let Anchor { time, uptime, .. } = *self.anchor.read();
        after(time, self.machine.uptime().saturating_sub(uptime))
    }
}

/// The clock of a host.
#[derive(Debug, Clone)]
pub(crate) enum HostClock {
    /// That of its store.
    Store(Arc<StoreClock>),
    /// One that it was given, and takes at its word.
    Given(Arc<dyn Clock>),
}

impl HostClock {
    /// The time.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        match self {
            Self::Store(clock) => clock.clone(),
            Self::Given(clock) => clock.clone(),
        }
    }

    /// The store's, where it is that.
    pub(crate) fn of_store(&self) -> Option<&Arc<StoreClock>> {
        match self {
            Self::Store(clock) => Some(clock),
            Self::Given(_) => None,
        }
    }

    /// Says that the machine's wall clock is wrong.
    pub(crate) fn fault(&self) -> Option<String> {
        self.of_store().and_then(|clock| clock.fault())
    }
}

#[cfg(test)]
mod tests {
    use forecourt_store::Memory;
    use forecourt_testkit::HandMachine;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn while_a_batch_is_removed_the_time_stays_and_nothing_is_wrong() {
        let (store, patience) = (Memory::new(), Duration::from_secs(1));
        let machine = Arc::new(HandMachine::new(Timestamp::UNIX_EPOCH));
        let clock = StoreClock::start_on(&store, machine.clone()).await.unwrap();
        let turn = clock.removing().await.expect("the right to remove");
        machine.jump(100);
        clock.measure(&store, patience).await.expect("no fault of the store");
        assert_eq!(clock.now(), Timestamp::UNIX_EPOCH);
        drop(turn);
        clock.measure(&store, patience).await.unwrap();
        assert_eq!(clock.now(), Timestamp::UNIX_EPOCH + Duration::from_secs(100));
        assert!(clock.removing().await.is_some());
    }
}
