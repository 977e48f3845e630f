//! Listings of endpoints that were made before: their tools are indexed once.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_core::Handle;
use parking_lot::Mutex;

use super::listing::Listing;
use crate::limits::LISTINGS_KEPT_MAX;

/// The listings of one offer, by the agent or server whose endpoint it is; `None` is the host's.
#[derive(Default)]
pub(crate) struct Listings(Mutex<HashMap<Option<Handle>, KeptListing>>);

/// A listing, with the version of what it was made of.
struct KeptListing {
    version: u64,
    listing: Arc<Listing>,
}

impl Listings {
    /// The listing of an endpoint, made if it is not here in this version. At most [`LISTINGS_KEPT_MAX`] are kept.
    pub(crate) fn get(&self, agent: Option<&Handle>, version: u64, make: impl FnOnce() -> Listing) -> Arc<Listing> {
        let key = agent.cloned();
        if let Some(known) = self.0.lock().get(&key).filter(|known| known.version == version) {
            return Arc::clone(&known.listing);
        }
        // Made without the lock: two that come at once make it twice, which is better than all others waiting.
        let made = Arc::new(make());
        let mut kept = self.0.lock();
        if kept.len() >= LISTINGS_KEPT_MAX {
            // The host's is the largest, and the one that is asked for most.
            kept.retain(|key, _| key.is_none());
        }
        kept.insert(key, KeptListing { version, listing: Arc::clone(&made) });
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(listings: &Listings, agent: Option<&Handle>) -> Arc<Listing> {
        listings.get(agent, 0, || Listing::new(Vec::new(), &[], 4, 3))
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
        let later = listings.get(None, 1, || Listing::new(Vec::new(), &[], 4, 3));
        assert!(!Arc::ptr_eq(&host, &later), "what it was made of has changed");
    }
}
