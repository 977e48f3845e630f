//! The words of a query as clauses that add to a document's score. One statistic over one field carries the
//! ranking: BM25 over all words of an item, its name once among them. What names say comes on top, as terms that are
//! rare or common by themselves; what kinds say is a bonus (`kinds`).

use std::collections::{BTreeMap, BTreeSet};

use tantivy::Term;
use tantivy::query::{BooleanQuery, Occur};
use tantivy::schema::Field;

use super::name_terms::names;
use super::other_names::OtherName;
use super::query_words::{QueryWord, QueryWords};
use super::scored::{ScoredClause, ScoredName, ScoredTerm};
use super::spelling::{self, Correction};
use super::subjects::{Subject, subjects};
use crate::analysis::{LanguageAnalyzer, Words, bare_word, content_words, fold_text, is_stop_word};
use crate::index::Snapshot;
use forecourt_understanding::limits::QUERY_WORDS_MAX;
use forecourt_vocabulary::{LANGUAGES, QuestionLexicon, tokens};

/// What another name is worth beside the one that the query has: one that means the same, and that of something
/// narrower.
pub(super) const SAME_WORTH: f32 = 0.7;
pub(super) const NARROWER_WORTH: f32 = 0.5;
/// What is left of that where items have the query's own words: these come first.
const BESIDE_OWN: f32 = 0.5;
/// Unknown words of a query that are read as others: the work is more than that of a known one.
const UNKNOWN_WORDS_READ: usize = 8;

/// Whether the index has every word of a text, in one of its tongues or in the text's.
pub(crate) fn knows_all(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> bool {
    let tongues = || snapshot.summary.tongues().chain([tongue]);
    let kept = content_words(text, tongue);
    let all: Vec<Words> = tongues().map(|tongue| Words::of(&kept, tongue)).collect();
    let has = |stem: &str| snapshot.items_with(stem) > 0;
    let count = all.first().map_or(0, Words::len).min(QUERY_WORDS_MAX);
    (0..count).all(|at| all.iter().filter_map(|words| words.get(at)).any(has))
}

/// Collects the scored clauses.
pub(super) struct Terms<'s> {
    snapshot: &'s Snapshot,
    /// The query's tongue first.
    tongues: &'s [LanguageAnalyzer],
    clauses: Vec<ScoredClause>,
    /// Stems of the text and what each is worth: how often the query has it.
    stems: Vec<(String, f32)>,
    words: Vec<QueryWord>,
    /// Words of the text, repeated ones as often.
    asked: usize,
    corrections: Vec<Correction>,
    /// Unknown words that are still read as others.
    unknown_left: usize,
}

/// The words of a query as terms of the index, with the corrections that were made.
pub(super) struct ScoredTerms {
    pub(super) words: QueryWords,
    pub(super) corrections: Vec<Correction>,
    /// What adds to a score.
    pub(super) clauses: Vec<ScoredClause>,
    /// The same for the search engine. `None`: the index has none of the words.
    pub(super) query: Option<BooleanQuery>,
}

impl<'s> Terms<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, tongues: &'s [LanguageAnalyzer]) -> Self {
        Self {
            snapshot,
            tongues,
            clauses: Vec::new(),
            stems: Vec::new(),
            words: Vec::new(),
            asked: 0,
            corrections: Vec::new(),
            unknown_left: UNKNOWN_WORDS_READ,
        }
    }

    /// The words that are kept of a text, each as its stems in all tongues. A word that is repeated counts as often.
    pub(super) fn add(&mut self, kept: &str, text: &str) {
        let written = Words::of(kept, LanguageAnalyzer::OTHER);
        let all: Vec<Words> = self.tongues.iter().map(|tongue| Words::of(kept, *tongue)).collect();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for word in written.iter() {
            *seen.entry(word).or_default() += 1;
        }
        self.asked = written.len();
        let subjects = subjects(self.snapshot, self.tongues, text, &written.iter().collect::<Vec<_>>());
        // Where each word of a subject is among those of the query, and how often the query has it.
        let mut named: BTreeMap<usize, (usize, f32)> = BTreeMap::new();
        let only_ties = written.iter().all(|word| subjects.is_tie(word));
        for (at, word) in written.iter().enumerate().filter(|(_, word)| only_ties || !subjects.is_tie(word)) {
            let Some(count) = seen.remove(word) else { continue };
            // Languages differ in stems, not in where words begin: one position is the same word in all of them.
            let stems: BTreeSet<&str> = all.iter().filter_map(|words| words.get(at)).collect();
            let subject = subjects.at(at);
            let asked = match subject.filter(|subject| !subject.others.is_empty()) {
                Some(subject) => {
                    named.insert(at, (self.words.len(), count as f32));
                    self.named_word(word, &stems, subject)
                }
                None => self.plain_word(word, &stems, count as f32, subject, subjects.is_foreign),
            };
            self.words.push(asked);
        }
        for subject in subjects.all.into_iter().filter(|subject| !subject.others.is_empty()) {
            let words: Vec<(usize, f32)> = subject.words.clone().filter_map(|at| named.get(&at).copied()).collect();
            self.add_subject(&subject, &words);
        }
        for (stem, worth) in std::mem::take(&mut self.stems) {
            self.push(self.snapshot.fields.text, &stem, worth);
        }
    }

    /// A word that is looked for as it is, or as it is read where the index does not have it.
    fn plain_word(
        &mut self,
        word: &str,
        stems: &BTreeSet<&str>,
        count: f32,
        subject: Option<&Subject>,
        is_foreign: bool,
    ) -> QueryWord {
        let known = stems.iter().filter(|stem| self.count(stem, count));
        let known: Vec<String> = known.map(|stem| (*stem).to_owned()).collect();
        let is_spoken = subject.is_some_and(|subject| subject.is_spoken);
        // A word of another language that is known there is no misspelled one of this language.
        let is_foreign = is_foreign || subject.is_some_and(|subject| subject.is_spoken && !subject.is_read);
        let stems = if known.is_empty() { self.unknown(word, is_foreign || is_word(word)) } else { known };
        let (information, is_lacking) = (self.information(&stems), stems.is_empty() && is_spoken);
        let is_of_lacking_kind = is_lacking && subject.is_some_and(|subject| subject.words.len() > 1);
        QueryWord {
            written: word.to_owned(),
            stems,
            is_lacking,
            is_of_lacking_kind,
            information,
            ..QueryWord::default()
        }
    }

    /// A word that is part of what has other names.
    fn named_word(&mut self, word: &str, stems: &BTreeSet<&str>, subject: &Subject) -> QueryWord {
        let known = stems.iter().filter(|stem| self.snapshot.items_with(stem) > 0);
        let stems: Vec<String> = known.map(|stem| (*stem).to_owned()).collect();
        let information = self.information(&stems);
        // It may be half typed all the same.
        let begun = if stems.is_empty() && subject.is_read { self.unknown(word, true) } else { Vec::new() };
        QueryWord { written: word.to_owned(), stems, begun, information, ..QueryWord::default() }
    }

    /// What words name, by the best of its names: an item that has several is no better than one that has one. `words`
    /// are the places of the words, each with how often the query has it.
    fn add_subject(&mut self, subject: &Subject, words: &[(usize, f32)]) {
        let known = words.iter().filter(|(at, _)| !self.words[*at].stems.is_empty());
        let known: Vec<(usize, f32)> = known.copied().collect();
        let mut information = known.iter().map(|(at, _)| self.words[*at].information).sum::<f32>();
        if known.len() < words.len() {
            // Items do not say it in all of these words: then as much as the most frequent of its other names.
            let rarest = |other: &OtherName| other.stems.iter().map(|stem| self.snapshot.items_with(stem)).min();
            let with = subject.others.iter().filter_map(rarest).max().unwrap_or_default();
            information = information.max(self.rarity(with));
            let unknown = words.iter().filter(|word| !known.contains(word));
            unknown.for_each(|(at, _)| self.words[*at].information = information / words.len() as f32);
        }
        let field = self.snapshot.fields.text;
        // A part of the words is less than another name of the whole: of "vélo électrique" not every "vélo".
        let part = if known.len() == words.len() { 1.0 } else { SAME_WORTH * known.len() as f32 / words.len() as f32 };
        let own =
            known.iter().flat_map(|(at, count)| self.words[*at].stems.iter().map(move |stem| (stem, part * count)));
        let own: Vec<ScoredTerm> = own.map(|(stem, count)| term(field, stem, count)).collect();
        let mut names: Vec<ScoredName> = Vec::new();
        if !own.is_empty() {
            names.push(ScoredName { terms: own, is_whole: false });
        }
        for other in &subject.others {
            let all: f32 = other.stems.iter().map(|stem| self.rarity(self.snapshot.items_with(stem))).sum();
            let worth = if other.is_narrower { NARROWER_WORTH } else { SAME_WORTH };
            let worth = if known.len() == words.len() { BESIDE_OWN * worth } else { worth };
            // Not by how rare this name is: one that few items have would come before the word that was asked for.
            let worth = worth * information / all.max(f32::EPSILON);
            let terms = other.stems.iter().map(|stem| term(field, stem, worth)).collect();
            names.push(ScoredName { terms, is_whole: true });
        }
        self.clauses.push(ScoredClause { names });
        for (at, _) in words {
            self.words[*at].others.extend(subject.others.iter().cloned());
        }
    }

    /// Names that have two words of the query side by side but for stop words, and names that the query has in it
    /// as a whole. Words with a comma between them are no neighbours.
    pub(super) fn add_names(&mut self, text: &str) {
        for (name, worth) in names(text, self.tongues) {
            self.push(self.snapshot.fields.pairs, &name, worth);
        }
    }

    /// What words are read as that the index does not have.
    pub(super) fn corrections(&self) -> &[Correction] {
        &self.corrections
    }

    /// The same words as they are read, where only together with their neighbours they name something: a "presure washer".
    /// `None`: they say no more than each by itself.
    pub(super) fn read_together(&self, read: &str) -> Option<Self> {
        let words: Vec<String> = read.split_whitespace().map(bare_word).map(|word| fold_text(&word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).take(QUERY_WORDS_MAX).collect();
        let is_read = |word: &&str| self.corrections.iter().any(|correction| correction.read_as() == **word);
        let named = self.snapshot.vocabulary.subjects_in(&words);
        let is_new =
            named.iter().any(|subject| subject.words.len() > 1 && words[subject.words.clone()].iter().any(is_read));
        is_new.then(|| Self { corrections: self.corrections.clone(), ..Self::new(self.snapshot, self.tongues) })
    }

    /// The words, the corrections, and the clauses as one query.
    pub(super) fn finish(self) -> ScoredTerms {
        let all = self.clauses.iter().map(|clause| (Occur::Should, clause.query()));
        let query = (!self.clauses.is_empty()).then(|| BooleanQuery::new(all.collect()));
        let words = QueryWords { words: self.words, asked: self.asked };
        ScoredTerms { words, corrections: self.corrections, clauses: self.clauses, query }
    }

    /// How much a word says that is known by these stems: BM25's inverse document frequency.
    fn information(&self, stems: &[String]) -> f32 {
        let with = |stem: &String| self.snapshot.items_with(stem);
        self.rarity(stems.iter().map(with).max().unwrap_or_default())
    }

    /// BM25's inverse document frequency of a word that so many items have.
    fn rarity(&self, items: u64) -> f32 {
        let (with, all) = (items as f32, self.snapshot.documents() as f32);
        (1.0 + ((all - with).max(0.0) + 0.5) / (with + 0.5)).ln()
    }

    /// Counts a stem that the index has. Whether it has it.
    fn count(&mut self, stem: &str, worth: f32) -> bool {
        if let Some((_, sum)) = self.stems.iter_mut().find(|(other, _)| other == stem) {
            *sum += worth;
            return true;
        }
        let known = self.snapshot.items_with(stem) > 0;
        if known && self.stems.len() < QUERY_WORDS_MAX {
            self.stems.push((stem.to_owned(), worth));
        }
        known
    }

    /// Adds a term if the index has it.
    fn push(&mut self, field: Field, word: &str, boost: f32) {
        if self.snapshot.doc_freq(&Term::from_field_text(field, word)) > 0 {
            self.clauses.push(ScoredClause::term(term(field, word, boost)));
        }
    }

    /// A word that the index does not have: read as words that it has. Their stems. One that is `spelled_right` may still
    /// be half typed.
    fn unknown(&mut self, written: &str, spelled_right: bool) -> Vec<String> {
        if self.unknown_left == 0 {
            return Vec::new();
        }
        self.unknown_left -= 1;
        let Some(correction) = spelling::correction(self.snapshot, written, spelled_right) else { return Vec::new() };
        let mut known = Vec::new();
        for (word, worth) in &correction.readings {
            let stems: BTreeSet<String> =
                self.tongues.iter().filter_map(|tongue| Words::of(word, *tongue).get(0).map(str::to_owned)).collect();
            known.extend(stems.into_iter().filter(|stem| self.count(stem, *worth)));
        }
        self.corrections.push(correction);
        known
    }
}

/// Whether a word is one that questions are put with, in some language: it is no misspelled one.
fn is_word(word: &str) -> bool {
    let is_stop_word = |code: &&str| is_stop_word(word, LanguageAnalyzer::of(code));
    LANGUAGES.iter().any(is_stop_word) || !QuestionLexicon::shipped().meanings(&tokens(word)).is_empty()
}

/// A term of a query, and what it is worth.
fn term(field: Field, word: &str, worth: f32) -> ScoredTerm {
    ScoredTerm { term: Term::from_field_text(field, word), worth }
}
