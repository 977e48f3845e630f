//! A shop: ranges to click, orders to choose, and suggestions while somebody types.

use forecourt_agents::BuiltAgent;
use forecourt_core::findings::{ItemOrder, SuggestionKind};
use forecourt_core::reply::collect;
use forecourt_core::{Findings, FindingsDetail, Message, Part, SearchOptions, SearchRefinement};
use serde_json::{Value, json};

use crate::support::{build, in_folder, message, stream};

fn coat(n: usize) -> Value {
    let (color, size) = (["red", "blue"][n % 2], ["S", "M", "L"][n % 3]);
    let category = ["Rain wear", "Town wear"][n % 2];
    json!({"@type": "Product", "@id": format!("coat-{n}"), "name": format!("Rain coat number {n}"), "color": color,
        "size": size, "category": category,
        "aggregateRating": {"ratingValue": 2.0 + (n % 7) as f64 / 2.0},
        "offers": {"price": 10 + 10 * n, "priceCurrency": "EUR"}})
}

fn shop() -> (tempfile::TempDir, BuiltAgent) {
    let hat = json!({"@type": "Product", "@id": "hat", "name": "Crème brûlée hat", "offers": {"price": 5}});
    shop_of((0..12).map(coat).chain([hat]))
}

fn shop_of(items: impl Iterator<Item = Value>) -> (tempfile::TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = items.map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let built = build("[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\n", &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

async fn told(built: &BuiltAgent, text: &str, search: SearchOptions) -> Findings {
    let answer = collect(stream(built, Message { search, ..message(vec![Part::text(text)]) }).await).await;
    *answer.findings.expect("findings are told")
}

fn clicked(exactly: &[(&str, &str)], order: Option<ItemOrder>) -> SearchOptions {
    let exactly = exactly.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
    let narrowing = SearchRefinement { exactly, order, ..SearchRefinement::default() };
    SearchOptions { findings: FindingsDetail::Facets, narrowing, ..SearchOptions::default() }
}

#[tokio::test]
async fn a_shop_is_narrowed_down_by_price_rating_size_and_colour() {
    let (_folder, built) = shop();
    let found = told(&built, "rain coat", clicked(&[], None)).await;
    let labels: Vec<&str> = found.facets.iter().map(|facet| facet.label.as_str()).collect();
    for label in ["price (EUR)", "rating", "size", "color", "category"] {
        assert!(labels.contains(&label), "{label}: {labels:?}");
    }
    let prices = &found.facets.iter().find(|facet| facet.field == "offers.price").unwrap().values;
    for (range, count) in prices {
        let narrowed = told(&built, "rain coat", clicked(&[("offers.price", range)], None)).await;
        assert_eq!(narrowed.total, Some(*count), "{range} of {prices:?}");
    }
    let ratings = &found.facets.iter().find(|facet| facet.label == "rating").unwrap().values;
    for (stars, count) in ratings {
        let narrowed = told(&built, "rain coat", clicked(&[("aggregateRating.ratingValue", stars)], None)).await;
        assert_eq!(narrowed.total, Some(*count), "{stars} of {ratings:?}");
    }
}

#[tokio::test]
async fn a_brand_is_one_property_whether_it_is_a_name_or_has_one() {
    let brands = [json!("Alder"), json!({"name": "Alder"}), json!({"name": "Birk"}), json!("Birk"), json!("Birk")];
    let coats = brands.into_iter().enumerate().map(|(n, brand)| {
        let mut coat = coat(n);
        coat["brand"] = brand;
        coat
    });
    let (_folder, built) = shop_of(coats);
    let found = told(&built, "rain coat", clicked(&[], None)).await;
    let told_as: Vec<_> = found.facets.iter().filter(|facet| facet.label == "brand").collect();
    let [brand] = told_as.as_slice() else { panic!("{told_as:?}") };
    assert_eq!(brand.values, [("Birk".to_owned(), 3), ("Alder".to_owned(), 2)]);
    for field in ["brand", "brand.name"] {
        for (value, count) in &brand.values {
            let narrowed = told(&built, "rain coat", clicked(&[(field, value)], None)).await;
            assert_eq!(narrowed.total, Some(*count), "{field} {value}");
            let left = narrowed.facets.iter().find(|facet| facet.label == "brand").unwrap();
            assert_eq!((left.field.as_str(), left.values.as_slice()), (field, &[(value.clone(), *count)][..]));
        }
    }
}

#[tokio::test]
async fn an_order_is_offered_where_items_state_it_and_holds() {
    let (_folder, built) = shop();
    let found = told(&built, "rain coat", clicked(&[], None)).await;
    assert_eq!(found.orders, [ItemOrder::Cheapest, ItemOrder::Dearest, ItemOrder::BestRated]);
    let first = async |order| {
        let search = clicked(&[], Some(order));
        let answer = collect(stream(&built, Message { search, ..message(vec![Part::text("rain coat")]) }).await).await;
        let names = answer.parts.iter().filter_map(|part| match part {
            Part::Data(data) => data.data["name"].as_str().map(str::to_owned),
            _ => None,
        });
        names.take(2).collect::<Vec<_>>()
    };
    assert_eq!(first(ItemOrder::Cheapest).await, ["Rain coat number 0", "Rain coat number 1"]);
    assert_eq!(first(ItemOrder::Dearest).await, ["Rain coat number 11", "Rain coat number 10"]);
    let newest = told(&built, "rain coat", clicked(&[], Some(ItemOrder::Newest))).await;
    assert_eq!(newest.total, Some(12), "what no item states orders nothing");
}

#[tokio::test]
async fn what_is_typed_is_completed_and_nothing_is_answered() {
    let (_folder, built) = shop();
    let typed = async |text: &str| {
        let found = told(&built, text, SearchOptions { completes: true, ..SearchOptions::default() }).await;
        assert_eq!((found.count, found.summary.as_str()), (0, ""));
        found.suggestions
    };
    let texts = async |text: &str| typed(text).await.into_iter().map(|one| one.text).collect::<Vec<_>>();
    let rain = typed("Ra").await;
    assert_eq!((rain[0].kind, rain[0].text.as_str()), (SuggestionKind::Category, "rain wear"));
    assert_eq!(rain.len(), 8, "{rain:?}");
    assert!(rain[1..].iter().all(|one| one.text.starts_with("Rain coat") && one.kind == SuggestionKind::Item));
    assert_eq!(texts("rain coat number 1").await.len(), 3, "1, 10 and 11");
    assert_eq!(texts("brul").await, ["Crème brûlée hat"], "a word behind the first, without accents");
    assert_eq!(texts("creme bru").await, ["Crème brûlée hat"]);
    assert_eq!(texts("coat rai").await.len(), 8);
    for nothing in ["", "  ", "zzz", "\u{1}", &"r".repeat(200)] {
        assert!(texts(nothing).await.is_empty(), "{nothing}");
    }
}

#[tokio::test]
async fn how_something_is_asked_for_changes_nothing() {
    let bottle = |name: &str| json!({"@type": "Product", "@id": name, "name": name, "offers": {"price": 20}});
    let (_folder, built) =
        shop_of(["Harbour Gin", "Navy Yard Gin", "Old Rum", "Ballyduff Whiskey"].map(bottle).into_iter());
    for asked in [
        "gin",
        "I'm looking for a gin",
        "I am looking for a gin, please",
        "we're looking for some gin",
        "could you find me a gin?",
        "ich suche einen Gin",
        "je cherche un gin",
        "estoy buscando un gin",
    ] {
        let found = told(&built, asked, clicked(&[], None)).await;
        assert_eq!(found.total, Some(2), "{asked}");
    }
}
