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
            ("conciertos por la tarde", &["sunday"]),
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
