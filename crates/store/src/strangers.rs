//! This module bounds what is kept for callers who proved nothing: for those of a network, of the wider one around it,
//! and for all of them together. What they have is asked of the database every few seconds, and not for each write; what
//! this process writes meanwhile is added.
//!
//! When all of them together are out of room, their oldest tasks that have ended go before their time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use forecourt_core::{CallerBounds, QuotaBound, StoreError};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use crate::limits::{STRANGERS_LOOK_PART, STRANGERS_REMOVED_PART, STRANGERS_SUMS_EVERY, STRANGERS_TOLD_EVERY};
use crate::seal::Hash;
use crate::sealed::{Holder, StrangerNetworks};

/// Bytes by the networks around whoever has them, from narrow to wide.
pub(crate) type NetworkSums = Vec<([Hash; 2], u64)>;

/// What a database knows of callers who proved nothing.
pub(crate) trait StrangerRows: Sync {
    /// The bytes that they have, by the networks around them.
    fn sums(&self) -> BoxFuture<'_, Result<NetworkSums, StoreError>>;
    /// Removes some of their oldest tasks that have ended and wait for no delivery: how many, and their bytes.
    fn remove_oldest(&self) -> BoxFuture<'_, Result<(u64, u64), StoreError>>;
}

/// The bounds, and what is known of the bytes that count towards them.
pub(crate) struct Strangers {
    bounds: CallerBounds,
    sums: Mutex<Sums>,
    /// Held by whoever asks the database, or removes tasks.
    turn: AsyncMutex<()>,
    /// Tasks that were removed before their time.
    removed: AtomicU64,
}

#[derive(Default)]
struct Sums {
    /// When the database was asked, and how long it took.
    seen: Option<(Instant, Duration)>,
    known: Totals,
    /// Bytes that are about to be written for each account: no more than it may have, so that one that is full and asks
    /// all the same takes nothing from its neighbours.
    on_the_way: HashMap<Hash, u64>,
    /// What was added since the database is asked; `None` while nobody asks.
    meanwhile: Option<Totals>,
    /// When there was nothing to remove, and how long it took to see.
    nothing: Option<(Instant, Duration)>,
    told: Option<Instant>,
}

#[derive(Default)]
struct Totals {
    networks: HashMap<Hash, u64>,
    all: u64,
}

impl Totals {
    fn add(&mut self, networks: &[Hash; 2], bytes: u64) {
        for network in networks {
            let sum = self.networks.entry(*network).or_default();
            *sum = sum.saturating_add(bytes);
        }
        self.all = self.all.saturating_add(bytes);
    }

    fn give_back(&mut self, networks: &[Hash; 2], bytes: u64) {
        for network in networks {
            if let Some(sum) = self.networks.get_mut(network) {
                *sum = sum.saturating_sub(bytes);
            }
        }
        self.all = self.all.saturating_sub(bytes);
    }

    /// The narrowest bound that so many bytes more would go over.
    fn over(&self, bounds: &CallerBounds, from: &StrangerNetworks, bytes: u64) -> Option<QuotaBound> {
        for (level, network) in from.hashes.iter().enumerate() {
            let max = bounds.network(level);
            if self.networks.get(network).copied().unwrap_or_default().saturating_add(bytes) > max {
                return Some(QuotaBound::Network { prefix: from.prefixes[level], max });
            }
        }
        let max = bounds.strangers?;
        (self.all.saturating_add(bytes) > max).then_some(QuotaBound::Strangers { max })
    }
}

/// Bytes that are about to be written, given back unless they were.
#[must_use]
pub(crate) struct Claim<'a> {
    strangers: &'a Strangers,
    of: Option<ClaimedBytes>,
}

struct ClaimedBytes {
    account: Hash,
    networks: [Hash; 2],
    bytes: u64,
    is_written: bool,
}

impl Claim<'_> {
    /// The same result: the bytes stay counted when it is a success.
    pub(crate) fn done<T>(mut self, written: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Some(of) = &mut self.of {
            of.is_written = written.is_ok();
        }
        written
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let Some(ClaimedBytes { account, networks, bytes, is_written }) = self.of.take() else { return };
        let mut sums = self.strangers.sums.lock();
        if let Entry::Occupied(mut on_the_way) = sums.on_the_way.entry(account) {
            *on_the_way.get_mut() = on_the_way.get().saturating_sub(bytes);
            if *on_the_way.get() == 0 {
                on_the_way.remove();
            }
        }
        if !is_written {
            sums.known.give_back(&networks, bytes);
            sums.meanwhile.iter_mut().for_each(|meanwhile| meanwhile.give_back(&networks, bytes));
        }
    }
}

impl Strangers {
    pub(crate) fn new(bounds: CallerBounds) -> Self {
        Self { bounds, sums: Mutex::default(), turn: AsyncMutex::default(), removed: AtomicU64::new(0) }
    }

    /// Tasks that were removed before their time since the store was opened.
    pub(crate) fn removed(&self) -> u64 {
        self.removed.load(Ordering::Relaxed)
    }

    /// What is known is known no more: something was removed.
    pub(crate) fn forget(&self) {
        self.sums.lock().seen = None;
    }

    /// Room for so many bytes more. Nothing is asked of whoever proved who it is.
    pub(crate) async fn claim(
        &self,
        rows: &impl StrangerRows,
        holder: &Holder,
        bytes: u64,
    ) -> Result<Claim<'_>, StoreError> {
        let (Some(account), Some(from)) = (holder.account, holder.networks) else {
            return Ok(Claim { strangers: self, of: None });
        };
        if !self.is_fresh() {
            let _turn = self.turn.lock().await;
            // Whoever had the turn before may have asked.
            if !self.is_fresh() {
                self.ask(rows).await?;
            }
        }
        match self.take(account, &from, bytes) {
            Ok(claim) => Ok(claim),
            // On the heap, since it is rare.
            Err(_) => Box::pin(self.claim_when_full(rows, account, from, bytes)).await,
        }
    }

    async fn claim_when_full(
        &self,
        rows: &impl StrangerRows,
        account: Hash,
        from: StrangerNetworks,
        bytes: u64,
    ) -> Result<Claim<'_>, StoreError> {
        let _turn = self.turn.lock().await;
        // Something may have been given back since.
        if self.may_ask() {
            self.ask(rows).await?;
        }
        let bound = match self.take(account, &from, bytes) {
            Ok(claim) => return Ok(claim),
            Err(bound) => bound,
        };
        if let QuotaBound::Strangers { max } = bound
            && self.make_room(rows, self.short_of(max, bytes)).await?
        {
            self.ask(rows).await?;
            return self.take(account, &from, bytes).map_err(|bound| StoreError::Full { bound });
        }
        Err(StoreError::Full { bound })
    }

    /// Removes tasks that have ended, the oldest first, for so many bytes. Whether there were any.
    async fn make_room(&self, rows: &impl StrangerRows, bytes: u64) -> Result<bool, StoreError> {
        if self.sums.lock().nothing.is_some_and(|(at, took)| at.elapsed() < took * STRANGERS_LOOK_PART) {
            return Ok(false);
        }
        let (mut removed, mut freed) = (0, 0);
        while freed < bytes {
            let began = Instant::now();
            let (tasks, of_them) = rows.remove_oldest().await?;
            if tasks == 0 {
                self.sums.lock().nothing = Some((Instant::now(), began.elapsed()));
                break;
            }
            (removed, freed) = (removed + tasks, freed + of_them);
        }
        let all = self.removed.fetch_add(removed, Ordering::Relaxed) + removed;
        if removed > 0 && self.is_to_be_told() {
            tracing::warn!(
                tasks = all,
                "callers who proved nothing are out of room: their oldest tasks that have ended go before their time"
            );
        }
        Ok(removed > 0)
    }

    /// How much has to go for so many bytes: more than that, so that not each write removes something.
    fn short_of(&self, max: u64, bytes: u64) -> u64 {
        let over = self.sums.lock().known.all.saturating_add(bytes).saturating_sub(max);
        over.max(max / STRANGERS_REMOVED_PART)
    }

    fn is_to_be_told(&self) -> bool {
        let mut sums = self.sums.lock();
        let is_due = sums.told.is_none_or(|told| told.elapsed() >= STRANGERS_TOLD_EVERY);
        if is_due {
            sums.told = Some(Instant::now());
        }
        is_due
    }

    fn is_fresh(&self) -> bool {
        self.sums.lock().seen.is_some_and(|(at, _)| at.elapsed() < STRANGERS_SUMS_EVERY)
    }

    /// Whether so little time would go into asking that it may be asked once more.
    fn may_ask(&self) -> bool {
        self.sums.lock().seen.is_none_or(|(at, took)| at.elapsed() >= took * STRANGERS_LOOK_PART)
    }

    /// Asks the database.
    async fn ask(&self, rows: &impl StrangerRows) -> Result<(), StoreError> {
        self.sums.lock().meanwhile = Some(Totals::default());
        let began = Instant::now();
        let found = rows.sums().await;
        let mut sums = self.sums.lock();
        let mut known = sums.meanwhile.take().unwrap_or_default();
        for (networks, bytes) in found? {
            known.add(&networks, bytes);
        }
        sums.known = known;
        sums.seen = Some((Instant::now(), began.elapsed()));
        Ok(())
    }

    /// Counts so many bytes more, or says which bound they would go over.
    fn take(&self, account: Hash, from: &StrangerNetworks, bytes: u64) -> Result<Claim<'_>, QuotaBound> {
        let mut sums = self.sums.lock();
        let on_the_way = sums.on_the_way.get(&account).copied().unwrap_or_default();
        let bytes = bytes.min(self.bounds.caller.saturating_sub(on_the_way));
        if let Some(bound) = sums.known.over(&self.bounds, from, bytes) {
            return Err(bound);
        }
        sums.known.add(&from.hashes, bytes);
        sums.meanwhile.iter_mut().for_each(|meanwhile| meanwhile.add(&from.hashes, bytes));
        *sums.on_the_way.entry(account).or_default() += bytes;
        Ok(Claim {
            strangers: self,
            of: Some(ClaimedBytes { account, networks: from.hashes, bytes, is_written: false }),
        })
    }
}
