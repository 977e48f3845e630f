//! This module holds JSON that is parsed on first access, and written as the text it was kept as.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON value, from stored text or from a [`Value`]. Text is parsed on first access and written unchanged, so that a
/// list of search results is neither parsed nor formatted on its way out. A clone shares text and parsed value.
#[derive(Clone)]
pub struct LazyJson(Arc<Form>);

struct Form {
    text: Option<Box<RawValue>>,
    value: OnceLock<Value>,
}

impl LazyJson {
    /// A text that is one JSON value. Fails where it is not JSON.
    pub fn from_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(|text| Self::of(Some(text), OnceLock::new()))
    }

    fn of(text: Option<Box<RawValue>>, value: OnceLock<Value>) -> Self {
        Self(Arc::new(Form { text, value }))
    }

    /// The stored text; `None` when it was made from a [`Value`].
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_ref().map(|text| text.get())
    }

    /// A number that clones of one value have in common, and that no other one has while one of them is held.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Bytes that it takes, about.
    pub fn weight(&self) -> usize {
        self.text().map_or_else(|| weight(self), str::len)
    }

    /// The parsed value. Copies it only while other clones hold it.
    pub fn into_value(self) -> Value {
        let parsed = |form: &Form| form.text.as_ref().map(|text| parse(text)).unwrap_or_default();
        match Arc::try_unwrap(self.0) {
            Ok(mut form) => form.value.take().unwrap_or_else(|| parsed(&form)),
            Err(shared) => shared.value.get().cloned().unwrap_or_else(|| parsed(&shared)),
        }
    }

    /// Whether this is an object with the member `key`. Stored text is scanned, and not parsed into a value.
    pub fn has_member(&self, key: &str) -> bool {
        match self.text() {
            // A name can be spelled with escapes.
            // A name can be spelled with escapes (`"\u0061"` is `a`), so that a backslash needs the reader.
            Some(text) => (text.contains(key) || text.contains('\\')) && Members { key }.search(text),
            None => self.get(key).is_some(),
        }
    }

    /// The same object with one member more, which it must not have yet. Of a text, no more than the end is
    /// looked at. What is no object stays as it is.
    #[must_use]
    pub fn with_member(self, key: &str, member: Value) -> Self {
        // The text was checked to be JSON, and only an object can end in `}`: a string ends in a quote.
        let open = self.text().and_then(|text| text.trim_ascii_end().strip_suffix('}'));
        if let Some(open) = open {
            // `{` can only be last before the end in `{}`, as any member ends in something else.
            let comma = if open.trim_ascii_end().ends_with('{') { "" } else { "," };
            let longer = format!("{open}{comma}{}:{member}}}", Value::from(key));
            return Self::from_text(longer).unwrap_or(self);
        }
        let mut value = self.into_value();
        if let Value::Object(fields) = &mut value {
            fields.insert(key.to_owned(), member);
        }
        value.into()
    }
}

/// Parses a text whose syntax was checked before. A text that passes the syntax and still has no value (a lone
/// surrogate, `1e999`) is `null`.
fn parse(text: &RawValue) -> Value {
    serde_json::from_str(text.get()).unwrap_or_default()
}

/// A serde visitor that looks for a member of an object and skips all values.
struct Members<'k> {
    key: &'k str,
}

impl Members<'_> {
    fn search(self, text: &str) -> bool {
        serde_json::Deserializer::from_str(text).deserialize_map(self).unwrap_or_default()
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        let mut is_there = false;
        while let Some((key, _)) = members.next_entry::<Cow<'_, str>, IgnoredAny>()? {
            // To the end, without a break: serde_json fails on an object that its visitor leaves in the middle.
            is_there |= key == self.key;
        }
        Ok(is_there)
    }
}

/// Bytes that a value takes, about: its texts and keys, and eight for everything else.
pub(crate) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => 8 + text.len(),
        Value::Array(items) => 8 + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => 8 + fields.iter().map(|(key, value)| key.len() + weight(value)).sum::<usize>(),
    }
}

impl Deref for LazyJson {
    type Target = Value;

    fn deref(&self) -> &Value {
        let Form { text, value } = &*self.0;
        value.get_or_init(|| text.as_ref().map(|text| parse(text)).unwrap_or_default())
    }
}

impl From<Value> for LazyJson {
    fn from(value: Value) -> Self {
        Self::of(None, value.into())
    }
}

impl From<LazyJson> for Value {
    fn from(json: LazyJson) -> Self {
        json.into_value()
    }
}

impl Default for LazyJson {
    fn default() -> Self {
        Value::Null.into()
    }
}

impl PartialEq for LazyJson {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<Value> for LazyJson {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
    }
}

impl fmt::Debug for LazyJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for LazyJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Some(text) => f.write_str(text),
            None => (**self).fmt(f),
        }
    }
}

impl Serialize for LazyJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.text {
            Some(text) => text.serialize(serializer),
            None => (**self).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for LazyJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> LazyJson {
        LazyJson::from_text(text.to_owned()).unwrap()
    }

    #[test]
    fn a_text_is_written_as_it_is_and_read_as_what_it_says() {
        let kept = text(r#"{"b": 1.50, "a": [true]}"#);
        assert_eq!(serde_json::to_string(&json!({})).unwrap(), "{}");
        assert_eq!(serde_json::to_string(&[&kept]).unwrap(), r#"[{"b": 1.50, "a": [true]}]"#);
        assert_eq!(kept["a"][0], true);
        assert_eq!(serde_json::to_value(&kept).unwrap(), json!({"a": [true], "b": 1.5}));
        assert_eq!((kept.clone(), kept.clone().into_value()), (json!({"a": [true], "b": 1.5}).into(), (*kept).clone()));
        assert_eq!(kept, json!({"a": [true], "b": 1.5}));
    }

    #[test]
    fn members_are_found_in_texts_as_in_values() {
        for object in [r#"{"a":{"b":1},"c":"d"}"#, r#"{"\u0061":1, "c\\":2}"#, "[]", "\"a\"", "{}"] {
            let value: Value = serde_json::from_str(object).unwrap();
            for key in ["a", "b", "c", "d", "c\\", ""] {
                let wanted = value.get(key).is_some();
                assert_eq!(
                    (text(object).has_member(key), LazyJson::from(value.clone()).has_member(key)),
                    (wanted, wanted),
                    "{object} {key}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_json_is_refused_and_what_is_no_value_is_nothing() {
        for wrong in ["", "{", "{} {}", "nul", "\u{feff}{}"] {
            assert!(LazyJson::from_text(wrong.to_owned()).is_err(), "{wrong}");
        }
        assert_eq!(text("1e999"), Value::Null);
    }

    #[test]
    fn a_member_is_added_to_a_text_and_to_a_value_alike() {
        for object in ["{}", "{ }", r#"{"a":1}"#, "{\"a\":{}} \n"] {
            let value: Value = serde_json::from_str(object).unwrap();
            let mut wanted = value.clone();
            wanted["\"x"] = json!({"y": 2});
            for json in [text(object), LazyJson::from(value)] {
                let more = json.with_member("\"x", json!({"y": 2}));
                assert_eq!(more, wanted, "{object}");
                assert_eq!(serde_json::from_str::<Value>(&more.to_string()).unwrap(), wanted);
            }
        }
        assert_eq!(text("[1]").with_member("x", json!(2)), json!([1]));
        assert_eq!(LazyJson::from(json!("}")).with_member("x", json!(2)), json!("}"));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_stays_what_it_is(any_text in ".{0,40}") {
            if let Ok(json) = LazyJson::from_text(any_text.clone()) {
                prop_assert_eq!(json.text().map(str::trim), Some(any_text.trim()));
                let _ = (json.weight(), json.clone().with_member("k", Value::Null), json.into_value());
            }
        }
    }
}
