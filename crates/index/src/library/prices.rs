//! The moment at which prices count: that of a sale is none any more when it has ended.

use std::sync::atomic::Ordering;

use forecourt_core::Timestamp;

use super::Library;

impl Library {
    /// Tells what time it is. From the next run of [`Library::index`] on, the price of an offer is the one that counts
    /// then. Before the first call, offers are taken as they are written.
    pub fn set_time(&self, now: Timestamp) {
        self.priced_at.store(now.as_second(), Ordering::Relaxed);
    }

    /// Whether an offer has another price by then than in the index, so that a run of [`Library::index`] is due.
    pub fn has_other_prices(&self, now: Timestamp) -> bool {
        self.snapshot.load().summary.next_price.is_some_and(|next| next <= now.as_second())
    }

    /// The moment that was told last.
    pub(super) fn priced_at(&self) -> Option<Timestamp> {
        // `NO_MOMENT` is before all of them.
        Timestamp::from_second(self.priced_at.load(Ordering::Relaxed)).ok()
    }
}
