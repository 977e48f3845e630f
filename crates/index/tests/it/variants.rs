//! A product in its colours and sizes is one item, and the limits of one question are kept by one of its variants.

use forecourt_core::{Language, Timestamp};
use forecourt_index::limits::HIT_VARIANTS_MAX;
use forecourt_index::{Hit, Query};
use forecourt_understanding::{Filter, SortOrder, Test};
use serde_json::{Value, json};

use crate::common::Shelf;

fn variant(color: &str, size: &str, price: &str, stock: &str) -> Value {
    json!({"@type": "Product", "color": color, "size": size, "sku": format!("{color}-{size}"),
        "url": format!("https://s.example/{color}/{size}"), "image": format!("https://s.example/{color}.jpg"),
        "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": format!("https://schema.org/{stock}")}})
}

fn shop() -> Shelf {
    let shoe = json!({"@type": "ProductGroup", "@id": "shoe", "name": "Trail shoe", "url": "https://s.example/shoe",
        "image": "https://s.example/shoe.jpg", "hasVariant": [
            variant("red", "43", "80.00", "InStock"), variant("red", "42", "50.00", "InStock"),
            variant("blue", "43", "55.00", "OutOfStock"), variant("blue", "44", "60.00", "InStock")]});
    let boot = json!({"@type": "ProductGroup", "@id": "boot", "name": "Trail boot", "color": "red", "hasVariant": [
            variant("green", "43", "40.00", "InStock"), {"size": "45", "offers": {"price": "45.00"}}]});
    let sock = json!({"@type": "Product", "@id": "sock", "name": "Trail sock", "color": "red", "size": "43",
        "offers": {"price": "9.00", "priceCurrency": "EUR"}});
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &format!("{shoe}\n{boot}\n{sock}\n"));
    shelf.index();
    shelf
}

fn under(price: f64) -> Filter {
    let test = Test::Within { from: None, to: Some(price) };
    Filter { fields: vec!["offers.price".to_owned()], test, words: format!("under {price}") }
}

fn found(shelf: &Shelf, filters: Vec<Filter>) -> Vec<Hit> {
    let mut hits = shelf.library.search(&Query { filters, limit: 10, ..Query::default() }).unwrap();
    hits.sort_by(|one, other| one.id.cmp(&other.id));
    hits
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.id.as_str()).collect()
}

#[test]
fn several_limits_are_kept_by_one_variant() {
    let shelf = shop();
    let (red, blue) = (|| Filter::is("color", "red"), || Filter::is("color", "blue"));
    let size = |size: &str| Filter::mentions("size", size);
    assert_eq!(ids(&found(&shelf, vec![red(), size("43")])), ["shoe", "sock"]);
    assert_eq!(ids(&found(&shelf, vec![red(), size("43"), under(60.0)])), ["sock"], "red in 43 costs 80");
    assert_eq!(ids(&found(&shelf, vec![red(), size("44")])), Vec::<&str>::new());
    assert_eq!(ids(&found(&shelf, vec![blue(), under(59.0)])), ["shoe"]);
    let in_stock = || Filter::is("offers.availability", "InStock");
    assert!(found(&shelf, vec![blue(), under(59.0), in_stock()]).is_empty(), "the blue one for 55 is sold out");
    assert_eq!(ids(&found(&shelf, vec![red(), size("45")])), ["boot"], "what a variant leaves open, its group says");
    assert_eq!(ids(&found(&shelf, vec![Filter::is("color", "green"), size("45")])), Vec::<&str>::new());
    assert_eq!(found(&shelf, vec![size("43")]).len(), 3, "one limit alone is kept by any");
}

#[test]
fn the_card_is_that_of_the_variant_that_was_asked_for() {
    let shelf = shop();
    let hits = found(&shelf, vec![Filter::is("color", "blue"), Filter::mentions("size", "44")]);
    let [shoe] = hits.as_slice() else { panic!("{hits:?}") };
    assert_eq!((shoe.name.as_str(), shoe.url.as_deref()), ("Trail shoe", Some("https://s.example/blue/44")));
    assert_eq!(
        (&shoe.item["offers"]["price"], &shoe.item["image"]),
        (&json!("60.00"), &json!("https://s.example/blue.jpg"))
    );
    assert_eq!((&shoe.item["@type"], &shoe.item["@id"]), (&json!("ProductGroup"), &json!("shoe")));
    assert_eq!(shoe.item["hasVariant"][0]["sku"], "blue-44");
    assert_eq!(shoe.item["hasVariant"].as_array().unwrap().len(), 4);
    assert_eq!(shoe.matched[1].value.as_deref(), Some("44"));
    let by_words = shelf.library.search(&Query::new("blue trail shoe")).unwrap();
    assert_eq!(by_words[0].url.as_deref(), Some("https://s.example/blue/44"), "the one that can be had");
    let any = shelf.library.search(&Query::new("trail shoe")).unwrap();
    let shoe = any.iter().find(|hit| hit.id == "shoe").unwrap();
    assert_eq!((shoe.url.as_deref(), &shoe.item["offers"]["price"]), (Some("https://s.example/shoe"), &json!("50.00")));
    assert_eq!(shoe.item.get("color"), None, "nobody asked for a colour");
}

#[test]
fn what_is_without_something_has_a_variant_without_it() {
    let shelf = shop();
    let without = |color: &str| {
        let parsed = shelf.library.understand(&format!("trail, not {color}"), &Language::english());
        assert!(matches!(parsed.filters[0].test, Test::Without { .. }), "{parsed:?}");
        found(&shelf, parsed.filters)
    };
    let hits = without("blue");
    assert_eq!(ids(&hits), ["boot", "shoe", "sock"]);
    assert_eq!(hits[1].item["color"], "red");
    assert_eq!(ids(&without("red")), ["boot", "shoe"], "a boot in green, a shoe in blue, and no sock");
}

#[test]
fn the_cheapest_is_that_of_the_variants_that_fit() {
    let shelf = shop();
    let order = SortOrder { fields: vec!["offers.price".to_owned()], descending: false, words: String::new() };
    let query =
        Query { filters: vec![Filter::mentions("size", "43")], order: Some(order), limit: 10, ..Query::default() };
    let hits = shelf.library.search(&query).unwrap();
    assert_eq!(ids(&hits), ["sock", "boot", "shoe"]);
    assert_eq!(hits[2].item["offers"]["price"], "80.00", "the blue one can't be had");
}

#[test]
fn a_thousand_variants_are_one_hit_that_tells_some() {
    let shelf = Shelf::new();
    let variants: Vec<Value> =
        (0..1_000).map(|n| variant(&format!("c{}", n % 10), &format!("s{n}"), "5", "InStock")).collect();
    shelf.put("a.jsonl", &json!({"@id": "tile", "name": "Tile", "hasVariant": variants}).to_string());
    shelf.index();
    let hits = found(&shelf, vec![Filter::is("size", "s777"), Filter::is("color", "c7")]);
    assert_eq!(hits[0].item["sku"], "c7-s777");
    assert_eq!(hits[0].item["hasVariant"].as_array().unwrap().len(), HIT_VARIANTS_MAX);
    assert_eq!(hits[0].item["forecourt:variants"], 1_000);
    assert!(found(&shelf, vec![Filter::is("size", "s777"), Filter::is("color", "c8")]).is_empty());
}

#[test]
fn a_sale_ends_by_itself() {
    let shelf = Shelf::new();
    let sale = json!({"price": "15.00", "priceType": "https://schema.org/SalePrice", "validThrough": "2026-11-30"});
    let lamp = json!({"@id": "lamp", "name": "Lamp", "offers": {"price": "20.00", "priceSpecification": [sale]}});
    shelf.put("a.jsonl", &lamp.to_string());
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let (during, after) = (at("2026-11-30T12:00:00Z"), at("2026-12-01T00:00:00Z"));
    shelf.library.set_time(during);
    shelf.index();
    assert_eq!(ids(&found(&shelf, vec![under(16.0)])), ["lamp"]);
    assert!(!shelf.library.has_other_prices(during) && shelf.library.has_other_prices(after));
    shelf.library.set_time(after);
    assert_eq!(shelf.index().updated, 1);
    assert!(found(&shelf, vec![under(16.0)]).is_empty(), "the price before the sale is a limit that it breaks");
    assert!(!shelf.library.has_other_prices(at("2036-01-01T00:00:00Z")));
    assert_eq!(shelf.index().unchanged, 1);
}
