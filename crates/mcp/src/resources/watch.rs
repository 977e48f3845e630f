//! Who is told when a resource changes. Files are looked at now and then; everything else stands still until
//! the host restarts.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::{MissedTickBehavior, interval};

use crate::limits::{FILE_LOOK_EVERY, SUBSCRIPTIONS_MAX};
use crate::offer::{Offer, OfferSource};
use crate::own_resource::Stamp;

/// The resources that one client wants to hear of.
#[derive(Default)]
pub(crate) struct Subscriptions {
    of: Mutex<BTreeMap<String, Stamp>>,
    is_watched: Mutex<bool>,
}

/// Tells a client that a resource has changed. `false` when it is gone.
pub(crate) type Tell = Box<dyn Fn(String) -> BoxFuture<'static, bool> + Send + Sync>;

impl Subscriptions {
    /// Begins to watch a resource. Fails when there are enough.
    pub(crate) async fn add(&self, offer: &Offer, address: &str) -> Result<(), String> {
        let stamp = super::stamp(offer, address).await;
        let mut of = self.of.lock();
        if of.len() >= SUBSCRIPTIONS_MAX && !of.contains_key(address) {
            return Err(format!("a client subscribes to at most {SUBSCRIPTIONS_MAX} resources"));
        }
        of.insert(address.to_owned(), stamp);
        Ok(())
    }

    /// Watches a resource no longer.
    pub(crate) fn remove(&self, address: &str) {
        self.of.lock().remove(address);
    }

    /// Has `tell` hear of changes, as long as these subscriptions are there. Once for all of them.
    pub(crate) fn watch(self: &Arc<Self>, offer: OfferSource, tell: Tell) {
        if std::mem::replace(&mut *self.is_watched.lock(), true) {
            return;
        }
        // With a strong reference, looking would outlive the client that subscribed.
        tokio::spawn(look(Arc::downgrade(self), offer, tell));
    }

    /// The resources that have changed since they were looked at.
    async fn changed(&self, offer: &Offer) -> Vec<String> {
        // The lock must not be held while files are looked at, so they are copied.
        let known = self.of.lock().clone();
        let mut changed = Vec::new();
        for (address, before) in known {
            let now = super::stamp(offer, &address).await;
            if now != before {
                // The client may have unsubscribed during the look: `insert` would bring the address back.
                self.of.lock().entry(address.clone()).and_modify(|stamp| *stamp = now);
                changed.push(address);
            }
        }
        changed
    }
}

/// Looks now and then, until nobody subscribes any more.
async fn look(subscriptions: Weak<Subscriptions>, offer: OfferSource, tell: Tell) {
    let mut ticks = interval(FILE_LOOK_EVERY);
    // By default, ticks that a slow look missed would follow at once.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(subscriptions) = subscriptions.upgrade() else { return };
        let offer = offer.load();
        for address in subscriptions.changed(&offer).await {
            if !tell(address).await {
                return;
            }
        }
    }
}
