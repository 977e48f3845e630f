//! Terms as rows that a person reads: every value with the words of its key, nothing left out and nothing in JSON.

use forecourt_sentences::Sentences;
use serde_json::{Map, Value};

use crate::limits::{TERM_LEVELS_MAX, TERMS_CHARS_MAX, TERMS_MAX};
use crate::{clean, item};

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) label: String,
    pub(crate) value: String,
    /// The same as a link, where it is a web address.
    pub(crate) url: Option<String>,
}

/// The key of the words of a consent, which come first.
const TEXT: &str = "text";
/// Says one label.
type Label = fn(Sentences) -> String;

/// Keys whose words alone would not say it. PolicyPart F-7.
const KNOWN: [(&str, Label); 8] = [
    (TEXT, Sentences::decision_the_terms),
    ("auto_deduct", Sentences::decision_auto_deduct),
    ("per_turn_max_usd", Sentences::decision_per_turn_max),
    ("period_max_usd", Sentences::decision_per_period_max),
    ("payTo", Sentences::decision_pay_to),
    ("maxAmountRequired", Sentences::decision_amount),
    ("amount", Sentences::decision_amount),
    ("maxTimeoutSeconds", Sentences::decision_settled_within),
];

/// All of `scope` as rows, its words first. `None` when that would be more than [`TERMS_MAX`] rows,
/// [`TERMS_CHARS_MAX`] characters or [`TERM_LEVELS_MAX`] levels: what can't be shown whole is not shown in part.
pub(crate) fn terms(scope: &Map<String, Value>, say: Sentences) -> Option<Vec<Term>> {
    let mut rows = Rows { say, rows: Vec::new(), chars: 0 };
    rows.object("", scope, 0)?;
    Some(rows.rows)
}

struct Rows {
    say: Sentences,
    rows: Vec<Term>,
    chars: usize,
}

impl Rows {
    fn object(&mut self, under: &str, fields: &Map<String, Value>, level: usize) -> Option<()> {
        if level == TERM_LEVELS_MAX {
            return None;
        }
        let (first, others): (Vec<_>, Vec<_>) = fields.iter().partition(|(key, _)| *key == TEXT);
        let mut fields = first.into_iter().chain(others);
        fields.try_for_each(|(key, value)| self.value(&joined(under, &label(key, self.say)), value, level))
    }

    fn value(&mut self, label: &str, value: &Value, level: usize) -> Option<()> {
        match value {
            Value::Object(fields) if !fields.is_empty() => self.object(label, fields, level + 1),
            Value::Array(values) if values.iter().any(|value| value.is_object() || value.is_array()) => {
                if level + 1 == TERM_LEVELS_MAX {
                    return None;
                }
                let numbered = values.iter().enumerate();
                numbered.map(|(n, value)| self.value(&format!("{label} {}", n + 1), value, level + 1)).collect()
            }
            Value::Array(values) => {
                self.row(label, values.iter().map(|value| plain(value, self.say)).collect::<Vec<_>>().join(", "))
            }
            value => self.row(label, plain(value, self.say)),
        }
    }

    fn row(&mut self, label: &str, value: String) -> Option<()> {
        // A row without a value looks like a mistake of the page; a dash says that there is none.
        let value = if value.trim().is_empty() { "–".to_owned() } else { value };
        self.chars += label.chars().count() + value.chars().count();
        if self.rows.len() == TERMS_MAX || self.chars > TERMS_CHARS_MAX {
            return None;
        }
        let is_link = value.starts_with("https://") && !value.contains(char::is_whitespace);
        let url = if is_link { clean::href(&value) } else { None };
        self.rows.push(Term { label: label.to_owned(), value, url });
        Some(())
    }
}

fn joined(under: &str, label: &str) -> String {
    if under.is_empty() { label.to_owned() } else { format!("{under}: {label}") }
}

fn plain(value: &Value, say: Sentences) -> String {
    match value {
        Value::String(text) => clean::text(text).into_owned(),
        Value::Bool(true) => say.page_yes(),
        Value::Bool(false) => say.page_no(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// `data_kept` and `dataKept` as `Data kept`.
fn label(key: &str, say: Sentences) -> String {
    if let Some((_, words)) = KNOWN.iter().find(|(known, _)| *known == key) {
        return words(say);
    }
    let words = item::words(&clean::line(key).replace('.', " "));
    if words.trim().is_empty() { "–".to_owned() } else { words.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn say() -> Sentences {
        Sentences::in_language(SpokenLanguage::English)
    }

    fn rows(scope: Value) -> Option<Vec<(String, String)>> {
        let scope = scope.as_object().cloned().unwrap_or_default();
        Some(terms(&scope, say())?.into_iter().map(|term| (term.label, term.value)).collect())
    }

    fn row(label: &str, value: &str) -> (String, String) {
        (label.to_owned(), value.to_owned())
    }

    #[test]
    fn policy3_3_4_every_value_of_a_scope_is_a_row_in_words() {
        let scope = json!({
            "auto_deduct": true, "dataKept": ["name", "e-mail"], "kept": {"for_days": 30, "abroad": false},
            "partners": [{"name": "Ada"}], "none": null, "terms": "https://a.example/terms",
        });
        let found = rows(scope).unwrap();
        for expected in [
            row("Taken from your credit without asking again", "Yes"),
            row("Data kept", "name, e-mail"),
            row("Kept: For days", "30"),
            row("Kept: Abroad", "No"),
            row("Partners 1: Name", "Ada"),
            row("None", "–"),
            row("Terms", "https://a.example/terms"),
        ] {
            assert!(found.contains(&expected), "{expected:?} in {found:?}");
        }
        assert_eq!(found.len(), 7);
    }

    #[test]
    fn policy3_3_4_what_cannot_be_shown_whole_is_not_shown_in_part() {
        let many = |count: usize| Value::Object((0..count).map(|n| (format!("k{n}"), json!(n))).collect());
        assert_eq!(rows(many(TERMS_MAX)).map(|rows| rows.len()), Some(TERMS_MAX));
        assert_eq!(rows(many(TERMS_MAX + 1)), None);
        let long = |chars: usize| json!({"k": "x".repeat(chars)});
        assert!(rows(long(TERMS_CHARS_MAX - 1)).is_some());
        assert_eq!(rows(long(TERMS_CHARS_MAX)), None);
        let deep = |levels: usize| (1..levels).fold(json!({"k": 1}), |value, _| json!({ "k": value }));
        assert!(rows(deep(TERM_LEVELS_MAX)).is_some());
        assert_eq!(rows(deep(TERM_LEVELS_MAX + 1)), None);
    }

    #[test]
    fn only_web_addresses_become_links() {
        let scope = json!({"a": "https://a.example/x", "b": "javascript:alert(1)", "c": "https://a.example or not"});
        let links: Vec<Option<String>> =
            terms(scope.as_object().unwrap(), say()).unwrap().into_iter().map(|term| term.url).collect();
        assert_eq!(links, [Some("https://a.example/x".to_owned()), None, None]);
    }

    proptest! {
        #[test]
        fn no_key_is_without_words(key in "\\PC{0,12}") {
            prop_assert!(!label(&key, say()).trim().is_empty());
        }
    }
}
