//! Values of properties in words, in schema.org's shapes.

use forecourt_loaders::list_price;
use forecourt_sentences::Sentences;
use jiff::{Span, SpanRelativeTo, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::limits::{FACT_BYTES_MAX, FACT_ENTRIES_MAX};

/// The form in which a property is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ValueForm {
    /// A duration.
    Duration,
    /// A date, without the time of day.
    Date,
    /// A date with the time of day, where it has one.
    Moment,
    /// The year of a date.
    Year,
    /// Names of people, organizations or things.
    Names,
    /// All entries of a list.
    List,
    /// For how many people.
    Servings,
    /// A price, with its currency.
    Price,
    /// The prices of all offers, where each has a name: for adults, for children.
    Prices,
    /// Calories, with their unit.
    Energy,
    /// One of schema.org's states of an offer.
    Availability,
    /// Where something is.
    Place,
    /// When something is open.
    Hours,
    /// A rating on its scale, and how many there are.
    Rating,
    /// As it is written.
    Text,
}

/// The value at a dot path, looked for in the first object of lists on the way.
pub(crate) fn at<'v>(item: &'v Value, path: &str) -> Option<&'v Value> {
    let mut value = item;
    for name in path.split('.') {
        let object = value.as_array().map_or(Some(value), |list| list.first())?;
        value = object.get(name)?;
    }
    Some(value)
}

/// A value in words: its parts, as they are written, at most `parts_max` of them.
pub(crate) fn parts(say: Sentences, form: ValueForm, value: &Value, parts_max: usize) -> Option<Vec<String>> {
    let one = |text: Option<String>| text.map(|text| vec![cut(&text)]);
    match form {
        ValueForm::Duration => one(duration(say, text_of(value)?)),
        ValueForm::Date => one(date(text_of(value)?)),
        ValueForm::Moment => one(moment(text_of(value)?)),
        ValueForm::Year => one(year(value)),
        ValueForm::Names | ValueForm::List => list(value, parts_max),
        ValueForm::Servings => one(servings(say, value)),
        ValueForm::Price => one(price(say, value)),
        ValueForm::Prices => prices(say, value, parts_max).or_else(|| one(price(say, value))),
        ValueForm::Energy => one(energy(value)),
        ValueForm::Availability => one(availability(say, value)),
        ValueForm::Place => one(place(value)),
        ValueForm::Hours => hours(value),
        ValueForm::Rating => one(rating(say, value)),
        ValueForm::Text => one(scalar(value)),
    }
}

/// The text of a value: itself, the name of an object, the first of a list.
pub(crate) fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        Value::Array(items) => items.first().and_then(text_of),
        Value::Object(fields) => fields.get("name").or_else(|| fields.get("@value"))?.as_str(),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// An ISO 8601 duration in words: `20 minutes`, `1 hour 30 minutes`. `None` when it is none, or shorter than a
/// minute.
pub(crate) fn duration(say: Sentences, text: &str) -> Option<String> {
    let span: Span = text.strip_prefix('P').and(text.parse().ok())?;
    let minutes = span.total((Unit::Minute, SpanRelativeTo::days_are_24_hours())).ok()?.round();
    // Content may say `PT0S`, or a duration of centuries: neither tells a reader anything.
    if !(1.0..1e6).contains(&minutes) {
        return None;
    }
    let minutes = minutes as u64;
    let some = |count: u64, words: fn(Sentences, u64) -> String| (count > 0).then(|| words(say, count));
    let parts = [
        some(minutes / 1440, Sentences::days),
        some(minutes / 60 % 24, Sentences::hours),
        some(minutes % 60, Sentences::minutes),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// At most [`FACT_BYTES_MAX`] bytes, cut at a character's border.
pub(crate) fn cut(text: &str) -> String {
    if text.len() <= FACT_BYTES_MAX {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(FACT_BYTES_MAX)])
}

/// The day of a moment: ten bytes that are a date, or a text as it is written.
fn date(text: &str) -> Option<String> {
    let day = text.get(..10).filter(|day| day.parse::<jiff::civil::Date>().is_ok());
    day.map(str::to_owned)
}

/// The day of a moment and its hour and minute, where it says those: "2026-12-04 19:00".
pub(crate) fn moment(text: &str) -> Option<String> {
    let day = date(text)?;
    let time = text.get(10..16).and_then(|rest| rest.strip_prefix(['T', ' ']));
    let is_time = |time: &&str| {
        let is_digit = |at: usize| time.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        time.get(2..3) == Some(":") && [0, 1, 3, 4].into_iter().all(is_digit) && *time != "00:00"
    };
    Some(time.filter(is_time).map_or_else(|| day.clone(), |time| format!("{day} {time}")))
}

/// The year of a date, or a year by itself, as a number or a text.
fn year(value: &Value) -> Option<String> {
    let text = value.as_u64().map(|year| year.to_string()).or_else(|| text_of(value).map(str::to_owned))?;
    let (year, rest) = text.split_at_checked(4)?;
    (is_number(year) && !rest.starts_with(|c: char| c.is_ascii_digit())).then(|| year.to_owned())
}

fn list(value: &Value, parts_max: usize) -> Option<Vec<String>> {
    let one = std::slice::from_ref(value);
    let values = value.as_array().map_or(one, Vec::as_slice);
    let texts: Vec<String> = values.iter().filter_map(text_of).map(cut).take(parts_max).collect();
    (!texts.is_empty()).then_some(texts)
}

fn servings(say: Sentences, value: &Value) -> Option<String> {
    let text = scalar(value)?;
    Some(if is_number(&text) { say.serves(&text) } else { text })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A text, a number or a name as it is written.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => items.first().and_then(scalar),
        other => text_of(other).map(str::to_owned),
    }
}

/// What an offer costs, with the price of before where it is reduced.
pub(crate) fn price(say: Sentences, offers: &Value) -> Option<String> {
    let offer = offers.as_array().map_or(Some(offers), |offers| offers.first())?;
    let price = scalar(offer.get("price").or_else(|| offer.get("lowPrice"))?)?;
    let currency = offer.get("priceCurrency").and_then(Value::as_str).unwrap_or_default();
    let with_currency = |price: &str| format!("{price} {currency}").trim().to_owned();
    match list_price(offer).filter(|usual| *usual != price) {
        Some(usual) => Some(say.reduced(&with_currency(&price), &with_currency(&usual))),
        None => Some(with_currency(&price)),
    }
}

/// What each of several offers costs, with its name in brackets. `None`: there is one, or one has no name or no price.
fn prices(say: Sentences, offers: &Value, parts_max: usize) -> Option<Vec<String>> {
    let offers = offers.as_array().filter(|offers| offers.len() > 1)?;
    let named = |offer: &Value| Some(format!("{} ({})", price(say, offer)?, cut(offer.get("name")?.as_str()?.trim())));
    offers.iter().take(parts_max).map(named).collect()
}

fn energy(value: &Value) -> Option<String> {
    let text = scalar(value)?;
    Some(if text.parse::<f64>().is_ok() { format!("{text} kcal") } else { text })
}

/// `https://schema.org/InStock`, `in_stock` and the like in words; what is none of them as it is written.
fn availability(say: Sentences, value: &Value) -> Option<String> {
    let text = match value {
        Value::Bool(true) => "InStock".to_owned(),
        Value::Bool(false) => "OutOfStock".to_owned(),
        other => scalar(other)?,
    };
    let name = text.rsplit('/').next().unwrap_or(&text);
    let mut id = String::new();
    for c in name.chars() {
        match c {
            ' ' | '_' | '-' if !id.ends_with('-') => id.push('-'),
            c if c.is_uppercase() && id.ends_with(|before: char| before.is_lowercase()) => {
                id.push('-');
                id.extend(c.to_lowercase());
            }
            c => id.extend(c.to_lowercase()),
        }
    }
    let id = match id.as_str() {
        "limited-availability" => "limited",
        "pre-order" | "pre-sale" => "preorder",
        "back-order" => "backorder",
        other => other,
    };
    say.availability(id).or(Some(text.clone()))
}

fn place(value: &Value) -> Option<String> {
    const ADDRESS: [&str; 5] = ["streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry"];
    let value = value.as_array().map_or(Some(value), |list| list.first())?;
    let Value::Object(fields) = value else { return scalar(value) };
    let name = fields.get("name").and_then(scalar);
    let inner = fields.get("address").and_then(place);
    let lines = ADDRESS.iter().filter_map(|key| fields.get(*key).and_then(scalar));
    let known: Vec<String> = name.into_iter().chain(inner).chain(lines).collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// schema.org's `OpeningHoursSpecification`: days, from, to.
fn hours(value: &Value) -> Option<Vec<String>> {
    let one = std::slice::from_ref(value);
    let spans = value.as_array().map_or(one, Vec::as_slice).iter().filter_map(|span| {
        let days = list(span.get("dayOfWeek")?, FACT_ENTRIES_MAX)?;
        let days: Vec<&str> = days.iter().map(|day| day.rsplit('/').next().unwrap_or(day)).collect();
        let (opens, closes) = (text_of(span.get("opens")?)?, text_of(span.get("closes")?)?);
        Some(cut(&format!("{} {opens}–{closes}", days.join(", "))))
    });
    let spans: Vec<String> = spans.take(FACT_ENTRIES_MAX).collect();
    (!spans.is_empty()).then_some(spans)
}

fn rating(say: Sentences, value: &Value) -> Option<String> {
    let value = value.as_array().map_or(Some(value), |list| list.first())?;
    let number = scalar(value.get("ratingValue")?)?;
    let said = match value.get("bestRating").and_then(scalar) {
        Some(best) => say.rating_of(&number, &best),
        None => number,
    };
    let count = ["ratingCount", "reviewCount"].iter().find_map(|key| scalar(value.get(*key)?)?.parse().ok());
    Some(match count {
        Some(count) => format!("{said} ({})", say.rating_count(count)),
        None => said,
    })
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;
    use serde_json::json;

    use super::*;

    fn english() -> Sentences {
        Sentences::in_language(SpokenLanguage::English)
    }

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
            assert_eq!(duration(english(), text).as_deref(), words, "{text}");
        }
    }

    #[test]
    fn values_of_many_shapes_are_said() {
        use ValueForm::*;
        let said = |form, value: Value| parts(english(), form, &value, 9).map(|parts| parts.join("; "));
        for (form, value, words) in [
            (Availability, json!("https://schema.org/InStock"), "in stock"),
            (Availability, json!("out of stock"), "out of stock"),
            (Availability, json!("LimitedAvailability"), "only a few left"),
            (Availability, json!(false), "out of stock"),
            (Availability, json!("ask us"), "ask us"),
            (Energy, json!(250), "250 kcal"),
            (Energy, json!("250 calories"), "250 calories"),
            (Rating, json!({"ratingValue": 4.5, "bestRating": "5", "ratingCount": 12}), "4.5 of 5 (12 ratings)"),
            (Rating, json!({"ratingValue": "4"}), "4"),
            (Place, json!({"name": "Hall", "address": {"addressLocality": "Bern"}}), "Hall, Bern"),
            (Place, json!("Bern"), "Bern"),
            (Price, json!([{"price": 9.5, "priceCurrency": "EUR"}]), "9.5 EUR"),
            (Price, json!({"lowPrice": "3"}), "3"),
            (
                Prices,
                json!([{"name": "Adult", "price": 12, "priceCurrency": "EUR"}, {"name": "Child", "price": 0}]),
                "12 EUR (Adult); 0 (Child)",
            ),
            (Prices, json!([{"price": 12}, {"name": "Child", "price": 0}]), "12"),
            (Prices, json!({"name": "Adult", "price": 12}), "12"),
            (
                Price,
                json!({"price": "15.00", "priceCurrency": "EUR", "priceSpecification": [
                    {"priceType": "https://schema.org/ListPrice", "price": "20.00"}]}),
                "15.00 EUR instead of 20.00 EUR",
            ),
            (Price, json!({"price": 15, "priceSpecification": {"priceType": "ListPrice", "price": 15}}), "15"),
            (Price, json!({"price": 15, "priceSpecification": {"price": 20}}), "15"),
            (
                Hours,
                json!([{"dayOfWeek": ["https://schema.org/Monday", "Tuesday"], "opens": "09:00", "closes": "17:00"}]),
                "Monday, Tuesday 09:00–17:00",
            ),
            (Servings, json!(6), "serves 6"),
            (Servings, json!("2 loaves"), "2 loaves"),
            (Year, json!("1999-03-31"), "1999"),
            (Date, json!("2026-05-01T20:00"), "2026-05-01"),
            (Names, json!([{"name": "A"}, "B"]), "A; B"),
        ] {
            assert_eq!(said(form, value.clone()).as_deref(), Some(words), "{value}");
        }
        for (form, value) in
            [(Date, json!("soon")), (Price, json!([])), (Rating, json!("x")), (Year, json!(7)), (List, json!([]))]
        {
            assert_eq!(said(form, value.clone()), None, "{value}");
        }
    }

    #[test]
    fn a_path_goes_through_lists() {
        let item = json!({"offers": [{"availability": "InStock"}], "nutrition": {"calories": 5}});
        assert_eq!(at(&item, "offers.availability"), Some(&json!("InStock")));
        assert_eq!(at(&item, "nutrition.calories"), Some(&json!(5)));
        assert_eq!((at(&item, "offers.price"), at(&item, "x.y")), (None, None));
    }

    #[test]
    fn a_value_has_a_bound() {
        let text = |bytes: usize| cut(&"é".repeat(bytes / 2));
        assert_eq!(text(FACT_BYTES_MAX).len(), FACT_BYTES_MAX);
        assert!(text(FACT_BYTES_MAX + 2).ends_with('…'));
    }
}
