//! A limit that items keep: a property, a comparison and a value, as in `price <= 60` and `totalTime <= PT30M`.

use std::cmp::Ordering;
use std::fmt;

use jiff::{SignedDuration, Span};
use serde_json::Value;

use crate::limits::ITEM_DEPTH_MAX;

/// Whether the order of two values is the one that is wanted.
type Comparison = fn(Ordering) -> bool;

/// How a value is compared. Longer signs first, since they begin with shorter ones.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Ordering::is_le),
    (">=", Ordering::is_ge),
    ("!=", Ordering::is_ne),
    ("<", Ordering::is_lt),
    (">", Ordering::is_gt),
    ("=", Ordering::is_eq),
];

/// A limit as it was written, and read.
#[derive(Clone)]
pub struct Limit {
    text: String,
    path: Vec<String>,
    holds: Comparison,
    value: Scalar,
}

/// A value that can be compared.
#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Number(f64),
    /// ISO 8601, as schema.org writes times that something takes.
    Duration(SignedDuration),
    Text(String),
}

/// Whether an item keeps a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Kept,
    /// It has this value.
    Broken(String),
    /// It does not state the property, or not as what is compared with it.
    Unstated,
}

impl Limit {
    /// Reads a limit.
    ///
    /// # Errors
    /// What it should look like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no limit: write a property, a comparison and a value, as in `price <= 60`");
        let at = text.find(['<', '>', '=', '!']).ok_or_else(wrong)?;
        let (path, rest) = text.split_at(at);
        let (sign, holds) = COMPARISONS.into_iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(wrong)?;
        let value = rest[sign.len()..].trim().trim_matches('"');
        let path: Vec<String> = path.trim().split('.').map(str::to_owned).collect();
        let is_name =
            |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "@_-".contains(c));
        match path.iter().all(is_name) && !value.is_empty() {
            true => Ok(Self { text: text.to_owned(), path, holds, value: Scalar::of_text(value) }),
            false => Err(wrong()),
        }
    }

    /// Whether `item` keeps it. Of a property that has several values each must, as of the offers of a product.
    pub fn standing(&self, item: &Value) -> Standing {
        let mut found = Vec::new();
        look(item, &self.path, ITEM_DEPTH_MAX, &mut found);
        let mut standing = if found.is_empty() { Standing::Unstated } else { Standing::Kept };
        for value in found {
            let compared = Scalar::of(value).and_then(|scalar| Some((scalar.compare(&self.value)?, scalar)));
            match compared {
                Some((order, _)) if (self.holds)(order) => {}
                Some((_, scalar)) => return Standing::Broken(scalar.to_string()),
                // Nobody knows whether a price "on request" is below one.
                None => standing = Standing::Unstated,
            }
        }
        standing
    }
}

/// The values under a path. Its first name may stand deeper in the item, the shallowest first: whoever says `price`
/// means that of the offer.
fn look<'v>(value: &'v Value, path: &[String], depth: usize, found: &mut Vec<&'v Value>) {
    let mut level = vec![value];
    for _ in 0..depth {
        level.iter().for_each(|value| follow(value, path, found));
        if !found.is_empty() {
            return;
        }
        level = level.into_iter().flat_map(children).collect();
    }
}

fn follow<'v>(value: &'v Value, path: &[String], found: &mut Vec<&'v Value>) {
    match (value, path.split_first()) {
        (Value::Array(items), _) => items.iter().for_each(|item| follow(item, path, found)),
        (value, None) => found.push(value),
        (Value::Object(members), Some((name, rest))) => {
            members.get(name).into_iter().for_each(|value| follow(value, rest, found));
        }
        _ => {}
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

impl Scalar {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number.as_f64().map(Self::Number),
            Value::String(text) => Some(Self::of_text(text)),
            Value::Bool(is_true) => Some(Self::Text(is_true.to_string())),
            _ => None,
        }
    }

    fn of_text(text: &str) -> Self {
        if let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite()) {
            return Self::Number(number);
        }
        let span = text.strip_prefix(['P', 'p']).and_then(|_| text.parse::<Span>().ok());
        // Years and months have no length of their own.
        let duration = span.and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok());
        duration.map_or_else(|| Self::Text(text.to_owned()), Self::Duration)
    }

    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.partial_cmp(b),
            (Self::Duration(a), Self::Duration(b)) => Some(a.cmp(b)),
            // Dates as schema.org writes them have the order of their letters.
            (Self::Text(a), Self::Text(b)) => Some(a.to_lowercase().cmp(&b.to_lowercase())),
            _ => None,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Duration(duration) => write!(f, "{duration}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Limit").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn standing(limit: &str, item: &Value) -> Standing {
        Limit::parse(limit).unwrap_or_else(|wrong| panic!("{wrong}")).standing(item)
    }

    #[test]
    fn a_property_is_found_where_items_have_it_and_compared_as_what_it_is() {
        let item = json!({"name": "Soup", "totalTime": "PT25M", "offers": [{"price": "12.50"}, {"price": 60}],
            "brand": {"name": "Leek & Co"}, "datePublished": "2026-05-01", "isNew": true});
        for kept in [
            "price <= 60",
            "offers.price<61",
            "price != 3",
            "totalTime <= PT30M",
            "totalTime < PT1H",
            "brand.name = leek & co",
            "datePublished >= 2026-01-01",
            "name = \"Soup\"",
            "isNew = true",
        ] {
            assert_eq!(standing(kept, &item), Standing::Kept, "{kept}");
        }
        assert_eq!(standing("price <= 59.99", &item), Standing::Broken("60".to_owned()));
        assert_eq!(standing("totalTime <= PT20M", &item), Standing::Broken("PT25M".to_owned()));
        for unstated in ["weight < 3", "name < 3", "price <= PT1M", "offers.name = x"] {
            assert_eq!(standing(unstated, &item), Standing::Unstated, "{unstated}");
        }
        let unknown = json!({"offers": [{"price": 5}, {"price": "on request"}]});
        assert_eq!(standing("price <= 60", &unknown), Standing::Unstated);
        assert_eq!(standing("price <= 4", &unknown), Standing::Broken("5".to_owned()));
    }

    #[test]
    fn what_is_no_limit_is_told() {
        for text in ["", "price", "<= 3", "price <=", "price ! 3", "a..b = 3", "pri ce = 3"] {
            assert!(Limit::parse(text).unwrap_err().contains("price <= 60"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}", key in "[a-z]{1,3}", value in "\\PC{0,20}") {
            if let Ok(limit) = Limit::parse(&text) {
                limit.standing(&json!({ key: value }));
            }
        }
    }
}
