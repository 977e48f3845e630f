//! Which limits of earlier turns still hold: another one of the same property takes their place, and a turn may let go of
//! one.

use forecourt_understanding::{Filter, OPENING_TIMES, PLACE_PATHS, Test};

use forecourt_vocabulary::{PropertyTable, folded};

use super::name_role::is_same;
use super::phrase::PhrasePlace;
use super::phrases::content_words;
use super::request::{ItemLookup, SearchRequest, is_limit};

/// The area of the vocabulary whose classes are colours: a thing is of one, where a dish has many ingredients.
const COLOURS: &str = "color";
/// What people call limits of money, whichever language they speak.
const MONEY: &[&str] =
    &["price", "cost", "budget", "preis", "preisgrenze", "preislimit", "prix", "precio", "presupuesto"];
/// How paths of prices begin.
const PRICES: &str = "offers.price";
/// Letters of a word that names a limit by the end of what it is called.
const COMPOUND_END_MIN: usize = 4;
/// Where items say of which kind they are.
const KIND: &str = "@type";
/// What people call limits of places and of colours.
const PLACES: &[&str] = &["place", "location", "city", "town", "ort", "stadt", "lieu", "ville", "lugar", "ciudad"];
const COLOUR_NAMES: &[&str] = &["colour", "color", "farbe", "couleur"];

/// How paths of days and times of events begin.
const TIMES_OF_EVENTS: &str = "eventDays";
/// What people call limits of when something takes place.
const TIMES: &[&str] = &[
    "time", "times", "hour", "day", "date", "zeit", "uhrzeit", "tag", "datum", "termin", "heure", "jour", "date",
    "hora", "horario", "día", "fecha",
];

/// Whether a limit takes the place of an earlier one: "in German" of "in English", "without sauna" of "with sauna".
pub(super) fn replaces(filter: &Filter, earlier: &Filter, reads: &dyn ItemLookup) -> bool {
    match (&filter.test, &earlier.test) {
        // "Open now", after "open on Sunday".
        _ if is_opening(filter) && is_opening(earlier) => true,
        _ if is_limit(filter) && is_limit(earlier) => filter.fields == earlier.fields,
        // A thing is of one kind: a hotel, after guest houses.
        _ if is_of_kind(filter) && is_of_kind(earlier) => true,
        (Test::IsOneOf { .. }, Test::IsOneOf { .. })
        // "Scottish ones", after "not from Scotland".
        | (Test::IsOneOf { .. } | Test::Is(_) | Test::OneOf(_), Test::NoneOf(_))
        | (Test::NoneOf(_), Test::IsOneOf { .. } | Test::Is(_) | Test::OneOf(_)) => share_a_field(filter, earlier),
        (Test::Is(value), Test::Is(other)) if is_truth(value) && is_truth(other) => filter.fields == earlier.fields,
        (Test::Is(_) | Test::OneOf(_) | Test::AnyOf(_), Test::Is(_) | Test::OneOf(_) | Test::AnyOf(_)) => {
            is_placed(filter) && is_placed(earlier)
        }
        (Test::OfClass(classes), Test::OfClass(others)) => are_colours(classes, reads) && are_colours(others, reads),
        _ => false,
    }
}

/// Whether a limit is one of what can be had.
pub(super) fn is_of_stock(filter: &Filter) -> bool {
    filter.fields.iter().any(|field| PropertyTable::shipped().texts.availability.contains(field))
}

/// Whether a limit is one of money.
pub(super) fn is_of_money(filter: &Filter) -> bool {
    filter.fields.iter().any(|field| field.starts_with(PRICES))
}

/// Whether a limit is of the kind that things are of.
fn is_of_kind(filter: &Filter) -> bool {
    let says_kind = |one: &Filter| one.fields == [KIND] && !matches!(one.test, Test::NoneOf(_) | Test::Without { .. });
    filter.alternatives().iter().any(says_kind)
}

fn share_a_field(one: &Filter, other: &Filter) -> bool {
    one.fields.iter().any(|field| other.fields.contains(field))
}

fn is_truth(value: &str) -> bool {
    matches!(value, "true" | "false")
}

/// Whether a limit is of when something is open.
fn is_opening(filter: &Filter) -> bool {
    !filter.fields.is_empty() && filter.fields.iter().all(|field| field.starts_with(OPENING_TIMES))
}

fn is_placed(filter: &Filter) -> bool {
    filter.fields.iter().any(|field| PLACE_PATHS.contains(&field.as_str()))
}

fn are_colours(classes: &[String], reads: &dyn ItemLookup) -> bool {
    classes.iter().all(|class| reads.area_of(class).is_some_and(|area| area == COLOURS))
}

/// The question without the limits that `what` names. `None`: it names none of them, or one of what must be absent, which
/// nobody lets go of by the way.
pub(super) fn without(before: &SearchRequest, what: &str, reads: &dyn ItemLookup) -> Option<SearchRequest> {
    let said = reads.understand(what).filters;
    // "Any under 30?" is another limit of what has one, and lets go of none; "male or female" names the one that holds.
    let is_of_held = |one: &Filter| before.filters.iter().any(|held| speaks_of(one, held));
    let sets_another = |one: &Filter| before.filters.iter().any(|held| share_a_field(one, held)) && !is_of_held(one);
    if said.iter().any(sets_another) && !said.iter().any(is_of_held) {
        return None;
    }
    let words: Vec<String> = content_words(what).map(str::to_lowercase).collect();
    let is_dropped = |filter: &Filter| {
        let is_same = |said: &Filter| said.fields.is_empty() && said.test == filter.test;
        let is_said = said.iter().any(|said| share_a_field(said, filter) || is_same(said));
        let is_named = || is_called(filter, &words, reads) || words.iter().any(|word| reads.names_limit(word, filter));
        !matches!(filter.test, Test::Without { .. }) && (is_said || is_named())
    };
    let dropped: Vec<Filter> = before.filters.iter().filter(|filter| is_dropped(filter)).cloned().collect();
    if dropped.is_empty() {
        return None;
    }
    let mut asked = SearchRequest { offset: 0, ..before.clone() }.unsaid();
    asked.filters.retain(|filter| !dropped.contains(filter));
    for phrase in &mut asked.phrases {
        phrase.limits.retain(|limit| dropped.iter().all(|filter| filter.words != *limit));
    }
    asked.phrases.retain(|phrase| {
        phrase.place == PhrasePlace::Subject || !(phrase.words.is_empty() && phrase.limits.is_empty())
    });
    Some(asked)
}

/// Whether what is said sets no limit but those that hold already: "never mind the pool" speaks of the pool.
pub(super) fn sets_none(before: &SearchRequest, what: &str, reads: &dyn ItemLookup) -> bool {
    let said = reads.understand(what).filters;
    let is_held = |said: &Filter| before.filters.iter().any(|held| speaks_of(said, held));
    // "Red or blue" lets go of red, whatever else it says of it.
    let is_beside = |one: &Filter| said.iter().any(|other| share_a_field(one, other) && is_held(other));
    said.iter().all(|one| is_held(one) || is_beside(one))
}

/// Whether what is said is the limit that holds, or one of its values: "diesel", of "not diesel".
fn speaks_of(said: &Filter, held: &Filter) -> bool {
    let is_of_it = said.fields == held.fields || share_a_field(said, held);
    let shares_value = || {
        let is_value = |value: &String| all_values(held).iter().any(|other| folded(other) == folded(value));
        all_values(said).iter().any(is_value)
    };
    is_of_it && (said.test == held.test || shares_value())
}

/// The values that a limit asks for, or rules out.
fn all_values(filter: &Filter) -> &[String] {
    match &filter.test {
        Test::NoneOf(values) => values,
        _ => values(filter),
    }
}

/// Whether a word is what people call a limit of a price, a place, a colour or a time.
pub(super) fn is_limit_name(word: &str) -> bool {
    let word = word.to_lowercase();
    [MONEY, PLACES, COLOUR_NAMES, TIMES].iter().any(|names| names.contains(&word.as_str()))
}

/// The values that a limit asks for.
pub(super) fn values(filter: &Filter) -> &[String] {
    match &filter.test {
        Test::Is(value) | Test::Mentions(value) => std::slice::from_ref(value),
        Test::OneOf(values) | Test::IsOneOf { values, .. } => values,
        _ => &[],
    }
}

/// Whether one of these words says what a limit is of.
fn is_called(filter: &Filter, words: &[String], reads: &dyn ItemLookup) -> bool {
    let told = filter.words.to_lowercase();
    let in_words = |word: &String| {
        let mut all = told.split(|c: char| !c.is_alphanumeric()).filter(|told| !told.is_empty());
        // A German compound is called by its end, too: "Gebindegröße" is a "Größe".
        let is_end = |told: &str| word.chars().count() >= COMPOUND_END_MIN && told.ends_with(word.as_str());
        all.any(|told| is_same(told, word) || is_end(told))
    };
    let names = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_colour = match &filter.test {
        Test::OfClass(classes) => are_colours(classes, reads),
        _ => false,
    };
    words.iter().any(in_words)
        || (names(MONEY) && filter.fields.iter().any(|field| field.starts_with(PRICES)))
        || (names(PLACES) && is_placed(filter))
        || (names(COLOUR_NAMES) && is_colour)
        || (names(TIMES) && filter.fields.iter().any(|field| field.starts_with(TIMES_OF_EVENTS)))
}

/// Adds a constraint. Another limit on the same property takes the place of the earlier one, and so does another kind
/// of thing where `is_kind`.
pub(super) fn narrow(filters: &mut Vec<Filter>, filter: Filter, is_kind: bool, reads: &dyn ItemLookup) {
    let is_sort = |filter: &Filter| matches!(filter.test, Test::Is(_) | Test::IsOneOf { .. });
    let is_replaced = |other: &Filter| {
        let are_sorts = is_kind && is_sort(other) && is_sort(&filter);
        (are_sorts && other.fields == filter.fields) || replaces(&filter, other, reads)
    };
    filters.retain(|other| *other != filter && !is_replaced(other));
    filters.push(filter);
}

#[cfg(test)]
mod tests {
    use forecourt_core::Question;
    use forecourt_understanding::{ParsedQuestion, open_span};
    use forecourt_vocabulary::Vocabulary;
    use serde_json::Value;

    use super::super::request::QuestionParser;
    use super::*;

    /// Understands nothing, and knows the vocabulary.
    struct Words;

    impl QuestionParser for Words {
        fn understand(&self, text: &str) -> ParsedQuestion {
            ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() }
        }

        fn named(&self, _: &str, _: &Value) -> Vec<Filter> {
            Vec::new()
        }

        fn class_names(&self, class: &str) -> Vec<String> {
            vec![class.to_owned()]
        }
    }

    impl ItemLookup for Words {
        fn names(&self, _: &str) -> Vec<String> {
            Vec::new()
        }

        fn has_items(&self, _: &[Filter]) -> bool {
            false
        }

        fn asks_back(&self, _: &SearchRequest) -> Option<Question> {
            None
        }

        fn is_about(&self, _: &[String]) -> bool {
            false
        }

        fn are_alike(&self, _: &str, _: &str) -> bool {
            false
        }

        fn area_of(&self, class: &str) -> Option<String> {
            Vocabulary::shipped().class(class).map(|class| class.area.clone())
        }

        fn language(&self) -> &str {
            "en"
        }
    }

    fn one_of(field: &str, value: &str) -> Filter {
        let test = Test::IsOneOf { values: vec![value.to_owned()], or_sorted_as: Vec::new() };
        Filter { fields: vec![field.to_owned()], test, words: format!("{field}: {value}") }
    }

    #[test]
    fn a_limit_takes_the_place_of_one_of_the_same_property() {
        let none_of = Filter { test: Test::NoneOf(vec!["tablet".to_owned()]), ..one_of("form", "tablet") };
        let most = |most: f64| Filter::within("offers.price", None, Some(most));
        let at = |place: &str| Filter::is("address.addressLocality", place);
        let open = |day: i8| Filter { test: Test::AnyOf(Vec::new()), fields: open_span(day, 0).into(), ..most(0.0) };
        for (filter, earlier, is) in [
            (one_of("inLanguage", "de"), one_of("inLanguage", "en"), true),
            (one_of("form", "syrup"), one_of("inLanguage", "en"), false),
            (none_of.clone(), one_of("form", "tablet"), true),
            (none_of.clone(), none_of, false),
            (
                one_of("country", "scotland"),
                Filter { test: Test::NoneOf(vec!["scotland".into()]), ..one_of("country", "") },
                true,
            ),
            (Filter::is("@type", "Hotel"), Filter::is("@type", "BedAndBreakfast"), true),
            (Filter::is("@type", "Hotel"), Filter::is("sort", "inn"), false),
            (Filter::is("sauna", "false"), Filter::is("sauna", "true"), true),
            (Filter::is("pool", "true"), Filter::is("sauna", "true"), false),
            (at("kos"), at("paris"), true),
            (Filter::is("actor.name", "x"), Filter::is("actor.name", "y"), false),
            (Filter::of_class(&["red"], "red"), Filter::of_class(&["blue"], "blue"), true),
            (Filter::of_class(&["nuts"], "nuts"), Filter::of_class(&["dairy"], "dairy"), false),
            (most(5.0), most(9.0), true),
            (open(3), open(7), true),
            (open(3), most(9.0), false),
        ] {
            assert_eq!(replaces(&filter, &earlier, &Words), is, "{filter:?} {earlier:?}");
        }
    }

    #[test]
    fn a_limit_is_let_go_of_by_what_it_is_called_and_never_one_of_what_must_be_absent() {
        let absent = Test::Without { classes: Vec::new(), words: vec!["nuts".to_owned()] };
        let filters = vec![
            Filter { words: "at most 20".to_owned(), ..Filter::within("offers.price", None, Some(20.0)) },
            Filter { words: "in Kos".to_owned(), ..Filter::is("address.addressLocality", "kos") },
            Filter { words: "colour: red".to_owned(), ..Filter::of_class(&["red"], "") },
            Filter { words: "no nuts".to_owned(), ..Filter { fields: Vec::new(), test: absent, words: String::new() } },
        ];
        let before = SearchRequest { filters, offset: 10, ..SearchRequest::default() };
        for (what, dropped) in [
            ("price", Some("at most 20")),
            ("prix", Some("at most 20")),
            ("city", Some("in Kos")),
            ("Kos", Some("in Kos")),
            ("colour", Some("colour: red")),
            ("red", Some("colour: red")),
            ("nuts", None),
            ("sauna", None),
        ] {
            let asked = without(&before, what, &Words);
            let kept = |filter: &&Filter| asked.as_ref().is_some_and(|asked| !asked.filters.contains(filter));
            let gone: Vec<&str> = before.filters.iter().filter(kept).map(|filter| filter.words.as_str()).collect();
            assert_eq!(gone, dropped.into_iter().collect::<Vec<_>>(), "{what}");
            assert!(asked.is_none_or(|asked| asked.offset == 0), "{what}");
        }
    }
}
