//! Limits of dates of which any will do, of times of day and of when something is open.

use forecourt_core::Language;
use forecourt_index::Query;
use serde_json::{Value, json};

use crate::common::{NOW, Shelf, check, shelf};

fn events() -> Shelf {
    let event = |id: &str, start: &str, end: &str| json!({"@type": "MusicEvent", "@id": id, "name": format!("Concert {id}"), "startDate": start, "endDate": end});
    shelf(&[
        event("friday", "2026-11-27T20:00:00-05:00", "2026-11-27T22:00:00-05:00"),
        event("saturday", "2026-11-28T10:30", "2026-11-28T12:00"),
        event("sunday", "2026-11-29T15:00", "2026-11-29T17:00"),
        event("january", "2027-01-16T19:00", "2027-01-17T23:00"),
        event("march", "2027-03-24", "2027-03-24"),
    ])
}

#[test]
fn any_of_several_dates_is_kept_and_none_between_them() {
    check(
        &events(),
        &[
            ("concerts on Friday or on Sunday", &["friday", "sunday"]),
            ("Konzerte am 27. oder 29. November", &["friday", "sunday"]),
            ("concerts en novembre ou en mars", &["friday", "march", "saturday", "sunday"]),
            ("conciertos un fin de semana de enero", &["january"]),
            ("concerts at the end of March", &["march"]),
            ("concerts in early March", &[]),
        ],
    );
}

#[test]
fn an_event_begins_by_the_clocks_of_where_it_is() {
    let events = events();
    check(
        &events,
        &[
            ("concerts after 6 pm", &["friday", "january"]),
            ("Konzerte am Freitagabend", &["friday"]),
            ("concerts le matin", &["saturday"]),
            ("conciertos por la tarde", &["january", "sunday"]),
            ("concerts on Saturday mornings", &["saturday"]),
            ("concerts on weekdays", &["friday", "march"]),
            ("concerts on Sundays", &["january", "sunday"]),
        ],
    );
    let asked = events.library.understand_at("after 6 pm", &Language::english(), NOW.parse().unwrap());
    let query = Query { filters: asked.filters, limit: 1, ..Query::default() };
    let hit = events.library.search(&query).unwrap().pop().unwrap();
    assert!(["19:00", "20:00"].contains(&hit.matched[0].value.as_deref().unwrap()), "{:?}", hit.matched);
}

#[test]
fn what_states_its_hours_is_found_by_them() {
    let shop = |id: &str, hours: Value| json!({"@type": "CafeOrCoffeeShop", "@id": id, "name": format!("Cafe {id}"), "openingHours": hours, "priceRange": "10"});
    let cafes = shelf(&[
        shop("early", json!("Mo-Fr 06:00-14:00")),
        shop("late", json!(["Mo-Sa 12:00-15:00", "Mo-Sa 18:00-02:00"])),
        shop("sunday", json!("Sa,Su 09:00-18:00")),
        json!({"@type": "CafeOrCoffeeShop", "@id": "silent", "name": "Cafe silent", "priceRange": "10"}),
    ]);
    check(
        &cafes,
        &[
            // Monday, 12 o'clock.
            ("cafes open now", &["early", "late"]),
            ("cafes open on Sunday mornings", &["sunday"]),
            ("cafes open after 8", &["late"]),
            ("Cafés, sonntags geöffnet", &["late", "sunday"]),
            ("cafés ouverts le mercredi à 16h", &[]),
            ("cafés abiertos los domingos por la tarde", &["sunday"]),
            ("cafes on Tuesday at 7 am", &["early"]),
        ],
    );
}

#[test]
fn pay_and_rents_are_compared_whatever_time_they_are_for() {
    let job = |id: &str, unit: &str, from: f64, to: f64| {
        json!({"@type": "JobPosting", "@id": id, "name": format!("Job {id}"), "baseSalary": {"@type": "MonetaryAmount",
            "currency": "EUR", "value": {"unitText": unit, "minValue": from, "maxValue": to}}})
    };
    let flat = |id: &str, rent: f64| {
        json!({"@type": "Apartment", "@id": id, "name": format!("Flat {id}"), "offers": {"price": rent,
            "priceSpecification": {"price": rent, "unitText": "MONTH"}}})
    };
    let town = shelf(&[
        job("hourly", "HOUR", 18.0, 22.0),
        job("monthly", "MONTH", 3_400.0, 3_900.0),
        job("yearly", "YEAR", 60_000.0, 75_000.0),
        flat("small", 650.0),
        flat("large", 1_650.0),
    ]);
    check(
        &town,
        &[
            ("jobs with a salary of at least 4,000 a month", &["yearly"]),
            ("Gehalt ab 45.000 im Jahr", &["hourly", "monthly", "yearly"]),
            ("salary over 60k", &["yearly"]),
            ("Gehalt ab 20 € pro Stunde", &["hourly", "monthly", "yearly"]),
            ("un salaire de plus de 5 000 € par mois", &["yearly"]),
            ("salario de más de 70.000 al año", &["yearly"]),
            ("under 900 a month", &["small"]),
            ("Miete bis 2.000 Euro im Monat", &["large", "small"]),
        ],
    );
}

#[test]
fn what_is_let_is_not_for_sale() {
    let home = |id: &str, function: &str| {
        json!({"@type": "House", "@id": id, "name": format!("House {id}"),
            "offers": {"price": 1_000, "businessFunction": format!("http://purl.org/goodrelations/v1#{function}")}})
    };
    let homes = shelf(&[
        home("let", "LeaseOut"),
        home("sold", "Sell"),
        json!({"@type": "House", "@id": "silent", "name": "House silent"}),
    ]);
    check(
        &homes,
        &[
            ("a house to rent", &["let"]),
            ("Haus zu verkaufen", &["sold"]),
            ("maison à louer", &["let"]),
            ("casa en venta", &["sold"]),
        ],
    );
}

#[test]
fn what_is_sold_beside_what_is_let_is_for_sale_and_costs_what_it_is_sold_for() {
    let offer = |function: Option<&str>, price: f64| {
        let function = function.map(|name| format!("http://purl.org/goodrelations/v1#{name}"));
        json!({"price": price, "businessFunction": function})
    };
    let tool = |id: &str, offers: serde_json::Value| json!({"@type": "Product", "@id": id, "name": format!("Angle grinder {id}"), "offers": offers});
    let tools = shelf(&[
        tool("plain", json!({"price": 62})),
        tool("let", json!([offer(Some("LeaseOut"), 9.0)])),
        tool("both", json!([offer(Some("Sell"), 189.0), offer(Some("LeaseOut"), 12.0)])),
    ]);
    check(
        &tools,
        &[
            ("angle grinder for sale", &["both", "plain"]),
            ("angle grinder for hire", &["both", "let"]),
            ("angle grinder for sale under 100", &["plain"]),
        ],
    );
}

#[test]
fn a_night_goes_on_after_midnight() {
    let place = |id: &str, hours: &str| json!({"@type": "BarOrPub", "@id": id, "name": format!("Bar {id}"), "openingHours": hours});
    let bars = shelf(&[
        place("thursday", "Th 20:00-02:00"),
        place("friday", "Fr 22:00-02:00"),
        place("noon", "Fr 11:00-14:00"),
    ]);
    check(
        &bars,
        &[
            ("bars, die freitags nachts offen haben", &["friday"]),
            ("bars open on thursday after midnight", &["thursday"]),
            ("bars open on saturday after midnight", &[]),
            ("bars open after midnight", &["friday", "thursday"]),
        ],
    );
}

#[test]
fn prices_in_signs_are_cheap_by_what_there_is() {
    let place = |id: &str, kind: &str, range: &str| json!({"@type": "Restaurant", "@id": id, "name": format!("Place {id}"), "servesCuisine": kind, "priceRange": range});
    let places = shelf(&[
        place("pho", "Vietnamese", "€"),
        place("maki", "Sushi", "€€"),
        place("omakase", "Sushi", "€€€"),
        place("bistro", "French", "€€"),
        place("haute", "French", "€€€€"),
    ]);
    check(
        &places,
        &[
            ("cheap vietnamese", &["pho"]),
            ("sushi but not expensive", &["maki"]),
            ("französisches Restaurant, nicht zu teuer", &["bistro"]),
            ("restaurant français pas trop cher", &["bistro"]),
        ],
    );
}

#[test]
fn years_and_countries_are_limits_of_things() {
    let wine = |id: &str, country: &str, year: i64| {
        let year = json!({"@type": "PropertyValue", "name": "Vintage", "value": year});
        json!({"@type": "Product", "@id": id, "name": format!("Wine {id}"), "countryOfOrigin": country,
            "additionalProperty": [year, {"@type": "PropertyValue", "name": "Pressure", "value": year["value"], "unitText": "hPa"}]})
    };
    let wines = shelf(&[wine("rioja", "Spain", 2018), wine("barolo", "Italien", 2016), wine("mosel", "DE", 2022)]);
    check(
        &wines,
        &[
            ("Italian wine", &["barolo"]),
            ("vino español", &["rioja"]),
            ("Wein aus Deutschland", &["mosel"]),
            ("wine from Portugal", &[]),
            ("wine from 2018 or younger", &["mosel", "rioja"]),
            ("wine older than 2017", &["barolo"]),
            ("wine with at least 2020 hPa", &["mosel"]),
        ],
    );
}
