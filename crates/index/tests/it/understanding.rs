//! Questions as people put them, understood by the words of real recipes, films and things to buy.

use forecourt_core::Language;
use forecourt_index::Query;
use serde_json::json;

use crate::common::{Shelf, data};

/// What each question leaves as words, and the constraints that are found in it.
fn check(shelf: &Shelf, questions: &[(&str, &str, &[&str])]) {
    for (question, left, constraints) in questions {
        let understood = shelf.library.understand(question, &Language::english());
        let words: Vec<&str> = understood.filters.iter().map(|filter| filter.words.as_str()).collect();
        assert_eq!((understood.text.as_str(), words.as_slice()), (*left, *constraints), "{question}");
    }
}

#[test]
fn films_by_sort_time_and_cast() {
    let Some(file) = data("movies/movies.jsonl") else { return };
    let films = std::fs::read_to_string(file).unwrap();
    let of_the_time = |line: &&str| ["\"1984", "\"1993", "\"1998", "\"2003"].iter().any(|year| line.contains(year));
    let shelf = Shelf::new();
    shelf.put("movies.jsonl", &films.lines().filter(of_the_time).collect::<Vec<_>>().join("\n"));
    shelf.index();
    check(
        &shelf,
        &[
            ("comedies from the 90s with Bill Murray", "", &["from the 1990s", "with Bill Murray", "comedy"]),
            ("a comedy starring Bill Murray and Dan Aykroyd", "", &["with Bill Murray", "with Dan Aykroyd", "comedy"]),
            ("horror movies before 1990", "", &["1989 or earlier", "horror", "Movie"]),
            (
                "science fiction films after 2000 about robots",
                "about robots",
                &["2001 or later", "science fiction", "Movie"],
            ),
            ("romantic comedies", "", &["comedy", "romance"]),
            ("documentaries since 1995", "", &["1995 or later", "documentary"]),
            ("thrillers made between 1990 and 1995", "", &["from 1990 to 1995", "thriller"]),
            ("action comedy movies", "", &["comedy", "action", "Movie"]),
            ("films of the eighties", "", &["from the 1980s", "Movie"]),
            ("groundhog day", "groundhog day", &[]),
            ("star wars", "star wars", &[]),
            ("a film about war", "a about war", &["Movie"]),
            ("a dance teacher in a small town", "a dance teacher in a small town", &[]),
            ("Komödien aus den 90ern", "", &["from the 1990s", "comedy"]),
            ("films des années 90 avec Bill Murray", "", &["from the 1990s", "with Bill Murray", "Movie"]),
        ],
    );
    let understood = shelf.library.understand("comedies from the 90s with Bill Murray", &Language::english());
    let hits = shelf.library.search(&Query { filters: understood.filters, ..Query::new(understood.text) }).unwrap();
    assert!(hits.iter().any(|hit| hit.name == "Groundhog Day"), "{hits:?}");
}

#[test]
fn recipes_by_diet_time_and_ingredients() {
    let Some(file) = data("kitchen/recipes.jsonl") else { return };
    let shelf = Shelf::new();
    shelf.index_from(&file);
    let (vegan, vegetarian) = ("vegan", "vegetarian");
    check(
        &shelf,
        &[
            ("vegan desserts under an hour", "desserts", &["1 hour or less", vegan]),
            (
                "something quick with chickpeas, no nuts",
                "something with chickpeas",
                &["30 minutes or less", "no nuts", "with chickpeas"],
            ),
            ("quick vegetarian soup", "soup", &["30 minutes or less", vegetarian]),
            ("dairy-free pancakes", "pancakes", &["no dairy"]),
            ("I'm allergic to peanuts and shellfish: curry", ": curry", &["no peanuts", "no shellfish"]),
            ("dinner for someone who doesn't eat pork", "dinner for someone", &["no pork"]),
            ("bread without yeast", "bread", &["no yeast"]),
            ("soup in Italy", "soup in Italy", &[]),
            ("soup from the 90s", "soup", &[]),
            ("cheap soup", "soup", &[]),
            ("Suppe unter 30 Minuten ohne Nüsse", "Suppe", &["30 minutes or less", "no nuts"]),
            ("soupe végétarienne en moins de 30 minutes", "soupe", &["30 minutes or less", vegetarian]),
            ("sopa sin huevos en menos de 30 minutos", "sopa", &["30 minutes or less", "no eggs"]),
        ],
    );
}

#[test]
fn things_by_price_rating_sort_and_place() {
    let shelf = Shelf::new();
    let thing = |n: u32| {
        let category = if n.is_multiple_of(2) { "Running shoes" } else { "Hats" };
        let country = if n < 10 { "IT" } else { "FR" };
        json!({"@type": "Product", "@id": format!("urn:{n}"), "name": format!("Thing {n}"), "category": category,
            "offers": {"price": n, "priceCurrency": "EUR"}, "aggregateRating": {"ratingValue": f64::from(n % 5) + 1.0},
            "brand": {"name": "Blue Fox"}, "location": {"address": {"addressLocality": "Porto", "addressCountry": country}}})
    };
    let lines: String = (1..=30).map(|n| format!("{}\n", thing(n))).collect();
    shelf.put("things.jsonl", &lines);
    shelf.index();
    check(
        &shelf,
        &[
            ("running shoes under 20 €", "", &["at most 20", "running shoes"]),
            ("cheap hats", "", &["cheap here: at most 10", "hats"]),
            ("hats with at least 4 stars", "", &["rated 4 or better", "hats"]),
            ("highly rated hats", "", &["rated 4 or better", "hats"]),
            ("hats by Blue Fox in Italy", "", &["by Blue Fox", "in Italy", "hats"]),
            ("anything near Porto between 5 and 10 euros", "anything", &["from 5 to 10", "in Porto"]),
            ("a hat for the sun", "a hat for the sun", &[]),
            // All of them say where they are, and none is there.
            ("hats in Atlantis", "", &["in Atlantis", "hats"]),
            ("hats in atlantis", "hats in atlantis", &[]),
        ],
    );
    let italian = shelf.library.named("location", &json!("Italy"), &Language::english());
    let hits = shelf.library.search(&Query { filters: italian, limit: 50, ..Query::default() }).unwrap();
    assert_eq!(hits.len(), 9);
    for (name, value, count) in [
        ("price", json!("less than $20"), 20),
        ("offers.price", json!("between 10 and 20 EUR"), 11),
        ("offers", json!({"price": {"maxValue": 5}}), 5),
        ("rating", json!("at least 4 stars"), 12),
        ("category", json!(["Hats", "Running shoes"]), 30),
        ("brand", json!("blue fox"), 30),
        ("brand", json!({"@type": "Brand", "name": "Blue Fox"}), 30),
        ("itemType", json!("Product"), 30),
        ("itemType", json!("Movie"), 0),
        ("color", json!("blue"), 0),
    ] {
        let filters = shelf.library.named(name, &value, &Language::english());
        let hits = shelf.library.search(&Query { filters, limit: 50, ..Query::default() }).unwrap();
        assert_eq!(hits.len(), count, "{name}: {value}");
    }
}
