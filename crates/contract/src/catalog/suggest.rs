//! This module suggests verbs for an unknown one. Section 11, status 459.

use super::Catalog;
use crate::limits::{METHOD_CHARS_MAX, SUGGESTION_EDITS_MAX, SUGGESTIONS_MAX};

impl Catalog {
    /// Up to [`SUGGESTIONS_MAX`] verbs: for a legacy verb the one to use instead, then verbs within
    /// [`SUGGESTION_EDITS_MAX`] edits, the nearest first and by name among equals. Case is ignored.
    pub fn suggest(&self, unknown: &str) -> Vec<String> {
        // The distance takes time in the product of both lengths, and this text is a caller's: nothing this long is
        // near a verb.
        if unknown.len() > METHOD_CHARS_MAX + SUGGESTION_EDITS_MAX {
            return Vec::new();
        }
        let wanted = unknown.to_ascii_uppercase();
        let preferred = self.legacy(&wanted).map(|legacy| legacy.preferred.clone());
        let mut near: Vec<(usize, &str)> = self.verbs().filter_map(|(name, _)| near(&wanted, name)).collect();
        near.sort_unstable();
        let near = near.into_iter().map(|(_, name)| name.to_owned()).filter(|name| Some(name) != preferred.as_ref());
        preferred.iter().cloned().chain(near).take(SUGGESTIONS_MAX).collect()
    }
}

fn near<'a>(wanted: &str, name: &'a str) -> Option<(usize, &'a str)> {
    let close = wanted.len().abs_diff(name.len()) <= SUGGESTION_EDITS_MAX;
    let edits = close.then(|| strsim::levenshtein(wanted, name))?;
    (edits <= SUGGESTION_EDITS_MAX).then_some((edits, name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn suggest(unknown: &str) -> Vec<String> {
        Catalog::shipped().suggest(unknown)
    }

    #[test]
    fn s11_a_misspelt_verb_gets_the_nearest_by_distance_then_name() {
        assert_eq!(suggest("QEURY"), ["QUERY", "RETRY"]);
        assert_eq!(suggest("BOOKS")[0], "BOOK");
        assert_eq!(suggest("query"), ["QUERY"]);
    }

    #[test]
    fn s3_6_a_legacy_verb_gets_its_replacement_first() {
        for (legacy, preferred) in [("GET", "FETCH"), ("POST", "CREATE"), ("delete", "REMOVE")] {
            assert_eq!(suggest(legacy)[0], preferred);
        }
        assert_eq!(suggest("PUT").len(), 3);
    }

    #[test]
    fn s11_what_is_far_from_everything_gets_nothing() {
        assert!(suggest("FROBNICATE").is_empty());
        assert!(suggest("").is_empty());
        assert!(suggest(&"QUERY".repeat(10_000)).is_empty());
    }

    proptest! {
        #[test]
        fn suggestions_are_few_known_and_near(unknown in ".{0,40}") {
            let catalog = Catalog::shipped();
            let found = catalog.suggest(&unknown);
            prop_assert!(found.len() <= SUGGESTIONS_MAX);
            prop_assert!(found.iter().all(|name| catalog.verb(name).is_some()));
        }
    }
}
