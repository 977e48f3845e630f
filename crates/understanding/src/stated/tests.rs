//! Questions of what homes, cars and coats state of themselves.

use forecourt_vocabulary::Vocabulary;

use crate::filter::{Filter, Test};
use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
use crate::tests::{Everything, understood_with};

/// What homes, cars and coats state.
fn learnt() -> LearntProperties {
    let property = |path: &str, values| StatedProperty { path: path.to_owned(), share: 0.9, values };
    let whole = || StatedValues::Numbers { are_whole: true };
    let broken = || StatedValues::Numbers { are_whole: false };
    let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
    let stated = vec![
        property("numberOfRooms", whole()),
        property("floorSize.square_metre", broken()),
        property("mileageFromOdometer.metre", whole()),
        property("additionalProperty.waterColumn.metre", broken()),
        property("additionalProperty.sunProtectionFactor", whole()),
        property("comfortTemperature.celsius", whole()),
        property("vehicleModelDate", whole()),
        property("width.metre", broken()),
        property("additionalProperty.Maximum load.gram", broken()),
        property("additionalProperty.Chest girth.metre", broken()),
        property("additionalProperty.Reichweite.metre", broken()),
        property("additionalProperty.Eventual height.metre", broken()),
        property("additionalProperty.Capacity.litre", broken()),
        property("petsAllowed", StatedValues::Truth),
        property("amenityFeature.garden", StatedValues::Truth),
        property("vehicleTransmission", texts(&["automatic", "manual"])),
        property("fuelType", texts(&["diesel", "petrol", "electric"])),
        property("employmentType", texts(&["full_time", "part_time"])),
        property("contraindication", texts(&["asthma", "liver disease"])),
        property("audience.suggestedGender", texts(&["female", "male", "unisex"])),
    ];
    LearntProperties::of(stated, &Vocabulary::shipped())
}

fn limits(text: &str) -> Vec<String> {
    let found = understood_with(text, &Everything, &learnt());
    let told = found.not_understood.into_iter().map(|words| format!("? {words}"));
    found.filters.into_iter().map(|filter| filter.words).chain(told).collect()
}

#[test]
fn amounts_are_limits_of_the_property_that_is_named_or_has_the_unit() {
    for (text, limit) in [
        ("flat with at least 3 rooms", "room: at least 3"),
        ("flat, 3 or more rooms", "room: at least 3"),
        ("Wohnung mit mindestens 3 Zimmern", "room: at least 3"),
        ("a 3 room flat", "room: 3"),
        ("more than 3 rooms", "room: at least 3"),
        ("flat of at least 80 m²", "floor size: at least 80 m²"),
        ("car, mileage under 50,000 km", "mileage: at most 50,000 km"),
        ("voiture de moins de 50 000 km", "mileage: at most 50 000 km"),
        ("coat, water column at least 15000 mm", "water column: at least 15000 mm"),
        ("water column of 10 m or more", "water column: at least 10 m"),
        ("suncream factor 50 or more", "sun protection factor: at least 50"),
        ("sleeping bag down to minus 5 degrees", "comfort temperature: at most −5 degrees"),
        ("desk wider than 120 cm", "width: at least 120 cm"),
        ("desk not wider than 120 cm", "width: at most 120 cm"),
        ("a desk that must not be wider than 1.2 m", "width: at most 1.2 m"),
        ("Schreibtisch, nicht breiter als 120 cm", "width: at most 120 cm"),
        ("bureau plus large que 120 cm", "width: at least 120 cm"),
        ("mesa no más ancha que 120 cm", "width: at most 120 cm"),
        ("a car that does not have more than 50,000 km", "mileage: at most 50,000 km"),
        ("stool for somebody of 140 kg", "maximum load: at least 140 kg"),
    ] {
        let found = limits(text);
        assert!(found.iter().any(|words| words == limit), "{text}: {found:?}");
    }
}

#[test]
fn strict_limits_leave_the_number_out() {
    let found = understood_with("more than 3 rooms", &Everything, &learnt());
    assert_eq!(found.filters[0].test, Test::Within { from: Some(4.0), to: None });
    for (text, end, is_strict) in [
        ("less than 120 cm wide", 1.2, true),
        ("at most 120 cm wide", 1.2, false),
        ("wider than 120 cm", 1.2, true),
        ("mileage under 50000 km", 50_000_000.0, true),
    ] {
        let found = understood_with(text, &Everything, &learnt());
        let Test::Within { from, to } = found.filters[0].test else { panic!("{text}: {found:?}") };
        let lies_beyond = from.map_or(to.is_some_and(|to| to < end), |from| from > end);
        assert_eq!(lies_beyond, is_strict, "{text}: {found:?}");
    }
}

#[test]
fn a_superlative_with_the_name_of_a_property_is_an_order_by_it() {
    for (text, path, descending) in [
        ("the bike with the longest range", "additionalProperty.Reichweite.metre", true),
        ("Rad mit der größten Reichweite", "additionalProperty.Reichweite.metre", true),
        ("vélo avec la plus grande autonomie", "additionalProperty.Reichweite.metre", true),
        ("bicicleta con más autonomía", "additionalProperty.Reichweite.metre", true),
        ("flat with the most rooms", "numberOfRooms", true),
        ("car with the lowest mileage", "mileageFromOdometer.metre", false),
        ("stool with the highest maximum load", "additionalProperty.Maximum load.gram", true),
        ("the plant that grows the tallest", "additionalProperty.Eventual height.metre", true),
    ] {
        let found = understood_with(text, &Everything, &learnt());
        let order = found.order.unwrap_or_else(|| panic!("{text}: {:?}", found.not_understood));
        assert_eq!((order.fields[0].as_str(), order.descending), (path, descending), "{text}");
    }
    assert!(understood_with("at most 3 rooms", &Everything, &learnt()).order.is_none());
}

#[test]
fn one_of_a_unit_is_an_amount_and_the_first_word_of_a_name_says_of_what() {
    let found = |text: &str| understood_with(text, &Everything, &learnt()).filters;
    for (text, from) in [("a can of a litre", 1.0), ("Kanne, ein Liter", 1.0), ("medio litro", 0.5)] {
        let all = found(text);
        let holds = |filter: &Filter| match filter.test {
            Test::Within { from: Some(low), to: Some(high) } => low <= from && from <= high,
            _ => false,
        };
        assert!(all.iter().any(holds), "{text}: {all:?}");
    }
    assert!(found("a harness for a 30 inch chest").iter().any(|one| one.fields[0].contains("Chest girth")));
    assert!(found("a foot").is_empty());
}

#[test]
fn either_of_two_features_will_do() {
    for text in ["flat with a garden or pets allowed", "Wohnung mit Garten oder Haustiere erlaubt"] {
        let found = understood_with(text, &Everything, &learnt()).filters;
        assert!(matches!(&found[..], [one] if one.alternatives().len() == 2), "{text}: {found:?}");
    }
    let found = understood_with("a cabin where dogs must be allowed", &Everything, &learnt()).filters;
    assert_eq!(found[0].test, Test::Is("true".to_owned()));
}

#[test]
fn values_and_truths_are_limits_by_the_words_that_people_use() {
    for (text, wanted) in [
        ("diesel with automatic transmission", &["fuel: diesel", "transmission: automatic"][..]),
        ("Diesel mit Automatik", &["fuel: diesel", "transmission: automatik"]),
        ("full-time job", &["employment type: full-time"]),
        ("Stelle in Vollzeit", &["employment type: in vollzeit"]),
        ("flat, pets allowed", &["pets allowed"]),
        ("flat with a garden", &["garden"]),
        ("diesel or petrol", &["fuel: diesel / petrol"]),
        ("not automatic", &["not automatic"]),
        ("no diesel", &["not diesel"]),
        ("pills, I have asthma", &["contraindication: not asthma"]),
        ("a jacket for women", &["gender: women"]),
    ] {
        let found = limits(text);
        wanted.iter().for_each(|limit| assert!(found.iter().any(|words| words == limit), "{text}: {found:?}"));
    }
    // Garden chairs are no garden, and a fueltype alone is no limit.
    for text in ["garden chairs", "rooms", "a car", "the fuel"] {
        assert_eq!(limits(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_value_is_asked_of_every_property_that_has_it_and_a_truth_has_words_for_its_no() {
    let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
    let property = |path: &str, values| StatedProperty { path: path.to_owned(), share: 0.9, values };
    let learnt = LearntProperties::of(
        vec![
            property("about", texts(&["tennis", "yoga"])),
            property("sport", texts(&["tennis", "football"])),
            property("furnished", StatedValues::Truth),
            property("inLanguage", texts(&["en", "english", "de"])),
        ],
        &Vocabulary::shipped(),
    );
    let found = |text: &str| understood_with(text, &Everything, &learnt).filters;
    for text in ["tennis", "Tennis", "tenis"] {
        assert_eq!(found(text)[0].fields, ["about", "sport"], "{text}");
    }
    assert_eq!(found("yoga")[0].fields, ["about"]);
    for (text, test) in [
        ("unfurnished", "false"),
        ("unmöbliert", "false"),
        ("sin amueblar", "false"),
        ("furnished", "true"),
        ("not furnished", "false"),
    ] {
        assert_eq!(found(text)[0].test, Test::Is(test.to_owned()), "{text}");
    }
    let Test::IsOneOf { values, .. } = &found("english")[0].test else { panic!("a value") };
    assert_eq!(values, &["english", "en"]);
}

#[test]
fn what_is_not_automatic_has_to_say_what_it_is() {
    let found = understood_with("not automatic", &Everything, &learnt());
    assert_eq!(found.filters[0].test, Test::NoneOf(vec!["automatic".to_owned()]));
    let found = understood_with("no pets allowed", &Everything, &learnt());
    assert_eq!(found.filters[0].test, Test::Is("false".to_owned()));
}
