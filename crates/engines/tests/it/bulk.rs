//! Bulk requests to the search API, and what becomes of them when the engine is busy or takes less at once.

use std::sync::atomic::Ordering;

use forecourt_engines::limits::{BULK_ATTEMPTS_MAX, QUESTION_ATTEMPTS_MAX};
use forecourt_retrieval::{Change, EngineDocument, Predicate, RetrievalError, Retriever};
use forecourt_testkit::SearchEngine;

use crate::suite::{document, opensearch};

fn puts(count: u64) -> Vec<Change> {
    (0..count).map(|key| Change::Put(Box::new(document(key, "rain jacket", &[], None)))).collect()
}

#[test]
fn what_was_too_much_is_sent_again_and_nothing_else() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    server.double.busy_requests.store(2, Ordering::SeqCst);
    server.double.busy_items.store(7, Ordering::SeqCst);
    engine.write(&puts(5)).unwrap();
    engine.commit("").unwrap();
    assert_eq!(engine.items().unwrap(), 5);
    // Five that were refused, then two of them again, then none.
    assert_eq!(server.double.bulks.load(Ordering::SeqCst), 3);
}

#[test]
fn a_bulk_request_that_is_too_large_goes_in_halves_and_one_item_that_is_says_so() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    server.double.bulk_bytes_max.store(1_000, Ordering::SeqCst);
    engine.write(&puts(16)).unwrap();
    engine.commit("").unwrap();
    assert_eq!(engine.items().unwrap(), 16);
    let large = EngineDocument { item: "x".repeat(1_000), ..document(99, "a", &[], None) };
    let refused = engine.write(&[Change::Put(Box::new(large))]).unwrap_err();
    assert!(!refused.is_passing() && refused.to_string().contains("http.max_content_length"), "{refused}");
}

#[test]
fn an_engine_that_stays_busy_is_given_up() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    let most = BULK_ATTEMPTS_MAX as usize;
    server.double.busy_requests.store(most - 1, Ordering::SeqCst);
    engine.write(&puts(1)).unwrap();
    server.double.busy_requests.store(most, Ordering::SeqCst);
    let error = engine.write(&puts(1)).unwrap_err();
    assert!(matches!(&error, RetrievalError::Unavailable(why) if why.contains("429")), "{error}");
    assert_eq!(server.double.busy_requests.load(Ordering::SeqCst), 0);
    // Somebody waits for a question: it is not tried as often.
    server.double.busy_requests.store(QUESTION_ATTEMPTS_MAX as usize, Ordering::SeqCst);
    assert!(engine.count(&Predicate::everything(), 1).unwrap_err().is_passing());
    engine.count(&Predicate::everything(), 1).unwrap();
}
