//! Asking the index.

use forecourt_core::findings::LeftOut;
use forecourt_core::{Language, LazyJson, Timestamp};
use forecourt_loaders::item::{SECTION, hash};
use forecourt_understanding::{ClassLimit, Filter, ParsedQuestion, ReadingAids, named, shelf_limit, understand};
use forecourt_vocabulary::WordProposal;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::Library;
use crate::analysis::{LanguageAnalyzer, Words, fact_word};
use crate::error::{Error, Result};
use crate::limits::{ENGINE_COUNTED_MAX, LEFT_OUT_MAX};
use crate::promise::Promise;
use crate::proposals::{UnansweredQuestion, proposals};
use crate::search::{
    Correction, Diagnosis, ExplainedHit, Facets, Hit, Query, RankBy, RankedHits, Scope, WordCoverage, corrections,
    counted_left_out, diagnose, explain, facets, has_property, is_answered, keeps_words, knows_all, left_out,
    names_lacking_kind, nearest, says, says_all, word_coverage,
};

impl Library {
    /// The best items for a query, best first; equal scores in a stable order. Takes processor
    /// time and reads from disk: call it where that is allowed.
    pub fn search(&self, query: &Query) -> Result<Vec<Hit>> {
        self.search_by(query, RankBy::Both)
    }

    /// As [`Library::search`], by words or by meaning alone, so that each can be measured.
    pub fn search_by(&self, query: &Query, by: RankBy) -> Result<Vec<Hit>> {
        let (view, model) = (self.view(query)?, self.model.as_deref());
        RankedHits::of(view, model, query.clone(), by, self.tongue)?.whole()
    }

    /// The same hits, of which each is read when it is asked for.
    pub fn ranked(&self, query: Query) -> Result<RankedHits> {
        RankedHits::of(self.view(&query)?, self.model.as_deref(), query, RankBy::Both, self.tongue)
    }

    /// The best items for a query as [`Library::search`] ranks them, with what their places come from.
    /// Slower than a search.
    pub fn explain(&self, query: &Query) -> Result<Vec<ExplainedHit>> {
        explain(&*self.view(query)?, self.model.as_deref(), query, self.tongue)
    }

    /// What a query comes to for the item with this id, whether it finds it or not. `None`: it is not here, nor among the
    /// candidates that an engine gives for this query.
    pub fn diagnose(&self, query: &Query, id: &str) -> Result<Option<Diagnosis>> {
        diagnose(&*self.view(query)?, self.model.as_deref(), query, hash(&[id.as_bytes()]), self.tongue)
    }

    /// The words of a query that no item has, and what is looked for instead. A word that an item has is never
    /// corrected. Fails when the index cannot be read.
    pub fn corrections(&self, query: &Query) -> Result<Vec<Correction>> {
        corrections(&*self.view(query)?, query, self.tongue)
    }

    /// Whether some item has every word of a text, as it is written.
    pub fn knows_word(&self, text: &str) -> bool {
        self.view(&Query::new(text)).is_ok_and(|view| knows_all(&view, text, self.tongue))
    }

    /// The part of the items that have a word itself, and not only another name of what it names. Where the items are
    /// with an engine, of the sample of them.
    pub fn share_with(&self, word: &str) -> f64 {
        let known = self.known();
        let stems = known
            .summary
            .tongues()
            .chain([self.tongue])
            .filter_map(|tongue| Words::of(word, tongue).get(0).map(str::to_owned));
        let items = stems.map(|stem| known.items_with(&stem)).max().unwrap_or(0);
        items as f64 / known.documents().max(1) as f64
    }

    /// Whether another wording of a question still has the words that it asks by: at least half of those that
    /// items have and that are no stop words. A question without any is kept by every wording.
    pub fn keeps_words(&self, question: &str, wording: &str) -> bool {
        // Candidates for both: a word that only the wording has is known as well.
        let both = Query::new(format!("{question} {wording}"));
        self.view(&both).is_ok_and(|view| keeps_words(&view, question, wording, self.tongue))
    }

    /// Whether a text has all words of another one, in whichever form, in one of the languages of the items.
    pub fn says(&self, text: &str, words: &str) -> bool {
        says(&self.known(), text, words, self.tongue)
    }

    /// Whether some item has every word of a text, or another name of what it names, and passes the limits. Fails when the
    /// index cannot be read.
    pub fn says_all(&self, text: &str, filters: &[Filter]) -> Result<bool> {
        Ok(says_all(&*self.view(&Query::new(text))?, text, filters))
    }

    /// Whether some item has a word of a text, or another name of what it names. With an engine, the candidates for the
    /// whole text are looked at first, which are asked for once for all its words. Fails when the index cannot be read.
    pub fn says_beside(&self, word: &str, text: &str) -> Result<bool> {
        let is_said = says_all(&*self.view(&Query::new(text))?, word, &[]);
        // Candidates for a long text need not have each of its words, though other items do.
        if is_said || !self.is_remote() { Ok(is_said) } else { self.says_all(word, &[]) }
    }

    /// How many items a query finds by words, and, if these are more than `over`, how they differ in some
    /// properties (dot paths). The query's `limit` and `offset` do not matter.
    pub fn facets(&self, query: &Query, fields: &[&str], over: usize) -> Result<Facets> {
        let view = self.view(query)?;
        let mut found = facets(&view, query, fields, over, self.tongue)?;
        if let Some(remote) = &self.remote {
            found.total = found.total.max(remote.count_found(&view, query, ENGINE_COUNTED_MAX)?);
        }
        Ok(found)
    }

    /// Whether one of these hits answers a text, rather than only sharing a word with it.
    pub fn is_answered(&self, text: &str, hits: &[Hit]) -> Result<bool> {
        let ids: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
        let are_things = hits.iter().all(|hit| hit.item.get(SECTION).is_none());
        is_answered(&*self.view(&Query::new(text))?, text, &ids, are_things, self.tongue)
    }

    /// Whether a text names a kind of thing by several words of which the items lack one: a "rocking chair", where there
    /// are chairs.
    pub fn names_lacking_kind(&self, text: &str) -> Result<bool> {
        Ok(names_lacking_kind(&*self.view(&Query::new(text))?, text, self.tongue))
    }

    /// The last day on which some item is not over, in days since 1970. `None`: none of them ever is.
    pub fn last_day(&self) -> Option<f64> {
        self.known().last_day()
    }

    /// Whether some item has a property at this dot path.
    pub fn has_property(&self, path: &str) -> Result<bool> {
        match &self.remote {
            Some(remote) if !self.known().summary.numbers.contains(path) => {
                remote.has_fact_beginning(fact_word(path, ""))
            }
            _ => has_property(&self.known(), path),
        }
    }

    /// A few values of a property that are nearest to one that no item has.
    pub fn nearest_values(&self, path: &str, value: &str) -> Result<Vec<String>> {
        nearest(&*self.view(&Query::default())?, path, value, self.tongue)
    }

    /// The item with this id, as it was loaded, and where it is from.
    pub fn item(&self, id: &str) -> Result<Option<LazyJson>> {
        let key = hash(&[id.as_bytes()]);
        if let Some(remote) = &self.remote {
            let found = remote.retriever().by_key(&[key])?.pop();
            return Ok(found.and_then(|found| LazyJson::from_text(found.item).ok()));
        }
        let snapshot = self.snapshot.load();
        match snapshot.find(key)? {
            Some(address) => Ok(Some(snapshot.stored(address)?.item)),
            None => Ok(None),
        }
    }

    /// The constraints in a question, as far as this index has facts for them, worded in the language of the
    /// answer, and the text that is left. Put both into a [`Query`]. Dates that are told from today are not
    /// understood: [`Library::understand_at`] knows what day it is.
    pub fn understand(&self, text: &str, answer_in: &Language) -> ParsedQuestion {
        understand(text, self.aids(&self.scope(text), answer_in, None))
    }

    /// The same for a question that was put at `now`: "this weekend" is the next one after it, and "open now" is that
    /// minute, by the clocks of [`Library::clock`].
    pub fn understand_at(&self, text: &str, answer_in: &Language, now: Timestamp) -> ParsedQuestion {
        let now = self.clock(now);
        understand(text, self.aids(&self.scope(text), answer_in, Some(now)))
    }

    /// What the clocks show at a moment in the time zone that the library was opened with.
    pub fn clock(&self, now: Timestamp) -> DateTime {
        now.to_zoned(TimeZone::clone(&self.time_zone.load())).datetime()
    }

    /// The limit that an item lies on the shelf that a text names as what is wanted, or is called so. `None`: it names none.
    pub fn shelf_limit(&self, text: &str) -> Option<Filter> {
        let language = Language::parse(self.tongue.code())?;
        shelf_limit(text, self.aids(&self.scope(text), &language, None))
    }

    /// How many items that otherwise fit a query were left out by each of its limits, because they don't state
    /// what it asks about. Limits that every such item states are not among them. Counts end at
    /// [`crate::limits::LEFT_OUT_MAX`].
    pub fn left_out(&self, query: &Query) -> Result<Vec<LeftOut>> {
        let view = self.view(query)?;
        let counted = match &self.remote {
            Some(remote) => counted_left_out(&view, query, |text, filters, tests| {
                remote.count_matching(&view, text, filters, tests, LEFT_OUT_MAX)
            })?,
            None => left_out(&view, query)?,
        };
        Ok(counted.into_iter().map(|(limit, items)| LeftOut { limit, items }).collect())
    }

    /// Whether a word is of the name of a property that items state, in whichever form.
    pub fn names_property(&self, word: &str) -> bool {
        self.known().learnt().names_word(word)
    }

    /// What a text is read with: all items, or the sample of them and the candidates for the text.
    fn scope(&self, text: &str) -> Scope {
        let candidates = self.remote.as_ref().and_then(|remote| {
            let asked = remote.profile().and_then(|_| remote.view(&Query::new(text)));
            // Nothing is read into a question then; the search that follows fails, and says why.
            asked.inspect_err(|error| tracing::warn!(%error, "a question is read without its candidates")).ok()
        });
        Scope { known: self.known(), candidates }
    }

    /// What the vocabulary lacks, by what items state and by questions without a good answer: the words that were
    /// asked for most first, at most [`crate::limits::PROPOSALS_MAX`].
    pub fn word_proposals(&self, unanswered: &[UnansweredQuestion]) -> Result<Vec<WordProposal>> {
        if let Some(remote) = &self.remote {
            remote.profile()?;
        }
        proposals(&self.known(), self.tongue, unanswered, |question| self.view(&Query::new(question)))
    }

    fn aids<'a>(&'a self, known: &'a Scope, answer_in: &'a Language, now: Option<DateTime>) -> ReadingAids<'a> {
        let learnt = known.known.learnt();
        let today = now.map(DateTime::date);
        let minute = now.and_then(|now| u16::try_from(i32::from(now.hour()) * 60 + i32::from(now.minute())).ok());
        let (vocabulary, lexicon) = (&*self.vocabulary, &self.lexicon);
        ReadingAids { known, vocabulary, lexicon, answer_in, learnt, today, minute }
    }

    /// Where an item only promises that it is of none of these classes. `None`: it states what is in it.
    pub fn promise(&self, item: &Value, limits: &[ClassLimit]) -> Option<Promise> {
        let says = item.get("inLanguage").and_then(Value::as_str).map(LanguageAnalyzer::of);
        let mut languages = says.into_iter().chain([self.tongue]).filter(|_| !limits.is_empty());
        languages.find_map(|language| Promise::of(&self.vocabulary, item, limits, language.code()))
    }

    /// The constraints that a caller gives by a name and a value, such as `price` and `"less than $20"`. Empty
    /// when the value says nothing that could be looked for.
    pub fn named(&self, name: &str, value: &Value, answer_in: &Language) -> Vec<Filter> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        named(name, value, self.aids(&self.scope(&text), answer_in, None))
    }

    /// The words of a question that say something, and where a passage, which has a heading and a text, has each.
    pub fn word_coverage(&self, question: &str, heading: &str, text: &str) -> Vec<WordCoverage> {
        let view = self.view(&Query::new(question));
        view.map_or_else(unanswered, |view| word_coverage(&view, self.tongue, question, heading, text))
    }
}

/// Nothing, where an engine gives no answer: the search that is asked for beside it fails, and says why.
fn unanswered<T: Default>(error: Error) -> T {
    tracing::warn!(%error, "an engine gave no answer");
    T::default()
}
