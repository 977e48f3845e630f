//! Questions to real recipes and films.

use forecourt_index::{Hit, Query};
use forecourt_understanding::Filter;

use crate::common::{Shelf, data};

/// Asks as an agent would: understands, then searches.
fn ask(shelf: &Shelf, question: &str, limit: usize) -> Vec<Hit> {
    let understood = shelf.library.understand(question, &forecourt_core::Language::english());
    let query = Query { limit, filters: understood.filters, ..Query::new(understood.text) };
    let hits = shelf.library.search(&query).unwrap();
    println!("{question} -> {:?}", hits.iter().map(|hit| (&hit.name, hit.score)).take(10).collect::<Vec<_>>());
    hits
}

fn ingredients(hit: &Hit) -> String {
    hit.item["recipeIngredient"].to_string().to_lowercase()
}

#[test]
fn a_cook_gets_what_she_asked_for() {
    let Some(file) = data("kitchen/recipes.jsonl") else { return };
    let shelf = Shelf::new();
    let report = shelf.index_from(&file);
    assert!(report.loaded > 0 && report.skipped == 0, "{:?}", report.reasons);
    let hits = ask(&shelf, "something quick with chickpeas, no nuts", 10);
    assert!(!hits.is_empty());
    for hit in &hits {
        assert!(!ingredients(hit).contains("almond") && !ingredients(hit).contains("walnut"), "{}", hit.name);
        let quick = &hit.matched[0];
        assert_eq!(quick.constraint, "30 minutes or less");
        assert_eq!(quick.field.as_deref(), Some("totalTime"));
        assert_eq!(hit.matched[1].constraint, "no nuts");
        assert!(hit.url.as_deref().is_some_and(|url| url.starts_with("https://en.wikibooks.org/")));
    }
    assert!(ingredients(&hits[0]).contains("chickpea") || hits[0].name.to_lowercase().contains("chickpea"));
    assert!(ask(&shelf, "chicken tikka masala", 3)[0].name.to_lowercase().contains("tikka masala"));
    assert!(ask(&shelf, "creme brulee", 3)[0].name.to_lowercase().contains("brûlée"));
    let vegetarian = ask(&shelf, "vegetarian curry", 20);
    assert!(!vegetarian.is_empty() && vegetarian.iter().all(|hit| !ingredients(hit).contains("chicken")));
}

#[test]
fn films_are_found_by_year_cast_and_plot() {
    let Some(file) = data("movies/movies.jsonl") else { return };
    let films = std::fs::read_to_string(file).unwrap();
    let of_the_time = |line: &&str| ["\"198", "\"1991", "\"1993", "\"1994"].iter().any(|year| line.contains(year));
    let shelf = Shelf::new();
    shelf.put("movies.jsonl", &films.lines().filter(of_the_time).collect::<Vec<_>>().join("\n"));
    shelf.index();
    for hit in ask(&shelf, "science fiction movies from the 90s about dinosaurs", 10) {
        assert!(hit.item["datePublished"].as_str().unwrap().starts_with("199"), "{}", hit.name);
        assert_eq!(hit.matched[0].constraint, "from the 1990s");
    }
    assert_eq!(ask(&shelf, "jurassic park", 1)[0].name, "Jurassic Park");
    let query =
        Query { filters: vec![Filter::mentions("actor.name", "Leslie Nielsen")], ..Query::new("police parody") };
    let hits = shelf.library.search(&query).unwrap();
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.item["actor"].to_string().contains("Nielsen")));
    assert!(hits.iter().all(|hit| hit.matched[0].value.as_deref().is_some_and(|value| value.contains("Nielsen"))));
    assert!(!hits[0].snippet.is_empty());
}
