//! What a limit means where its first reading is none that anything keeps, or is of something else: a day of any week, a
//! thing that is free, a day on which somebody wants something.

use forecourt_vocabulary::Vocabulary;

use crate::filter::{Filter, Test};
use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
use crate::paths::{EVENT_DAYS, EVENT_WEEKDAYS};
use crate::tests::{Numbered, Stating, understood, understood_with};

/// Courses of which none takes place on a day that is asked for, and some on such a day of another week.
const COURSES: Numbered = Numbered {
    has_number: |path| path == "startDate" || path == EVENT_WEEKDAYS || EVENT_DAYS.contains(&path),
    finds: |text, filters| {
        let is_dated = |one: &Filter| matches!(one.test, Test::Overlaps { .. });
        !text.contains("guitar") && !filters.iter().any(|filter| filter.alternatives().iter().any(is_dated))
    },
};

#[test]
fn a_day_of_the_week_is_one_of_any_week_where_nothing_is_on_the_next() {
    let days = |text: &str| {
        let found = understood(text, &COURSES).filters;
        let all = found.iter().flat_map(Filter::alternatives).filter(|one| one.fields == [EVENT_WEEKDAYS]);
        all.filter_map(|one| if let Test::Within { from, .. } = one.test { from } else { None }).collect::<Vec<f64>>()
    };
    for text in ["dancing on Saturday", "Tanzen am Samstag", "danse le samedi", "baile el sábado", "guitar on Saturday"]
    {
        assert_eq!(days(text), [6.0], "{text}");
    }
    assert_eq!(days("dancing at the weekend"), [6.0, 7.0]);
    for text in ["dancing this Saturday", "Tanzen diesen Samstag", "baile este sábado", "dancing on 28 November"] {
        assert!(days(text).is_empty(), "{text}");
    }
}

#[test]
fn what_is_free_beside_a_thing_is_that_thing() {
    let property = StatedProperty {
        path: "amenityFeature.Parking".to_owned(),
        share: 0.6,
        values: StatedValues::Texts(vec!["free".to_owned(), "true".to_owned()]),
    };
    let learnt = LearntProperties::of(vec![property], &Vocabulary::shipped());
    let is_of_price = |text: &str| {
        let found = understood_with(text, &Stating(&["offers.price"]), &learnt).filters;
        found.iter().any(|filter| filter.fields == ["offers.price"])
    };
    for text in
        ["rooms with free parking", "Zimmer mit Parking kostenlos", "chambre avec parking gratuit", "parking gratis"]
    {
        assert!(!is_of_price(text), "{text}");
    }
    for text in ["free of charge", "kostenlos", "gratuit", "gratis"] {
        assert!(is_of_price(text), "{text}");
    }
}

#[test]
fn who_wants_something_today_asks_for_nothing_that_was_published_today() {
    let books = Stating(&["offers.price", "datePublished"]);
    for text in ["novels I can have today", "Romane, die ich heute bekomme", "romans que je peux avoir aujourd'hui"] {
        let found = understood(text, &books);
        assert!(found.filters.is_empty() && found.not_understood.len() == 1, "{text}: {found:?}");
    }
    for text in ["novels published today", "novels from 2021"] {
        assert_eq!(understood(text, &books).filters.len(), 1, "{text}");
    }
}
