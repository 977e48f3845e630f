use super::*;
use serde_json::json;

#[test]
fn ranges_in_texts_have_what_lies_in_them_and_pay_is_no_time() {
    let property = |name: &str, value: Value| json!({"@type": "PropertyValue", "name": name, "value": value});
    let timed = json!({"@type": "PropertyValue", "name": "Long", "value": 2, "unitCode": "HUR"});
    let item = json!({
        "telephone": "555-1234",
        "baseSalary": {"value": {"value": 20, "unitText": "HOUR"}},
        "additionalProperty": [property("Players", json!("2-4")), property("Playing time", json!("20 to 30 minutes")),
            property("Years", json!("1900-2000")), timed],
    });
    let mut numbers: Vec<(String, f64)> = Vec::new();
    visit(&item, |fact| numbers.extend(fact.number.map(|number| (fact.path.to_owned(), number))));
    let of = |path: &str| -> Vec<f64> {
        numbers.iter().filter(|(known, _)| known == path).map(|(_, number)| *number).collect()
    };
    assert_eq!(of("additionalProperty.Players"), [2.0, 3.0, 4.0]);
    assert_eq!(of("additionalProperty.Playing time.minute"), [20.0, 30.0]);
    assert_eq!(of("additionalProperty.Years"), [1_900.0, 2_000.0], "a long one has its ends");
    assert_eq!(of("additionalProperty.Long.minute"), [120.0]);
    assert!(of("telephone").is_empty() && of("baseSalary.value.minute").is_empty());
}

#[test]
fn ranges_of_measures_have_their_ends_apart_and_seasons_their_months() {
    let property = |name: &str, value: &str| json!({"@type": "PropertyValue", "name": name, "value": value});
    let item = json!({"additionalProperty": [
        property("Body height", "150–175 cm"), property("Sowing time", "März bis Mai"), property("Season", "all year"),
        property("Colour", "May green"), property("UK sizes", "7, 8, 8.5"), property("Lengths", "150, 200 cm"),
        property("Mondo sizes", "22.5 to 24"), property("Shares", "S, M"), property("Torque", "60 Nm"),
        property("Pack", "12 x 85 g"), property("Motto", "7 is magic"),
        {"name": "Height", "minValue": 30, "maxValue": "40", "unitCode": "CMT"},
        {"name": "Players", "minValue": 2, "maxValue": 4}, {"name": "Depth", "maxValue": 2, "unitText": "m"},
        {"name": "Load", "minValue": "x"}, {"name": "Odd", "minValue": 3, "maxValue": 2},
    ]});
    let mut numbers: Vec<(String, f64)> = Vec::new();
    visit(&item, |fact| numbers.extend(fact.number.map(|number| (fact.path.to_owned(), number))));
    let of = |path: &str| -> Vec<f64> {
        let path = format!("additionalProperty.{path}");
        numbers.iter().filter(|(known, _)| *known == path).map(|(_, number)| *number).collect()
    };
    assert_eq!(of("Body height.metre"), [1.5, 1.75]);
    assert_eq!((of("Body height.metre.rangeFrom"), of("Body height.metre.rangeTo")), (vec![1.5], vec![1.75]));
    assert_eq!((of("Torque.Nm"), of("Motto.is magic")), (vec![60.0], Vec::new()));
    assert_eq!(of("Sowing time.calendarMonth"), [3.0, 4.0, 5.0]);
    assert_eq!(of("Season.calendarMonth").len(), 12);
    assert!(of("Colour.calendarMonth").is_empty());
    assert_eq!((of("UK sizes"), of("Lengths.metre")), (vec![7.0, 8.0, 8.5], vec![1.5, 2.0]));
    assert_eq!(of("Mondo sizes"), [22.5, 24.0]);
    assert_eq!((of("Mondo sizes.rangeFrom"), of("Mondo sizes.rangeTo")), (vec![22.5], vec![24.0]));
    assert!(of("Shares").is_empty());
    assert_eq!((of("Height.metre"), of("Height.metre.rangeTo")), (vec![0.3, 0.4], vec![0.4]));
    assert_eq!((of("Players"), of("Depth.metre")), (vec![2.0, 3.0, 4.0], vec![2.0, 2.0]));
    assert!(of("Load").is_empty() && of("Odd").is_empty());
}

#[test]
fn a_yes_is_a_truth_in_any_language_and_no_code() {
    let property = |name: &str, value: &str| json!({"@type": "PropertyValue", "name": name, "value": value});
    let item = json!({
        "petsAllowed": "Yes", "isFamilyFriendly": "https://schema.org/False", "inLanguage": "no",
        "address": {"addressCountry": "NO"}, "award": "No prize",
        "additionalProperty": [property("Winterhart", "ja"), property("Country of origin", "no"),
            property("Bindings", "Not included"), property("Case", "incluido")],
    });
    let found = facts(item);
    let said = |path: &str| {
        let fact = found.iter().find(|fact| fact.0 == path);
        fact.and_then(|fact| fact.1.as_deref())
    };
    for (path, text) in [
        ("petsAllowed", "true"),
        ("isFamilyFriendly", "false"),
        ("additionalProperty.Winterhart", "true"),
        ("additionalProperty.Bindings", "false"),
        ("additionalProperty.Case", "true"),
        ("additionalProperty.Country of origin", "no"),
        ("inLanguage", "no"),
        ("address.addressCountry", "NO"),
        ("award", "No prize"),
    ] {
        assert_eq!(said(path), Some(text), "{path}");
    }
}

fn facts(item: Value) -> Vec<(String, Option<String>, Option<f64>)> {
    let mut out = Vec::new();
    visit(&item, |fact| out.push((fact.path.to_owned(), fact.text.map(str::to_owned), fact.number)));
    out
}

#[test]
fn nested_objects_become_dot_paths() {
    let item = json!({"offers": [{"price": "12.50", "priceCurrency": "EUR"}], "geo": {"latitude": 48.1}});
    let expected = [
        ("geo.latitude".into(), None, Some(48.1)),
        ("offers.price".into(), Some("12.50".into()), Some(12.5)),
        ("offers.priceCurrency".into(), Some("EUR".into()), None),
        (OFFERED.into(), Some("sale".into()), None),
    ];
    assert_eq!(facts(item), expected);
}

#[test]
fn prose_and_contexts_are_no_facts_and_keywords_are_several() {
    let item = json!({"@context": "x", "name": "n", "description": "d", "keywords": "quick, vegan", "vegan": true});
    let expected = [
        ("keywords".into(), Some("quick".into()), None),
        ("keywords".into(), Some("vegan".into()), None),
        ("vegan".into(), Some("true".into()), None),
    ];
    assert_eq!(facts(item), expected);
}

#[test]
fn value_objects_and_types_lose_their_wrapping() {
    let item = json!({"@type": ["https://schema.org/Recipe"], "award": {"@value": "Gold", "@language": "en"}});
    assert!(facts(item.clone()).contains(&("@type".into(), Some("Recipe".into()), None)));
    assert!(facts(item).contains(&("award".into(), Some("Gold".into()), None)));
}

#[test]
fn lists_of_texts_are_counted() {
    let item = json!({"ingredients": ["salt", "rice"], "sizes": [1, 2], "none": []});
    let counts: Vec<_> = facts(item).into_iter().filter(|fact| fact.0.ends_with(".count")).collect();
    assert_eq!(counts, [("ingredients.count".into(), None, Some(2.0))]);
}

#[test]
fn years_are_dates_where_dates_are_meant() {
    let item = json!({"dateCreated": 1970, "pages": 1970});
    assert_eq!(facts(item), [("dateCreated".into(), None, Some(0.0)), ("pages".into(), None, Some(1_970.0))]);
}

#[test]
fn an_item_is_of_the_hosts_of_its_sources() {
    let sources = json!(["https://shop.example/a", "https://www.list.example/"]);
    let item = json!({"name": "n", "url": "https://other.example/", "grounding": {"source_urls": sources}});
    let host = |host: &str| (URL_HOST.to_owned(), Some(host.to_owned()), None);
    assert_eq!(facts(item), [host("shop.example"), host("list.example")]);
    assert_eq!(facts(json!({"url": "https://other.example:8443/"})), [host("other.example")]);
}

#[test]
fn facts_of_variants_are_those_of_their_item_each_once() {
    let variant =
        |color: &str, price: u32| json!({"@type": "Product", "name": "n", "color": color, "offers": {"price": price}});
    let item = json!({"@type": "ProductGroup", "size": "M",
        "hasVariant": [variant("red", 5), variant("blue", 5), {"size": "M", "color": "red"}]});
    let text = |path: &str, text: &str| (path.to_owned(), Some(text.to_owned()), None);
    let mut found = facts(item);
    found.retain(|fact| fact.0 != "@type" && fact.0 != OFFERED);
    assert_eq!(
        found,
        [text("size", "M"), text("color", "red"), ("offers.price".to_owned(), None, Some(5.0)), text("color", "blue")]
    );
    let many = |n: usize| json!({"hasVariant": (0..n).map(|n| json!({"n": n})).collect::<Vec<_>>()});
    assert_eq!(facts(many(VARIANT_FACTS_MAX)).len(), VARIANT_FACTS_MAX);
    assert_eq!(facts(many(VARIANT_FACTS_MAX + 1)).len(), VARIANT_FACTS_MAX);
}

#[test]
fn a_price_before_a_sale_is_no_fact() {
    let item = json!({"offers": {"price": 15, "priceSpecification": [{"price": 20}]}});
    let sold = (OFFERED.to_owned(), Some("sale".to_owned()), None);
    assert_eq!(facts(item), [("offers.price".to_owned(), None, Some(15.0)), sold]);
}

#[test]
fn facts_end_at_their_bounds() {
    let many = |n: usize| json!({"x": vec![json!(1); n]});
    assert_eq!(facts(many(FACTS_MAX)).len(), FACTS_MAX);
    assert_eq!(facts(many(FACTS_MAX + 1)).len(), FACTS_MAX);
    assert_eq!(facts(json!({"x": "y".repeat(FACT_BYTES_MAX)})).len(), 1);
    assert_eq!(facts(json!({"x": "y".repeat(FACT_BYTES_MAX + 1)})).len(), 0);
    let deep = |n: usize| (0..n).fold(json!(1), |value, _| json!({"a": value}));
    assert_eq!(facts(deep(PATH_LEVELS_MAX)).len(), 1);
    assert_eq!(facts(deep(PATH_LEVELS_MAX + 1)).len(), 0);
    assert_eq!(facts(json!({"p".repeat(PATH_BYTES_MAX - 1): 1})).len(), 1);
    assert_eq!(facts(json!({"p".repeat(PATH_BYTES_MAX): 1})).len(), 0);
}

#[test]
fn texts_say_yes_and_more_no_time_at_all_and_how_long_a_thing_is() {
    let item = json!({"petsAllowed": "oui, 12 € par nuit", "additionalProperty": [
        {"name": "Cita previa", "value": "no hace falta"}, {"name": "Lieferzeit", "value": "sofort lieferbar"},
        {"name": "Size", "value": "60 x 50 x 165 cm"}, {"name": "Heat", "value": 212, "unitCode": "FAH"}]});
    let facts = facts(item);
    let said = |path: &str, text: &str| facts.iter().any(|(of, said, _)| of == path && said.as_deref() == Some(text));
    assert!(said("petsAllowed", "true") && said("petsAllowed", "oui, 12 € par nuit"));
    assert!(said("additionalProperty.Cita previa", "false"));
    let number = |path: &str| facts.iter().find(|(of, ..)| of == path).and_then(|(.., number)| *number);
    assert_eq!(number("additionalProperty.Lieferzeit.day"), Some(0.0));
    assert_eq!(number("additionalProperty.Size.metre").map(|metres| (metres * 100.0).round()), Some(165.0));
    assert_eq!(number("additionalProperty.Heat.celsius").map(f64::round), Some(100.0));
}
