//! Which property an amount is of, where several could be meant: by their names, by what items have of them, and by what
//! is counted.

use forecourt_vocabulary::Vocabulary;

use crate::filter::{Filter, Test};
use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
use crate::scope::QuestionScope;
use crate::tests::understood_with;

/// Items that have prices, and of some paths quantities between two ends. No item states two of these paths.
struct MeasuredNumbers(&'static [(&'static str, f64, f64)]);

impl QuestionScope for MeasuredNumbers {
    fn has_number(&self, path: &str) -> bool {
        path == "offers.price" || self.0.iter().any(|(known, ..)| *known == path)
    }
    fn has_word(&self, _: &str, _: &str) -> bool {
        false
    }
    fn has_value(&self, _: &str, _: &str) -> bool {
        false
    }
    fn share(&self, path: &str) -> f64 {
        if self.has_number(path) { 0.5 } else { 0.0 }
    }
    fn quantile(&self, path: &str, part: f64) -> Option<f64> {
        self.0.iter().find(|(known, ..)| *known == path).map(|(_, least, most)| least + (most - least) * part)
    }
    fn finds(&self, _: &str, _: &[Filter]) -> bool {
        false
    }
    fn is_name(&self, _: &str) -> bool {
        false
    }
    fn states(&self, _: &str) -> bool {
        false
    }
}

const WHOLE: StatedValues = StatedValues::Numbers { are_whole: true };
const BROKEN: StatedValues = StatedValues::Numbers { are_whole: false };

/// The fields of the first limit of a question about items that state these properties.
fn fields(text: &str, known: &MeasuredNumbers, stated: &[(&str, StatedValues)]) -> Vec<String> {
    let property = |(path, values): &(&str, StatedValues)| StatedProperty {
        path: format!("additionalProperty.{path}"),
        share: 0.4,
        values: values.clone(),
    };
    let learnt = LearntProperties::of(stated.iter().map(property).collect(), &Vocabulary::shipped());
    let found = understood_with(text, known, &learnt);
    let first = found.filters.into_iter().next().map(|filter| filter.fields).unwrap_or_default();
    first.into_iter().map(|field| field.replace("additionalProperty.", "")).collect()
}

#[test]
fn a_name_that_several_properties_have_is_any_of_them() {
    let none = MeasuredNumbers(&[]);
    let sizes = [("UK sizes", BROKEN), ("Mondo sizes", BROKEN)];
    assert_eq!(fields("boots size 8", &none, &sizes), ["Mondo sizes", "UK sizes"]);
    let loads = [("Roof load.gram", BROKEN), ("Trailer load.gram", BROKEN)];
    assert_eq!(fields("at least 80 kg load", &none, &loads).len(), 2);
    assert_eq!(fields("at least 80 kg roof load", &none, &loads), ["Roof load.gram"], "what is named whole is meant");
}

#[test]
fn an_amount_is_of_a_property_that_comes_near_it() {
    const SKIS: MeasuredNumbers = MeasuredNumbers(&[
        ("additionalProperty.Drop.metre", 0.0, 0.012),
        ("additionalProperty.Lengths.metre", 1.4, 1.9),
        ("additionalProperty.Waist width.metre", 0.066, 0.11),
    ]);
    let stated = [("Drop.metre", BROKEN), ("Lengths.metre", BROKEN), ("Waist width.metre", BROKEN)];
    for (text, field) in [
        ("skis in 170 cm", "Lengths.metre"),
        ("Ski, mindestens 160 cm", "Lengths.metre"),
        ("skis de plus de 90 mm", "Waist width.metre"),
        ("at most 8 mm", "Drop.metre"),
    ] {
        assert_eq!(fields(text, &SKIS, &stated), [field], "{text}");
    }
}

#[test]
fn money_is_no_number_of_things() {
    let stated = [("Nombre de bouteilles", WHOLE), ("Anzahl Teile", WHOLE)];
    for text in ["pas plus de 30 euros la bouteille", "at most 30 euros", "höchstens 30 Euro die Teile"] {
        assert_eq!(fields(text, &MeasuredNumbers(&[]), &stated), ["offers.price"], "{text}");
    }
    assert_eq!(fields("au moins 3 bouteilles", &MeasuredNumbers(&[]), &stated), ["Nombre de bouteilles"]);
    assert_eq!(fields("une caisse à quatre couvercles", &MeasuredNumbers(&[]), &stated), [""; 0], "four is no price");
}

#[test]
fn seats_are_room_for_people_and_parts_of_a_hundred_are_measured() {
    for text in ["Platz für 7 Personen", "a car for 7 people", "para 7 personas"] {
        assert_eq!(fields(text, &MeasuredNumbers(&[]), &[("Sitzplätze", WHOLE)]), ["Sitzplätze"], "{text}");
    }
    // For how many a room is says nothing of how many rooms there are.
    let rooms = [("Room", WHOLE)];
    for text in ["a room for four people", "hotel room for 4 persons", "ein Room für zwei Personen"] {
        assert_ne!(fields(text, &MeasuredNumbers(&[]), &rooms), ["Room"], "{text}");
    }
    assert_eq!(fields("at least 4 rooms", &MeasuredNumbers(&[]), &rooms), ["Room"]);
    assert_eq!(fields("warranty for 5 years", &MeasuredNumbers(&[]), &[("Warranty.year", WHOLE)]), ["Warranty.year"]);
    let cocoa = [("Cocoa content.percent", BROKEN)];
    for text in ["at least 70 % cocoa content", "cocoa content over 70", "mindestens 70 Prozent"] {
        assert_eq!(fields(text, &MeasuredNumbers(&[]), &cocoa), ["Cocoa content.percent"], "{text}");
    }
}

#[test]
fn what_is_not_free_costs_something() {
    for text in ["exposiciones de pago", "expositions payantes", "kostenpflichtige Kurse", "tours that cost something"]
    {
        assert_eq!(fields(text, &MeasuredNumbers(&[]), &[]), ["offers.price"], "{text}");
    }
}

#[test]
fn a_value_takes_the_name_of_its_property_with_it() {
    let values = StatedValues::Texts(["low", "high", "baja", "hoch"].map(str::to_owned).to_vec());
    let property = StatedProperty { path: "additionalProperty.Intensity".to_owned(), share: 0.9, values };
    let learnt = LearntProperties::of(vec![property], &Vocabulary::shipped());
    for (text, left) in [("yoga of low intensity", "yoga"), ("yoga, intensity high", "yoga")] {
        let found = understood_with(text, &MeasuredNumbers(&[]), &learnt);
        assert_eq!((found.filters.len(), found.text.as_str()), (1, left), "{text}");
    }
}

#[test]
fn superlatives_name_a_property_in_many_ways() {
    let order = |text: &str, path: &str| {
        let property = StatedProperty { path: format!("additionalProperty.{path}"), share: 0.4, values: BROKEN };
        let learnt = LearntProperties::of(vec![property], &Vocabulary::shipped());
        understood_with(text, &MeasuredNumbers(&[]), &learnt)
            .order
            .map(|order| (order.fields[0].clone(), order.descending))
    };
    for (text, path, descending) in [
        ("the watch with the longest battery", "GPS battery life.minute", true),
        ("le rhum le plus fort en alcool", "Degré d'alcool.percent", true),
        ("am reichsten an Protein", "Protein.gram", true),
        ("el más rico en proteínas", "Proteínas.gram", true),
        ("the bigger bottle", "Volume.litre", true),
        ("la bouteille la plus grande", "Volume.litre", true),
    ] {
        assert_eq!(order(text, path), Some((format!("additionalProperty.{path}"), descending)), "{text}");
    }
    assert_eq!(order("a bottle bigger than 2 litres", "Volume.litre"), None);
    assert_eq!(order("¿cuál es la más cara que tenéis?", "Peso.gram"), Some(("offers.price".to_owned(), true)));
}

#[test]
fn what_some_items_say_is_not_in_them_can_be_asked_for() {
    use crate::paths::ABSENT;
    use crate::tests::{Stating, understood};
    const SAYING: Stating =
        Stating(&["offers.price", "\u{1}absent=parfum", "\u{1}absent=sulfit", "\u{1}absent=alcohol"]);
    for text in [
        "Creme ohne Parfüm",
        "crème sans parfum",
        "parfümfreie Creme",
        "perfume-free cream",
        "vino sin sulfitos añadidos",
        "wine without sulfites",
        "syrup with no alcohol",
    ] {
        let found = understood(text, &SAYING);
        let is_said = |filter: &Filter| {
            filter.alternatives().iter().all(|one| one.fields == [ABSENT] && matches!(one.test, Test::Is(_)))
        };
        assert!(found.filters.len() == 1 && found.filters.iter().all(is_said), "{text}: {found:?}");
        assert!(found.not_understood.is_empty(), "{text}: {found:?}");
    }
    let found = understood("Creme ohne Aluminium", &SAYING);
    assert!(found.filters.is_empty() && found.not_understood == ["ohne Aluminium"], "{found:?}");
}
