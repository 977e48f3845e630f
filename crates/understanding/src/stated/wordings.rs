//! Amounts, colours and features in words that no property has for itself, in trades of all kinds.

use forecourt_vocabulary::Vocabulary;

use crate::filter::{Filter, Test};
use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
use crate::parsed_question::ParsedQuestion;
use crate::tests::{FINDING, understood_with};

fn asked(text: &str) -> ParsedQuestion {
    let property = |(path, values): (&str, StatedValues)| StatedProperty { path: path.to_owned(), share: 0.4, values };
    let number = || StatedValues::Numbers { are_whole: false };
    let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
    let stated = [
        ("additionalProperty.Strength.percent", number()),
        ("additionalProperty.Spindle speed.turns_a_minute", number()),
        ("additionalProperty.Noise.decibel", number()),
        ("additionalProperty.Hardy to.celsius", number()),
        ("additionalProperty.Covers.square_metre", number()),
        ("additionalProperty.Distance to lake.metre", number()),
        ("additionalProperty.Heating function", StatedValues::Truth),
        ("additionalProperty.Grillfunktion", StatedValues::Truth),
        ("additionalProperty.Mopping function", StatedValues::Truth),
        ("additionalProperty.Drawer compartment", StatedValues::Truth),
        ("additionalProperty.Parabenfrei", StatedValues::Truth),
        ("additionalProperty.Bienenfreundlich", StatedValues::Truth),
        ("additionalProperty.Frame colour", texts(&["navy", "lila", "red"])),
        ("alternateName", texts(&["rose", "polo"])),
    ];
    let learnt = LearntProperties::of(stated.into_iter().map(property).collect(), &Vocabulary::shipped());
    understood_with(text, &FINDING, &learnt)
}

/// The ends of the first range that a question limits.
fn ends(text: &str) -> (Option<f64>, Option<f64>) {
    let found = asked(text);
    let all: Vec<&Filter> = found.filters.iter().flat_map(Filter::alternatives).collect();
    let range =
        all.iter().find_map(|one| if let Test::Within { from, to } = one.test { Some((from, to)) } else { None });
    range.unwrap_or_else(|| panic!("{text}: {found:?}"))
}

#[test]
fn an_adjective_that_is_compared_is_a_least_or_a_most_whatever_it_is() {
    for (text, is_least) in [
        ("beer stronger than 6 %", true),
        ("Bier stärker als 6 %", true),
        ("une bière plus forte que 6 %", true),
        ("una cerveza más fuerte que 6 %", true),
        ("glue weaker than 6 %", false),
        ("Kleber schwächer als 6 %", false),
        ("una cola menos fuerte que 6 %", false),
        ("a fan quieter than 40 dB", false),
        ("a horn louder than 40 decibels", true),
        ("no louder than 40 dB", false),
    ] {
        let (from, to) = ends(text);
        assert_eq!((from.is_some(), to.is_some()), (is_least, !is_least), "{text}: {from:?} {to:?}");
    }
    // What nobody knows is no equality.
    for text in ["soup crunchier than 6 %", "Suppe, knuspriger als 6 %"] {
        let found = asked(text);
        assert!(found.filters.is_empty() && found.not_understood.len() == 1, "{text}: {found:?}");
    }
}

#[test]
fn faster_is_less_of_a_time_and_more_of_a_speed() {
    for text in ["a router with a spindle speed of 24000 or faster", "Fräse mit 24000 U/min oder schneller"] {
        assert_eq!(ends(text), (Some(24_000.0), None), "{text}");
    }
    assert_eq!(ends("drill with a spindle speed of at least 900"), (Some(900.0), None));
    assert_eq!(ends("saw, noise under 90").1.map(f64::round), Some(90.0));
}

#[test]
fn what_bears_at_least_some_cold_bears_it_or_more() {
    for text in ["shrubs that survive at least minus 20 degrees", "Sträucher, mindestens -20 °C", "al menos -20 grados"]
    {
        let (from, to) = ends(text);
        assert!(from.is_none() && to == Some(-20.0) || from == Some(-20.0), "{text}: {from:?} {to:?}");
    }
    assert_eq!(ends("paint for 30 square metres"), (Some(30.0), None));
}

#[test]
fn money_is_told_in_words_and_notes() {
    for (text, most) in [
        ("a vase for less than a tenner", 10.0),
        ("under two grand", 2_000.0),
        ("a sofa for under a thousand pounds", 1_000.0),
        ("Lampe für unter einen Zehner", 10.0),
        ("Sofa unter tausend Euro", 1_000.0),
        ("un canapé à moins de mille euros", 1_000.0),
        ("un sofá por menos de dos mil euros", 2_000.0),
        ("under five hundred dollars", 500.0),
    ] {
        assert_eq!(ends(text).1.map(f64::round), Some(most), "{text}");
    }
    for text in ["a grand piano", "a grand tour", "the grand hotel"] {
        assert!(asked(text).filters.is_empty(), "{text}");
    }
    // What costs so much lies no so far away.
    let found = asked("a room with a view of the lake under £200");
    assert!(found.filters.iter().all(|one| one.fields == ["offers.price"]), "{found:?}");
}

#[test]
fn stars_are_those_of_the_house() {
    for text in ["five star hotels", "Hotels mit 4 Sternen oder mehr", "hôtels 4 étoiles"] {
        let found = asked(text);
        assert!(found.filters.iter().any(|one| one.fields == ["starRating.ratingValue"]), "{text}: {found:?}");
    }
}

#[test]
fn a_feature_is_asked_for_without_the_words_that_say_that_it_is_one() {
    let says = |text: &str, path: &str, value: &str| {
        let found = asked(text);
        let all: Vec<&Filter> = found.filters.iter().flat_map(Filter::alternatives).collect();
        let is_it = |one: &&Filter| one.fields[0].ends_with(path) && one.test == Test::Is(value.to_owned());
        assert!(all.iter().any(is_it), "{text}: {found:?}");
    };
    says("a jacket without heating", "Heating function", "false");
    says("Ofen ohne Grill", "Grillfunktion", "false");
    says("a desk with no drawer", "Drawer compartment", "false");
    says("shampoo ohne Parabene, parabenfrei", "Parabenfrei", "true");
    says("bienenfreundliche Sträucher", "Bienenfreundlich", "true");
    says("eine bienenfreundliche Mischung", "Bienenfreundlich", "true");
}

#[test]
fn colours_are_found_in_properties_of_a_sites_own_and_other_names_are_none() {
    for (text, colour) in [("a red frame", "red"), ("ein Rahmen in lila", "lila"), ("un cadre rouge", "red")] {
        let found = asked(text).filters;
        let says = |one: &Filter| {
            let is_it = one.fields.first().is_some_and(|field| field.ends_with("Frame colour"));
            is_it && one.test == Test::OneOf(vec![colour.into()])
        };
        assert!(found.iter().flat_map(Filter::alternatives).any(says), "{text}: {found:?}");
    }
    let found = asked("not a red frame").filters;
    assert!(found.iter().any(|one| one.test == Test::NoneOf(vec!["red".to_owned()])), "{found:?}");
    let found = asked("not polo, a rose frame").filters;
    assert!(found.iter().flat_map(|one| &one.fields).all(|field| field != "alternateName"), "{found:?}");
}

#[test]
fn what_begins_in_a_month_begins_in_the_next_one() {
    // Read on the 23rd of November 2026.
    for text in ["jobs that start in January", "Stellen, die im Januar beginnen", "empleos que empiezan en enero"] {
        let found = asked(text);
        let limit = found.filters.iter().find(|one| one.fields == ["jobStartDate"]);
        assert!(limit.is_some_and(|one| one.words.contains("2027-01")), "{text}: {found:?}");
    }
    let found = asked("jobs posted in January");
    assert!(found.filters.iter().any(|one| one.words.contains("2026-01")), "{found:?}");
}

/// What a shop for animals and their people states.
fn of_somebody(text: &str) -> ParsedQuestion {
    let property = |(path, values): (&str, StatedValues)| StatedProperty { path: path.to_owned(), share: 0.4, values };
    let number = |are_whole: bool| StatedValues::Numbers { are_whole };
    let stated = [
        ("weight.gram", number(false)),
        ("additionalProperty.Suitable pet weight.gram", number(false)),
        ("numberOfBathrooms", number(true)),
        ("hasCourseInstance.maximumAttendeeCapacity", number(true)),
        ("educationalLevel", StatedValues::Texts(vec!["c1".to_owned(), "b2".to_owned()])),
    ];
    let learnt = LearntProperties::of(stated.into_iter().map(property).collect(), &Vocabulary::shipped());
    understood_with(text, &FINDING, &learnt)
}

#[test]
fn an_amount_of_whom_something_is_for_is_none_of_the_thing() {
    let fields = |text: &str| {
        let found = of_somebody(text);
        let all = found.filters.iter().flat_map(Filter::alternatives).flat_map(|one| &one.fields);
        all.filter(|field| field.ends_with("gram")).cloned().collect::<Vec<_>>()
    };
    let pet = "additionalProperty.Suitable pet weight.gram";
    for text in [
        "a harness for a 14 kg dog",
        "Geschirr für einen 14 kg Hund",
        "harnais pour un chien de 14 kg",
        "arnés para un perro de 14 kg",
    ] {
        assert_eq!(fields(text), [pet], "{text}: {:?}", of_somebody(text));
    }
}

#[test]
fn pounds_behind_a_verb_of_weights_are_no_money() {
    for (text, is_price) in [
        ("a harness that weighs under 3 pounds", false),
        ("a harness that costs under 3 pounds", true),
        ("a harness under 3 pounds", true),
    ] {
        let found = of_somebody(text).filters;
        let of_price =
            found.iter().flat_map(Filter::alternatives).any(|one| one.fields.contains(&"offers.price".to_owned()));
        assert_eq!(of_price, is_price, "{text}: {found:?}");
    }
}

#[test]
fn participants_are_counted_by_what_has_room_for_them() {
    for text in [
        "courses with at most 8 participants",
        "Kurse mit höchstens 8 Teilnehmern",
        "cours avec au plus 8 participants",
        "cursos con un máximo de 8 participantes",
    ] {
        let found = of_somebody(text).filters;
        let is_it = |one: &Filter| {
            one.fields.contains(&"hasCourseInstance.maximumAttendeeCapacity".to_owned())
                && matches!(one.test, Test::Within { to: Some(to), .. } if (to - 8.0).abs() < 0.01)
        };
        assert!(found.iter().flat_map(Filter::alternatives).any(is_it), "{text}: {found:?}");
    }
}
