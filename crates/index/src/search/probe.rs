//! What a query asks an engine by: the terms that its plan will look for, before anything of the items is known.

use std::collections::BTreeSet;

use forecourt_retrieval::limits::TERMS_MAX;
use forecourt_retrieval::{ScoredTerm, TermField};
use forecourt_understanding::limits::QUERY_WORDS_MAX;
use forecourt_vocabulary::Vocabulary;

use super::Correction;
use super::name_terms::names;
use super::other_names::{OtherName, possible_names};
use super::plan::{head, looked_for};
use super::terms::{NARROWER_WORTH, SAME_WORTH};
use crate::analysis::{LanguageAnalyzer, SPELLED_CHARS_MIN, Words, content_words};

/// The terms of a text.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// Each once.
    words: Vec<ProbeWord>,
    /// Other names of what the words name.
    others: Vec<OtherName>,
    names: Vec<(String, f32)>,
}

/// A word of a text.
#[derive(Debug)]
struct ProbeWord {
    written: String,
    /// In each of the tongues.
    stems: BTreeSet<String>,
}

impl Probe {
    /// The terms of a text in these tongues, the first of which is its own, and what else a vocabulary calls what it
    /// names. Empty where the filters alone say what is wanted.
    pub(crate) fn of(text: &str, has_filters: bool, tongues: &[LanguageAnalyzer], vocabulary: &Vocabulary) -> Self {
        let own = tongues.first().copied().unwrap_or(LanguageAnalyzer::OTHER);
        let content = content_words(head(text), own);
        let Some(kept) = looked_for(text, &content, has_filters) else { return Self::default() };
        let mut probe = Self::default();
        probe.add(kept, tongues);
        let written = Words::of(kept, LanguageAnalyzer::OTHER);
        probe.others = possible_names(vocabulary, tongues, &written.iter().collect::<Vec<_>>());
        probe.names = names(head(text), tongues);
        probe
    }

    fn add(&mut self, kept: &str, tongues: &[LanguageAnalyzer]) {
        let written = Words::of(kept, LanguageAnalyzer::OTHER);
        let all: Vec<Words> = tongues.iter().map(|tongue| Words::of(kept, *tongue)).collect();
        for (at, word) in written.iter().enumerate().take(QUERY_WORDS_MAX) {
            if self.words.iter().any(|known| known.written == word) {
                continue;
            }
            // Languages differ in stems, not in where words begin: one position is the same word in all of them.
            let stems = all.iter().filter_map(|words| words.get(at)).map(str::to_owned).collect();
            self.words.push(ProbeWord { written: word.to_owned(), stems });
        }
    }

    /// The same with what misspelled words are read as.
    pub(crate) fn correct(&mut self, corrections: &[Correction], tongues: &[LanguageAnalyzer]) {
        for (reading, _) in corrections.iter().flat_map(|correction| &correction.readings) {
            self.add(reading, tongues);
            self.names.extend(names(reading, tongues));
        }
    }

    /// Whether no words are looked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// What makes a document a better candidate: words first, so that others go where there are too many, and what is
    /// narrower before all.
    pub(crate) fn terms(&self) -> Vec<ScoredTerm> {
        let mut terms = self.all_terms();
        terms.truncate(TERMS_MAX);
        terms
    }

    /// The terms that there is no room for in a question: whether items have them is not known.
    pub(crate) fn left_out(&self) -> Vec<ScoredTerm> {
        self.all_terms().into_iter().skip(TERMS_MAX).collect()
    }

    fn all_terms(&self) -> Vec<ScoredTerm> {
        let words = self.words.iter().flat_map(|word| &word.stems);
        let words = words.map(|stem| ScoredTerm { field: TermField::Words, term: stem.clone(), boost: 1.0 });
        let names = self.names.iter();
        let names =
            names.map(|(name, worth)| ScoredTerm { field: TermField::Pairs, term: name.clone(), boost: *worth });
        let terms = words.chain(self.others(false, SAME_WORTH)).chain(names);
        let mut terms: Vec<ScoredTerm> = terms.chain(self.others(true, NARROWER_WORTH)).collect();
        let mut seen = BTreeSet::new();
        terms.retain(|term| seen.insert((term.field, term.term.clone())));
        terms
    }

    /// The terms of other names. Those of one name share what it is worth.
    fn others(&self, narrower: bool, worth: f32) -> impl Iterator<Item = ScoredTerm> {
        let others = self.others.iter().filter(move |other| other.is_narrower == narrower);
        others.flat_map(move |OtherName { stems, .. }| {
            let boost = worth / stems.len() as f32;
            stems.iter().map(move |stem| ScoredTerm { field: TermField::Words, term: stem.clone(), boost })
        })
    }

    /// The words of which no document has a stem, as they are written, by how many documents have each; `None` where that
    /// is not known.
    pub(crate) fn unknown(&self, frequency: impl Fn(&str) -> Option<u64>) -> Vec<String> {
        let is_unknown = |word: &&ProbeWord| word.stems.iter().all(|stem| frequency(stem) == Some(0));
        self.words.iter().filter(is_unknown).map(|word| word.written.clone()).collect()
    }
}

/// The two words, as they are written, that each of these words may be made of.
pub(crate) fn parts(words: &[String]) -> Vec<ScoredTerm> {
    let cuts = words.iter().flat_map(|word| {
        let starts = word.char_indices().map(|(at, _)| at);
        let is_long = |part: &str| part.chars().nth(SPELLED_CHARS_MIN - 1).is_some();
        let both = starts.map(|at| word.split_at(at)).filter(move |(first, second)| is_long(first) && is_long(second));
        both.flat_map(|(first, second)| [first, second])
    });
    let term = |part: &str| ScoredTerm { field: TermField::Spelled, term: part.to_owned(), boost: 1.0 };
    cuts.map(term).take(TERMS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_asked_by_its_words_in_all_tongues_and_by_names() {
        let tongues = [LanguageAnalyzer::ENGLISH, LanguageAnalyzer::of("de")];
        let probe = Probe::of("the red hats, red", false, &tongues, &Vocabulary::shipped());
        let terms = probe.terms();
        let of =
            |field| terms.iter().filter(|term| term.field == field).map(|term| term.term.as_str()).collect::<Vec<_>>();
        assert_eq!(of(TermField::Words)[..2], ["red", "hat"], "what is written comes first");
        assert!(of(TermField::Pairs).contains(&"red hat") && !of(TermField::Pairs).contains(&"hat red"));
        assert_eq!(probe.unknown(|stem| Some(u64::from(stem == "red"))), ["hats"]);
        assert!(
            Probe::of("something", true, &tongues, &Vocabulary::shipped()).is_empty(),
            "the limits alone say what is wanted"
        );
    }

    #[test]
    fn a_query_is_asked_by_other_names_in_the_tongues_of_items() {
        let terms =
            |tongues: &[LanguageAnalyzer]| Probe::of("rain jacket", false, tongues, &Vocabulary::shipped()).terms();
        let german = terms(&[LanguageAnalyzer::ENGLISH, LanguageAnalyzer::of("de")]);
        let boost = |term: &str| german.iter().find(|one| one.term == term).map(|one| one.boost);
        assert_eq!((boost("jacket"), boost("regenjack")), (Some(1.0), Some(SAME_WORTH)));
        assert!(german.len() <= TERMS_MAX);
        assert!(terms(&[LanguageAnalyzer::ENGLISH]).iter().all(|one| one.term != "regenjack"), "no item is German");
    }

    #[test]
    fn a_word_that_is_not_asked_for_is_not_misspelled() {
        let of = |words: usize| {
            let word =
                |at: usize| ProbeWord { written: format!("w{at}"), stems: BTreeSet::from([format!("s{at:03}")]) };
            let probe = Probe { words: (0..words).map(word).collect(), ..Probe::default() };
            let (terms, left_out) = (probe.terms(), probe.left_out());
            let frequency = |stem: &str| terms.iter().any(|term| term.term == stem).then_some(0);
            (probe.unknown(frequency).len(), left_out.into_iter().map(|term| term.term).collect::<Vec<_>>())
        };
        assert_eq!(of(TERMS_MAX), (TERMS_MAX, Vec::new()));
        assert_eq!(of(TERMS_MAX + 1), (TERMS_MAX, vec![format!("s{TERMS_MAX}")]));
        assert_eq!(of(0), (0, Vec::new()));
    }

    #[test]
    fn a_word_may_be_two() {
        let of = |word: &str| parts(&[word.to_owned()]).into_iter().map(|term| term.term).collect::<Vec<_>>();
        assert_eq!(of("rainhats"), ["rain", "hats"]);
        assert_eq!(of("rainhat"), [""; 0]);
        assert_eq!(of(&"ä".repeat(9)).len(), 4);
        assert!(parts(&vec!["a".repeat(64); 8]).len() <= TERMS_MAX);
    }
}
