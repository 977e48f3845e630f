//! The facts of an item that are read at a glance, told by what kind of thing it is.

use forecourt_sentences::{Sentences, SpokenLanguage};
use serde_json::{Map, Value};

use super::kinds::{Form, facts_of, month, word};
use super::{Fact, price, to_words, type_name, words};
use crate::clean;
use crate::limits::{FACT_CHARS_MAX, GLANCE_FACTS_MAX};

/// What the card of a thing of a known kind tells, at most [`GLANCE_FACTS_MAX`]; nothing of another kind.
pub(super) fn of(fields: &Map<String, Value>, say: Sentences) -> Vec<Fact> {
    let kind = type_name(fields).unwrap_or_default();
    let known = facts_of(&kind).unwrap_or_default();
    let told = known.iter().filter_map(|fact| {
        let values = fact.of.iter().filter_map(|property| fields.get(property.as_str()));
        let value = values.filter_map(|value| written(value, fact.form, say)).next()?;
        let value = clean::clip(&clean::line(&value), FACT_CHARS_MAX);
        (!value.is_empty()).then(|| Fact { label: fact.label(say.language()).to_owned(), value })
    });
    told.take(GLANCE_FACTS_MAX).collect()
}

fn written(value: &Value, form: Form, say: Sentences) -> Option<String> {
    let language = say.language();
    match form {
        Form::Plain => to_words(value, say).map(|text| known_word(&text, language)),
        Form::Rating => rating(first(value), language),
        Form::Date => plain(first(value)).map(|text| date(&text, language).unwrap_or(text)),
        Form::Year => plain(first(value)).map(|text| text.chars().take_while(char::is_ascii_digit).take(4).collect()),
        Form::Place => place(first(value)),
        Form::Money => money(first(value), say),
        Form::Area => quantity(first(value), language).or_else(|| to_words(value, say)),
        Form::Word => {
            to_words(value, say).map(|text| known_word(text.rsplit(['/', '#']).next().unwrap_or_default(), language))
        }
    }
}

/// The first of several values, or the only one.
fn first(value: &Value) -> &Value {
    value.as_array().and_then(|all| all.first()).unwrap_or(value)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A name of a vocabulary in words: `FULL_TIME` as `Full time`, where it is not known in this language.
fn known_word(text: &str, language: SpokenLanguage) -> String {
    let is_name = !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    match word(text, language) {
        Some(said) => said.to_owned(),
        None if is_name && text.contains('_') => words(&text.to_lowercase()),
        None => text.to_owned(),
    }
}

/// A number as it is written in a language.
fn number(text: &str, language: SpokenLanguage) -> String {
    if language == SpokenLanguage::English { text.to_owned() } else { text.replace('.', ",") }
}

fn rating(value: &Value, language: SpokenLanguage) -> Option<String> {
    let fields = value.as_object()?;
    let mean = fields.get("ratingValue").and_then(plain)?;
    let count = ["ratingCount", "reviewCount"].iter().find_map(|key| plain(fields.get(*key)?));
    let mean = number(&mean, language);
    Some(count.map_or_else(|| format!("★ {mean}"), |count| format!("★ {mean} ({count})")))
}

/// `2026-03-12T19:30` as `12 March 2026, 19:30`; `None` for what is no day of ISO 8601.
fn date(text: &str, language: SpokenLanguage) -> Option<String> {
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let mut parts = day.splitn(3, '-').map(|part| part.parse::<usize>().ok());
    let (year, month_number) = (parts.next()??, parts.next()??);
    let name = month(month_number, language)?;
    let day = match parts.next() {
        Some(day) => Some(day.filter(|day| (1..=31).contains(day))?),
        None => None,
    };
    let said = match (language, day) {
        (_, None) => format!("{name} {year}"),
        (SpokenLanguage::German, Some(day)) => format!("{day}. {name} {year}"),
        (SpokenLanguage::Spanish, Some(day)) => format!("{day} de {name} de {year}"),
        (_, Some(day)) => format!("{day} {name} {year}"),
    };
    let time = time.get(..5).filter(|time| time.is_ascii() && time.as_bytes()[2] == b':' && *time != "00:00");
    Some(time.map_or_else(|| said.clone(), |time| format!("{said}, {time}")))
}

/// A name and where that is, each once.
fn place(value: &Value) -> Option<String> {
    let Value::Object(fields) = value else { return plain(value) };
    let mut said: Vec<String> = Vec::new();
    let mut push = |text: Option<String>| said.extend(text.filter(|text| !said.contains(text)));
    let text = |key: &str| plain(fields.get(key)?);
    push(text("name"));
    push(text("streetAddress"));
    push(text("addressLocality"));
    if let Some(address) = fields.get("address") {
        push(place(first(address)));
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// An amount with its currency, or a range, and for how long it is.
fn money(value: &Value, say: Sentences) -> Option<String> {
    let Value::Object(fields) = value else { return plain(value) };
    let inner = fields.get("value").and_then(Value::as_object).unwrap_or(fields);
    let text = |key: &str| inner.get(key).or_else(|| fields.get(key)).and_then(plain);
    let currency = text("currency").or_else(|| text("priceCurrency")).unwrap_or_default();
    let amount = match (text("minValue"), text("maxValue"), text("value").or_else(|| text("price"))) {
        (Some(from), Some(to), _) if from != to => format!("{from}–{to}"),
        (Some(one), _, _) | (_, Some(one), _) | (_, _, Some(one)) => one,
        (None, None, None) => return None,
    };
    let said = price::written(&amount, &currency, say.language());
    let span = text("unitText").map(|unit| known_word(&unit, say.language()));
    Some(span.map_or_else(|| said.clone(), |span| format!("{said} / {span}")))
}

/// A number with its unit.
fn quantity(value: &Value, language: SpokenLanguage) -> Option<String> {
    let fields = value.as_object()?;
    let amount = ["value", "strengthValue"].iter().find_map(|key| plain(fields.get(*key)?))?;
    let unit = ["unitText", "strengthUnit", "unitCode"].iter().find_map(|key| plain(fields.get(*key)?));
    let unit = unit.map(|unit| known_word(&unit, language)).unwrap_or_default();
    Some(format!("{} {unit}", number(&amount, language)).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn told(language: SpokenLanguage, item: Value) -> String {
        let facts = of(item.as_object().unwrap(), Sentences::in_language(language));
        let said = facts.iter().map(|fact| format!("{} {}", fact.label, fact.value).trim().to_owned());
        said.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn each_kind_of_thing_is_told_by_what_matters_of_it() {
        let (en, de) = (SpokenLanguage::English, SpokenLanguage::German);
        let rated = json!({"ratingValue": 4.5, "reviewCount": 12});
        for (language, item, wanted) in [
            (
                en,
                json!({"@type": "Product", "aggregateRating": rated, "size": "43", "color": "Red", "sku": "x"}),
                "★ 4.5 (12) | Size 43 | Red",
            ),
            (de, json!({"@type": "Product", "aggregateRating": rated, "size": ["S", "M"]}), "★ 4,5 (12) | Größe S, M"),
            (
                en,
                json!({"@type": "MusicEvent", "startDate": "2026-03-12T19:30:00+01:00", "location": {"name": "Hall", "address": {"addressLocality": "Berlin"}}}),
                "12 March 2026, 19:30 | Hall, Berlin",
            ),
            (
                de,
                json!({"@type": "Event", "startDate": "2026-03-12", "location": "Hamburg"}),
                "12. März 2026 | Hamburg",
            ),
            (
                de,
                json!({"@type": "JobPosting", "hiringOrganization": {"name": "Acme"}, "employmentType": "PART_TIME",
                "baseSalary": {"currency": "EUR", "value": {"minValue": 3200, "maxValue": 4000, "unitText": "MONTH"}}}),
                "Acme | Teilzeit | 3200–4000 € / Monat",
            ),
            (
                en,
                json!({"@type": "Apartment", "numberOfRooms": 3, "floorSize": {"value": 72.5, "unitCode": "MTK"}, "address": {"streetAddress": "Long St 1", "addressLocality": "Leeds"}}),
                "Rooms 3 | 72.5 m² | Long St 1, Leeds",
            ),
            (en, json!({"@type": "Recipe", "totalTime": "PT1H30M", "recipeYield": "4"}), "1 h 30 min | Serves 4"),
            (en, json!({"@type": "Movie", "datePublished": "1999-01-02", "director": {"name": "Ada"}}), "1999 | Ada"),
            (
                en,
                json!({"@type": "NewsArticle", "datePublished": "2026-01-05", "articleSection": "Sport"}),
                "5 January 2026 | Sport",
            ),
            (
                en,
                json!({"@type": "Restaurant", "address": "High St 2", "openingHours": ["Mo-Fr 9-17"]}),
                "High St 2 | Mo-Fr 9-17",
            ),
            (
                de,
                json!({"@type": "Drug", "dosageForm": "Tablette", "availableStrength": {"strengthValue": 400, "strengthUnit": "mg"}, "prescriptionStatus": "https://schema.org/OTC"}),
                "Tablette | 400 mg | Rezeptfrei",
            ),
            (en, json!({"@type": "Thing", "x": 1}), ""),
        ] {
            assert_eq!(told(language, item.clone()), wanted, "{item}");
        }
    }

    #[test]
    fn what_is_no_day_stays_as_it_is_written() {
        for text in ["soon", "2026", "2026-13-01", "2026-01-32", "2026-00-01", "", "x-y-z"] {
            assert_eq!(date(text, SpokenLanguage::English), None, "{text}");
        }
        assert_eq!(date("2026-05", SpokenLanguage::French).as_deref(), Some("mai 2026"));
        assert_eq!(date("2026-05-01T00:00", SpokenLanguage::Spanish).as_deref(), Some("1 de mayo de 2026"));
    }

    proptest! {
        #[test]
        fn any_value_of_any_kind_is_told_without_a_panic(text in "\\PC{0,30}", kind in "Product|Event|JobPosting|House|Drug") {
            let value = json!({"name": text, "value": {"minValue": text, "unitText": text}, "ratingValue": text});
            let mut item = json!({"@type": kind});
            for key in ["startDate", "location", "size", "aggregateRating", "baseSalary", "floorSize", "address", "prescriptionStatus"] {
                item[key] = if text.len().is_multiple_of(2) { json!(text) } else { value.clone() };
            }
            let facts = of(item.as_object().unwrap(), Sentences::in_language(SpokenLanguage::French));
            prop_assert!(facts.len() <= GLANCE_FACTS_MAX);
        }
    }
}
