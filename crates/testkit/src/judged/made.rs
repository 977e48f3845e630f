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

use super::draw::Draw;
use super::{broken, typing_error};

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
    DerivedSet { name: "films-rare-kinds", items: FILMS, make: rare_and_genre, hidden: &[] },
    DerivedSet { name: "recipes-rare-kinds", items: RECIPES, make: rare_and_category, hidden: &[] },
    DerivedSet { name: "films-typed", items: FILMS, make: typed, hidden: &[] },
    DerivedSet { name: "recipes-typed", items: RECIPES, make: typed, hidden: &[] },
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

fn rare_and_genre(items: &[Value], draw: &mut Draw) -> Vec<Asked> {
    rare_and_kind(items, "genre", draw)
}

fn rare_and_category(items: &[Value], draw: &mut Draw) -> Vec<Asked> {
    rare_and_kind(items, "recipeCategory", draw)
}

/// "ethiopian beverage": an adjective that few items have, and a kind of which none of these is. What has the
/// adjective is meant; what is only of the kind is not.
fn rare_and_kind(items: &[Value], property: &str, draw: &mut Draw) -> Vec<Asked> {
    const RARE_ITEMS: usize = 8;
    const KIND_ITEMS: usize = 8;
    const ENDINGS: &[&str] = &["ian", "ean", "ese", "ish", "ical", "istic"];
    let of_kind = places(items, |item| name_words(&texts(&item[property])));
    let kinds: Vec<&String> = of_kind.iter().filter(|(_, of)| of.len() >= KIND_ITEMS).map(|(kind, _)| kind).collect();
    let rare = places(items, |item| name_words(&item.to_string()));
    let rare = rare.into_iter().filter(|(word, having)| {
        having.len() <= RARE_ITEMS && ENDINGS.iter().any(|ending| word.len() > 5 && word.ends_with(ending))
    });
    let ask = |(word, answers): (String, Vec<usize>)| {
        let is_of = |kind: &&&String| answers.iter().any(|at| of_kind[**kind].contains(at));
        let others: Vec<&&String> = kinds.iter().filter(|kind| !is_of(kind)).collect();
        let kind = draw.one(&others)?;
        Some(Asked { text: format!("{word} {kind}"), answers, cut: None })
    };
    rare.filter_map(ask).collect()
}

/// A word of a name with a typing error, or its first two thirds: all items whose names have the word, or one that
/// begins so.
fn typed(items: &[Value], draw: &mut Draw) -> Vec<Asked> {
    const LETTERS: usize = 6;
    let named = places(items, |item| name_words(text(item, "name")));
    let ask = |((word, places), at): ((&String, &Vec<usize>), usize)| {
        if at % 2 == 0 {
            return Asked { text: typing_error(word, draw), answers: places.clone(), cut: None };
        }
        let begun = &word[..word.len() * 2 / 3];
        let answers = named.iter().filter(|(word, _)| word.starts_with(begun)).flat_map(|(_, places)| places.clone());
        Asked { text: begun.to_owned(), answers: answers.collect::<BTreeSet<_>>().into_iter().collect(), cut: None }
    };
    named.iter().filter(|(word, _)| word.len() >= LETTERS).zip(0..).map(ask).collect()
}

/// Words, and the items in which each is.
fn places(items: &[Value], words: impl Fn(&Value) -> BTreeSet<String>) -> BTreeMap<String, Vec<usize>> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (item, at) in items.iter().zip(0..) {
        words(item).into_iter().for_each(|word| places.entry(word).or_default().push(at));
    }
    places
}

/// The words of English letters alone, in lower case.
fn name_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic())).collect()
}

/// A text, or the texts of a list, with spaces between them.
fn texts(value: &Value) -> String {
    match value {
        Value::Array(values) => values.iter().map(texts).collect::<Vec<_>>().join(" "),
        _ => value.as_str().unwrap_or_default().to_owned(),
    }
}

fn text<'i>(item: &'i Value, key: &str) -> &'i str {
    item[key].as_str().unwrap_or_default()
}
