//! The list of a hub that was kept last: what the next look begins with, and when another one is kept in its place.

use std::sync::Arc;

use forecourt_agents::hub::HubList;

use super::limits::SEEN_AT_AGE_MAX;

/// The list of a hub that this process kept last, if it kept one.
#[derive(Debug, Default)]
pub(crate) struct KeptList(pub(crate) Option<Arc<HubList>>);

impl KeptList {
    /// What the next look begins with: the list that is served, with what servers called its cards last.
    pub(crate) fn known(&self, served: Option<&Arc<HubList>>) -> Option<Arc<HubList>> {
        let served = served?;
        let kept = self.0.as_ref().filter(|kept| kept.hub == served.hub && kept.has_same_agents(served));
        Some(kept.unwrap_or(served).clone())
    }

    /// Whether a list is to be kept in the place of this one: it says something else, or when this one was seen is too
    /// long ago.
    pub(crate) fn is_replaced_by(&self, list: &HubList) -> bool {
        let is_old = |kept: &HubList| list.seen_at.duration_since(kept.seen_at).unsigned_abs() >= SEEN_AT_AGE_MAX;
        self.0.as_ref().is_none_or(|kept| !kept.differs_in_time_alone(list) || is_old(kept))
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Timestamp;
    use serde_json::json;

    use super::*;

    fn list(name: &str, etag: &str, second: u64) -> HubList {
        let agent = json!({"handle": "chef", "name": name, "url": "https://far.example", "etag": etag});
        HubList {
            hub: "https://far.example".to_owned(),
            seen_at: Timestamp::from_second(second.try_into().expect("a second")).expect("a time"),
            is_signed: false,
            agents: vec![serde_json::from_value(agent).expect("an agent")],
            signed_before: Vec::new(),
        }
    }

    #[test]
    fn a_list_is_kept_again_when_it_says_something_else_or_is_old() {
        let kept = KeptList(Some(Arc::new(list("Chef", "1", 0))));
        let hour = SEEN_AT_AGE_MAX.as_secs();
        assert!(KeptList::default().is_replaced_by(&list("Chef", "1", 0)));
        assert!(!kept.is_replaced_by(&list("Chef", "1", hour - 1)) && kept.is_replaced_by(&list("Chef", "1", hour)));
        assert!(kept.is_replaced_by(&list("Chef", "2", 1)) && kept.is_replaced_by(&list("Cook", "1", 1)));
    }

    #[test]
    fn the_next_look_begins_with_the_etags_of_the_last_one_as_long_as_its_agents_are_served() {
        let served = Arc::new(list("Chef", "1", 0));
        let etag = |kept: KeptList| kept.known(Some(&served)).and_then(|known| known.agents[0].etag.clone());
        assert_eq!(etag(KeptList::default()).as_deref(), Some("1"));
        assert_eq!(etag(KeptList(Some(Arc::new(list("Chef", "2", 1))))).as_deref(), Some("2"));
        assert_eq!(etag(KeptList(Some(Arc::new(list("Cook", "2", 1))))).as_deref(), Some("1"), "not served");
        assert!(KeptList(Some(served.clone())).known(None).is_none());
    }
}
