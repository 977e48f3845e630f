//! This module reads JSON from untrusted senders strictly, and writes the canonical form that is signed (RFC 8785).

mod rewritten;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::limits::JSON_DEPTH_MAX;
use rewritten::Rewritten;

/// Reads JSON from outside: UTF-8 without a byte order mark, no duplicate keys (compared after
/// unescaping), at most [`JSON_DEPTH_MAX`] levels, nothing after the value. Lone surrogates and
/// numbers that are not finite are errors. Integers beyond 64 bits are read as doubles.
///
/// The error says where and what, for the caller to read.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    parse_below(0, bytes)
}

/// [`parse`] for a value that stands inside of `levels` others, which count towards [`JSON_DEPTH_MAX`]. For
/// members that a typed reader left as text.
pub fn parse_below(levels: usize, bytes: &[u8]) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: levels }.deserialize(&mut reader).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())?;
    Ok(value)
}

/// A part of the canonicalizer's error about a `RawValue`, by which it is recognized.
const RAW_TEXT: &str = "Raw values";

/// Why something has no canonical form that has an integer which would become another.
const INEXACT: &str = "an integer that no double holds exactly";

/// The canonical form of RFC 8785. Fails on integers that no double holds, which would silently become others, and on
/// numbers that are not finite. JSON in it that is kept as a text ([`LazyJson`](crate::LazyJson)) has the form of what
/// the text says, and is not parsed into a tree; a key that occurs twice there is an error.
pub fn canonical(value: &impl serde::Serialize) -> Result<Vec<u8>, String> {
    // The type itself is written, not its `Value`, so that a number that is not finite is refused and not a `null`.
    match serde_json_canonicalizer::to_vec(value) {
        // The canonicalizer refuses `RawValue`, and its error has no kind to match.
        Err(error) if error.to_string().contains(RAW_TEXT) => {
            let text = serde_json::to_vec(value).map_err(|e| e.to_string())?;
            serde_json_canonicalizer::to_vec(&Rewritten(&text)).map_err(|e| e.to_string())
        }
        written => {
            let bytes = written.map_err(|e| e.to_string())?;
            let value = serde_json::to_value(value).map_err(|e| e.to_string())?;
            if is_exact(&value) { Ok(bytes) } else { Err(INEXACT.to_owned()) }
        }
    }
}

/// [`canonical`] as text.
pub fn canonical_text(value: &impl serde::Serialize) -> Result<String, String> {
    canonical(value).and_then(|bytes| String::from_utf8(bytes).map_err(|e| e.to_string()))
}

/// Whether every integer is the same number as a double.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_exact_number(number),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// Whether it is no integer, or the same number as a double.
fn is_exact_number(number: &Number) -> bool {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    // In 128 bits: `as` saturates, so that `i64::MAX`, whose double is 2^63, would come back as itself in 64.
    integer.is_none_or(|integer| integer as f64 as i128 == integer || is_shortest(number))
}

/// Whether these are the digits that a canonical writer gives the nearest double: beyond 2^53 they
/// end in zeros which that double need not have, yet they must be accepted when read again.
fn is_shortest(number: &Number) -> bool {
    serde_json_canonicalizer::to_string(number).is_ok_and(|text| text == number.to_string())
}

/// Reads one value at a known depth, counting as it goes down.
struct Strict {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Strict {
    fn deeper<E: serde::de::Error>(&self) -> Result<usize, E> {
        match self.depth < JSON_DEPTH_MAX {
            true => Ok(self.depth + 1),
            false => Err(E::custom(format!("more than {JSON_DEPTH_MAX} levels of nesting"))),
        }
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON without duplicate keys")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let depth = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Strict { depth })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let depth = self.deeper()?;
        let mut fields = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match fields.entry(key) {
                Entry::Vacant(slot) => slot.insert(entries.next_value_seed(Strict { depth })?),
                // Readers differ in which of the two they take, so that what one of them checked another one would not
                // act on.
                Entry::Occupied(twice) => return Err(duplicate(twice.key())),
            };
        }
        Ok(Value::Object(fields))
    }
}

/// Names the key, cut short: it is the caller's text and may be long.
fn duplicate<E: serde::de::Error>(key: &str) -> E {
    let start: String = key.chars().take(100).collect();
    E::custom(format!("the key `{start}` occurs twice"))
}
