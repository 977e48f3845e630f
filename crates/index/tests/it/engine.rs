//! What is asked of an engine that keeps the items.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use forecourt_engines::OpenSearch;
use forecourt_retrieval::{
    Candidate, CandidateQuery, Candidates, Change, EngineState, Predicate, RetrievalError, Retriever, StoredEntry,
};
use forecourt_testkit::SearchEngine;

use crate::common::{Shelf, opensearch};

fn item(name: &str) -> String {
    format!("{{\"@id\":\"urn:{name}\",\"name\":\"{name}\",\"category\":\"Rainwear\"}}\n")
}

#[test]
fn what_is_typed_is_completed_with_one_look_at_most() {
    let (engine, here) = (SearchEngine::start(), Shelf::new());
    let shelf = Shelf::of_engine(&engine, "items");
    let names = ["Rain jacket", "Rain jackets for men", "Raincoat", "Hat", "Light jacket", "Winter hat"];
    for one in [&shelf, &here] {
        one.put("a.jsonl", &names.map(item).concat());
        one.index();
    }
    let complete = |shelf: &Shelf, typed: &str| {
        let all = shelf.library.complete(typed, 8).unwrap();
        let mut all: Vec<String> = all.into_iter().map(|one| one.text).collect();
        all.sort();
        all
    };
    let searches = || engine.double.searches.load(Ordering::SeqCst);
    for typed in ["jack", "rain jac", "light", "hat", "win", "ja", "h", "nothing", ""] {
        let before = searches();
        assert_eq!(complete(&shelf, typed), complete(&here, typed), "{typed}");
        assert!(searches() <= before + 1, "{typed}");
    }
    assert_eq!(complete(&shelf, "rain ja"), ["Rain jacket", "Rain jackets for men"], "of the sample");
}

/// An engine that counts nothing in time.
struct SlowCounting(OpenSearch);

impl Retriever for SlowCounting {
    fn state(&self) -> Result<EngineState, RetrievalError> {
        self.0.state()
    }

    fn prepare(&self) -> Result<(), RetrievalError> {
        self.0.prepare()
    }

    fn summary(&self) -> Result<Option<String>, RetrievalError> {
        self.0.summary()
    }

    fn items(&self) -> Result<u64, RetrievalError> {
        self.0.items()
    }

    fn entries(&self, after: Option<u64>) -> Result<Vec<StoredEntry>, RetrievalError> {
        self.0.entries(after)
    }

    fn by_key(&self, keys: &[u64]) -> Result<Vec<Candidate>, RetrievalError> {
        self.0.by_key(keys)
    }

    fn write(&self, changes: &[Change]) -> Result<(), RetrievalError> {
        self.0.write(changes)
    }

    fn commit(&self, before: Option<&str>, summary: &str) -> Result<bool, RetrievalError> {
        self.0.commit(before, summary)
    }

    fn find(&self, query: &CandidateQuery) -> Result<Candidates, RetrievalError> {
        self.0.find(query)
    }

    fn count(&self, _limits: &Predicate, _most: usize) -> Result<u64, RetrievalError> {
        Err(RetrievalError::Unavailable("no answer in time".to_owned()))
    }
}

#[test]
fn questions_are_answered_where_nobody_can_count_what_ends_or_sells_out() {
    let engine = SearchEngine::start();
    let counting = opensearch(&engine, "items");
    let place = counting.place();
    let shelf = Shelf::of_retriever(Arc::new(SlowCounting(counting)), place);
    let event = "{\"@type\":\"Event\",\"@id\":\"urn:e\",\"name\":\"Jazz night\",\"startDate\":\"2099-05-01\"}\n";
    shelf.put("a.jsonl", &(event.to_owned() + &item("Rain jacket")));
    shelf.index();
    assert_eq!((shelf.names("jazz"), shelf.names("jacket")), (vec!["Jazz night".into()], vec!["Rain jacket".into()]));
    assert_eq!(shelf.library.last_day(), Some(f64::MAX), "there may be such items");
}
