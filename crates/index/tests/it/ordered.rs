//! Items in the order of a quantity, and those that a limit leaves out because they don't state what it asks for.

use forecourt_core::Language;
use forecourt_index::Query;
use forecourt_understanding::SortOrder;
use serde_json::json;

use crate::common::Shelf;

/// Lamps with prices, some of them without; and things that are no lamps and cost less.
fn shop() -> Shelf {
    let shelf = Shelf::new();
    let lamp = |n: usize| {
        let mut item = json!({"@type": "Product", "@id": format!("urn:lamp{n}"), "name": format!("Red lamp {n}")});
        if !n.is_multiple_of(4) {
            item["offers"] = json!([{"price": 100 - n}, {"price": 200 + n}]);
        }
        item
    };
    let shade = json!({"@type": "Product", "@id": "urn:shade", "name": "Red shade", "offers": {"price": 1}});
    let lines: String = (0..40).map(lamp).chain([shade]).map(|item| format!("{item}\n")).collect();
    shelf.put("lamps.jsonl", &lines);
    shelf.index();
    shelf
}

fn ordered(shelf: &Shelf, text: &str, descending: bool, offset: usize, limit: usize) -> Vec<String> {
    let order = SortOrder { fields: vec!["offers.price".to_owned()], descending, words: String::new() };
    let query = Query { order: Some(order), offset, limit, ..Query::new(text) };
    shelf.library.search(&query).unwrap().into_iter().map(|hit| hit.id).collect()
}

#[test]
fn the_least_and_the_most_come_first_of_what_has_all_words() {
    let shelf = shop();
    assert_eq!(ordered(&shelf, "red lamp", false, 0, 3), ["urn:lamp39", "urn:lamp38", "urn:lamp37"]);
    assert_eq!(ordered(&shelf, "red lamp", true, 0, 2), ["urn:lamp39", "urn:lamp38"], "the dearest offer counts");
    assert_eq!(ordered(&shelf, "red", false, 0, 1), ["urn:shade"]);
    assert_eq!(ordered(&shelf, "", false, 0, 1), ["urn:shade"]);
    let all = ordered(&shelf, "lamp", false, 0, 100);
    assert_eq!(all.len(), 30, "what states no price is left out");
    let pages: Vec<String> = (0..3).flat_map(|page| ordered(&shelf, "lamp", false, page * 10, 10)).collect();
    assert_eq!(pages, all);
}

#[test]
fn what_has_any_word_is_ordered_where_nothing_has_all() {
    let shelf = shop();
    shelf.put("more.jsonl", &format!("{}\n", json!({"@id": "urn:x", "name": "Blue vase", "offers": {"price": 7}})));
    shelf.index();
    assert_eq!(ordered(&shelf, "blue shade", false, 0, 5), ["urn:shade", "urn:x"]);
}

#[test]
fn an_order_of_what_nothing_states_finds_nothing() {
    let shelf = shop();
    let order = SortOrder { fields: vec!["no.such".to_owned()], descending: true, words: String::new() };
    assert!(shelf.library.search(&Query { order: Some(order), ..Query::new("lamp") }).unwrap().is_empty());
}

#[test]
fn items_that_do_not_state_what_a_limit_asks_for_are_counted() {
    let shelf = shop();
    let understood = shelf.library.understand("red lamp under $70", &Language::english());
    let query = Query { filters: understood.filters.clone(), ..Query::new(understood.text) };
    let left_out = shelf.library.left_out(&query).unwrap();
    assert_eq!(left_out.len(), 1);
    assert_eq!((left_out[0].limit.as_str(), left_out[0].items), ("at most 70", 10));
    assert!(shelf.library.left_out(&Query::new("lamp")).unwrap().is_empty());
    let shade = Query { filters: understood.filters, ..Query::new("shade") };
    assert!(shelf.library.left_out(&shade).unwrap().is_empty(), "the shade states its price");
}
