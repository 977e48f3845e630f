//! What there is to ask about: an index says it of its items.

use std::sync::Arc;

use forecourt_understanding::{Filter, QuestionScope, Shelves, Test};
use tantivy::Term;

use super::matching::{count, has_any, has_name, known_stems, matching, tongues};
use super::position::position;
use crate::analysis::{LanguageAnalyzer, Words, fact_word, whole_fact};
use crate::classes::{FREE_OF, STATED};
use crate::index::Snapshot;

impl QuestionScope for Snapshot {
    fn has_number(&self, path: &str) -> bool {
        self.summary.numbers.contains(path)
    }

    fn has_word(&self, path: &str, word: &str) -> bool {
        let in_tongue = |tongue| {
            let words = Words::of(word, tongue);
            words.len() > 0 && words.iter().all(|word| has_fact(self, &fact_word(path, word)))
        };
        in_tongue(LanguageAnalyzer::ENGLISH) || self.summary.tongues().any(in_tongue)
    }

    fn has_value(&self, path: &str, value: &str) -> bool {
        has_fact(self, &whole_fact(path, value))
    }

    fn share(&self, path: &str) -> f64 {
        self.sample().share(path)
    }

    fn quantile(&self, path: &str, part: f64) -> Option<f64> {
        self.sample().quantile(path, part)
    }

    fn finds(&self, text: &str, filters: &[Filter]) -> bool {
        has_any(self, text, filters)
    }

    fn has_written(&self, word: &str) -> bool {
        tongues(self).into_iter().any(|tongue| !known_stems(self, word, tongue).is_empty())
    }

    fn is_name(&self, text: &str) -> bool {
        has_name(self, text)
    }

    fn position(&self, name: &str) -> Option<(f64, f64)> {
        position(self, name)
    }

    fn shelves(&self) -> Option<&Shelves> {
        Some(self.sample().shelves())
    }

    fn share_among(&self, path: &str, limit: &Filter) -> f64 {
        let states = Filter { test: Test::NoneOf(Vec::new()), ..Filter::is(path, "") };
        let items = |limits: &[Filter]| count(self, &*matching(self, "", limits), COUNTED_MAX).unwrap_or(0);
        match items(std::slice::from_ref(limit)) {
            0 => 0.0,
            all => (items(&[limit.clone(), states]) as f64 / all as f64).min(1.0),
        }
    }

    fn states(&self, area: &str) -> bool {
        self.has_value(STATED, area)
    }

    fn promises(&self, class: &str) -> bool {
        self.has_value(FREE_OF, class)
    }
}

/// Items that are counted to know which part of them states a property.
const COUNTED_MAX: usize = 2_000;

/// All items, or a sample of them and candidates for a text.
pub(crate) struct Scope {
    /// All items, or the sample.
    pub(crate) known: Arc<Snapshot>,
    /// The candidates. `None`: all items are known.
    pub(crate) candidates: Option<Arc<Snapshot>>,
}

impl Scope {
    /// Whether something holds of an item that is known.
    fn any(&self, holds: impl Fn(&Snapshot) -> bool) -> bool {
        // Candidates first: a word of a question is in them rather than in a sample.
        self.candidates.as_ref().is_some_and(|candidates| holds(candidates)) || holds(&self.known)
    }
}

impl QuestionScope for Scope {
    fn has_number(&self, path: &str) -> bool {
        self.known.has_number(path)
    }

    fn has_word(&self, path: &str, word: &str) -> bool {
        self.any(|items| items.has_word(path, word))
    }

    fn has_value(&self, path: &str, value: &str) -> bool {
        self.any(|items| items.has_value(path, value))
    }

    fn share(&self, path: &str) -> f64 {
        self.known.share(path)
    }

    fn quantile(&self, path: &str, part: f64) -> Option<f64> {
        self.known.quantile(path, part)
    }

    fn finds(&self, text: &str, filters: &[Filter]) -> bool {
        self.any(|items| items.finds(text, filters))
    }

    fn has_written(&self, word: &str) -> bool {
        self.any(|items| items.has_written(word))
    }

    fn is_name(&self, text: &str) -> bool {
        self.any(|items| items.is_name(text))
    }

    fn position(&self, name: &str) -> Option<(f64, f64)> {
        let candidates = self.candidates.as_ref().and_then(|candidates| candidates.position(name));
        candidates.or_else(|| self.known.position(name))
    }

    fn shelves(&self) -> Option<&Shelves> {
        self.known.shelves()
    }

    fn share_among(&self, path: &str, limit: &Filter) -> f64 {
        self.known.share_among(path, limit)
    }

    fn states(&self, area: &str) -> bool {
        self.any(|items| items.states(area))
    }

    fn promises(&self, class: &str) -> bool {
        self.any(|items| items.promises(class))
    }
}

fn has_fact(snapshot: &Snapshot, fact: &str) -> bool {
    snapshot.doc_freq(&Term::from_field_text(snapshot.fields.facts, fact)) > 0
}
