//! By how many people a question was asked. Who they were is kept nowhere: a salted hash of each is in memory until the
//! question has had enough of them, and what is kept of that is that there were several.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use forecourt_core::Account;

use crate::limits::{COUNTED_QUESTIONS_MAX, PEOPLE_MIN};

/// The people of the questions that were asked lately.
#[derive(Default)]
pub(crate) struct AskerCounts {
    /// Drawn anew at each start: hashes of two processes can't be compared.
    salt: RandomState,
    /// By agent and question.
    people: HashMap<u64, HashSet<u64>>,
}

impl AskerCounts {
    /// Notes that somebody asked. Whether the question has just been asked by [`PEOPLE_MIN`] people.
    pub(crate) fn note(&mut self, agent: &str, question: &str, who: &Account) -> bool {
        let key = self.salt.hash_one((agent, question));
        if !self.people.contains_key(&key) && self.people.len() >= COUNTED_QUESTIONS_MAX {
            // Those that have waited are counted anew: to forget is safe, and to remember wrongly would not be.
            self.people.clear();
        }
        let people = self.people.entry(key).or_default();
        people.insert(self.salt.hash_one(who.key()));
        let are_several = people.len() >= PEOPLE_MIN;
        if are_several {
            self.people.remove(&key);
        }
        are_several
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::CallerKey;
    use forecourt_core::network::Network;

    use super::*;

    fn somebody(n: u8) -> Account {
        CallerKey::of(None, None, Some(Network::of([10, 0, 0, n].into()))).account()
    }

    #[test]
    fn one_person_is_never_several() {
        let mut asked = AskerCounts::default();
        assert!(!(0..100).any(|_| asked.note("shop", "red coat", &somebody(1))));
        assert!(!asked.note("shop", "red coat", &somebody(2)));
        assert!(!asked.note("shop", "blue coat", &somebody(3)) && !asked.note("other", "red coat", &somebody(3)));
        assert!(asked.note("shop", "red coat", &somebody(3)));
        assert!(asked.people.len() <= 2, "who they were is forgotten");
    }

    #[test]
    fn what_is_remembered_ends_at_the_bound() {
        let mut asked = AskerCounts::default();
        (0..COUNTED_QUESTIONS_MAX).for_each(|n| _ = asked.note("a", &n.to_string(), &somebody(1)));
        assert_eq!(asked.people.len(), COUNTED_QUESTIONS_MAX);
        asked.note("a", "one more", &somebody(1));
        assert_eq!(asked.people.len(), 1);
    }
}
