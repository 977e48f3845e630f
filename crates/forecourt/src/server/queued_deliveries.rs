//! How many deliveries wait, by whose they are and how they do. Whose one is lies sealed in it: it is opened once, and what
//! was learnt is remembered for as long as it waits.

use std::collections::{BTreeMap, HashMap};

use forecourt_core::{StoreError, Timestamp};
use forecourt_store::StoreReads;

/// Deliveries that are opened in one go.
const OPENED_AT_ONCE_MAX: usize = 500;

/// The protocols of deliveries that wait, by their ids: as many as wait.
#[derive(Default)]
pub(super) struct QueuedDeliveries(HashMap<u64, String>);

/// What is counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct QueueCounts {
    /// By whose they are, and whether an attempt at them failed.
    pub(super) by_protocol: BTreeMap<(String, &'static str), u64>,
    /// When the delivery that was queued first is, or was, due.
    pub(super) oldest_due: Option<Timestamp>,
}

impl QueuedDeliveries {
    /// Counts all that wait.
    pub(super) async fn count(&mut self, store: &dyn StoreReads) -> Result<QueueCounts, StoreError> {
        let waiting = store.delivery_attempts().await?;
        // Both are in the order of ids.
        let ids: Vec<u64> = waiting.iter().map(|delivery| delivery.id).collect();
        self.0.retain(|id, _| ids.binary_search(id).is_ok());
        let mut seen = 0;
        while let Some(new) = ids.iter().find(|id| **id > seen && !self.0.contains_key(*id)) {
            let opened = store.deliveries(new.saturating_sub(1), OPENED_AT_ONCE_MAX).await?;
            // What is not among them was delivered meanwhile.
            let Some(last) = opened.last().map(|delivery| delivery.id) else { break };
            self.0.extend(opened.into_iter().map(|delivery| (delivery.id, delivery.webhook.protocol)));
            seen = last.max(*new);
        }
        let mut counts =
            QueueCounts { oldest_due: waiting.first().map(|first| first.due_at), ..QueueCounts::default() };
        for delivery in &waiting {
            let Some(protocol) = self.0.get(&delivery.id) else { continue };
            let state = if delivery.attempts > u32::from(delivery.is_claimed) { "failing" } else { "waiting" };
            *counts.by_protocol.entry((protocol.clone(), state)).or_default() += 1;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use forecourt_core::Store;
    use forecourt_core::store::{Account, Notification, Webhook};
    use forecourt_store::Memory;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    async fn queue(store: &Memory, protocol: &str, due_at: Timestamp) {
        let webhook = Webhook {
            id: "1".to_owned(),
            protocol: protocol.to_owned(),
            url: format!("{protocol}:door"),
            secret: None,
            callback: false,
            retries: 9,
            details: Default::default(),
        };
        let notice = Notification { webhook, account: Account::HOST, due_at, expires_at: at(9_999) };
        store.enqueue(notice).await.unwrap();
    }

    fn counts(of: &[(&str, &'static str, u64)]) -> BTreeMap<(String, &'static str), u64> {
        of.iter().map(|(protocol, state, count)| (((*protocol).to_owned(), *state), *count)).collect()
    }

    #[tokio::test]
    async fn all_that_wait_are_counted_however_many_there_are_and_one_under_way_for_the_first_time_does_not_fail() {
        let (store, mut queued) = (Memory::new(), QueuedDeliveries::default());
        for _ in 0..OPENED_AT_ONCE_MAX + 1 {
            queue(&store, "email", at(5)).await;
        }
        queue(&store, "slack", at(1)).await;
        queue(&store, "slack", at(2)).await;
        let many = OPENED_AT_ONCE_MAX as u64 + 1;
        let found = queued.count(&store).await.unwrap();
        assert_eq!(found.by_protocol, counts(&[("email", "waiting", many), ("slack", "waiting", 2)]));
        assert_eq!(found.oldest_due, Some(at(5)));
        let claimed = store.claim_deliveries(at(2), at(60), 9).await.unwrap();
        assert_eq!(queued.count(&store).await.unwrap().by_protocol[&("slack".to_owned(), "waiting")], 2);
        store.settle_delivery(claimed[0].id, Some(at(90))).await.unwrap();
        store.put_off_delivery(claimed[1].id, at(90)).await.unwrap();
        let found = queued.count(&store).await.unwrap().by_protocol;
        assert_eq!(found, counts(&[("email", "waiting", many), ("slack", "failing", 1), ("slack", "waiting", 1)]));
        store.settle_delivery(claimed[0].id, None).await.unwrap();
        store.settle_delivery(claimed[1].id, None).await.unwrap();
        assert_eq!(queued.count(&store).await.unwrap().by_protocol, counts(&[("email", "waiting", many)]));
        assert_eq!(queued.0.len() as u64, many, "nothing is remembered of what is gone");
        queue(&store, "matrix", at(1)).await;
        assert_eq!(queued.count(&store).await.unwrap().by_protocol[&("matrix".to_owned(), "waiting")], 1);
    }
}
