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
    assert_eq!(below_floors("cranfield", &set, words, WORDS), None);
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

/// What is asked of words alone on a whole set that is made.
struct WholeSet {
    name: &'static str,
    /// nDCG@10.
    words: f64,
    /// How many questions have what they mean within so many places, at least.
    within: Option<(usize, usize)>,
}

const WHOLE_SETS: &[WholeSet] = &[
    WholeSet { name: "films-sentences", words: 0.530, within: None },
    WholeSet { name: "films-words", words: 0.889, within: None },
    WholeSet { name: "films-facts", words: 0.982, within: None },
    WholeSet { name: "recipes-pantry", words: 0.934, within: None },
    WholeSet { name: "recipes-kinds", words: 0.125, within: None },
    // "ethiopian beverage": what is Ethiopian comes first, and beverages do not.
    WholeSet { name: "films-rare-kinds", words: 0.788, within: Some((1, 86)) },
    WholeSet { name: "recipes-rare-kinds", words: 0.923, within: Some((1, 76)) },
    // Words are found while they are typed.
    WholeSet { name: "films-typed", words: 0.83, within: Some((TOP, 273)) },
    WholeSet { name: "recipes-typed", words: 0.90, within: Some((TOP, 289)) },
];
const WHOLE_ITEMS: usize = 1_500;
const WHOLE_QUESTIONS: usize = 300;

/// nDCG@10 of words alone on the questions about computing.
const WORDS_ON_COMPUTING: f64 = 0.505;

#[test]
fn words_keep_their_floor_on_computing() {
    let Some(folder) = data("judged/cacm") else { return };
    let set = JudgedSet::read(&folder).unwrap();
    let shelf = Shelf::with(Options::default());
    shelf.index_from(&set.corpus);
    assert_eq!(below_floors("cacm", &set, ndcg(&set, &shelf, RankBy::Words), WORDS_ON_COMPUTING), None);
}

/// Each set is indexed once: that is what takes long here.
#[test]
fn whole_sets_keep_their_floors_and_both_are_as_good_as_each() {
    assert!(WHOLE_SETS.iter().map(|whole| whole.name).eq(MADE.iter().map(|made| made.name)), "each has its floor");
    let mut wrong = Vec::new();
    for (made, floors) in MADE.iter().zip(WHOLE_SETS) {
        let folder = tempfile::tempdir().unwrap();
        let Some(items) = data(made.items) else { continue };
        made.write(&items, folder.path(), WHOLE_ITEMS, WHOLE_QUESTIONS).unwrap();
        let set = JudgedSet::read(folder.path()).unwrap();
        let shelf = Shelf::with(Options { model: model(), ..Options::default() });
        shelf.index_from(&set.corpus);
        wrong.extend(wrong_on(&set, &shelf, floors));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is not as it should be.
fn wrong_on(set: &JudgedSet, shelf: &Shelf, floors: &WholeSet) -> Vec<String> {
    let name = floors.name;
    let words = ndcg(set, shelf, RankBy::Words);
    let mut wrong: Vec<String> = below_floors(name, set, words, floors.words).into_iter().collect();
    if let Some((top, least)) = floors.within {
        let (asked, found) = set.found_within(top, |question| ids(shelf, question, RankBy::Words));
        wrong.extend((found < least).then(|| format!("{name}: {found} of {asked} within {top}")));
    }
    if shelf.library.has_model() {
        let [meaning, both] = [RankBy::Meaning, RankBy::Both].map(|by| ndcg(set, shelf, by));
        let is_lost = both < words.max(meaning) - LOST;
        wrong.extend(is_lost.then(|| format!("{name}: {words} by words, {meaning} by meaning, {both} by both")));
    }
    wrong
}

/// Whether words are below their floor, or worse than a plain BM25.
fn below_floors(name: &str, set: &JudgedSet, words: f64, floor: f64) -> Option<String> {
    let plain = PlainBm25::read(&set.corpus).unwrap().score(set).ndcg;
    let is_below = words < floor || words < plain - BELOW_PLAIN;
    is_below.then(|| format!("{name}: {words} by words, {floor} before, {plain} by a plain BM25"))
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
