//! Every engine answers alike.

use std::sync::atomic::Ordering;

use forecourt_retrieval::{
    CandidateQuery, Change, EngineDocument, Predicate, QuantityOrder, Retriever as _, ScoredTerm, TermField,
};
use forecourt_testkit::SearchEngine;
use proptest::prelude::*;

use crate::suite::{document, filled, opensearch, running};

fn any() -> CandidateQuery {
    CandidateQuery { terms: Vec::new(), almost: Vec::new(), limits: Predicate::everything(), order: None, most: 10 }
}

fn word(term: &str) -> ScoredTerm {
    ScoredTerm { field: TermField::Words, term: term.to_owned(), boost: 1.0 }
}

fn fact(term: &str) -> Predicate {
    Predicate::Term(TermField::Facts, term.to_owned())
}

fn within(from: Option<f64>, to: Option<f64>) -> Predicate {
    Predicate::Within { path: "offers/price".to_owned(), from, to }
}

fn shop() -> Vec<EngineDocument> {
    vec![
        document(1, "red rain jacket", &["colour=red", "x'y\\z"], Some(50.0)),
        document(2, "blue rain jacket for the rain", &["colour=blue"], Some(80.0)),
        document(u64::MAX, "blue hat", &["colour=blue", "coloured"], None),
        document(4, "a jacket", &[], Some(20.5)),
    ]
}

#[test]
fn the_best_candidates_come_first_within_the_limits() {
    for running in filled(&shop()) {
        let keys = |query: &CandidateQuery| {
            let found = running.engine.find(query).unwrap().found;
            found.into_iter().map(|candidate| candidate.entry.key).collect::<Vec<u64>>()
        };
        let asked = CandidateQuery { terms: vec![word("rain"), word("red")], ..any() };
        assert_eq!(keys(&asked), [1, 2], "{}", running.name);
        assert_eq!(keys(&CandidateQuery { most: 1, ..asked.clone() }), [1], "{}", running.name);
        assert_eq!(keys(&CandidateQuery { limits: fact("colour=blue"), ..asked.clone() }), [2], "{}", running.name);
        assert_eq!(keys(&CandidateQuery { limits: fact("colour=blue").negated(), ..asked }), [1], "{}", running.name);
        assert_eq!(keys(&any()), [1, 2, 4, u64::MAX], "{}: by key, as unsigned numbers", running.name);
        let cheapest = QuantityOrder { path: "offers/price".to_owned(), descending: false };
        let dearest = QuantityOrder { descending: true, ..cheapest.clone() };
        assert_eq!(keys(&CandidateQuery { order: Some(cheapest), ..any() }), [4, 1, 2, u64::MAX], "{}", running.name);
        assert_eq!(keys(&CandidateQuery { order: Some(dearest), ..any() })[..3], [2, 1, 4], "{}", running.name);
        let misspelled = CandidateQuery { almost: vec!["jakcet".to_owned()], limits: fact("colour=red"), ..any() };
        assert_eq!(keys(&misspelled), [1], "{}", running.name);
        assert_eq!(keys(&CandidateQuery { almost: vec!["zzzzzzz".to_owned()], ..any() }), [0; 0], "{}", running.name);
        assert_eq!(keys(&CandidateQuery { terms: vec![word("nobody")], ..any() }), [0; 0], "{}", running.name);
    }
}

#[test]
fn frequencies_are_those_of_all_documents_whatever_the_limits_are() {
    for running in filled(&shop()) {
        let pair = ScoredTerm { field: TermField::Pairs, term: "rain jacket".to_owned(), boost: 0.4 };
        let asked = CandidateQuery {
            terms: vec![word("jacket"), word("hat"), word("no"), pair],
            limits: fact("colour=red"),
            ..any()
        };
        assert_eq!(running.engine.find(&asked).unwrap().frequencies, [3, 1, 0, 2], "{}", running.name);
    }
}

#[test]
fn how_often_a_term_is_was_counted_a_moment_ago() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "items");
    engine.prepare().unwrap();
    let put = |key| Change::Put(Box::new(document(key, "rain jacket", &[], None)));
    let asked = CandidateQuery { terms: vec![word("jacket"), word("rain")], ..any() };
    let frequencies = || engine.find(&asked).unwrap().frequencies;
    for (key, before) in [(1, None), (2, Some("1"))] {
        engine.write(&[put(key)]).unwrap();
        assert!(engine.commit(before, &key.to_string()).unwrap());
        assert_eq!((frequencies(), frequencies()), (vec![key, key], vec![key, key]));
        assert_eq!(server.double.counted.load(Ordering::SeqCst), key as usize, "what was written is counted again");
    }
    assert_eq!(engine.find(&any()).unwrap().frequencies, [0; 0]);
    assert_eq!(server.double.counted.load(Ordering::SeqCst), 2, "nothing to count");
}

#[test]
fn a_candidate_is_what_was_put() {
    for running in filled(&shop()) {
        let all = running.engine.by_key(&[1, 3, u64::MAX]).unwrap();
        let mut keys: Vec<u64> = all.iter().map(|found| found.entry.key).collect();
        keys.sort_unstable();
        assert_eq!(keys, [1, u64::MAX], "{}", running.name);
        let one = all.iter().find(|found| found.entry.key == 1).unwrap();
        let put = &shop()[0];
        assert_eq!((&one.id, &one.item, one.entry), (&put.id, &put.item, put.entry()));
    }
}

#[test]
fn what_is_changed_is_found_after_a_commit_and_what_is_removed_is_not() {
    for running in filled(&shop()) {
        let engine = &running.engine;
        let changed = document(2, "green jacket", &["colour=green"], Some(1.0));
        let put = Change::Put(Box::new(changed.clone()));
        // Of several changes of one document the last counts, and what is not there is removed without a word.
        engine.write(&[put.clone(), Change::Remove(1), Change::Remove(99), Change::Remove(2), put]).unwrap();
        assert!(engine.commit(Some("summary"), "another").unwrap());
        assert_eq!(engine.summary().unwrap().as_deref(), Some("another"), "{}", running.name);
        assert_eq!(engine.items().unwrap(), 3, "{}", running.name);
        let entries = engine.entries(None).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.key).collect::<Vec<_>>(), [2, 4, u64::MAX], "{}", running.name);
        assert_eq!(entries[0], changed.entry());
        assert_eq!(engine.entries(Some(4)).unwrap().len(), 1, "{}", running.name);
        assert_eq!(engine.entries(Some(u64::MAX)).unwrap(), [], "{}", running.name);
        assert_eq!(engine.count(&fact("colour=green"), 10).unwrap(), 1, "{}", running.name);
    }
}

#[test]
fn a_summary_takes_the_place_of_the_one_that_was_looked_at_and_of_no_other() {
    for running in filled(&shop()) {
        let (engine, name) = (&running.engine, running.name);
        assert!(!engine.commit(None, "x").unwrap(), "{name}: there is one");
        assert!(!engine.commit(Some("an older one"), "x").unwrap(), "{name}");
        assert!(engine.commit(Some("summary"), "it's \"another\"\n").unwrap(), "{name}");
        assert!(!engine.commit(Some("summary"), "x").unwrap(), "{name}");
        assert_eq!(engine.summary().unwrap().as_deref(), Some("it's \"another\"\n"), "{name}");
        assert_eq!((engine.items().unwrap(), engine.entries(None).unwrap().len()), (4, 4), "{name}: it is no item");
        let found = engine.find(&CandidateQuery { limits: fact("colour=red").negated(), ..any() }).unwrap().found;
        assert_eq!(found.len(), 3, "{name}");
    }
}

#[test]
fn of_many_that_keep_a_summary_at_once_one_does() {
    for running in filled(&shop()) {
        let keep = |text: String| running.engine.commit(Some("summary"), &text).unwrap();
        let kept: Vec<bool> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|at| scope.spawn(move || keep(format!("by {at}")))).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 1, "{}: {kept:?}", running.name);
    }
}

#[test]
fn before_anything_was_put_there_is_nothing_and_no_error() {
    for running in running() {
        let engine = &running.engine;
        assert_eq!((engine.summary().unwrap(), engine.items().unwrap()), (None, 0), "{}", running.name);
        let found = engine.find(&CandidateQuery { terms: vec![word("x")], ..any() }).unwrap();
        assert_eq!((found.found.len(), found.frequencies), (0, vec![0]), "{}", running.name);
        assert!(
            engine.by_key(&[1]).unwrap().is_empty() && !engine.state().unwrap().name.is_empty(),
            "{}",
            running.name
        );
        engine.prepare().unwrap();
        engine.prepare().unwrap();
        engine.state().unwrap();
        assert_eq!(engine.items().unwrap(), 0, "{}", running.name);
    }
}

#[test]
fn counting_ends_at_the_bound() {
    for running in filled(&shop()) {
        let count = |limits: &Predicate, most| running.engine.count(limits, most).unwrap();
        assert_eq!(
            (count(&Predicate::everything(), 4), count(&Predicate::everything(), 3)),
            (4, 3),
            "{}",
            running.name
        );
        assert_eq!(count(&Predicate::nothing(), 3), 0, "{}", running.name);
    }
}

/// Tests of the documents of the shop, put together at random.
fn predicate() -> impl Strategy<Value = Predicate> {
    let facts = prop::sample::select(vec!["colour=red", "colour=blue", "coloured", "x'y\\z", "none & 'x' | :*", ""]);
    let bounds = prop::sample::select(vec![None, Some(20.5), Some(50.0), Some(79.9)]);
    let leaf = prop_oneof![
        facts.clone().prop_map(fact),
        prop::sample::select(vec!["rain", "jacket", "hat"])
            .prop_map(|term| Predicate::Term(TermField::Words, term.to_owned())),
        prop::sample::select(vec!["colour", "colour=b", "z", "x'"])
            .prop_map(|text| Predicate::FactBegins(text.to_owned())),
        prop::sample::select(vec![1, 4, 9, u64::MAX]).prop_map(Predicate::Key),
        (bounds.clone(), bounds).prop_map(|(from, to)| within(from, to)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Predicate::All),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Predicate::Any),
            inner.prop_map(Predicate::negated),
        ]
    })
}

#[test]
fn a_test_lets_through_what_it_says_in_every_engine() {
    let engines = filled(&shop());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(128));
    let outcome = runner.run(&predicate(), |limits| {
        let expected: Vec<u64> =
            shop().iter().filter(|document| document.passes(&limits)).map(|document| document.key).collect();
        for running in &engines {
            let found = running.engine.find(&CandidateQuery { limits: limits.clone(), ..any() }).unwrap().found;
            let mut keys: Vec<u64> = found.iter().map(|candidate| candidate.entry.key).collect();
            keys.sort_unstable();
            let mut expected = expected.clone();
            expected.sort_unstable();
            prop_assert_eq!(keys, expected, "{}", running.name);
            prop_assert_eq!(running.engine.count(&limits, 10).unwrap(), found.len() as u64, "{}", running.name);
        }
        Ok(())
    });
    outcome.unwrap();
}
