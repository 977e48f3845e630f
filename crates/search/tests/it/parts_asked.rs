//! Questions for what the parts of an item state (the dates of a course, its teacher, a warranty), for the kind of a value,
//! and for one of the shown items that is pointed at. In four languages, of trades that no rule knows.

use serde_json::{Value, json};

use crate::shown_facts::{agent, lists, says};

fn course(name: &str, price: u32, teacher: &str, (start, end): (&str, &str), hours: &str) -> Value {
    json!({"@type": "Course", "name": name, "description": "On the lake. Bring a change of clothes.",
        "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR"}, "inLanguage": ["English", "Dutch"],
        "hasCourseInstance": [{"@type": "CourseInstance", "startDate": start, "endDate": end, "courseWorkload": hours,
            "instructor": {"@type": "Person", "name": teacher},
            "courseSchedule": {"@type": "Schedule", "byDay": ["https://schema.org/Tuesday"], "startTime": "18:30"}}]})
}

/// A school for sailing.
fn school() -> Vec<Value> {
    vec![
        course("Dinghy Basics", 240, "Mara Lind", ("2027-04-06", "2027-05-25"), "PT32H"),
        course("Night Navigation", 320, "Olu Bright", ("2027-09-07", "2027-10-05"), "PT15H"),
    ]
}

#[tokio::test]
async fn what_a_part_of_an_item_states_is_asked_for_as_its_own() {
    let (_folder, school) = agent(&school());
    says(
        &school,
        &[
            (&["who teaches Night Navigation?"], "en", "Night Navigation", "Olu Bright"),
            (&["Wer unterrichtet Dinghy Basics?"], "de", "Dinghy Basics", "Mara Lind"),
            (&["¿quién da el curso Dinghy Basics?"], "es", "Dinghy Basics", "Mara Lind"),
            (&["quand finit Night Navigation ?"], "fr", "Night Navigation", "2027-10-05"),
            (&["dinghy", "wann geht es los?"], "de", "Dinghy Basics", "2027-04-06"),
            (&["dinghy", "wer ist die Lehrkraft?"], "de", "Dinghy Basics", "Mara Lind"),
            (&["dinghy", "¿cuántas horas son?"], "es", "Dinghy Basics", "32"),
            (&["dinghy", "on which days is it?"], "en", "Dinghy Basics", "Tuesday"),
            (&["dinghy", "which languages does it come in?"], "en", "Dinghy Basics", "English, Dutch"),
            (&["dinghy", "what clothes do I need for it?"], "en", "Dinghy Basics", "Bring a change of clothes"),
        ],
    )
    .await;
}

/// Pumps for rent, with what their offers promise.
fn pumps() -> Vec<Value> {
    let pump = |name: &str, price: u32, grams: u32, tank: &str, power: &str| {
        json!({"@type": "Product", "name": name, "category": "Pumps", "weight": {"value": grams, "unitCode": "GRM"},
            "offers": {"price": price, "priceCurrency": "EUR", "warranty": {"@type": "WarrantyPromise",
                "durationOfWarranty": {"value": 36, "unitCode": "MON"}}},
            "additionalProperty": [{"name": "Tank capacity", "value": tank}, {"name": "Power source", "value": power},
                {"name": "Max load", "value": "25 kg"}]})
    };
    vec![
        pump("Brook Pump One Steel 200", 90, 7200, "8.5 l", "USB rechargeable"),
        pump("Ford Pump Two", 140, 9400, "12 l", "Diesel engine"),
    ]
}

#[tokio::test]
async fn what_an_offer_promises_is_told_of_an_item_that_is_named_in_part() {
    let (_folder, pumps) = agent(&pumps());
    says(
        &pumps,
        &[
            (&["how long is the warranty on the Brook Pump?"], "en", "Brook Pump One Steel 200", "3 years"),
            (&["Wie lange ist die Garantie der Ford Pump Two?"], "de", "Ford Pump Two", "36"),
            (&["whats the maximum weight for the Ford Pump Two"], "en", "Ford Pump Two", "25 kg"),
            (&["how heavy is the Ford Pump Two?"], "en", "Ford Pump Two", "9.4 kg"),
            (&["the Ford pump", "how much does it weigh?"], "en", "Ford Pump Two", "9.4 kg"),
            (&["the Ford pump", "was kostet es ermäßigt?"], "de", "Ford Pump Two", "140"),
        ],
    )
    .await;
}

#[tokio::test]
async fn one_of_the_shown_is_pointed_at_and_asked_of_in_one_turn() {
    let (_folder, pumps) = agent(&pumps());
    says(
        &pumps,
        &[
            (&["pumps", "the cheaper one, how heavy is it?"], "en", "Brook Pump One Steel 200", "7.2 kg"),
            (&["pumps", "the bigger one: how heavy is it?"], "en", "Ford Pump Two", "9.4 kg"),
            (&["pumps, cheapest first", "das zweite: wie schwer ist das?"], "de", "Ford Pump Two", "9400"),
            (&["pumps", "la plus lourde, elle coûte combien ?"], "fr", "Ford Pump Two", "140"),
            (&["pumps", "¿cuál es la más ligera?"], "es", "Brook Pump One Steel 200", "Brook"),
            (&["pumps", "the Brook one", "is it rechargeable?"], "en", "Brook Pump One Steel 200", "USB rechargeable"),
            (&["the Ford pump", "is it rechargeable?"], "en", "Ford Pump Two", "Diesel engine"),
        ],
    )
    .await;
}

#[tokio::test]
async fn whether_there_is_another_is_no_question_about_what_was_shown() {
    let (_folder, pumps) = agent(&pumps());
    lists(&pumps, &[(&["the Brook pump", "is there a diesel engine?"], "en", &["Ford Pump Two"])]).await;
}

/// Flats, with a place that is called as a word of a question.
fn flats() -> Vec<Value> {
    let flat = |name: &str, place: &str, rooms: u32, price: u32, pets: &str, lift: &str| {
        json!({"@type": "Apartment", "name": name, "numberOfRooms": rooms, "typicalAgeRange": "18-",
            "address": {"addressLocality": place}, "offers": {"price": price, "priceCurrency": "EUR"},
            "additionalProperty": [{"name": "Garden", "value": pets}, {"name": "Lift", "value": lift},
                {"name": "Heating", "value": if price > 800 { "gas" } else { "oil" }}]})
    };
    vec![
        flat("Ash House", "Old Town", 2, 700, "yes", "no"),
        flat("Birch House", "Old Town", 3, 900, "no", "yes"),
        flat("Cedar House", "Riverside", 2, 800, "yes", "yes"),
        flat("Elm House", "Riverside", 3, 950, "no", "no"),
    ]
}

#[tokio::test]
async fn a_turn_changes_or_drops_what_was_said_however_it_is_worded() {
    let (_folder, flats) = agent(&flats());
    lists(
        &flats,
        &[
            (&["flats in Riverside under 900", "and in the Old Town?"], "en", &["Ash House"]),
            (&["flats in Riverside with 2 rooms", "and 3?"], "en", &["Elm House"]),
            (
                &["flats with a garden", "the garden can be missing, but in Riverside"],
                "en",
                &["Cedar House", "Elm House"],
            ),
            (&["flats with a lift", "tant pis pour le lift mais à Riverside"], "fr", &["Cedar House", "Elm House"]),
            (&["flats in Riverside", "der Preis ist egal"], "de", &["Cedar House", "Elm House"]),
            (&["flats in Riverside", "el precio da igual, pero con lift"], "es", &["Cedar House"]),
            (&["flats with a garden", "not in the Old Town"], "en", &["Cedar House"]),
            (&["flats under 850", "et à Riverside ?"], "fr", &["Cedar House"]),
            (&["flats with a lift", "¿y en Riverside?"], "es", &["Cedar House"]),
            (&["flats with a garden", "that comes with lift"], "en", &["Cedar House"]),
            (&["flats with a garden", "que quiera lift"], "es", &["Cedar House"]),
            (&["flats with a garden", "not Ash"], "en", &["Cedar House"]),
            (&["flats with a garden", "pas de Cedar"], "fr", &["Ash House"]),
            (&["flats with a lift", "und nicht Birch"], "de", &["Cedar House"]),
            (&["flats with a lift", "sin Cedar"], "es", &["Birch House"]),
        ],
    )
    .await;
}
