//! Limits of what the items of any trade state, learnt from them and held against each of them.

use forecourt_core::{Language, Timestamp};
use forecourt_index::Query;
use forecourt_understanding::LAST_DAY;
use serde_json::{Value, json};

use crate::common::{NOW, Shelf, check, kept, shelf};

fn measure(value: f64, unit: &str) -> Value {
    json!({"@type": "QuantitativeValue", "value": value, "unitCode": unit})
}

fn own(name: &str, value: &Value, unit: &str) -> Value {
    json!({"@type": "PropertyValue", "name": name, "value": value, "unitText": unit})
}

fn feature(name: &str, value: bool) -> Value {
    json!({"@type": "LocationFeatureSpecification", "name": name, "value": value})
}

fn homes() -> Shelf {
    let home = |id: &str, rooms: i64, area: Value, pets: Value, garden: bool| {
        json!({"@type": "Apartment", "@id": id, "name": format!("Flat {id}"), "numberOfRooms": rooms,
            "floorSize": area, "petsAllowed": pets, "amenityFeature": [feature("Garden", garden)]})
    };
    shelf(&[
        home("small", 1, measure(30.0, "MTK"), json!(false), false),
        home("middle", 3, measure(74.0, "MTK"), json!(true), true),
        home("large", 5, measure(1_500.0, "FTK"), json!("Cats only"), true),
        json!({"@type": "Apartment", "@id": "silent", "name": "Flat silent"}),
    ])
}

#[test]
fn numbers_units_and_truths_of_homes_are_limits() {
    check(
        &homes(),
        &[
            ("flat with at least 3 rooms", &["large", "middle"]),
            ("Wohnung mit mehr als 3 Zimmern", &["large"]),
            ("a 3 room flat", &["middle"]),
            ("between 2 and 4 rooms", &["middle"]),
            // 1,500 square feet are 139 square metres.
            ("at least 100 m²", &["large"]),
            ("au moins 70 m²", &["large", "middle"]),
            ("flat, pets allowed", &["middle"]),
            ("flat, no pets allowed", &["small"]),
            ("flat with a garden", &["large", "middle"]),
        ],
    );
}

#[test]
fn what_is_negated_has_to_be_stated() {
    let car = |id: &str, more: Value| {
        let mut car = json!({"@type": "Car", "@id": id, "name": format!("Car {id}")});
        car.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        car
    };
    let shelf = shelf(&[
        car("a", json!({"fuelType": "Diesel", "vehicleTransmission": "Automatic"})),
        car("b", json!({"fuelType": "Petrol", "vehicleTransmission": "Manual"})),
        car("c", json!({"fuelType": "Electric", "vehicleTransmission": "Automatic"})),
        car("d", json!({"vehicleTransmission": "Manual"})),
    ]);
    check(
        &shelf,
        &[
            ("no diesel", &["b", "c"]),
            ("diesel or petrol", &["a", "b"]),
            ("Benziner mit Schaltgetriebe", &["b"]),
            ("not automatic", &["b", "d"]),
        ],
    );
}

#[test]
fn properties_of_a_sites_own_are_limits_by_their_names_and_across_units() {
    let coat = |id: &str, column: Value, weight: Value| {
        let own = [own("waterColumn", &column, "mm"), own("weight", &weight, "")];
        json!({"@type": "Product", "@id": id, "name": format!("Coat {id}"), "additionalProperty": own})
    };
    let shelf = shelf(&[
        coat("light", json!(5000), json!("280 g")),
        coat("heavy", json!(20000), json!("1.2 kg")),
        coat("none", json!("not tested"), json!("unknown")),
    ]);
    check(
        &shelf,
        &[
            ("coat with a water column of at least 15 m", &["heavy"]),
            ("water column of 10000 mm or more", &["heavy"]),
            ("Wassersäule mindestens 5000", &["heavy", "light"]),
            ("under 500 g", &["light"]),
            ("at least 1 kg", &["heavy"]),
        ],
    );
    // Of which property so many watts are asked, nobody can say.
    let (_, told) = kept(&shelf, "coat, at most 300 watts");
    assert_eq!(told, ["at most 300 watts"]);
    let lightest = shelf.library.understand("the lightest coat", &Language::english());
    let query = Query { order: lightest.order, limit: 1, ..Query::default() };
    assert_eq!(shelf.library.search(&query).unwrap()[0].id, "light");
}

#[test]
fn a_contraindication_that_is_named_is_ruled_out() {
    let drug = |id: &str, not_for: &[&str]| json!({"@type": "Drug", "@id": id, "name": format!("Pain {id}"), "contraindication": not_for});
    let shelf =
        shelf(&[drug("a", &["Asthma"]), drug("b", &["Liver disease"]), drug("c", &["Asthma", "Liver disease"])]);
    check(&shelf, &[("something for pain, I have asthma", &["b"])]);
}

#[test]
fn ages_meet_and_events_are_on_each_of_their_days() {
    let boot = |id: &str, audience: Value| json!({"@type": "Product", "@id": id, "name": id, "audience": audience});
    let boots = shelf(&[
        boot("toddler", json!({"suggestedMinAge": 1, "suggestedMaxAge": 3, "suggestedGender": "unisex"})),
        boot("child", json!({"suggestedMinAge": 4, "suggestedMaxAge": 9, "suggestedGender": "female"})),
        boot("adult", json!({"suggestedMinAge": 16, "suggestedGender": "female"})),
        boot("silent", json!({"audienceType": "everybody"})),
    ]);
    check(
        &boots,
        &[
            ("boots for a six-year-old", &["child"]),
            ("boots for kids", &["child", "toddler"]),
            ("boots for a kid of 2 years", &["toddler"]),
            ("boots for a 5 yo", &["child"]),
            ("boots for kids with at least 2 years of guarantee", &["child", "toddler"]),
            ("boots for women", &["adult"]),
            ("boots for girls", &["child", "toddler"]),
        ],
    );
    let event = |id: &str, first: &str, last: &str| json!({"@type": "Event", "@id": id, "name": id, "startDate": first, "endDate": last});
    let events = shelf(&[
        event("market", "2026-11-20", "2026-12-23"),
        event("concert", "2026-12-06T20:00", "2026-12-06T22:00"),
        event("fair", "2026-10-01", "2026-10-03"),
    ]);
    check(&events, &[("on 6 December", &["concert", "market"]), ("in October 2026", &["fair"])]);
    let last: f64 = events.library.last_day().unwrap();
    let days = (NOW.parse::<Timestamp>().unwrap().as_second() / 86_400) as f64;
    assert_eq!(last - days, 30.0, "the market ends on the 23rd of the next month");
    assert!(events.library.has_property(LAST_DAY).unwrap());
    assert_eq!(boots.library.last_day(), None);
}
