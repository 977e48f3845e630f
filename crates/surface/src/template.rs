//! This module fills `{placeholders}` in texts and JSON with the fields of an item: `{name}`, `{offers.price}`. It has
//! no conditions and no loops.

use serde_json::{Map, Value};

/// How deep a template may nest.
const DEPTH_MAX: usize = 16;
/// Bytes of one filled text.
const FILLED_BYTES_MAX: usize = 16 * 1024;

/// A JSON value with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    /// A value without placeholders.
    Fixed(Value),
    /// A text.
    Text(Text),
    /// A list of templates.
    List(Vec<Template>),
    /// An object of templates, in their order.
    Object(Vec<(String, Template)>),
}

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub struct Text(Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Words(String),
    Hole(Vec<String>),
}

impl Template {
    /// Reads a template. Fails on a brace that opens nothing, and on what is nested too deep.
    pub fn read(value: &Value) -> Result<Self, String> {
        Self::nested(value, 0)
    }

    fn nested(value: &Value, depth: usize) -> Result<Self, String> {
        if depth > DEPTH_MAX {
            return Err(format!("is nested deeper than {DEPTH_MAX}"));
        }
        Ok(match value {
            Value::String(text) => Self::Text(Text::read(text)?),
            Value::Array(items) => {
                Self::List(items.iter().map(|item| Self::nested(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let each = fields.iter().map(|(key, value)| Ok((key.clone(), Self::nested(value, depth + 1)?)));
                Self::Object(each.collect::<Result<_, String>>()?)
            }
            fixed => Self::Fixed(fixed.clone()),
        })
    }

    /// The value for an item. `None` when the item lacks the field of a placeholder. A text that is one placeholder
    /// becomes the field's value itself, lists and objects included.
    pub fn fill(&self, item: &Value) -> Option<Value> {
        match self {
            Self::Fixed(value) => Some(value.clone()),
            Self::Text(text) => text.value(item),
            Self::List(items) => items.iter().map(|each| each.fill(item)).collect(),
            Self::Object(fields) => {
                let each = fields.iter().map(|(key, template)| Some((key.clone(), template.fill(item)?)));
                each.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
        }
    }
}

impl Text {
    /// Reads a text. `{{` and `}}` are braces of its own.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut words = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            words.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            let after = &rest[at + 1..];
            if let Some(after) = after.strip_prefix(brace) {
                words.push_str(brace);
                rest = after;
                continue;
            }
            let hole = (brace == "{").then(|| after.split_once('}')).flatten();
            let (path, after) = hole.ok_or_else(|| format!("has a brace that does not fit in `{text}`"))?;
            if !words.is_empty() {
                pieces.push(Piece::Words(std::mem::take(&mut words)));
            }
            pieces.push(Piece::Hole(path_of(path)?));
            rest = after;
        }
        words.push_str(rest);
        if !words.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Words(words));
        }
        Ok(Self(pieces))
    }

    /// The text before its first placeholder.
    pub fn beginning(&self) -> &str {
        match self.0.first() {
            Some(Piece::Words(words)) => words,
            Some(Piece::Hole(_)) | None => "",
        }
    }

    /// The first name of the path of each placeholder.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Hole(path) => path.first().map(String::as_str),
            Piece::Words(_) => None,
        })
    }

    /// Whether it has a placeholder.
    pub fn has_holes(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Hole(_)))
    }

    /// The text for an item, each value passed through `written` (such as [`encoded`]). `None` when the item lacks the
    /// field of a placeholder, and when the text would be longer than 16 KiB.
    pub fn fill(&self, item: &Value, written: fn(&str) -> String) -> Option<String> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => filled.push_str(words),
                Piece::Hole(path) => filled.push_str(&written(&as_text(found(item, path)?)?)),
            }
        }
        (filled.len() <= FILLED_BYTES_MAX).then_some(filled)
    }

    fn value(&self, item: &Value) -> Option<Value> {
        match self.0.as_slice() {
            [Piece::Hole(path)] => found(item, path).cloned(),
            _ => self.fill(item, str::to_owned).map(Value::String),
        }
    }
}

fn path_of(path: &str) -> Result<Vec<String>, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '@' | ':');
    let names: Vec<String> = path.split('.').map(str::to_owned).collect();
    match names.iter().all(|name| !name.is_empty() && name.chars().all(is_name)) {
        true => Ok(names),
        false => Err(format!("has `{{{path}}}`, which names no field of an item")),
    }
}

/// The value at a path; of a list on the way, the first entry counts. `null` counts as missing.
fn found<'a>(item: &'a Value, path: &[String]) -> Option<&'a Value> {
    let step = |value: &'a Value, name: &String| match value {
        // schema.org allows a list for every property: `offers` is one offer, or several.
        Value::Array(items) => items.first()?.get(name),
        other => other.get(name),
    };
    path.iter().try_fold(item, step).filter(|value| !value.is_null())
}

/// What stands inside a text: words, numbers, and lists of them with commas.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Array(items) => items.iter().map(as_text).collect::<Option<Vec<_>>>().map(|texts| texts.join(", ")),
        Value::Null | Value::Object(_) => None,
    }
}

/// Everything but unreserved characters percent-encoded: what an item says stays inside one segment
/// or value of an address. RFC 3986 2.3.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// `text` without control characters: a line end in a value would begin another header field.
pub fn unbroken(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(template: Value) -> Option<Value> {
        let item =
            json!({"name": "Pea soup", "recipeIngredient": ["peas", "salt"], "offers": [{"price": 3}], "x": null});
        Template::read(&template).expect("the template is fine").fill(&item)
    }

    #[test]
    fn holes_are_filled_by_fields_of_the_item() {
        assert_eq!(filled(json!("Cook {name}!")), Some(json!("Cook Pea soup!")));
        assert_eq!(filled(json!("{recipeIngredient}")), Some(json!(["peas", "salt"])));
        assert_eq!(filled(json!("with {recipeIngredient}")), Some(json!("with peas, salt")));
        assert_eq!(filled(json!({"a": ["{offers.price}", 1, "{{}}"]})), Some(json!({"a": [3, 1, "{}"]})));
    }

    #[test]
    fn an_item_without_the_field_fills_nothing() {
        for template in [json!("{url}"), json!("a {x}"), json!(["{name}", "{offers.currency}"]), json!("a {offers}")] {
            assert_eq!(filled(template.clone()), None, "{template}");
        }
    }

    #[test]
    fn braces_that_do_not_fit_are_refused() {
        for text in ["{", "}", "a {name", "{a b}", "{}", "{a..b}", "{{name}"] {
            assert!(Text::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| (0..depth).fold(json!("x"), |inner, _| json!([inner]));
        assert!(Template::read(&nested(DEPTH_MAX)).is_ok());
        assert!(Template::read(&nested(DEPTH_MAX + 1)).is_err());
    }

    #[test]
    fn filled_texts_are_bounded() {
        let text = Text::read("{a}").expect("fine");
        let fill = |bytes: usize| text.fill(&json!({"a": "x".repeat(bytes)}), str::to_owned);
        assert!(fill(FILLED_BYTES_MAX).is_some());
        assert!(fill(FILLED_BYTES_MAX + 1).is_none());
    }

    #[test]
    fn values_stay_inside_their_segment() {
        assert_eq!(encoded("a b/../c?d#e%\u{e9}"), "a%20b%2F..%2Fc%3Fd%23e%25%C3%A9");
        assert_eq!(unbroken("a\r\nX-Evil: 1"), "aX-Evil: 1");
    }
}
