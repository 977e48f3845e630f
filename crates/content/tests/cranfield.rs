//! Retrieval against graded human judgements: 1,400 abstracts, 225 questions. The bounds are a little
//! under what was last measured, so that a change that ranks worse is noticed.

mod common;

use common::{Shelf, data, model};
use forecourt_content::{By, Options, Query};
use forecourt_testkit::judged::{Judged, TOP};

/// nDCG@10 that words alone reach.
const WORDS: f64 = 0.38;
/// The same for words and meaning.
const BOTH: f64 = 0.39;

#[test]
fn words_alone_stay_as_good() {
    let Some((set, shelf)) = loaded(Options::default()) else { return };
    let words = ndcg(&set, &shelf, By::Words);
    assert!(words >= WORDS, "{words}");
    assert!(shelf.library.search_by(&Query::new("wing"), By::Meaning).unwrap().is_empty(), "there is no model");
}

#[test]
fn words_and_meaning_beat_each_alone() {
    let Some(model) = model() else { return };
    let Some((set, shelf)) = loaded(Options { model: Some(model), ..Options::default() }) else { return };
    let [words, meaning, both] = [By::Words, By::Meaning, By::Both].map(|by| ndcg(&set, &shelf, by));
    assert!(both >= BOTH, "{both}");
    assert!(both >= words.max(meaning), "{words} by words, {meaning} by meaning, {both} by both");
}

fn loaded(options: Options) -> Option<(Judged, Shelf)> {
    let set = Judged::read(&data("judged/cranfield")?).unwrap();
    let shelf = Shelf::with(options);
    shelf.index_from(&set.corpus);
    Some((set, shelf))
}

fn ndcg(set: &Judged, shelf: &Shelf, by: By) -> f64 {
    let scores = set.score(|question| {
        let hits = shelf.library.search_by(&Query { limit: TOP, ..Query::new(question) }, by).unwrap();
        hits.iter().filter_map(|hit| hit.item["_id"].as_str()).map(str::to_owned).collect()
    });
    scores.ndcg
}
