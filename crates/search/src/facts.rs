//! What is worth saying about an item in a few words, in schema.org's vocabulary.

use forecourt_content::Hit;
use jiff::{Span, SpanRelativeTo, Unit};
use serde_json::Value;

use super::phrases::content_words;
use crate::limits::FACT_BYTES_MAX;

/// Facts of one item.
const FACTS_MAX: usize = 4;
/// Values of one list, such as genres.
const VALUES_MAX: usize = 2;
/// Entries of lists that are shown because the question mentions them.
const MENTIONS_MAX: usize = 3;
/// Bytes from which a word of the question is looked for in lists.
const MENTION_BYTES_MIN: usize = 3;

/// How a property is said.
enum FactFormat {
    /// A duration, in words.
    Duration,
    /// As it is.
    Plain,
    /// For how many people.
    Servings,
    /// The year of a date.
    Year,
    /// A date, without the time of day.
    Date,
    /// A price, with its currency.
    Price,
}

/// The properties that are said, the most telling first.
const FORMS: [(&str, FactFormat); 17] = [
    ("totalTime", FactFormat::Duration),
    ("cookTime", FactFormat::Duration),
    ("duration", FactFormat::Duration),
    ("startDate", FactFormat::Date),
    ("datePublished", FactFormat::Year),
    ("recipeCategory", FactFormat::Plain),
    ("genre", FactFormat::Plain),
    ("category", FactFormat::Plain),
    ("recipeCuisine", FactFormat::Plain),
    ("recipeYield", FactFormat::Servings),
    ("director", FactFormat::Plain),
    ("byArtist", FactFormat::Plain),
    ("author", FactFormat::Plain),
    ("offers", FactFormat::Price),
    ("brand", FactFormat::Plain),
    ("location", FactFormat::Plain),
    ("hiringOrganization", FactFormat::Plain),
];

/// Lists whose entries are shown when the question mentions them.
const LISTS: [&str; 4] = ["recipeIngredient", "ingredients", "actor", "keywords"];

/// The most telling facts of an item, at most [`FACTS_MAX`].
pub(super) fn facts(item: &Value) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for (property, form) in &FORMS {
        let Some(fact) = item.get(property).and_then(|value| say(form, value)) else { continue };
        if said.len() < FACTS_MAX && !said.contains(&fact) {
            said.push(fact);
        }
    }
    said
}

/// How long the item takes, in words, when it says so.
pub(super) fn time(item: &Value) -> Option<String> {
    ["totalTime", "cookTime"].iter().find_map(|property| duration(item.get(property)?.as_str()?))
}

/// A value that satisfies a constraint, as it is best said.
pub(super) fn value(text: &str) -> String {
    cut(&duration(text).unwrap_or_else(|| text.to_owned()))
}

/// Entries of the item's lists that a word of the question occurs in.
pub(super) fn mentions(hit: &Hit, question: &str) -> Vec<String> {
    let words: Vec<String> = content_words(question)
        .filter(|word| word.len() >= MENTION_BYTES_MIN)
        .map(|word| stem(&word.to_lowercase()).to_owned())
        .collect();
    let is_mentioned = |entry: &&str| {
        let entry = entry.to_lowercase();
        entry.split(|c: char| !c.is_alphanumeric()).any(|part| words.iter().any(|word| stem(part) == word))
    };
    let lists = LISTS.iter().filter_map(|property| hit.item.get(property)?.as_array());
    lists.flatten().filter_map(text_of).filter(is_mentioned).map(cut).take(MENTIONS_MAX).collect()
}

/// The word without the ends that plurals have: `chickpeas`, `tomatoes`, `berries`.
fn stem(word: &str) -> &str {
    let ends = ["ies", "oes", "es", "s", "y", "o", "e"];
    let end = ends.iter().find(|end| word.len() > end.len() + 2 && word.ends_with(**end));
    end.map_or(word, |end| &word[..word.len() - end.len()])
}

fn say(form: &FactFormat, value: &Value) -> Option<String> {
    match form {
        FactFormat::Duration => duration(text_of(value)?),
        FactFormat::Plain => joined(value),
        FactFormat::Servings => servings(value),
        FactFormat::Year => year(value),
        FactFormat::Date => text_of(value)?.get(..10).map(str::to_owned),
        FactFormat::Price => price(value),
    }
}

/// The year of a date, or a year by itself, as a number or a text.
fn year(value: &Value) -> Option<String> {
    let text = value.as_u64().map(|year| year.to_string()).or_else(|| text_of(value).map(str::to_owned))?;
    let (year, rest) = text.split_at_checked(4)?;
    (is_number(year) && !rest.starts_with(|c: char| c.is_ascii_digit())).then(|| year.to_owned())
}

/// The text of a value: itself, the name of an object, the first of a list.
fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        Value::Array(items) => items.first().and_then(text_of),
        Value::Object(fields) => fields.get("name").or_else(|| fields.get("@value"))?.as_str(),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn joined(value: &Value) -> Option<String> {
    let one = std::slice::from_ref(value);
    let values = value.as_array().map_or(one, Vec::as_slice);
    let texts: Vec<&str> = values.iter().filter_map(text_of).take(VALUES_MAX).collect();
    (!texts.is_empty()).then(|| cut(&texts.join(", ")))
}

fn servings(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        other => text_of(other)?.to_owned(),
    };
    Some(if is_number(&text) { format!("serves {text}") } else { cut(&text) })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn price(offers: &Value) -> Option<String> {
    let offer = offers.as_array().map_or(Some(offers), |offers| offers.first())?;
    let price = match offer.get("price").or_else(|| offer.get("lowPrice"))? {
        Value::Number(number) => number.to_string(),
        other => other.as_str()?.trim().to_owned(),
    };
    let currency = offer.get("priceCurrency").and_then(Value::as_str).unwrap_or_default();
    Some(cut(format!("{price} {currency}").trim()))
}

/// An ISO 8601 duration in words: `20 minutes`, `1 hour 30 minutes`. `None` when it is none, or
/// shorter than a minute.
fn duration(text: &str) -> Option<String> {
    let span: Span = text.strip_prefix('P').and(text.parse().ok())?;
    let minutes = span.total((Unit::Minute, SpanRelativeTo::days_are_24_hours())).ok()?.round();
    if !(1.0..1e6).contains(&minutes) {
        return None;
    }
    let minutes = minutes as u64;
    let unit = |count: u64, name: &str| match count {
        0 => None,
        1 => Some(format!("1 {name}")),
        _ => Some(format!("{count} {name}s")),
    };
    let parts = [unit(minutes / 1440, "day"), unit(minutes / 60 % 24, "hour"), unit(minutes % 60, "minute")];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// At most [`FACT_BYTES_MAX`] bytes, cut at a character's border.
fn cut(text: &str) -> String {
    if text.len() <= FACT_BYTES_MAX {
        return text.to_owned();
    }
    let mut end = FACT_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn durations_are_said_in_words() {
        for (text, words) in [
            ("PT20M", Some("20 minutes")),
            ("PT1H", Some("1 hour")),
            ("PT8H10M", Some("8 hours 10 minutes")),
            ("PT90M", Some("1 hour 30 minutes")),
            ("P2DT1M", Some("2 days 1 minute")),
            ("PT10S", None),
            ("P1Y", None),
            ("20 minutes", None),
            ("P", None),
            ("", None),
        ] {
            assert_eq!(duration(text).as_deref(), words, "{text}");
        }
    }

    #[test]
    fn facts_of_any_shape_are_said() {
        let recipe = json!({"totalTime": "PT20M", "recipeCategory": ["Dip", "Snack", "Third"], "recipeYield": "4",
            "author": {"name": "Ann"}, "recipeCuisine": 7});
        assert_eq!(facts(&recipe), ["20 minutes", "Dip, Snack", "serves 4", "Ann"]);
        let movie = json!({"datePublished": "1999-03-31", "genre": "Action", "director": [{"name": "L."}, {"name": "L."}],
            "offers": [{"price": 9.5, "priceCurrency": "EUR"}], "brand": "x"});
        assert_eq!(facts(&movie), ["1999", "Action", "L., L.", "9.5 EUR"]);
        assert_eq!(facts(&json!({"recipeYield": 6, "datePublished": 2001})), ["2001", "serves 6"]);
        assert!(facts(&json!({"totalTime": 5, "offers": [], "startDate": "x", "genre": {}})).is_empty());
        assert!(facts(&json!("text")).is_empty());
    }

    #[test]
    fn a_fact_has_a_bound() {
        let category = |bytes: usize| facts(&json!({"recipeCategory": "é".repeat(bytes / 2)})).remove(0);
        assert_eq!(category(FACT_BYTES_MAX).len(), FACT_BYTES_MAX);
        assert!(category(FACT_BYTES_MAX + 2).ends_with('…'));
    }

    #[test]
    fn entries_that_the_question_mentions_are_found_in_their_plural_too() {
        let hit = |item: Value| Hit {
            score: 1.0,
            id: String::new(),
            item: item.into(),
            name: String::new(),
            url: None,
            snippet: String::new(),
            matched: Vec::new(),
        };
        let hit =
            hit(json!({"recipeIngredient": ["1 can chickpeas", "2 Tomatoes", "salt", "1 pea", "ham"], "actor": [7]}));
        assert_eq!(mentions(&hit, "something with chickpea and tomato"), ["1 can chickpeas", "2 Tomatoes"]);
        assert_eq!(mentions(&hit, "peas with ham"), ["1 pea", "ham"]);
        assert!(mentions(&hit, "champagne or is it").is_empty());
    }
}
