use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_name_says_for_which_ages_something_is() {
    for (name, ages) in [
        ("Clay animals, ages 6 to 12", Some((6.0, 12.0))),
        ("Puzzle, age 3+", Some((3.0, AGE_MAX))),
        ("Malkurs für 8- bis 10-Jährige", Some((8.0, 10.0))),
        ("Schach ab 7 Jahren", Some((7.0, AGE_MAX))),
        ("Danse, 4 à 6 ans", Some((4.0, 6.0))),
        ("Dibujo de 5 a 8 años", Some((5.0, 8.0))),
        ("English for kids 7 to 10", Some((7.0, 10.0))),
        ("Skis for children from 3 to 8, bindings included", Some((3.0, 8.0))),
        ("Para niños de 8 a 11 años", Some((8.0, 11.0))),
        ("Für Kinder von 6 bis 12", Some((6.0, 12.0))),
        ("A whisky, aged 12 years", None),
        ("For the age of 12 monkeys", None),
        ("From 12 to 6", None),
        ("Route 66", None),
    ] {
        assert_eq!(self::ages(&json!({"name": name})), ages, "{name}");
    }
}

#[test]
fn a_property_of_a_sites_own_says_for_which_ages_something_is() {
    let own = |name: &str, value: &str| json!({"additionalProperty": [{"name": name, "value": value}]});
    for (name, value, from) in [
        ("Suitable from", "12 years", Some(12.0)),
        ("Suitable from", "birth", Some(0.0)),
        ("Geeignet ab", "3 Jahren", Some(3.0)),
        ("Convient", "dès 8 ans", Some(8.0)),
        ("Edad de los pacientes", "desde 16 años", Some(16.0)),
        ("Warranty", "from 2 years", None),
        ("Age", "3 years", None),
        ("Good with children", "yes", None),
    ] {
        assert_eq!(ages(&own(name, value)).map(|(from, _)| from), from, "{name}: {value}");
    }
}

#[test]
fn a_price_of_a_sites_own_is_one_where_nothing_is_offered() {
    let own = |name: &str, value: Value| json!({"additionalProperty": [{"name": name, "value": value}]});
    for (name, value, found) in [
        ("Prix moyen par personne", json!(19), Some(19.0)),
        ("Average price", json!("23.50"), Some(23.5)),
        ("Preis pro Person", json!("18"), Some(18.0)),
        ("Precio", json!(12), Some(12.0)),
        ("Preisträger", json!(3), None),
        ("Dépôt de garantie", json!(500), None),
    ] {
        assert_eq!(price(&own(name, value)), found, "{name}");
    }
    let mut offered = own("Prix", json!(19));
    offered["offers"] = json!({"price": 5});
    assert_eq!(price(&offered), None);
}

#[test]
fn what_is_offered_for_nothing_costs_nothing() {
    for (item, is) in [
        (json!({"offers": {"price": 0}}), true),
        (json!({"offers": [{"price": "0,00"}, {"price": 5}]}), true),
        (json!({"offers": {"price": "0 EUR"}}), true),
        (json!({"offers": {"price": 5}}), false),
        (json!({"offers": {"availability": "InStock"}}), false),
        (json!({"offers": {"price": 0}, "isAccessibleForFree": false}), false),
        (json!({}), false),
    ] {
        assert_eq!(costs_nothing(&item), is, "{item}");
    }
}

#[test]
fn what_makes_no_offer_costs_what_it_says() {
    for (item, price) in [
        (json!({"isAccessibleForFree": true}), Some(0.0)),
        (json!({"isAccessibleForFree": "https://schema.org/True"}), Some(0.0)),
        (json!({"isAccessibleForFree": true, "offers": {"price": 5}}), None),
        (json!({"isAccessibleForFree": true, "price": 5}), None),
        (json!({"isAccessibleForFree": false}), None),
        (json!({"name": "Free"}), None),
        (json!({"priceRange": "€240 - €288"}), Some(240.0)),
        (json!({"priceRange": "from EUR 1,200 per night"}), Some(1_200.0)),
        (json!({"priceRange": "85"}), Some(85.0)),
        (json!({"priceRange": "ab 1.050,50 €"}), Some(1_050.5)),
        (json!({"makesOffer": [{"price": "58.00"}, {"price": 45}]}), Some(45.0)),
        (json!({"priceRange": "$$"}), None),
        (json!({"priceRange": "from €85", "offers": {"price": 99}}), None),
    ] {
        assert_eq!(self::price(&item), price, "{item}");
    }
}

#[test]
fn ages_are_a_range_wherever_they_are_stated() {
    for (item, found) in [
        (json!({"audience": {"suggestedMinAge": 4, "suggestedMaxAge": "6"}}), Some((4.0, 6.0))),
        (json!({"audience": {"suggestedMinAge": 16}}), Some((16.0, AGE_MAX))),
        (json!({"suggestedAge": {"maxValue": 3}}), Some((0.0, 3.0))),
        (json!({"additionalProperty": [{"name": "minimum age", "value": 14}]}), Some((14.0, AGE_MAX))),
        (json!({"additionalProperty": [{"name": "Age", "value": "5-7"}]}), Some((5.0, 7.0))),
        (json!({"Age group": "5-7"}), Some((5.0, 7.0))),
        (json!({"age": 34}), None),
        (json!({"additionalProperty": [{"name": "Age", "value": "12"}]}), None),
        (json!({"additionalProperty": [{"name": "age_group", "value": "toddler"}]}), Some((1.0, 5.0))),
        (json!({"additionalProperty": [{"name": "Age", "value": "8+ years"}]}), Some((8.0, AGE_MAX))),
        (json!({"additionalProperty": [{"name": "Age", "value": "6 months+"}]}), Some((0.5, AGE_MAX))),
        (json!({"additionalProperty": [{"name": "Age", "value": "From birth"}]}), Some((0.0, AGE_MAX))),
        (json!({"typicalAgeRange": "7-9"}), Some((7.0, 9.0))),
        (json!({"typicalAgeRange": "11+"}), Some((11.0, AGE_MAX))),
        (json!({"typicalAgeRange": "-5"}), Some((0.0, 5.0))),
        (json!({"typicalAgeRange": "9-7"}), None),
        (json!({"typicalAgeRange": "all"}), None),
        (json!({"minValue": 5}), None),
    ] {
        assert_eq!(ages(&item), found, "{item}");
    }
}

#[test]
fn shops_write_ages_as_people_do() {
    for (text, found) in [
        ("Ages 3 to 5", Some((3.0, 5.0))),
        ("6 bis 9 Jahre", Some((6.0, 9.0))),
        ("ab 6 Jahren", Some((6.0, AGE_MAX))),
        ("8 years and up", Some((8.0, AGE_MAX))),
        ("6+", Some((6.0, AGE_MAX))),
        ("under 3", Some((0.0, 3.0))),
        ("0-24 months", Some((0.0, 2.0))),
        ("18 months to 4 years", None),
        ("9-7", None),
        ("1999-2001", None),
        ("all", None),
        ("12", None),
    ] {
        assert_eq!(own_ages(text), found, "{text}");
    }
}

#[test]
fn a_course_is_dated_by_the_day_on_which_it_begins() {
    let course = |held: Value| json!({"@type": "Course", "hasCourseInstance": held});
    let begins = |day: &str| json!({"@type": "CourseInstance", "startDate": day, "endDate": "1971-01-01"});
    assert_eq!(event_days(&course(begins("1970-01-05T18:30"))), Some((4.0, 4.0)));
    assert_eq!(event_days(&course(json!([begins("1970-01-05")]))), Some((4.0, 4.0)));
    for held in [json!([begins("1970-01-05"), begins("1970-02-01")]), json!({"endDate": "1971-01-01"}), json!([])] {
        assert_eq!(event_days(&course(held.clone())), None, "{held}");
    }
    assert_eq!(last_day(&course(json!([begins("1970-01-05")]))), Some(365.0));
    assert_eq!(last_day(&course(json!([begins("1970-01-05"), {}]))), None, "it may be held again");
}

#[test]
fn only_what_takes_place_or_is_open_is_ever_over() {
    let event = |more: Value| {
        let mut event = json!({"@type": ["Thing", "https://schema.org/MusicEvent"], "startDate": "1970-01-05"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    assert_eq!(last_day(&event(json!({}))), Some(4.0));
    assert_eq!(last_day(&event(json!({"endDate": "1970-01-11T23:00:00"}))), Some(10.0));
    assert_eq!(last_day(&event(json!({"endDate": "1970-01-01"}))), Some(4.0), "it does not end before it begins");
    assert_eq!(last_day(&event(json!({"eventStatus": "https://schema.org/EventCancelled"}))), Some(CANCELLED_DAY));
    let first = last_day(&event(json!({"startDate": "-9999-01-03", "endDate": "-9999-01-03"})));
    assert!(first.is_none_or(|day| day > CANCELLED_DAY + 1.0), "{first:?}");
    assert_eq!(last_day(&event(json!({"startDate": "0001-01-01"}))), Some(-719_162.0));
    assert_eq!(last_day(&json!({"@type": "JobPosting", "validThrough": "1970-01-03"})), Some(2.0));
    for item in [
        json!({"@type": "TVSeries", "startDate": "2008-01-20", "endDate": "2013-09-29"}),
        json!({"startDate": "2008-01-20"}),
        json!({"@type": "Product", "validThrough": "2008-01-20"}),
        json!({"@type": "Event", "startDate": "soon"}),
    ] {
        assert_eq!((last_day(&item), event_days(&item)), (None, None), "{item}");
    }
}

proptest! {
    #[test]
    fn any_texts_are_ages_and_days_or_none(text in ".{0,12}", range in "[0-9.+– -]{0,9}") {
        for text in [text, range] {
            let item = json!({"@type": "Event", "startDate": text, "endDate": text, "typicalAgeRange": text,
                "audience": {"suggestedMinAge": text}});
            prop_assert!(ages(&item).is_none_or(|(from, to)| from.is_finite() && to.is_finite()));
            prop_assert!(event_days(&item).is_none_or(|(first, last)| first <= last));
        }
    }
}
