//! Which node listens for a connector, and what the next one has to know to go on where it stopped. The store decides: an
//! entry is written only behind the one that its writer has seen.

use forecourt_core::clock::after;
use forecourt_core::{Clock, Error, Timestamp};
use forecourt_host::Ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::{LISTEN_LEASE, LISTEN_STATE_KEPT};

/// What is written of a lease.
#[derive(Serialize, Deserialize)]
struct LeaseEntry {
    /// The node that has it.
    node: String,
    /// Until when, unless it is written again.
    until: Timestamp,
    /// Where the platform stands.
    state: Value,
}

/// Whoever takes the lease of a connector.
pub(crate) struct ListenLease<'a> {
    pub(crate) ledger: Ledger,
    pub(crate) clock: &'a dyn Clock,
    /// The name of the stream.
    pub(crate) stream: String,
    /// What this node is called.
    pub(crate) node: String,
    /// Whether nobody else has the store: then what another run left is taken at once.
    pub(crate) is_alone: bool,
}

/// A lease that this node has.
pub(crate) struct HeldLease {
    /// The number of the entry that says so.
    entry: u64,
    /// Where the platform stands, as far as that is written.
    pub(crate) state: Value,
}

impl ListenLease<'_> {
    /// Takes the lease. `None` while somebody else has it: another node, or this one for a deployment that is just being
    /// replaced.
    pub(crate) async fn take(&self) -> Result<Option<HeldLease>, Error> {
        let last = self.ledger.last(&self.stream).await?;
        let number = last.as_ref().map_or(0, |(number, _)| *number);
        let entry = last.and_then(|(_, entry)| serde_json::from_value::<LeaseEntry>(entry.body).ok());
        if let Some(entry) = &entry
            && entry.until > self.clock.now()
            && !(self.is_alone && entry.node != self.node)
        {
            return Ok(None);
        }
        let state = entry.map_or(Value::Null, |entry| entry.state);
        self.write(number, state, after(self.clock.now(), LISTEN_LEASE)).await
    }

    /// Holds it for longer, and writes down where the platform stands. `None`: somebody else has it by now.
    pub(crate) async fn renew(&self, held: &HeldLease, state: Value) -> Result<Option<HeldLease>, Error> {
        self.write(held.entry, state, after(self.clock.now(), LISTEN_LEASE)).await
    }

    /// Gives it back, so that nobody waits for its end.
    pub(crate) async fn give_back(&self, held: HeldLease, state: Value) -> Result<(), Error> {
        self.write(held.entry, state, self.clock.now()).await.map(|_| ())
    }

    async fn write(&self, behind: u64, state: Value, until: Timestamp) -> Result<Option<HeldLease>, Error> {
        let entry = LeaseEntry { node: self.node.clone(), until, state: state.clone() };
        let body = serde_json::to_value(entry).map_err(Error::internal)?;
        let kept_until = after(self.clock.now(), LISTEN_STATE_KEPT);
        let written = self.ledger.append(&self.stream, body, Some(kept_until), Some(behind)).await?;
        Ok(written.map(|entry| HeldLease { entry, state }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use forecourt_store::Memory;
    use forecourt_testkit::HandClock;
    use serde_json::json;

    use super::*;

    struct Nodes(Arc<HandClock>, Ledger);

    impl Nodes {
        fn new() -> Self {
            let clock = Arc::new(HandClock::new());
            Self(clock.clone(), Ledger::new(Arc::new(Memory::new()), clock, "test"))
        }

        fn node(&self, name: &str, is_alone: bool) -> ListenLease<'_> {
            let (ledger, stream) = (self.1.clone(), "listen:a".to_owned());
            ListenLease { ledger, clock: &*self.0, stream, node: name.to_owned(), is_alone }
        }
    }

    #[tokio::test]
    async fn one_node_holds_it_until_it_is_over_or_given_back_and_the_next_goes_on_from_its_state() {
        let nodes = Nodes::new();
        let (one, other) = (nodes.node("one", false), nodes.node("other", false));
        let held = one.take().await.unwrap().unwrap();
        assert!(held.state.is_null() && other.take().await.unwrap().is_none() && one.take().await.unwrap().is_none());
        let held = one.renew(&held, json!({"at": 7})).await.unwrap().unwrap();
        nodes.0.advance(LISTEN_LEASE - Duration::from_millis(1));
        assert!(other.take().await.unwrap().is_none(), "a moment before its end");
        nodes.0.advance(Duration::from_millis(1));
        let taken = other.take().await.unwrap().unwrap();
        assert_eq!(taken.state, json!({"at": 7}));
        assert!(one.renew(&held, json!({"at": 8})).await.unwrap().is_none(), "it is lost");
        other.give_back(taken, json!({"at": 9})).await.unwrap();
        assert_eq!(one.take().await.unwrap().unwrap().state, json!({"at": 9}));
    }

    #[tokio::test]
    async fn whoever_is_alone_waits_for_no_dead_run_but_for_its_own() {
        let nodes = Nodes::new();
        let held = nodes.node("killed", true).take().await.unwrap().unwrap();
        let again = nodes.node("anew", true);
        assert!(again.take().await.unwrap().is_some());
        assert!(again.take().await.unwrap().is_none(), "its own house before this one has it still");
        assert!(nodes.node("killed", true).renew(&held, Value::Null).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_nobody_renewed_for_long_is_begun_anew() {
        let nodes = Nodes::new();
        let one = nodes.node("one", false);
        one.renew(&one.take().await.unwrap().unwrap(), json!(1)).await.unwrap();
        nodes.0.advance(LISTEN_STATE_KEPT);
        let held = one.take().await.unwrap().unwrap();
        assert!(held.state.is_null());
        assert!(one.renew(&held, json!(2)).await.unwrap().is_some());
    }
}
