//! Retrieval against judged questions: human judgements of 1,400 abstracts, and sets that are made of
//! films and recipes. The bounds are a little under what was last measured, so that a change that ranks
//! worse is noticed.

use std::path::Path;

use forecourt_index::{Options, Query, RankBy};
use forecourt_testkit::judged::{DerivedSet, JudgedSet, MADE, PlainBm25, TOP};

use crate::common::{Shelf, data, minilm, model};

/// nDCG@10 of words alone on the abstracts.
const WORDS: f64 = 0.36;
/// The same for words and meaning, with a static model.
const BOTH: f64 = 0.365;
/// What one typing error in every question costs of it at most.
const ONE_ERROR: f64 = 0.03;
/// What both may lose against the better one of words and meaning, on sets where that one is far ahead.
const LOST: f64 = 0.03;
/// Of so many questions about the abstracts, one is asked.
const ASKED: usize = 3;
/// Of the sets that are made.
const ITEMS: usize = 300;
const QUESTIONS: usize = 40;
/// Of the set that a sentence transformer reads, which takes long.
const READ_ITEMS: usize = 150;
/// What a sentence transformer adds to words where items don't say what is asked.
const SAID_BY_NO_WORD: f64 = 0.03;

#[test]
fn abstracts_are_found_by_words_with_errors_too_and_better_by_both() {
    let Some(folder) = data("judged/cranfield") else { return };
    let set = JudgedSet::read(&folder).unwrap().every(ASKED);
    let shelf = Shelf::with(Options { model: model(), ..Options::default() });
    shelf.index_from(&set.corpus);
    let [words, meaning, both] = each(&set, &shelf);
    assert!(words >= WORDS, "{words}");
    let wrong = ndcg(&set.misspelled(), &shelf, RankBy::Words);
    assert!(wrong >= words - ONE_ERROR, "{words} without errors, {wrong} with one each");
    if shelf.library.has_model() {
        assert!(both >= BOTH, "{both}");
        assert!(both >= words.max(meaning), "{words} by words, {meaning} by meaning, {both} by both");
    }
}

/// What words alone may lose against a plain BM25: a question's articles and the words around them weigh a little
/// differently, and of forty questions one is 0.025.
const BELOW_PLAIN: f64 = 0.03;

#[test]
fn words_are_no_worse_than_a_plain_bm25() {
    let judged = ["judged/cranfield", "judged/cacm"].into_iter().filter_map(data);
    let judged = judged.map(|folder| (JudgedSet::read(&folder).unwrap(), folder.display().to_string()));
    let made: Vec<(tempfile::TempDir, JudgedSet, String)> = MADE
        .iter()
        .filter_map(|set| {
            let (file, folder) = (data(set.items)?, tempfile::tempdir().unwrap());
            set.write(&file, folder.path(), ITEMS, QUESTIONS).unwrap();
            let judged = JudgedSet::read(folder.path()).unwrap();
            Some((folder, judged, set.name.to_owned()))
        })
        .collect();
    let made = made.iter().map(|(_, set, name)| (set.clone(), name.clone()));
    for (set, name) in judged.chain(made) {
        let plain = PlainBm25::read(&set.corpus).unwrap().score(&set).ndcg;
        let shelf = Shelf::with(Options::default());
        shelf.index_from(&set.corpus);
        let words = ndcg(&set, &shelf, RankBy::Words);
        assert!(words >= plain - BELOW_PLAIN, "{name}: {words} by words, {plain} by a plain BM25");
    }
}

#[test]
fn both_are_as_good_as_each_on_other_sets_too() {
    let Some(model) = model() else { return };
    for made in MADE {
        let Some((set, shelf)) = of_items(made, ITEMS, &model) else { continue };
        let ([words, meaning, both], name) = (each(&set, &shelf), made.name);
        assert!(both >= words.max(meaning) - LOST, "{name}: {words} by words, {meaning} by meaning, {both} by both");
    }
}

/// Kinds of dishes that no recipe names.
#[test]
fn a_sentence_transformer_finds_what_no_word_says() {
    let Some(model) = minilm() else { return };
    let kinds = MADE.iter().find(|made| made.name == "recipes-kinds").unwrap();
    let Some((set, shelf)) = of_items(kinds, READ_ITEMS, &model) else { return };
    let [words, meaning, both] = each(&set, &shelf);
    assert!(both >= words + SAID_BY_NO_WORD, "{words} by words, {meaning} by meaning, {both} by both");
}

/// A set that is made, or a line that says that there is nothing to make it of.
fn of_items(made: &DerivedSet, items: usize, model: &Path) -> Option<(JudgedSet, Shelf)> {
    let folder = tempfile::tempdir().unwrap();
    let file = data(made.items)?;
    made.write(&file, folder.path(), items, QUESTIONS).unwrap();
    let set = JudgedSet::read(folder.path()).unwrap();
    let shelf = Shelf::with(Options { model: Some(model.to_owned()), ..Options::default() });
    shelf.index_from(&set.corpus);
    Some((set, shelf))
}

fn each(set: &JudgedSet, shelf: &Shelf) -> [f64; 3] {
    [RankBy::Words, RankBy::Meaning, RankBy::Both].map(|by| ndcg(set, shelf, by))
}

fn ndcg(set: &JudgedSet, shelf: &Shelf, by: RankBy) -> f64 {
    let scores = set.score(|question| {
        let hits = shelf.library.search_by(&Query { limit: TOP, ..Query::new(question) }, by).unwrap();
        hits.iter().filter_map(|hit| hit.item["_id"].as_str()).map(str::to_owned).collect()
    });
    scores.ndcg
}
