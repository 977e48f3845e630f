//! Listings of endpoints that were made before: their tools are indexed once.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_core::Handle;
use parking_lot::Mutex;

use super::listing::Listing;
use crate::limits::LISTINGS_KEPT_MAX;

/// The listings of one offer, by the agent whose endpoint it is; `None` is the host's.
#[derive(Default)]
pub(crate) struct Listings(Mutex<HashMap<Option<Handle>, Arc<Listing>>>);

impl Listings {
    /// The listing of an endpoint, made if it is not here. At most [`LISTINGS_KEPT_MAX`] are kept.
    pub(crate) fn get(&self, agent: Option<&Handle>, make: impl FnOnce() -> Listing) -> Arc<Listing> {
        let key = agent.cloned();
        if let Some(known) = self.0.lock().get(&key) {
            return Arc::clone(known);
        }
        // Made without the lock: two that come at once make it twice, which is better than all others waiting.
        let made = Arc::new(make());
        let mut kept = self.0.lock();
        if kept.len() >= LISTINGS_KEPT_MAX {
            // The host's is the largest, and the one that is asked for most.
            kept.retain(|key, _| key.is_none());
        }
        kept.insert(key, Arc::clone(&made));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(listings: &Listings, agent: Option<&Handle>) -> Arc<Listing> {
        listings.get(agent, || Listing::new(Vec::new(), &[], 4, 3))
    }

    #[test]
    fn listings_are_made_once_and_bounded() {
        let listings = Listings::default();
        let host = of(&listings, None);
        for n in 0..2 * LISTINGS_KEPT_MAX {
            let agent = Handle::parse(&format!("agent{n}")).expect("a handle");
            let made = of(&listings, Some(&agent));
            assert!(Arc::ptr_eq(&made, &of(&listings, Some(&agent))));
            assert!(listings.0.lock().len() <= LISTINGS_KEPT_MAX);
        }
        assert!(Arc::ptr_eq(&host, &of(&listings, None)));
    }
}
