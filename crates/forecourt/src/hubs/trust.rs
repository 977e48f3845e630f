//! This module decides when a hub's list that has shrunk is believed. A hub that begins with nothing after a restart,
//! or lost half of its store, must not take agents away from who asks them here.

use std::collections::HashSet;

use forecourt_agents::hub::{HubList, ListedAgent};
use forecourt_core::Handle;

use super::limits::SHRUNK_LOOKS;

/// How many of the agents of a hub that are served a list that was found has still. Others in their place do not make
/// up for those that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Remainder {
    pub known: usize,
    pub still: usize,
}

impl Remainder {
    pub(crate) fn of<'a>(served: impl Iterator<Item = &'a ListedAgent>, found: &HubList) -> Self {
        let found: HashSet<&Handle> = found.agents.iter().map(|agent| &agent.handle).collect();
        served.fold(Self { known: 0, still: 0 }, |Self { known, still }, agent| Self {
            known: known + 1,
            still: still + usize::from(found.contains(&agent.handle)),
        })
    }
}

/// How often in a row a list was found to have shrunk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shrinking {
    looks: u32,
}

impl Shrinking {
    /// Whether a list is believed that has so many of the agents that are served: always, unless more than half of
    /// them are gone. That has to be found in [`SHRUNK_LOOKS`] looks in a row.
    pub(crate) fn believes(&mut self, Remainder { known, still }: Remainder) -> bool {
        if still.saturating_mul(2) >= known {
            self.looks = 0;
            return true;
        }
        self.looks = self.looks.saturating_add(1);
        self.looks >= SHRUNK_LOOKS
    }

    /// Looks that have to find the same still.
    pub(crate) fn looks_left(self) -> u32 {
        SHRUNK_LOOKS.saturating_sub(self.looks)
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Timestamp;
    use serde_json::json;

    use super::*;

    fn list(handles: impl IntoIterator<Item = String>) -> HubList {
        let agent = |handle| {
            let agent = json!({"handle": handle, "name": "x", "url": "https://far.example"});
            serde_json::from_value(agent).expect("an agent")
        };
        HubList {
            hub: "https://far.example".to_owned(),
            seen_at: Timestamp::UNIX_EPOCH,
            is_signed: false,
            agents: handles.into_iter().map(agent).collect(),
            signed_before: Vec::new(),
        }
    }

    #[test]
    fn others_in_the_place_of_those_that_are_gone_are_a_loss() {
        let named = |from: usize| list((from..from + 10).map(|n| format!("a{n}")));
        let of = |from: usize| Remainder::of(named(0).agents.iter(), &named(from));
        assert_eq!(of(10), Remainder { known: 10, still: 0 });
        for (from, is_believed) in [(0, true), (5, true), (6, false), (10, false)] {
            assert_eq!(Shrinking::default().believes(of(from)), is_believed, "{from}");
        }
    }

    #[test]
    fn half_of_the_agents_may_go_at_once_and_more_have_to_be_gone_for_a_while() {
        let mut shrinking = Shrinking::default();
        for (known, still) in [(0, 0), (1, 1), (2, 1), (10, 5), (10, 10)] {
            assert!(shrinking.believes(Remainder { known, still }), "{known} {still}");
        }
        for (known, still) in [(1, 0), (3, 1), (10, 4)] {
            let mut shrinking = Shrinking::default();
            let looks = (0..SHRUNK_LOOKS).map(|_| shrinking.believes(Remainder { known, still }));
            let believed: Vec<bool> = looks.collect();
            assert_eq!(
                believed.iter().position(|believes| *believes),
                Some(SHRUNK_LOOKS as usize - 1),
                "{known} {still}"
            );
        }
    }

    #[test]
    fn a_list_that_is_whole_in_between_begins_the_count_anew() {
        let mut shrinking = Shrinking::default();
        let (none, all) = (Remainder { known: 4, still: 0 }, Remainder { known: 4, still: 4 });
        assert!(!shrinking.believes(none) && !shrinking.believes(none));
        assert_eq!(shrinking.looks_left(), 1);
        assert!(shrinking.believes(all) && !shrinking.believes(none) && !shrinking.believes(none));
        assert!(shrinking.believes(none));
    }
}
