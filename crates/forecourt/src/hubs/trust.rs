//! This module decides when a hub's list that has shrunk is believed. A hub that begins with nothing after a restart,
//! or lost half of its store, must not take agents away from who asks them here.

use super::limits::SHRUNK_LOOKS;

/// How often in a row a list was found to have shrunk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shrinking {
    looks: u32,
}

impl Shrinking {
    /// Whether a list of `found` agents is believed where `known` are served: always, unless more than half of them are
    /// gone. That has to be found in [`SHRUNK_LOOKS`] looks in a row.
    pub(crate) fn believes(&mut self, known: usize, found: usize) -> bool {
        if found.saturating_mul(2) >= known {
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
    use super::*;

    #[test]
    fn half_of_the_agents_may_go_at_once_and_more_have_to_be_gone_for_a_while() {
        let mut shrinking = Shrinking::default();
        for (known, found) in [(0, 0), (0, 5), (1, 1), (2, 1), (10, 5), (10, 11)] {
            assert!(shrinking.believes(known, found), "{known} {found}");
        }
        for (known, found) in [(1, 0), (3, 1), (10, 4)] {
            let mut shrinking = Shrinking::default();
            let believed: Vec<bool> = (0..SHRUNK_LOOKS).map(|_| shrinking.believes(known, found)).collect();
            assert_eq!(
                believed.iter().position(|believes| *believes),
                Some(SHRUNK_LOOKS as usize - 1),
                "{known} {found}"
            );
        }
    }

    #[test]
    fn a_list_that_is_whole_in_between_begins_the_count_anew() {
        let mut shrinking = Shrinking::default();
        assert!(!shrinking.believes(4, 0) && !shrinking.believes(4, 0));
        assert_eq!(shrinking.looks_left(), 1);
        assert!(shrinking.believes(4, 4) && !shrinking.believes(4, 0) && !shrinking.believes(4, 0));
        assert!(shrinking.believes(4, 0));
    }
}
