//! Names that this process had written, for as long as they are in the store: what is not among them need not be looked
//! for there.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use forecourt_core::Timestamp;

use crate::limits::{SENT_NAMES_MAX, SENT_REMEMBERED_FOR};

/// Names by their hashes: two may share one, so that a name that is here was written perhaps, and one that is not was
/// not.
#[derive(Default)]
pub(super) struct RememberedNames {
    hasher: RandomState,
    /// Since `since`.
    new: HashSet<u64>,
    /// Before it, and for as long again.
    old: HashSet<u64>,
    since: Option<Timestamp>,
    /// Until when anything may have been written, since there were too many to remember.
    lost_until: Option<Timestamp>,
    /// Until when the store says that something is there.
    pub(super) marked_until: Timestamp,
}

impl RememberedNames {
    /// Remembers a name that is written now.
    pub(super) fn take(&mut self, name: &str, now: Timestamp) {
        self.turn_over(now);
        if self.new.len() + self.old.len() >= SENT_NAMES_MAX {
            // To forget all at once bounds memory; until then every message may have been written, and the store is
            // asked.
            self.lost_until = Some(later(now));
            (self.new, self.old) = Default::default();
        }
        self.new.insert(self.hasher.hash_one(name));
    }

    /// Whether a name was written perhaps, and is not forgotten yet.
    pub(super) fn may_have(&self, name: &str, now: Timestamp) -> bool {
        if self.lost_until.is_some_and(|until| now < until) {
            return true;
        }
        if self.new.is_empty() && self.old.is_empty() {
            return false;
        }
        let hash = self.hasher.hash_one(name);
        self.new.contains(&hash) || self.old.contains(&hash)
    }

    /// Forgets what is in the store no longer.
    fn turn_over(&mut self, now: Timestamp) {
        if self.since.is_none_or(|since| now >= later(since)) {
            self.old = std::mem::take(&mut self.new);
            self.since = Some(now);
        }
    }
}

/// When what was written at a moment is in the store no longer.
fn later(at: Timestamp) -> Timestamp {
    at.checked_add(SENT_REMEMBERED_FOR).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_name_is_there_for_as_long_as_it_is_in_the_store() {
        let (mut names, begin) = (RememberedNames::default(), Timestamp::UNIX_EPOCH);
        let at = |hours: u64| begin.checked_add(Duration::from_secs(hours * 3_600)).unwrap();
        names.take("a", at(1));
        names.take("b", at(20));
        assert!(names.may_have("a", at(2)) && names.may_have("b", at(21)) && !names.may_have("c", at(21)));
        names.take("c", at(26));
        assert!(names.may_have("b", at(40)), "it was written 20 h ago");
        names.take("d", at(51));
        assert!(!names.may_have("a", at(51)) && names.may_have("c", at(51)));
    }

    #[test]
    fn of_too_many_every_one_was_written_perhaps_for_a_day() {
        let (mut names, now) = (RememberedNames::default(), Timestamp::UNIX_EPOCH);
        for name in 0..=SENT_NAMES_MAX {
            names.take(&name.to_string(), now);
        }
        assert!(names.new.len() <= SENT_NAMES_MAX && names.may_have("none of them", now));
        assert!(!names.may_have("none of them", later(now)));
    }
}
