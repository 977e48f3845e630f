//! Questions with limits, over recipes, films, a shop, events and documents: how many of their limits are
//! understood. Half of the questions were written before the rules were: of their limits, 94.1 % were understood
//! when they were first asked, and then by what was learned from the rest.

use std::collections::BTreeMap;

use forecourt_core::{Language, Timestamp};
use forecourt_index::Query;
use forecourt_understanding::{Filter, ParsedQuestion, Test};
use serde_json::{Value, json};

use crate::common::Shelf;

/// The part of the limits that has to be understood.
const UNDERSTOOD_MIN: f64 = 0.95;
/// Monday, the 23rd of November 2026.
const NOW: &str = "2026-11-23T12:00:00Z";

struct Question<'a> {
    collection: &'a str,
    text: &'a str,
    limits: Vec<&'a str>,
}

fn questions(file: &str) -> Vec<Question<'_>> {
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let [collection, text, limits] = parts[..] else { panic!("`{line}` has three parts") };
            let limits = limits.split(',').map(str::trim).filter(|limit| !limit.is_empty()).collect();
            Question { collection, text, limits }
        })
        .collect()
}

fn shelves() -> BTreeMap<&'static str, Shelf> {
    let all = [("kitchen", kitchen()), ("movies", movies()), ("shop", shop()), ("events", events()), ("docs", docs())];
    let shelf = |items: Vec<Value>| {
        let shelf = Shelf::new();
        shelf.put("items.jsonl", &items.iter().map(|item| format!("{item}\n")).collect::<String>());
        shelf.index();
        shelf
    };
    all.into_iter().map(|(name, items)| (name, shelf(items))).collect()
}

/// Every recipe has each ingredient that the questions name, or another.
fn kitchen() -> Vec<Value> {
    let things = [
        "rice",
        "black beans",
        "garlic",
        "onions",
        "mushrooms",
        "bell peppers",
        "soy sauce",
        "cream",
        "chicken breast",
        "eggs",
        "flour",
        "milk",
        "butter",
        "cheddar cheese",
        "yeast",
        "sugar",
        "walnuts",
        "peanuts",
        "pork chops",
        "shrimp",
        "lentils",
        "tomatoes",
        "cilantro",
        "olive oil",
        "beef",
        "coconut milk",
        "potatoes",
        "chickpeas",
        "ginger",
        "lemon juice",
        "spaghetti",
        "honey",
    ];
    let categories = ["Soup", "Dessert", "Pasta", "Bread", "Salad", "Stew"];
    let recipe = |n: usize| {
        let of = |step: usize| things[(n * 3 + step) % things.len()];
        let ingredients: Vec<String> = (0..3 + n % 6).map(|step| format!("1 cup {}", of(step))).collect();
        json!({"@type": "Recipe", "@id": format!("urn:r{n}"), "name": format!("{} {n}", categories[n % 6]),
            "recipeCategory": categories[n % 6], "recipeIngredient": ingredients, "totalTime": format!("PT{}M", 5 + n * 3),
            "recipeYield": format!("{}", 1 + n % 10), "difficulty": 1 + n % 5,
            "nutrition": {"calories": format!("{} calories", 100 + n * 20)}})
    };
    (0..64).map(recipe).collect()
}

fn movies() -> Vec<Value> {
    let genres = ["Comedy", "Science Fiction", "Drama", "Horror", "War", "Thriller"];
    let titles =
        ["No Country for Old Men", "12 Angry Men", "Sin City", "127 Hours", "The Fast and the Furious", "Star Wars"];
    let movie = |n: usize| {
        let name = titles.get(n).map_or_else(|| format!("Film {n}"), |title| (*title).to_owned());
        json!({"@type": "Movie", "@id": format!("urn:m{n}"), "name": name, "genre": [genres[n % 6]],
            "datePublished": format!("{}", 1975 + n), "duration": format!("PT{}M", 80 + n), "actor": [{"name": "Bill Murray"}],
            "aggregateRating": {"ratingValue": 4.0 + (n % 6) as f64}})
    };
    (0..48).map(movie).collect()
}

fn shop() -> Vec<Value> {
    let names = ["Headphones", "Backpack", "Jacket", "Shoes", "Toy train", "Leather bag"];
    let thing = |n: usize| {
        let stock = ["https://schema.org/InStock", "https://schema.org/OutOfStock"][n % 2];
        json!({"@type": "Product", "@id": format!("urn:p{n}"), "name": format!("{} {n}", names[n % 6]),
            "category": (["Audio", "Bags", "Clothes", "Clothes", "Toys", "Accessories"][n % 6]),
            "offers": {"price": 5 + n * 3, "priceCurrency": "EUR", "availability": stock},
            "aggregateRating": {"ratingValue": 1.0 + (n % 5) as f64}, "color": (["red", "blue", "black"][n % 3]),
            "size": (["S", "M", "L"][n % 3]), "material": (["leather", "cotton"][n % 2]), "suggestedMinAge": 1 + n % 9})
    };
    (0..36).map(thing).collect()
}

fn events() -> Vec<Value> {
    let event = |n: usize| {
        json!({"@type": "Event", "@id": format!("urn:e{n}"), "name": format!("{} {n}", ["Concert", "Workshop"][n % 2]),
            "startDate": format!("2026-{:02}-{:02}T20:00:00", 1 + n % 12, 1 + n % 28),
            "location": {"address": {"addressLocality": (["Berlin", "Hamburg", "Madrid", "Paris"][n % 4])}},
            "offers": {"price": n * 4, "priceCurrency": "EUR"}})
    };
    (0..36).map(event).collect()
}

fn docs() -> Vec<Value> {
    let page = |n: usize| {
        json!({"@type": "TechArticle", "@id": format!("urn:d{n}"), "name": format!("Page {n}"),
            "dateModified": format!("202{}-01-05", n % 7), "articleBody": "How to install it, with docker or without. Retry."})
    };
    (0..12).map(page).collect()
}

/// What was understood, in a form that can be compared.
fn normal(understood: &ParsedQuestion) -> Vec<String> {
    let mut all: Vec<String> = understood.filters.iter().flat_map(normal_filter).collect();
    all.extend(understood.count.map(|count| format!("count:{count}")));
    all.extend(
        understood
            .order
            .as_ref()
            .map(|order| format!("order:{}{}", quantity(&order.fields[0]), if order.descending { '-' } else { '+' })),
    );
    all.extend(understood.not_understood.iter().map(|words| format!("?{}", words.to_lowercase())));
    all
}

fn quantity(path: &str) -> &str {
    match path {
        "totalTime" => "time",
        "duration" => "length",
        "offers.price" => "price",
        "aggregateRating.ratingValue" => "rating",
        "datePublished" | "startDate" | "dateModified" => "date",
        "recipeYield" => "people",
        "recipeIngredient.count" => "parts",
        "nutrition.calories" => "calories",
        "suggestedMinAge" => "age",
        other => other,
    }
}

fn normal_filter(filter: &Filter) -> Vec<String> {
    let field = filter.fields.first().map_or("", |field| quantity(field));
    match &filter.test {
        Test::Within { from, to } => {
            let end = |end: &Option<f64>| match end {
                Some(days) if field == "date" => day(*days),
                // A strict limit lies beyond its end by less than anybody tells apart.
                Some(number) => ((number * 1e4).round() / 1e4).to_string(),
                None => String::new(),
            };
            vec![format!("{field}:{}..{}", end(from), end(to))]
        }
        // Days of events, and the ages of those whom something is for.
        Test::Overlaps { from, to, .. } if field == "eventDays.from" => {
            vec![format!("date:{}..{}", from.map(day).unwrap_or_default(), to.map(day).unwrap_or_default())]
        }
        Test::Overlaps { to, .. } => vec![format!("age:..{}", to.map(|to| to.to_string()).unwrap_or_default())],
        Test::Without { words, .. } if words.is_empty() => {
            let words = filter.words.strip_prefix("no ").map(|thing| format!("no:{thing}"));
            vec![words.unwrap_or_else(|| format!("diet:{}", filter.words))]
        }
        Test::Without { words, .. } => vec![format!("no:{}", words[0])],
        Test::Is(value) if field.contains("address") => vec![format!("place:{}", value.to_lowercase())],
        Test::Is(value) if field == "size" => vec![format!("size:{}", value.to_lowercase())],
        Test::Is(value) => vec![format!("is:{}", value.to_lowercase())],
        Test::OneOf(values) if values.iter().any(|value| value == "InStock") => vec!["stock:in".to_owned()],
        Test::OneOf(values) if values.iter().any(|value| value == "OutOfStock") => vec!["stock:out".to_owned()],
        _ => vec![filter.words.replacen("with ", "with:", 1)],
    }
}

fn day(days: f64) -> String {
    let seconds = (days * 86_400.0) as i64;
    Timestamp::from_second(seconds).unwrap().to_string()[..10].to_owned()
}

/// Whether a limit is one of those that were found. `?` stands for any number.
fn is_among(limit: &str, found: &[String]) -> bool {
    if let Some(words) = limit.strip_prefix('?') {
        return found.iter().any(|found| found.strip_prefix('?').is_some_and(|found| found.contains(words)));
    }
    let plain = |text: &str| text.trim_end_matches('s').to_owned();
    match limit.split_once(':') {
        Some((name, value)) if value.contains('?') => found.iter().any(|found| found.starts_with(&format!("{name}:"))),
        _ => found.iter().any(|found| plain(found) == plain(limit)),
    }
}

/// The share of limits that are understood, with every miss printed.
fn share_understood(file: &str) -> f64 {
    let shelves = shelves();
    let now: Timestamp = NOW.parse().unwrap();
    let (mut stated, mut understood, mut wrong) = (0, 0, 0);
    for Question { collection, text, limits } in questions(file) {
        let parsed = shelves[collection].library.understand_at(text, &Language::english(), now);
        let found = normal(&parsed);
        let missed: Vec<&&str> = limits.iter().filter(|limit| !is_among(limit, &found)).collect();
        let is_wanted = |found: &&String| limits.iter().any(|limit| is_among(limit, std::slice::from_ref(*found)));
        // What sort of thing is asked for is no limit that the questions count.
        let extra: Vec<&String> = found.iter().filter(|found| !found.starts_with("is:") && !is_wanted(found)).collect();
        stated += limits.len();
        understood += limits.len() - missed.len();
        wrong += extra.len();
        if !missed.is_empty() || !extra.is_empty() {
            println!("{collection} | {text} | missed {missed:?}, too much {extra:?}, left `{}`", parsed.text);
        }
    }
    let share = f64::from(u32::try_from(understood).unwrap()) / f64::from(u32::try_from(stated).unwrap());
    println!("{understood} of {stated} limits understood ({share:.3}), {wrong} that nobody stated");
    share
}

#[test]
fn limits_of_questions_that_the_rules_were_made_with_are_understood() {
    assert!(share_understood(include_str!("../questions/seen.txt")) >= UNDERSTOOD_MIN);
}

#[test]
fn limits_of_questions_from_before_the_rules_are_understood() {
    assert!(share_understood(include_str!("../questions/unseen.txt")) >= UNDERSTOOD_MIN);
}

#[test]
fn an_address_that_is_one_text_finds_its_town() {
    let shelf = Shelf::new();
    let event = |name: &str, location: Value| json!({"@type": "Event", "name": name, "location": location});
    let items = [
        event("Rock night", json!({"name": "Club X", "address": "Kastanienallee 5, 10435 Berlin"})),
        event("Rock day", json!("Hall Y, Hamburg")),
        event("Rock week", json!({"address": {"addressLocality": "Berlin"}})),
    ];
    shelf.put("a.jsonl", &items.map(|item| item.to_string()).join("\n"));
    shelf.index();
    let found = |question: &str| {
        let parsed = shelf.library.understand(question, &Language::english());
        let query = Query { filters: parsed.filters, ..Query::new(parsed.text) };
        let mut names: Vec<String> = shelf.library.search(&query).unwrap().into_iter().map(|hit| hit.name).collect();
        names.sort();
        names
    };
    assert_eq!(found("rock in Berlin"), ["Rock night", "Rock week"]);
    assert_eq!(found("rock in Hamburg"), ["Rock day"]);
}
