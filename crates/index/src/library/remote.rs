//! A library whose items an engine outside keeps: what of them is looked at, and for how long.
//!
//! Each question gets a snapshot of the candidates that the engine gives for it, with the statistics of all items, and is
//! answered from that as it would be from the index here.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_retrieval::limits::{ALMOST_CANDIDATES, ALMOST_MAX, CANDIDATES_MIN, SAMPLE_ITEMS};
use forecourt_retrieval::{
    Candidate, CandidateQuery, Candidates, Predicate, QuantityOrder, Retriever, ScoredTerm, TermField,
};
use forecourt_understanding::{Filter, SortOrder};
use forecourt_vocabulary::Vocabulary;
use parking_lot::Mutex;
use tantivy::Term;

use super::engine_options::EngineOptions;
use super::views::{Views, is_fresh};
use crate::analysis::{LanguageAnalyzer, whole_fact};
use crate::error::{Error, Result};
use crate::facts::{LAST_DAY, SOLD_OUT};
use crate::index::{Overview, Reading, Snapshot, Statistics, Summary, number_key};
use crate::limits::PROFILE_SECONDS;
use crate::search::{
    Probe, Query, any_word_predicate, corrections, field_of, limit_predicates, matching_predicate, parts, tongues,
};

/// What is known of all items.
pub(super) struct Profile {
    /// How many there are.
    pub(super) items: u64,
    /// The sample, and what is learnt from it.
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) summary: Summary,
    overview: Overview,
}

/// The engine, and what is kept of its answers for a moment.
pub(super) struct Remote {
    options: EngineOptions,
    vocabulary: Arc<Vocabulary>,
    pub(super) tongue: LanguageAnalyzer,
    profile: Mutex<Option<(Timestamp, Arc<Profile>)>>,
    views: Views,
}

impl Remote {
    pub(super) fn new(options: EngineOptions, vocabulary: Arc<Vocabulary>, tongue: LanguageAnalyzer) -> Self {
        Self { options, vocabulary, tongue, profile: Mutex::default(), views: Views::default() }
    }

    pub(super) fn retriever(&self) -> &dyn Retriever {
        &*self.options.retriever
    }

    /// What tells the engine from others.
    pub(super) fn place(&self) -> &str {
        &self.options.place
    }

    /// What runs said of all items, of whichever node.
    pub(super) fn summary(&self) -> Result<Summary> {
        Ok(Summary::read(self.retriever().summary()?.as_deref()))
    }

    /// Forgets what was looked at: something was written.
    pub(super) fn forget(&self) {
        *self.profile.lock() = None;
        self.views.clear();
    }

    /// What is known of all items, if it was looked up before. Asks nobody.
    pub(super) fn known_profile(&self) -> Option<Arc<Profile>> {
        self.profile.lock().as_ref().map(|(_, profile)| profile.clone())
    }

    /// What is known of all items: at most [`PROFILE_SECONDS`] old.
    pub(super) fn profile(&self) -> Result<Arc<Profile>> {
        let now = self.options.clock.now();
        if let Some((taken, profile)) = &*self.profile.lock()
            && is_fresh(*taken, now, PROFILE_SECONDS)
        {
            return Ok(profile.clone());
        }
        // The lock is not held while the engine is asked: two that ask at once find the same.
        let profile = Arc::new(self.taken_profile(now)?);
        *self.profile.lock() = Some((now, profile.clone()));
        Ok(profile)
    }

    fn taken_profile(&self, now: Timestamp) -> Result<Profile> {
        let (summary, items) = (self.summary()?, self.retriever().items()?);
        let sample = CandidateQuery { most: SAMPLE_ITEMS, ..asked_by(Vec::new(), Predicate::everything()) };
        let found = self.retriever().find(&sample)?.found;
        let statistics = Statistics { documents: items, ..Statistics::default() };
        let overview = Overview::default();
        // Where that can't be counted, such as in time, there may be both: every question is answered all the same.
        let uncounted = |error: &Error| tracing::warn!(%error, "an engine could not count items that end or sell out");
        let last_day = self.last_day(&summary, now).inspect_err(uncounted).unwrap_or(Some(f64::MAX));
        let sells_out = self.sells_out().inspect_err(uncounted).unwrap_or(true);
        let (Ok(()) | Err(_)) = overview.last_day.set(last_day);
        let (Ok(()) | Err(_)) = overview.sells_out.set(sells_out);
        let snapshot = Snapshot::of_candidates(&found, self.reading(), summary.clone(), statistics, overview)?;
        let overview = snapshot.overview();
        Ok(Profile { items, snapshot: Arc::new(snapshot), summary, overview })
    }

    /// A day after all others where some item is not over yet. `None`: no item is ever over, or all of them are.
    fn last_day(&self, summary: &Summary, now: Timestamp) -> Result<Option<f64>> {
        if !summary.numbers.contains(LAST_DAY) {
            return Ok(None);
        }
        let today = (now.as_second() / SECONDS_OF_DAY) as f64;
        let path = number_key(LAST_DAY);
        let is_to_come = Predicate::Within { path, from: Some(today), to: None };
        Ok((self.retriever().count(&is_to_come, 1)? > 0).then_some(f64::MAX))
    }

    fn sells_out(&self) -> Result<bool> {
        Ok(self.retriever().count(&fact(whole_fact(SOLD_OUT, "yes")), 1)? > 0)
    }

    fn reading(&self) -> Reading<'_> {
        Reading { vocabulary: &self.vocabulary, tongue: self.tongue }
    }

    /// The candidates for a query, as they are or were a moment ago.
    pub(super) fn view(&self, query: &Query) -> Result<Arc<Snapshot>> {
        // Pages and details are of one list of candidates.
        let adjustments = Vec::new();
        let query =
            Query { limit: 0, offset: 0, items_only: false, sold_out_later: false, adjustments, ..query.clone() };
        let now = self.options.clock.now();
        if let Some(kept) = self.views.get(&query, now) {
            return Ok(kept);
        }
        let snapshot = Arc::new(self.taken_view(&query)?);
        self.views.put(query, now, snapshot.clone());
        Ok(snapshot)
    }

    fn taken_view(&self, query: &Query) -> Result<Snapshot> {
        let profile = self.profile()?;
        let own = query.tongue(self.tongue);
        let all = tongues(&profile.summary, own);
        let mut probe = Probe::of(&query.text, !query.filters.is_empty(), &all, &self.vocabulary);
        let limits = for_engine(&Predicate::All(limit_predicates(&profile.summary, &query.filters, &all)));
        let mut snapshot = self.candidates(&profile, &probe, &limits)?;
        let corrected = corrections(&snapshot, query, self.tongue)?;
        if !corrected.is_empty() {
            // The engine knows nothing of what misspelled words are read as before it is asked for that.
            probe.correct(&corrected, &all);
            snapshot = self.candidates(&profile, &probe, &limits)?;
        }
        let Some(order) = &query.order else { return Ok(snapshot) };
        let mut found =
            self.in_order(order, &for_engine(&matching_predicate(&snapshot, &query.text, &query.filters)))?;
        if found.is_empty() && !probe.is_empty() {
            found = self.in_order(order, &for_engine(&any_word_predicate(&snapshot, query, self.tongue)?))?;
        }
        let statistics = snapshot.statistics().cloned().unwrap_or_default();
        self.snapshot(&profile, found, statistics)
    }

    /// The first documents that pass a test in an order, by each of its properties.
    fn in_order(&self, order: &SortOrder, limits: &Predicate) -> Result<Vec<Candidate>> {
        // No more of them together than are asked for by words: each is analysed.
        let most = (self.options.candidates / order.fields.len().max(1)).max(CANDIDATES_MIN);
        let mut found = Vec::new();
        for field in &order.fields {
            let by = QuantityOrder { path: number_key(field), descending: order.descending };
            let asked = CandidateQuery { order: Some(by), most, ..asked_by(Vec::new(), limits.clone()) };
            found.extend(self.retriever().find(&asked)?.found);
        }
        Ok(found)
    }

    /// The candidates for some words within limits.
    fn candidates(&self, profile: &Profile, probe: &Probe, limits: &Predicate) -> Result<Snapshot> {
        let terms = probe.terms();
        let Candidates { mut found, frequencies } =
            self.retriever().find(&self.asked(terms.clone(), limits.clone()))?;
        let frequency = |stem: &str| {
            let is_it = |term: &ScoredTerm| term.field == TermField::Words && term.term == stem;
            terms.iter().zip(&frequencies).find(|(term, _)| is_it(term)).map(|(_, items)| *items)
        };
        let has_none = found.is_empty();
        let mut almost = probe.unknown(frequency);
        almost.truncate(ALMOST_MAX);
        if !almost.is_empty() {
            // Two words without their space are as likely as a typing error.
            let parts = parts(&almost);
            let asked = CandidateQuery { almost, most: ALMOST_CANDIDATES, ..asked_by(parts, limits.clone()) };
            found.extend(self.retriever().find(&asked)?.found);
        }
        // Words that ask for nothing in particular are let go of where nothing has them within the limits.
        if has_none && !probe.is_empty() && *limits != Predicate::everything() {
            found.extend(self.retriever().find(&self.asked(Vec::new(), limits.clone()))?.found);
        }
        let mut statistics = statistics(profile, &terms, &frequencies);
        // By the candidates alone, a word that they were not asked for would be misspelled.
        let left_out = probe.left_out();
        statistics.frequencies.extend(left_out.iter().map(|term| (term_of(profile, term), 1)));
        self.snapshot(profile, found, statistics)
    }

    pub(super) fn snapshot(
        &self,
        profile: &Profile,
        mut found: Vec<Candidate>,
        statistics: Statistics,
    ) -> Result<Snapshot> {
        let mut seen = HashSet::new();
        found.retain(|candidate| seen.insert(candidate.entry.key));
        Snapshot::of_candidates(&found, self.reading(), profile.summary.clone(), statistics, profile.overview.clone())
    }

    fn asked(&self, terms: Vec<ScoredTerm>, limits: Predicate) -> CandidateQuery {
        CandidateQuery { most: self.options.candidates, ..asked_by(terms, limits) }
    }

    /// How many items have all words of a text, pass these filters and these tests, at most `most`.
    pub(super) fn count_matching(
        &self,
        snapshot: &Snapshot,
        text: &str,
        filters: &[Filter],
        tests: &[Predicate],
        most: usize,
    ) -> Result<usize> {
        let matching = matching_predicate(snapshot, text, filters);
        let all = std::iter::once(matching).chain(tests.iter().cloned()).collect();
        Ok(self.retriever().count(&for_engine(&Predicate::All(all)), most)? as usize)
    }

    /// How many items have a word of a query and pass its filters, at most `most`. `snapshot` has the candidates for it.
    pub(super) fn count_found(&self, snapshot: &Snapshot, query: &Query, most: usize) -> Result<usize> {
        let found = any_word_predicate(snapshot, query, self.tongue)?;
        Ok(self.retriever().count(&for_engine(&found), most)? as usize)
    }

    /// Whether some item has a fact that begins so.
    pub(super) fn has_fact_beginning(&self, beginning: String) -> Result<bool> {
        Ok(self.retriever().count(&Predicate::FactBegins(beginning), 1)? > 0)
    }
}

const SECONDS_OF_DAY: i64 = 86_400;

fn fact(term: String) -> Predicate {
    Predicate::Term(TermField::Facts, term)
}

pub(super) fn asked_by(terms: Vec<ScoredTerm>, limits: Predicate) -> CandidateQuery {
    CandidateQuery { terms, almost: Vec::new(), limits, order: None, most: 0 }
}

/// The same test with paths of numbers as documents name them.
fn for_engine(predicate: &Predicate) -> Predicate {
    let all = |predicates: &[Predicate]| predicates.iter().map(for_engine).collect();
    match predicate {
        Predicate::All(predicates) => Predicate::All(all(predicates)),
        Predicate::Any(predicates) => Predicate::Any(all(predicates)),
        Predicate::Not(not) => for_engine(not).negated(),
        Predicate::Within { path, from, to } => Predicate::Within { path: number_key(path), from: *from, to: *to },
        other => other.clone(),
    }
}

pub(super) fn statistics(profile: &Profile, terms: &[ScoredTerm], frequencies: &[u64]) -> Statistics {
    let fields = profile.snapshot.fields;
    Statistics {
        documents: profile.items,
        tokens: HashMap::from([(fields.text, profile.summary.words), (fields.pairs, profile.summary.pairs)]),
        frequencies: terms.iter().map(|term| term_of(profile, term)).zip(frequencies.iter().copied()).collect(),
    }
}

fn term_of(profile: &Profile, term: &ScoredTerm) -> Term {
    Term::from_field_text(field_of(&profile.snapshot, term.field), &term.term)
}
