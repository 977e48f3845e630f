//! A query in the search engine's terms. It is built from analysed words, never parsed: nothing
//! that a stranger types is syntax.

use std::borrow::Cow;

use tantivy::DocId;
use tantivy::query::{AllQuery, BooleanQuery, EnableScoring, Occur, Query as Search};

use super::kinds::Kinds;
use super::one_variant::limit_clauses;
use super::query::Query;
use super::query_words::QueryWords;
use super::scored::ScoredClause;
use super::spelling::Correction;
use super::terms::{ScoredTerms, Terms};
use super::variant_tests::VariantTests;
use crate::analysis::{LanguageAnalyzer, bare_word, content_words, fold_text, is_generic_word};
use crate::error::Result;
use crate::index::{Snapshot, Summary};
use forecourt_understanding::limits::QUERY_BYTES_MAX;

/// A query that is ready to run.
pub(crate) struct Plan {
    /// Words that are looked for, each once.
    pub(crate) words: QueryWords,
    /// Words of the text that no item has, and what was looked for instead.
    pub(crate) corrections: Vec<Correction>,
    pub(crate) tongue: LanguageAnalyzer,
    /// What is added to the scores of items of the kinds that the words name.
    pub(super) kinds: Kinds,
    /// What adds to a score, as data and for the search engine.
    scored_clauses: Vec<ScoredClause>,
    scored: Option<BooleanQuery>,
    filters: Vec<(Occur, Box<dyn Search>)>,
    /// What the filters ask of one variant of an item.
    pub(super) variants: VariantTests,
    asked_text: bool,
    /// Whether the words say no more than that something to eat, read or see is wanted.
    is_generic: bool,
}

impl Plan {
    pub(crate) fn of(snapshot: &Snapshot, query: &Query, tongue: LanguageAnalyzer) -> Result<Self> {
        let text = head(&query.text);
        let content = content_words(text, tongue);
        let kept = looked_for(&query.text, &content, !query.filters.is_empty());
        let tongues = tongues(&snapshot.summary, tongue);
        let mut terms = Terms::new(snapshot, &tongues);
        if let Some(kept) = kept {
            terms.add(kept, text);
            // The whole text: names keep stop words that the words of a query go without.
            let read = read_as(text, terms.corrections()).into_owned();
            if let Some(together) = terms.read_together(&read) {
                let content = content_words(&read, tongue);
                terms = together;
                terms.add(looked_for(&read, &content, !query.filters.is_empty()).unwrap_or(&read), &read);
            }
            terms.add_names(&read);
        }
        let filters = limit_clauses(snapshot, &query.filters, &tongues);
        let variants = VariantTests::of(&query.filters, &tongues);
        let ScoredTerms { words, corrections, clauses: scored_clauses, query: scored } = terms.finish();
        let kinds = Kinds::of(snapshot, words.all())?;
        let is_generic = content.split_whitespace().all(|word| is_generic_word(&bare_word(word), tongue));
        let asked_text = kept.is_some();
        Ok(Self {
            words,
            corrections,
            kinds,
            tongue,
            scored_clauses,
            scored,
            filters,
            variants,
            asked_text,
            is_generic,
        })
    }

    /// Lets go of the words where they asked for nothing in particular: "quick dinner" is answered
    /// by whatever is quick when nothing quick calls itself a dinner. Returns whether it did.
    pub(crate) fn relax(&mut self) -> bool {
        let relaxes = self.is_generic && self.asked_text && !self.filters.is_empty();
        if relaxes {
            self.scored = None;
            self.asked_text = false;
        }
        relaxes
    }

    /// The text with its corrections: a model knows no more of misspelled words than the index does.
    pub(super) fn corrected<'t>(&self, text: &'t str) -> Cow<'t, str> {
        read_as(text, &self.corrections)
    }

    /// Whether there was text to search for, known words or not.
    pub(crate) fn has_text(&self) -> bool {
        self.asked_text
    }

    /// Whether some documents may not be found, whatever they say.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.filters.is_empty()
    }

    /// The clauses that add to a document's score.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &dyn Search> {
        let clauses = self.scored.iter().flat_map(|scored| scored.clauses());
        clauses.map(|(_, clause)| &**clause)
    }

    /// What adds to a score, where nothing else is asked of a document.
    pub(super) fn unlimited(&self) -> Option<&[ScoredClause]> {
        (self.scored.is_some() && self.filters.is_empty()).then_some(&self.scored_clauses)
    }

    /// The words and the filters. `None` when there was text and no word of it is known.
    pub(crate) fn ranking(&self) -> Option<Box<dyn Search>> {
        match &self.scored {
            Some(scored) if self.filters.is_empty() => Some(Box::new(scored.clone())),
            Some(scored) => Some(self.with_filters(Box::new(scored.clone()))),
            None if self.asked_text => None,
            None => Some(self.only_filters()),
        }
    }

    fn only_filters(&self) -> Box<dyn Search> {
        self.with_filters(Box::new(AllQuery))
    }

    fn with_filters(&self, first: Box<dyn Search>) -> Box<dyn Search> {
        let mut clauses = vec![(Occur::Must, first)];
        clauses.extend(self.filters.iter().map(|(occur, query)| (*occur, query.box_clone())));
        Box::new(BooleanQuery::new(clauses))
    }

    /// Visits the living documents of a segment that pass the filters.
    pub(crate) fn allowed(&self, snapshot: &Snapshot, segment: usize, take: &mut dyn FnMut(DocId)) -> Result<()> {
        let reader = &snapshot.searcher.segment_readers()[segment];
        if self.filters.is_empty() {
            reader.doc_ids_alive().for_each(take);
            return Ok(());
        }
        let weight = self.only_filters().weight(EnableScoring::disabled_from_searcher(&snapshot.searcher))?;
        weight.for_each_no_score(reader, &mut |docs| {
            docs.iter().filter(|doc| !reader.is_deleted(**doc)).for_each(|doc| take(*doc));
        })?;
        Ok(())
    }
}

/// The words of a text that are looked for, of which `content` says something in the part that is read. `None`: none
/// are, and the filters alone say what is wanted.
pub(super) fn looked_for<'t>(text: &'t str, content: &'t str, has_filters: bool) -> Option<&'t str> {
    match (text.trim().is_empty(), content.is_empty()) {
        (true, _) => None,
        // "Something quick" asks for nothing but quickness; alone, "something" would be looked for.
        (_, true) if has_filters => None,
        // A question of stop words alone, such as `the who`, looks for these: the index has them.
        (_, true) => Some(head(text)),
        _ => Some(content),
    }
}

/// A text with its corrections.
fn read_as<'t>(text: &'t str, corrections: &[Correction]) -> Cow<'t, str> {
    if corrections.is_empty() {
        return Cow::Borrowed(text);
    }
    let read = |word: &str| {
        let correction = corrections.iter().find(|correction| correction.written == fold_text(bare(word)));
        correction.map_or_else(|| word.to_owned(), |correction| word.replace(bare(word), &correction.read_as()))
    };
    Cow::Owned(text.split_whitespace().map(read).collect::<Vec<_>>().join(" "))
}

/// The words that a query of this text looks for, without what else makes a plan.
pub(super) fn words_of(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> QueryWords {
    terms_of(snapshot, text, tongue).words
}

/// The same with the corrections.
pub(super) fn terms_of(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> ScoredTerms {
    let text = head(text);
    let content = content_words(text, tongue);
    let tongues = tongues(&snapshot.summary, tongue);
    let mut terms = Terms::new(snapshot, &tongues);
    terms.add(if content.is_empty() { text } else { &content }, text);
    terms.finish()
}

/// The tongue of a query, and those of items.
pub(crate) fn tongues(summary: &Summary, tongue: LanguageAnalyzer) -> Vec<LanguageAnalyzer> {
    let others = summary.tongues().filter(|other| *other != tongue);
    std::iter::once(tongue).chain(others).collect()
}

/// The part of a text that is read.
pub(super) fn head(text: &str) -> &str {
    let mut end = text.len().min(QUERY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}
