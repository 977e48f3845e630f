//! In how many documents each term is, as was counted a moment ago: a question is looked for several times, and questions
//! have words in common.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use forecourt_core::{Clock, Timestamp};
use forecourt_retrieval::{RetrievalError, ScoredTerm, TermField};
use http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::exchange::refused;
use super::query::field;
use crate::limits::{FREQUENCIES_KEPT, FREQUENCY_SECONDS};

/// The numbers of one index.
pub(super) struct Frequencies {
    clock: Arc<dyn Clock>,
    kept: Mutex<KeptFrequencies>,
}

#[derive(Default)]
struct KeptFrequencies {
    /// When the first of them was counted.
    since: Timestamp,
    counts: HashMap<(TermField, String), u64>,
}

impl Frequencies {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, kept: Mutex::default() }
    }

    /// Forgets all: something else is found now.
    pub(super) fn forget(&self) {
        self.kept.lock().counts.clear();
    }

    /// The numbers of these terms, of which `count` finds those that are not remembered, in their order.
    pub(super) async fn of<'a, F: Future<Output = Result<Vec<u64>, RetrievalError>>>(
        &self,
        terms: &'a [ScoredTerm],
        count: impl FnOnce(Vec<&'a ScoredTerm>) -> F,
    ) -> Result<Vec<u64>, RetrievalError> {
        let mut known = self.known(terms);
        let unknown = terms.iter().filter(|term| !known.contains_key(&key(term)));
        let unknown: Vec<&ScoredTerm> = unknown.collect();
        if !unknown.is_empty() {
            let counted = count(unknown.clone()).await?;
            let counted: Vec<_> = unknown.into_iter().map(key).zip(counted).collect();
            self.keep(&counted);
            known.extend(counted);
        }
        Ok(terms.iter().map(|term| known.get(&key(term)).copied().unwrap_or_default()).collect())
    }

    fn known(&self, terms: &[ScoredTerm]) -> HashMap<(TermField, String), u64> {
        let mut kept = self.kept.lock();
        let age = self.clock.now().duration_since(kept.since);
        // A clock that was set back makes them old as well.
        if age.is_negative() || age.as_secs() >= FREQUENCY_SECONDS {
            kept.counts.clear();
        }
        let known = terms.iter().map(key).filter_map(|key| kept.counts.get(&key).map(|count| (key.clone(), *count)));
        known.collect()
    }

    fn keep(&self, counted: &[((TermField, String), u64)]) {
        let mut kept = self.kept.lock();
        if kept.counts.len() + counted.len() > FREQUENCIES_KEPT {
            kept.counts.clear();
        }
        if kept.counts.is_empty() {
            kept.since = self.clock.now();
        }
        // A word that none had is asked for again: it would be taken for misspelled where another node has put one.
        kept.counts.extend(counted.iter().filter(|(_, count)| *count > 0).take(FREQUENCIES_KEPT).cloned());
    }
}

fn key(term: &ScoredTerm) -> (TermField, String) {
    (term.field, term.term.clone())
}

/// Several searches in one request, each of which counts the documents of a term. The index knows that number without
/// looking at them.
pub(super) fn searches(terms: &[&ScoredTerm]) -> Bytes {
    let search = |term: &&ScoredTerm| {
        let query = json!({"term": {field(term.field): {"value": term.term}}});
        format!("{{}}\n{}\n", json!({"size": 0, "track_total_hits": true, "query": query}))
    };
    terms.iter().map(search).collect::<String>().into()
}

/// The numbers in the answer to [`searches`].
pub(super) fn counted(answer: &Value, terms: usize) -> Result<Vec<u64>, RetrievalError> {
    let responses = answer["responses"].as_array().filter(|responses| responses.len() == terms);
    let responses =
        responses.ok_or_else(|| RetrievalError::Unreadable("it answers other searches than were asked".to_owned()))?;
    responses.iter().map(one).collect()
}

fn one(response: &Value) -> Result<u64, RetrievalError> {
    let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    match status.and_then(|status| StatusCode::from_u16(status).ok()) {
        // There is no index yet.
        Some(StatusCode::NOT_FOUND) => return Ok(0),
        Some(status) if !status.is_success() => return Err(refused(status, response)),
        _ => {}
    }
    let count = response["hits"]["total"]["value"].as_u64();
    count.ok_or_else(|| RetrievalError::Unreadable("it counts no documents".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use forecourt_testkit::HandClock;

    use super::*;

    fn term(text: &str) -> ScoredTerm {
        ScoredTerm { field: TermField::Words, term: text.to_owned(), boost: 1.0 }
    }

    /// How many terms had to be counted to know the numbers of some, each of which is its length.
    async fn asked(kept: &Frequencies, terms: &[ScoredTerm]) -> usize {
        let counted = AtomicUsize::new(0);
        let lengths = kept.of(terms, async |unknown: Vec<&ScoredTerm>| {
            counted.fetch_add(unknown.len(), Ordering::SeqCst);
            Ok(unknown.iter().map(|term| term.term.len() as u64).collect())
        });
        let expected: Vec<u64> = terms.iter().map(|term| term.term.len() as u64).collect();
        assert_eq!(lengths.await.unwrap(), expected);
        counted.into_inner()
    }

    #[tokio::test]
    async fn what_was_counted_a_moment_ago_is_not_counted_again() {
        let clock = Arc::new(HandClock::new());
        let kept = Frequencies::new(clock.clone());
        let (some, more) = ([term("a"), term("bb")], [term("bb"), term("ccc"), term("a")]);
        assert_eq!((asked(&kept, &some).await, asked(&kept, &more).await, asked(&kept, &more).await), (2, 1, 0));
        clock.advance(std::time::Duration::from_secs(FREQUENCY_SECONDS as u64 - 1));
        assert_eq!(asked(&kept, &more).await, 0);
        clock.advance(std::time::Duration::from_secs(1));
        assert_eq!(asked(&kept, &more).await, 3);
        kept.forget();
        assert_eq!(asked(&kept, &more).await, 3);
    }

    #[tokio::test]
    async fn so_many_are_kept_and_no_more() {
        let kept = Frequencies::new(Arc::new(HandClock::new()));
        let terms: Vec<ScoredTerm> = (0..FREQUENCIES_KEPT).map(|at| term(&at.to_string())).collect();
        assert_eq!((asked(&kept, &terms).await, asked(&kept, &terms).await), (FREQUENCIES_KEPT, 0));
        assert_eq!((asked(&kept, &[term("one more")]).await, asked(&kept, &[term("0")]).await), (1, 1));
        assert_eq!(kept.kept.lock().counts.len(), 2);
    }

    #[tokio::test]
    async fn what_no_document_has_is_asked_for_again() {
        let kept = Frequencies::new(Arc::new(HandClock::new()));
        let none = [term("")];
        assert_eq!((asked(&kept, &none).await, asked(&kept, &none).await), (1, 1));
    }

    #[test]
    fn every_search_of_one_request_has_its_answer() {
        let answer = json!({"responses": [
            {"status": 200, "hits": {"total": {"value": 7, "relation": "eq"}}},
            {"status": 404, "error": {"reason": "no such index"}},
        ]});
        assert_eq!(counted(&answer, 2).unwrap(), [7, 0]);
        assert!(counted(&answer, 3).is_err());
        let busy = json!({"responses": [{"status": 429, "error": {"reason": "queue is full"}}]});
        assert!(counted(&busy, 1).unwrap_err().is_passing());
        assert!(counted(&json!({"responses": [{"status": 200}]}), 1).is_err());
    }
}
