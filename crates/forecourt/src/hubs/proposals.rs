//! Lists that were found and are to be served: all at once, or one at a time where one of several keeps the deployment
//! from being built.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use forecourt_agents::hub::HubList;
use forecourt_core::Handle;

/// The lists of hubs that are to be served, one of each hub at most.
#[derive(Default)]
pub(crate) struct Proposals {
    lists: HashMap<Handle, Arc<HubList>>,
    /// Hubs of `lists` that are tried by themselves.
    alone: HashSet<Handle>,
}

impl Proposals {
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    pub(crate) fn insert(&mut self, name: Handle, list: Arc<HubList>) {
        self.lists.insert(name, list);
    }

    pub(crate) fn remove(&mut self, name: &Handle) {
        self.lists.remove(name);
        self.alone.remove(name);
    }

    pub(crate) fn retain(&mut self, is_followed: impl Fn(&Handle) -> bool) {
        self.lists.retain(|name, _| is_followed(name));
        self.alone.retain(|name| is_followed(name));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Handle, &HubList)> {
        self.lists.iter().map(|(name, list)| (name, &**list))
    }

    /// Takes what is to be served next: one that is tried by itself, else all.
    pub(crate) fn take(&mut self) -> HashMap<Handle, Arc<HubList>> {
        let Some(name) = self.alone.iter().next().cloned() else { return std::mem::take(&mut self.lists) };
        self.alone.remove(&name);
        self.lists.remove_entry(&name).into_iter().collect()
    }

    /// Puts back what was taken and was not tried.
    pub(crate) fn put_back(&mut self, lists: HashMap<Handle, Arc<HubList>>) {
        self.lists.extend(lists);
    }

    /// Takes notice that the deployment can't be built with `lists`. Of several, each is tried by itself: one hub does
    /// not keep the others from being followed. One by itself is dropped; the next look finds it again.
    pub(crate) fn refused(&mut self, lists: HashMap<Handle, Arc<HubList>>) {
        if lists.len() > 1 {
            self.alone.extend(lists.keys().cloned());
            self.lists.extend(lists);
        }
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Timestamp;

    use super::*;

    fn proposals(names: &[&str]) -> Proposals {
        let mut proposals = Proposals::default();
        for name in names {
            let list = HubList {
                hub: format!("https://{name}.example"),
                seen_at: Timestamp::UNIX_EPOCH,
                is_signed: false,
                agents: Vec::new(),
                signed_before: Vec::new(),
            };
            proposals.insert(name.parse().expect("a handle"), Arc::new(list));
        }
        proposals
    }

    #[test]
    fn lists_are_served_at_once_and_where_that_is_refused_each_by_itself() {
        let mut proposals = proposals(&["a", "b", "c"]);
        let all = proposals.take();
        assert!(all.len() == 3 && proposals.is_empty());
        proposals.refused(all);
        let mut tried = HashSet::new();
        while !proposals.is_empty() {
            let one = proposals.take();
            assert_eq!(one.len(), 1);
            tried.extend(one.keys().cloned());
            proposals.refused(one);
        }
        assert_eq!(tried.len(), 3, "and none of them twice");
    }

    #[test]
    fn what_was_not_tried_stays_and_what_is_not_followed_goes() {
        let mut proposals = proposals(&["a", "b"]);
        let all = proposals.take();
        proposals.put_back(all);
        let all = proposals.take();
        proposals.refused(all);
        proposals.retain(|name| name.as_str() == "b");
        assert_eq!(proposals.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b"]);
        proposals.remove(&"b".parse().expect("a handle"));
        assert!(proposals.is_empty() && proposals.take().is_empty());
    }
}
