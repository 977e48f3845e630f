//! Bulk requests to the search API, and what becomes of them when the engine is busy or takes less at once.

use std::sync::atomic::Ordering;
use std::time::Instant;

use forecourt_engines::limits::{BULK_ATTEMPTS_MAX, QUESTION_ATTEMPTS_MAX, QUESTION_TIME_MAX};
use forecourt_retrieval::{Change, EngineDocument, Predicate, RetrievalError, Retriever};
use forecourt_testkit::SearchEngine;

use crate::suite::{document, opensearch};

/// Lets everything be found that was written.
fn committed(engine: &dyn Retriever) {
    let before = engine.summary().unwrap();
    assert!(engine.commit(before.as_deref(), "").unwrap());
}

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
    committed(&engine);
    assert_eq!(engine.items().unwrap(), 5);
    // Five that were refused, then two of them again, then none.
    assert_eq!(server.double.bulks.load(Ordering::SeqCst), 3);
}

#[test]
fn a_change_that_is_sent_again_undoes_no_later_one() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    let put = |words: &str| Change::Put(Box::new(document(1, words, &[], None)));
    server.double.busy_items.store(1, Ordering::SeqCst);
    engine.write(&[put("blue jacket"), put("red rain jacket")]).unwrap();
    committed(&engine);
    assert_eq!(engine.by_key(&[1]).unwrap()[0].entry.words, 3);
    server.double.busy_items.store(1, Ordering::SeqCst);
    engine.write(&[put("hat"), Change::Remove(1)]).unwrap();
    committed(&engine);
    assert_eq!(engine.items().unwrap(), 0);
}

#[test]
fn requests_and_what_was_not_taken_of_them_are_attempts_of_one_count() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    server.double.busy_requests.store(BULK_ATTEMPTS_MAX as usize - 1, Ordering::SeqCst);
    server.double.busy_items.store(1, Ordering::SeqCst);
    let error = engine.write(&puts(1)).unwrap_err().to_string();
    assert!(error.contains(&format!("1 changes were not taken in {BULK_ATTEMPTS_MAX} attempts")), "{error}");
}

#[test]
fn a_question_is_not_kept_waiting_for_longer_than_its_deadline() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    server.double.retry_after.store(QUESTION_TIME_MAX.as_secs() as usize, Ordering::SeqCst);
    server.double.busy_requests.store(1, Ordering::SeqCst);
    let begun = Instant::now();
    let error = engine.count(&Predicate::everything(), 1).unwrap_err();
    assert!(matches!(&error, RetrievalError::Unavailable(why) if why.contains("429")), "{error}");
    assert!(begun.elapsed() < QUESTION_TIME_MAX / 2, "at once: {:?}", begun.elapsed());
}

#[test]
fn a_bulk_request_that_is_too_large_goes_in_halves_and_one_item_that_is_says_so() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    server.double.bulk_bytes_max.store(1_000, Ordering::SeqCst);
    engine.write(&puts(16)).unwrap();
    committed(&engine);
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
