//! Filters by name, as data parts of a message give them: `{"filters": {"recipeCuisine": "Indian"}}`, and what
//! a person clicked.

use forecourt_core::{Part, SearchRefinement};
use forecourt_understanding::{Filter, Test};
use serde_json::{Map, Value};

use super::request::{NamedFilter, QuestionParser};
use super::{elicit, facets};
use crate::limits::{QUESTION_FILTERS_MAX, SHOWN_MAX};

/// The filters of one message: by name in its data parts, and by clicks.
#[derive(Debug, Default, PartialEq)]
pub(super) struct MessageFilters {
    /// The filters, in the order of their names.
    pub(super) filters: Vec<NamedFilter>,
    /// All names, also of those that leave it open.
    pub(super) names: Vec<String>,
    /// Names of filters whose values say nothing that could be looked for.
    pub(super) unread: Vec<String>,
    /// Items wanted, when the caller says so: 1 to [`SHOWN_MAX`].
    pub(super) results: Option<usize>,
    /// Whether a question back is unwanted.
    pub(super) decided: bool,
    /// Values given under names that a question of ours may have asked for, with those names.
    said: Vec<(&'static str, String)>,
}

/// Reads the data parts of a message, and how our own protocol narrows it down.
pub(super) fn read(parts: &[Part], narrowing: &SearchRefinement, reads: &dyn QuestionParser) -> MessageFilters {
    let mut all = MessageFilters::default();
    for part in parts {
        let filters = data(part).and_then(|data| data.get("filters")?.as_object()).into_iter().flatten();
        filters.take(all.room()).for_each(|(name, value)| all.take(name, value, reads));
    }
    all.narrow(narrowing, reads);
    all
}

impl MessageFilters {
    /// The property about which `text` answers a question, when it says no more than a filter of that name.
    pub(super) fn answers(&self, text: &str) -> Option<&'static str> {
        let is_said = |(_, said): &&(&'static str, String)| said.eq_ignore_ascii_case(text.trim());
        self.said.iter().find(is_said).map(|(field, _)| *field)
    }

    /// Names that may still come.
    fn room(&self) -> usize {
        QUESTION_FILTERS_MAX.saturating_sub(self.names.len())
    }

    /// The values that were chosen, each exactly as it is where there are such items.
    fn narrow(&mut self, narrowing: &SearchRefinement, reads: &dyn QuestionParser) {
        self.results = narrowing.results.map(|wanted| wanted.clamp(1, SHOWN_MAX));
        self.decided = narrowing.decided;
        for (name, value) in narrowing.exactly.iter().take(self.room()) {
            // `No preference` is an answer: the question is not asked again, and nothing is left out.
            if elicit::is_any(value) {
                self.names.push(name.clone());
                self.decided = true;
                continue;
            }
            let exactly = Filter { fields: facets::same(name), words: value.clone(), ..Filter::is(name, value) };
            // A click says the value as the page shows it, which may be another spelling than the item's.
            let loosely = reads.named(name, &value.clone().into());
            // A distance is no value of items that could be spelled otherwise.
            if let [near @ Filter { test: Test::Near { .. }, .. }] = loosely.as_slice() {
                self.filters.push(NamedFilter::new(name, near.clone()));
                self.names.push(name.clone());
                continue;
            }
            self.filters.push(NamedFilter { loosely, ..NamedFilter::new(name, exactly) });
            self.names.push(name.clone());
        }
    }

    fn take(&mut self, name: &str, value: &Value, reads: &dyn QuestionParser) {
        self.names.push(name.to_owned());
        let words = in_words(value);
        if let (Some(field), Some(words)) = (facets::known(name), &words) {
            self.said.push((field, words.clone()));
        }
        if words.is_some_and(|words| elicit::is_any(&words)) {
            return;
        }
        match reads.named(name, value) {
            filters if filters.is_empty() => self.unread.push(name.to_owned()),
            filters => self.filters.extend(filters.into_iter().map(|filter| NamedFilter::new(name, filter))),
        }
    }
}

/// The fields of a data part.
pub(super) fn data(part: &Part) -> Option<&Map<String, Value>> {
    match part {
        Part::Data(data) => data.data.as_object(),
        _ => None,
    }
}

/// A value as a person would say it.
pub(super) fn in_words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(if *truth { "yes" } else { "no" }.to_owned()),
        Value::Array(items) => {
            let words: Vec<String> = items.iter().filter_map(in_words).collect();
            (!words.is_empty()).then(|| words.join(", "))
        }
        Value::Null | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use forecourt_understanding::ParsedQuestion;
    use serde_json::json;

    use super::*;

    /// Takes every text at its word.
    struct Plain;

    impl QuestionParser for Plain {
        fn understand(&self, text: &str) -> ParsedQuestion {
            ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() }
        }

        fn named(&self, name: &str, value: &Value) -> Vec<Filter> {
            value.as_str().map(|text| Filter::mentions(name, text)).into_iter().collect()
        }

        fn class_names(&self, class: &str) -> Vec<String> {
            vec![class.to_owned()]
        }
    }

    fn of(data: Value) -> MessageFilters {
        read(&[Part::text("x"), Part::data(data)], &SearchRefinement::default(), &Plain)
    }

    #[test]
    fn values_can_be_asked_for_by_name() {
        let asked = of(json!({"filters": {"itemType": "Recipe", "x": [1], "genre": "any"}}));
        let words: Vec<&str> = asked.filters.iter().map(|named| named.filter.words.as_str()).collect();
        assert_eq!(words, ["itemType: Recipe"]);
        assert_eq!(
            (asked.unread, asked.names),
            (vec!["x".to_owned()], ["genre", "itemType", "x"].map(String::from).into())
        );
    }

    #[test]
    fn filters_end_at_the_bound() {
        let many = |count: usize| {
            let filters: Map<String, Value> = (0..count).map(|n| (format!("k{n}"), json!("v"))).collect();
            of(json!({ "filters": filters })).filters.len()
        };
        assert_eq!(many(QUESTION_FILTERS_MAX), QUESTION_FILTERS_MAX);
        assert_eq!(many(QUESTION_FILTERS_MAX + 1), QUESTION_FILTERS_MAX);
    }

    #[test]
    fn the_bound_is_that_of_a_whole_message() {
        let part = |n: usize| Part::data(json!({"filters": {format!("k{n}"): "v"}}));
        let parts: Vec<Part> = (0..=QUESTION_FILTERS_MAX).map(part).collect();
        assert_eq!(read(&parts[1..], &SearchRefinement::default(), &Plain).filters.len(), QUESTION_FILTERS_MAX);
        assert_eq!(read(&parts, &SearchRefinement::default(), &Plain).filters.len(), QUESTION_FILTERS_MAX);
    }

    #[test]
    fn only_so_many_items_can_be_wanted_at_once() {
        let wanted = |results: usize| {
            let narrowing = SearchRefinement { results: Some(results), ..SearchRefinement::default() };
            read(&[], &narrowing, &Plain).results
        };
        assert_eq!((wanted(SHOWN_MAX), wanted(SHOWN_MAX + 1)), (Some(SHOWN_MAX), Some(SHOWN_MAX)));
        assert_eq!((wanted(0), wanted(usize::MAX)), (Some(1), Some(SHOWN_MAX)));
    }

    #[test]
    fn what_was_clicked_narrows_and_ends_questions() {
        let exactly = vec![("cuisine".to_owned(), "Thai".to_owned()); QUESTION_FILTERS_MAX + 1];
        let clicked = read(&[], &SearchRefinement { exactly, results: Some(20), decided: true, order: None }, &Plain);
        assert_eq!((clicked.filters.len(), clicked.results, clicked.decided), (QUESTION_FILTERS_MAX, Some(20), true));
        assert_eq!(clicked.filters[0].filter.test, Test::Is("Thai".to_owned()));
        assert_eq!(clicked.filters[0].loosely[0].words, "cuisine: Thai");
    }

    #[test]
    fn s4_1_3_answers_of_every_shape_are_known_again() {
        for (value, text) in [
            (json!("Soup"), "soup"),
            (json!(["Soup", "Stew"]), "Soup, Stew"),
            (json!(4), "4"),
            (json!(true), "yes"),
            (json!("no preference"), "No preference"),
        ] {
            assert_eq!(of(json!({"filters": {"genre": value}})).answers(text), Some("genre"), "{text}");
        }
        assert_eq!(of(json!({"filters": {"genre": "Soup"}})).answers("a soup"), None);
        assert_eq!(of(json!({"filters": {"colour": "red"}})).answers("red"), None);
    }
}
