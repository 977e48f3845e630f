//! Judged sets that are made of plain items: what was taken out of an item is the question, and the
//! item, or every item of which it was true, is the answer. The same in every run.
//!
//! They say less than human judgements do, but they are of other kinds than abstracts are: short
//! questions and long ones, words of the item and words that it lacks, one answer and many.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::broken;
use super::draw::Draw;

/// How one set is made.
#[derive(Debug, Clone, Copy)]
pub struct DerivedSet {
    /// What it is called.
    pub name: &'static str,
    /// The items, a line each: a file below the folder of data.
    pub items: &'static str,
    make: fn(&[Value], &mut Draw) -> Vec<Asked>,
    /// What is taken out of every item.
    hidden: &'static [&'static str],
}

/// All of them.
pub const MADE: &[DerivedSet] = &[
    DerivedSet { name: "films-sentences", items: FILMS, make: sentences, hidden: &[] },
    DerivedSet { name: "films-words", items: FILMS, make: words, hidden: &[] },
    DerivedSet { name: "films-facts", items: FILMS, make: genre_and_actor, hidden: &[] },
    DerivedSet { name: "recipes-pantry", items: RECIPES, make: ingredients, hidden: &[] },
    DerivedSet { name: "recipes-kinds", items: RECIPES, make: kinds, hidden: &["recipeCategory"] },
];

const FILMS: &str = "movies/movies.jsonl";
const RECIPES: &str = "kitchen/recipes.jsonl";

/// A question, the places of the items that answer it, and what is cut out of the first of them.
struct Asked {
    text: String,
    answers: Vec<usize>,
    cut: Option<String>,
}

impl DerivedSet {
    /// Writes the set into a folder: so many items, drawn from those of a file, and at most so many
    /// questions.
    pub fn write(&self, file: &Path, folder: &Path, items: usize, questions: usize) -> io::Result<()> {
        let mut draw = Draw::new();
        let text = fs::read_to_string(file)?;
        let mut lines: Vec<&str> = text.lines().collect();
        draw.first(&mut lines, items);
        let parsed: Result<Vec<Value>, _> = lines.iter().map(|line| serde_json::from_str(line)).collect();
        let mut items = parsed.map_err(|_| broken(self.items, "an item"))?;
        let mut asked = (self.make)(&items, &mut draw);
        draw.first(&mut asked, questions);
        self.cut(&mut items, &asked);
        write(folder, &items, &asked)
    }

    fn cut(&self, items: &mut [Value], asked: &[Asked]) {
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            self.hidden.iter().for_each(|key| drop(item.remove(*key)));
        }
        for Asked { answers, cut, .. } in asked {
            let (Some(cut), Some(answer)) = (cut, answers.first()) else { continue };
            let description = text(&items[*answer], "description").replacen(cut.as_str(), "", 1);
            items[*answer]["description"] = json!(description);
        }
    }
}

fn write(folder: &Path, items: &[Value], asked: &[Asked]) -> io::Result<()> {
    let mut corpus = String::new();
    for (item, at) in items.iter().zip(0..) {
        let mut item = item.clone();
        item["_id"] = json!(format!("i{at}"));
        let _ = writeln!(corpus, "{item}");
    }
    let (mut queries, mut grades) = (String::new(), "query-id\tcorpus-id\tscore\n".to_owned());
    for (Asked { text, answers, .. }, at) in asked.iter().zip(0..) {
        let _ = writeln!(queries, "{}", json!({"_id": format!("q{at}"), "text": text}));
        for answer in answers {
            let _ = writeln!(grades, "q{at}\ti{answer}\t1");
        }
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("corpus.jsonl"), corpus)?;
    fs::write(folder.join("queries.jsonl"), queries)?;
    fs::write(folder.join("qrels.tsv"), grades)
}

/// A sentence that the item no longer has (an inverse cloze, Lee et al. 2019): a long question whose
/// words are only partly the item's.
fn sentences(items: &[Value], draw: &mut Draw) -> Vec<Asked> {
    let ask = |(item, at): (&Value, usize)| {
        let all: Vec<&str> = text(item, "description").split_inclusive(". ").collect();
        let long = all.iter().skip(1).filter(|sentence| (60..300).contains(&sentence.len()));
        let cut = *draw.one(&long.copied().collect::<Vec<_>>())?;
        Some(Asked { text: cut.trim().to_owned(), answers: vec![at], cut: Some(cut.to_owned()) })
    };
    items.iter().zip(0..).filter_map(ask).collect()
}

/// Four words of the item's prose: what somebody remembers of it.
fn words(items: &[Value], draw: &mut Draw) -> Vec<Asked> {
    let ask = |(item, at): (&Value, usize)| {
        let name = text(item, "name").to_lowercase();
        let wanted =
            |word: &&str| word.len() > 4 && word.bytes().all(|b| b.is_ascii_lowercase()) && !name.contains(*word);
        let mut words: Vec<&str> = text(item, "description").split_whitespace().filter(wanted).collect();
        draw.first(&mut words, 4);
        (words.len() == 4).then(|| Asked { text: words.join(" "), answers: vec![at], cut: None })
    };
    items.iter().zip(0..).filter_map(ask).collect()
}

/// "comedy with Leslie Nielsen": all films of which both is true.
fn genre_and_actor(items: &[Value], _: &mut Draw) -> Vec<Asked> {
    let mut films: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (item, at) in items.iter().zip(0..) {
        let genres = item["genre"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let actors = item["actor"].as_array().into_iter().flatten().map(|actor| text(actor, "name"));
        for (genre, actor) in genres.flat_map(|genre| actors.clone().map(move |actor| (genre, actor))) {
            films.entry(format!("{} with {actor}", genre.to_lowercase())).or_default().push(at);
        }
    }
    films
        .into_iter()
        .filter(|(_, films)| films.len() > 1)
        .map(|(text, answers)| Asked { text, answers, cut: None })
        .collect()
}

/// Three things that are in the house: one of the dishes that they are good for.
fn ingredients(items: &[Value], draw: &mut Draw) -> Vec<Asked> {
    let ask = |(item, at): (&Value, usize)| {
        let lines = item["recipeIngredient"].as_array()?.iter().filter_map(Value::as_str);
        let last = |line: &str| {
            let plain = line.split(['(', ',']).next().unwrap_or_default();
            plain
                .split_whitespace()
                .last()
                .filter(|word| word.len() > 2 && word.bytes().all(|b| b.is_ascii_alphabetic()))
                .map(str::to_lowercase)
        };
        let things: BTreeSet<String> = lines.filter_map(last).collect();
        let mut things: Vec<String> = things.into_iter().collect();
        draw.first(&mut things, 3);
        let kind = text(item, "recipeCategory").to_lowercase();
        let asked = format!("{kind} with {}", things.join(", "));
        (things.len() == 3 && !kind.is_empty()).then(|| Asked { text: asked, answers: vec![at], cut: None })
    };
    items.iter().zip(0..).filter_map(ask).collect()
}

/// A kind of dish, which no item says any more: all dishes of that kind.
fn kinds(items: &[Value], _: &mut Draw) -> Vec<Asked> {
    let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (item, at) in items.iter().zip(0..) {
        kinds.entry(text(item, "recipeCategory")).or_default().push(at);
    }
    let asked = kinds.into_iter().filter(|(kind, dishes)| !kind.is_empty() && dishes.len() > 2);
    asked
        .map(|(kind, answers)| Asked { text: format!("{} recipes", kind.to_lowercase()), answers, cut: None })
        .collect()
}

fn text<'i>(item: &'i Value, key: &str) -> &'i str {
    item[key].as_str().unwrap_or_default()
}
