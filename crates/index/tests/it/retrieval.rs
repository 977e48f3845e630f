//! Retrieval against judged questions: human judgements of 1,400 abstracts, and sets that are made of
//! films and recipes. The bounds are a little under what was last measured, so that a change that ranks
//! worse is noticed.

use std::path::Path;

use forecourt_index::{Options, Query, RankBy};
use forecourt_testkit::judged::{DerivedSet, JudgedSet, MADE, PlainBm25, TOP};

use crate::common::{Shelf, data, minilm, model};

/// nDCG@10 of words alone on the abstracts.
const WORDS: f64 = 0.383;
/// The same for words and meaning, with a static model.
const BOTH: f64 = 0.392;
/// What one typing error in every question costs of it at most.
const ONE_ERROR: f64 = 0.03;
/// What both may lose against the better one of words and meaning, on sets where that one is far ahead.
const LOST: f64 = 0.03;
/// Of the set that a sentence transformer reads, which takes long.
const READ_ITEMS: usize = 150;
const READ_QUESTIONS: usize = 40;
/// What a sentence transformer adds to words where items don't say what is asked.
const SAID_BY_NO_WORD: f64 = 0.03;

#[test]
fn abstracts_are_found_by_words_with_errors_too_and_better_by_both() {
    let Some(folder) = data("judged/cranfield") else { return };
    let set = JudgedSet::read(&folder).unwrap();
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

/// What words alone may lose against a plain BM25, on sets whose questions are drawn from what is no name: a name counts
/// more here than it does there.
const BELOW_PLAIN: f64 = 0.012;

/// nDCG@10 of words alone on whole sets: those of human judgements, and those that are made.
const WORDS_OF_WHOLE_SETS: &[(&str, f64)] = &[
    ("judged/cranfield", 0.383),
    ("judged/cacm", 0.505),
    ("films-sentences", 0.530),
    ("films-words", 0.889),
    ("films-facts", 0.982),
    ("recipes-pantry", 0.934),
    ("recipes-kinds", 0.125),
    ("films-rare-kinds", 0.788),
    ("recipes-rare-kinds", 0.923),
    ("films-typed", 0.83),
    ("recipes-typed", 0.90),
];
const WHOLE_ITEMS: usize = 1_500;
const WHOLE_QUESTIONS: usize = 300;

#[test]
fn words_keep_their_floors_on_whole_sets_and_are_no_worse_than_a_plain_bm25() {
    for (name, floor) in WORDS_OF_WHOLE_SETS {
        let Some((_folder, set)) = whole(name) else { continue };
        let plain = PlainBm25::read(&set.corpus).unwrap().score(&set).ndcg;
        let shelf = Shelf::with(Options::default());
        shelf.index_from(&set.corpus);
        let words = ndcg(&set, &shelf, RankBy::Words);
        assert!(words >= *floor, "{name}: {words} by words, {floor} before");
        assert!(words >= plain - BELOW_PLAIN, "{name}: {words} by words, {plain} by a plain BM25");
    }
}

/// A set of human judgements, or one that is made, with all of its questions.
fn whole(name: &str) -> Option<(tempfile::TempDir, JudgedSet)> {
    let folder = tempfile::tempdir().unwrap();
    let Some(made) = MADE.iter().find(|made| made.name == name) else {
        return Some((folder, JudgedSet::read(&data(name)?).unwrap()));
    };
    made.write(&data(made.items)?, folder.path(), WHOLE_ITEMS, WHOLE_QUESTIONS).unwrap();
    let set = JudgedSet::read(folder.path()).unwrap();
    Some((folder, set))
}

/// "ethiopian beverage": what is Ethiopian comes first, and beverages do not.
#[test]
fn kinds_come_after_the_rare_word_and_words_are_found_while_they_are_typed() {
    for (name, top, least) in [
        ("films-rare-kinds", 1, 86),
        ("recipes-rare-kinds", 1, 76),
        ("films-typed", TOP, 273),
        ("recipes-typed", TOP, 289),
    ] {
        let Some((_folder, set)) = whole(name) else { continue };
        let shelf = Shelf::with(Options::default());
        shelf.index_from(&set.corpus);
        let (asked, found) = set.found_within(top, |question| ids(&shelf, question, RankBy::Words));
        assert!(found >= least, "{name}: {found} of {asked} within {top}");
    }
}

#[test]
fn both_are_as_good_as_each_on_whole_sets_too() {
    let Some(model) = model() else { return };
    let mut lost = Vec::new();
    for made in MADE {
        let Some((_folder, set)) = whole(made.name) else { continue };
        let shelf = Shelf::with(Options { model: Some(model.clone()), ..Options::default() });
        shelf.index_from(&set.corpus);
        let ([words, meaning, both], name) = (each(&set, &shelf), made.name);
        if both < words.max(meaning) - LOST {
            lost.push(format!("{name}: {words} by words, {meaning} by meaning, {both} by both"));
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
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
    made.write(&file, folder.path(), items, READ_QUESTIONS).unwrap();
    let set = JudgedSet::read(folder.path()).unwrap();
    let shelf = Shelf::with(Options { model: Some(model.to_owned()), ..Options::default() });
    shelf.index_from(&set.corpus);
    Some((set, shelf))
}

fn each(set: &JudgedSet, shelf: &Shelf) -> [f64; 3] {
    [RankBy::Words, RankBy::Meaning, RankBy::Both].map(|by| ndcg(set, shelf, by))
}

fn ndcg(set: &JudgedSet, shelf: &Shelf, by: RankBy) -> f64 {
    set.score(|question| ids(shelf, question, by)).ndcg
}

/// Ids of what is found first.
fn ids(shelf: &Shelf, question: &str, by: RankBy) -> Vec<String> {
    let hits = shelf.library.search_by(&Query { limit: TOP, ..Query::new(question) }, by).unwrap();
    hits.iter().filter_map(|hit| hit.item["_id"].as_str()).map(str::to_owned).collect()
}
