//! What a run writes beside its commit.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::schema::VERSION;
use crate::analysis::LanguageAnalyzer;

/// The payload of a commit, as JSON: what the next run and questions need to know of the whole index.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Summary {
    version: u32,
    /// Codes of the languages that items are in.
    tongues: BTreeSet<String>,
    /// Up to which change of this node it has what was pushed. What an engine keeps is of all nodes and says nothing of it.
    #[serde(default)]
    pub(crate) pushed: u64,
    /// The revision of the vocabulary by which items were judged.
    #[serde(default)]
    pub(crate) vocabulary: u64,
    /// Whether an item with variants was written.
    #[serde(default)]
    pub(crate) has_variants: bool,
    /// When the next offer has another price, in seconds since 1970.
    #[serde(default)]
    pub(crate) next_price: Option<i64>,
    /// Terms of all items' texts and of their names' pairs together, where an engine has them; an index here counts them
    /// itself.
    #[serde(default)]
    pub(crate) words: u64,
    #[serde(default)]
    pub(crate) pairs: u64,
    /// Paths of facts that are quantities.
    pub(crate) numbers: BTreeSet<String>,
}

impl Summary {
    pub(crate) fn is_current(payload: &str) -> bool {
        Self::of(payload).is_some()
    }

    /// What an engine keeps. Nothing where a run of another version kept it: the next one writes all items again.
    pub(crate) fn read(payload: Option<&str>) -> Self {
        payload.and_then(Self::of).unwrap_or_default()
    }

    fn of(payload: &str) -> Option<Self> {
        serde_json::from_str(payload).ok().filter(|summary: &Self| summary.version == VERSION)
    }

    /// The JSON text of the commit's payload, with the current version.
    pub(crate) fn payload(&mut self) -> String {
        self.version = VERSION;
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What `now` says with what a run has changed of it, that began with `before` and ended with `own`. Another node may
    /// have changed it in between.
    pub(crate) fn merged(now: Self, before: &Self, own: Self) -> Self {
        let next_price = match (own.next_price, now.next_price) {
            (own, now) if own == before.next_price => now,
            (own, now) if now == before.next_price => own,
            (own, now) => [own, now].into_iter().flatten().min(),
        };
        let sum = |now: u64, before: u64, own: u64| {
            now.saturating_add_signed(own.cast_signed().saturating_sub(before.cast_signed()))
        };
        Self {
            version: now.version,
            tongues: &now.tongues | &own.tongues,
            pushed: now.pushed,
            vocabulary: if own.vocabulary == before.vocabulary { now.vocabulary } else { own.vocabulary },
            has_variants: now.has_variants || own.has_variants,
            next_price,
            words: sum(now.words, before.words, own.words),
            pairs: sum(now.pairs, before.pairs, own.pairs),
            numbers: &now.numbers | &own.numbers,
        }
    }

    pub(crate) fn note_tongue(&mut self, tongue: LanguageAnalyzer) {
        if !self.tongues.contains(tongue.code()) {
            self.tongues.insert(tongue.code().to_owned());
        }
    }

    pub(crate) fn tongues(&self) -> impl Iterator<Item = LanguageAnalyzer> {
        self.tongues.iter().map(|code| LanguageAnalyzer::of(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(numbers: &[&str], words: u64, next_price: Option<i64>) -> Summary {
        let numbers = numbers.iter().map(|path| (*path).to_owned()).collect();
        Summary { numbers, words, next_price, ..Summary::default() }
    }

    #[test]
    fn what_two_nodes_changed_at_once_is_in_the_summary() {
        let before = summary(&["a"], 10, Some(50));
        let mut own = summary(&["a", "b"], 7, Some(50));
        own.note_tongue(LanguageAnalyzer::of("de"));
        let now = Summary { has_variants: true, vocabulary: 3, ..summary(&["a", "c"], 30, Some(40)) };
        let merged = Summary::merged(now.clone(), &before, own.clone());
        assert_eq!(merged.numbers, ["a", "b", "c"].map(str::to_owned).into());
        assert_eq!((merged.words, merged.next_price, merged.has_variants, merged.vocabulary), (27, Some(40), true, 3));
        assert_eq!(merged.tongues().count(), 1);
        // Nobody else was there.
        assert_eq!(Summary::merged(before.clone(), &before, own.clone()), own);
        // A run that knows all prices takes away one that is past, and both have a next one.
        let none = Summary { next_price: None, ..own.clone() };
        assert_eq!(Summary::merged(before.clone(), &before, none).next_price, None);
        assert_eq!(Summary::merged(now, &before, Summary { next_price: Some(45), ..own.clone() }).next_price, Some(40));
        assert_eq!(Summary::merged(summary(&[], 1, None), &before, own).words, 0, "no less than none");
    }
}
