//! The words of a query as clauses that add to a document's score. One statistic over one field carries the
//! ranking: BM25 over all words of an item, its name once among them. What names say comes on top, as terms that are
//! rare or common by themselves; what kinds say is a bonus (`kinds`).

use std::collections::{BTreeMap, BTreeSet};

use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query as Search, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocSet, Term};

use super::spelling::{self, Correction};
use crate::analysis::{LanguageAnalyzer, NAME_WORDS_MAX, Words, content_words, whole_name};
use crate::index::Snapshot;
use forecourt_understanding::limits::QUERY_WORDS_MAX;

/// What it is worth that a name has two words of the query side by side, or that the query has the whole name in
/// it: each as a term by itself, beside what its words are worth.
const NAME_BOOST: f32 = 0.4;
/// Unknown words of a query that are read as others: the work is more than that of a known one.
const UNKNOWN_WORDS_READ: usize = 8;

/// Whether the index has every word of a text, in one of its tongues or in the text's.
pub(crate) fn knows_all(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> bool {
    let tongues = || snapshot.summary.tongues().chain([tongue]);
    let kept = content_words(text, tongue);
    let all: Vec<Words> = tongues().map(|tongue| Words::of(&kept, tongue)).collect();
    let has = |stem: &str| snapshot.doc_freq(&Term::from_field_text(snapshot.fields.text, stem)) > 0;
    let count = all.first().map_or(0, Words::len).min(QUERY_WORDS_MAX);
    (0..count).all(|at| all.iter().filter_map(|words| words.get(at)).any(has))
}

/// Collects the scored clauses.
pub(super) struct Terms<'s> {
    snapshot: &'s Snapshot,
    /// The query's tongue first.
    tongues: &'s [LanguageAnalyzer],
    clauses: Vec<(Occur, Box<dyn Search>)>,
    /// Stems of the text and what each is worth: how often the query has it.
    stems: Vec<(String, f32)>,
    words: Vec<QueryWord>,
    /// Words of the text, repeated ones as often.
    asked: usize,
    corrections: Vec<Correction>,
}

/// The words of a query that say what is looked for.
#[derive(Debug, Default)]
pub(crate) struct QueryWords {
    /// Each once.
    words: Vec<QueryWord>,
    /// How many there are with repetitions.
    pub(super) asked: usize,
}

/// A word of a query.
#[derive(Debug)]
pub(super) struct QueryWord {
    /// Its stems that the index has. Empty: it does not have the word.
    pub(super) stems: Vec<String>,
    /// How much it says: the logarithm of how rare it is.
    pub(super) information: f32,
}

/// The words of a query as terms of the index, with the corrections that were made.
pub(super) struct ScoredTerms {
    pub(super) words: QueryWords,
    pub(super) corrections: Vec<Correction>,
    /// `None`: the index has none of the words.
    pub(super) query: Option<BooleanQuery>,
}

impl QueryWords {
    /// All stems that are looked for.
    pub(crate) fn stems(&self) -> Vec<&str> {
        self.words.iter().flat_map(|word| &word.stems).map(String::as_str).collect()
    }

    /// The words themselves.
    pub(super) fn all(&self) -> &[QueryWord] {
        &self.words
    }

    /// How much the words say, and how much of that a document has.
    pub(super) fn coverage(&self, snapshot: &Snapshot, document: DocAddress) -> tantivy::Result<Coverage> {
        let words = snapshot.searcher.segment_reader(document.segment_ord).inverted_index(snapshot.fields.text)?;
        let has = |stem: &String| -> tantivy::Result<bool> {
            let term = Term::from_field_text(snapshot.fields.text, stem);
            let Some(mut postings) = words.read_postings(&term, IndexRecordOption::Basic)? else { return Ok(false) };
            // `seek` only goes forward: of a posting list that begins behind the document nothing is asked.
            Ok(postings.doc() <= document.doc_id && postings.seek(document.doc_id) == document.doc_id)
        };
        let mut coverage = Coverage::default();
        for word in &self.words {
            coverage.asked += word.information;
            let mut is_there = false;
            for stem in &word.stems {
                is_there = is_there || has(stem)?;
            }
            if is_there {
                coverage.said += word.information;
            }
        }
        Ok(coverage)
    }
}

/// How much of what a query asks a document says, both as sums of logarithms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Coverage {
    pub(super) asked: f32,
    pub(super) said: f32,
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
        }
    }

    /// The words, each as its stems in all tongues. A word that is repeated counts as often.
    pub(super) fn add(&mut self, kept: &str) {
        let written = Words::of(kept, LanguageAnalyzer::OTHER);
        let all: Vec<Words> = self.tongues.iter().map(|tongue| Words::of(kept, *tongue)).collect();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for word in written.iter() {
            *seen.entry(word).or_default() += 1;
        }
        self.asked = written.len();
        let mut unknown_left = UNKNOWN_WORDS_READ;
        for at in 0..written.len() {
            // Languages differ in stems, not in where words begin: one position is the same word in all of them.
            let Some(count) = written.get(at).and_then(|word| seen.remove(word)) else { continue };
            let stems: BTreeSet<&str> = all.iter().filter_map(|words| words.get(at)).collect();
            let known: Vec<String> =
                stems.into_iter().filter(|stem| self.count(stem, count as f32)).map(str::to_owned).collect();
            let stems = match written.get(at) {
                Some(word) if known.is_empty() && unknown_left > 0 => {
                    unknown_left -= 1;
                    self.unknown(word)
                }
                _ => known,
            };
            let information = self.information(&stems);
            self.words.push(QueryWord { stems, information });
        }
        for (stem, worth) in std::mem::take(&mut self.stems) {
            self.push(self.snapshot.fields.text, &stem, worth);
        }
    }

    /// Names that have two words of the query side by side but for stop words, and names that the query has in it
    /// as a whole. Words with a comma between them are no neighbours.
    pub(super) fn add_names(&mut self, text: &str) {
        let (mut pairs, mut names) = (BTreeSet::new(), BTreeSet::new());
        for tongue in self.tongues {
            for clause in text.split([',', ';', ':', '!', '?', '(', ')', '\n']) {
                let words = Words::of(&content_words(clause, *tongue), *tongue);
                let neighbours = words.iter().zip(words.iter().skip(1)).take(QUERY_WORDS_MAX);
                pairs.extend(neighbours.map(|(first, second)| format!("{first} {second}")));
            }
            names.extend(runs(&Words::of(text, *tongue)));
        }
        for pair in pairs.iter().take(QUERY_WORDS_MAX) {
            self.push(self.snapshot.fields.pairs, pair, NAME_BOOST);
        }
        for name in &names {
            // The more words a name has, the less it is in the question by chance.
            self.push(self.snapshot.fields.pairs, name, NAME_BOOST * name.split(' ').count() as f32);
        }
    }

    /// What words are read as that the index does not have.
    pub(super) fn corrections(&self) -> &[Correction] {
        &self.corrections
    }

    /// The words, the corrections, and the clauses as one query.
    pub(super) fn finish(self) -> ScoredTerms {
        let query = (!self.clauses.is_empty()).then(|| BooleanQuery::new(self.clauses));
        let words = QueryWords { words: self.words, asked: self.asked };
        ScoredTerms { words, corrections: self.corrections, query }
    }

    /// How much a word says that is known by these stems: BM25's inverse document frequency.
    fn information(&self, stems: &[String]) -> f32 {
        let with = |stem: &String| self.snapshot.doc_freq(&Term::from_field_text(self.snapshot.fields.text, stem));
        let with = stems.iter().map(with).max().unwrap_or_default() as f32;
        let all = self.snapshot.searcher.num_docs() as f32;
        (1.0 + ((all - with).max(0.0) + 0.5) / (with + 0.5)).ln()
    }

    /// Counts a stem that the index has. Whether it has it.
    fn count(&mut self, stem: &str, worth: f32) -> bool {
        if let Some((_, sum)) = self.stems.iter_mut().find(|(other, _)| other == stem) {
            *sum += worth;
            return true;
        }
        let known = self.snapshot.doc_freq(&Term::from_field_text(self.snapshot.fields.text, stem)) > 0;
        if known && self.stems.len() < QUERY_WORDS_MAX {
            self.stems.push((stem.to_owned(), worth));
        }
        known
    }

    /// Adds a term if the index has it.
    fn push(&mut self, field: Field, word: &str, boost: f32) {
        let term = Term::from_field_text(field, word);
        if self.snapshot.doc_freq(&term) == 0 {
            return;
        }
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        let boosted: Box<dyn Search> = match boost == 1.0 {
            true => Box::new(query),
            false => Box::new(BoostQuery::new(Box::new(query), boost)),
        };
        self.clauses.push((Occur::Should, boosted));
    }

    /// A word that the index does not have: read as words that it has. Their stems.
    fn unknown(&mut self, written: &str) -> Vec<String> {
        let Some(correction) = spelling::correction(self.snapshot, written) else { return Vec::new() };
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

/// The runs of words of a short text that may be whole names.
fn runs(words: &Words) -> Vec<String> {
    let all: Vec<&str> = words.iter().collect();
    if all.len() > QUERY_WORDS_MAX / 2 {
        return Vec::new();
    }
    let starts = 0..all.len();
    starts
        .flat_map(|start| (start + 1..=all.len().min(start + NAME_WORDS_MAX)).map(move |end| (start, end)))
        .map(|(start, end)| whole_name(&all[start..end]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_be_any_run_of_a_short_question() {
        let runs = runs(&Words::of("who made alien", LanguageAnalyzer::OTHER));
        assert_eq!(runs, ["=who", "=who made", "=who made alien", "=made", "=made alien", "=alien"]);
    }

    #[test]
    fn long_questions_name_nothing() {
        let words = |count: usize| Words::of(&"w ".repeat(count), LanguageAnalyzer::OTHER);
        assert!(!super::runs(&words(QUERY_WORDS_MAX / 2)).is_empty());
        assert!(super::runs(&words(QUERY_WORDS_MAX / 2 + 1)).is_empty());
    }
}
