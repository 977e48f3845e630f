//! Addresses with places for values, `menu://days/{day}`: RFC 6570, level 1.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// An address of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AddressTemplate {
    /// What stands before the first place.
    head: String,
    /// The places, each with what stands behind it.
    places: Vec<(String, String)>,
}

impl AddressTemplate {
    /// Reads an address. `None` when it has no place. Fails on braces that do not fit, on names that are
    /// none, and where two places touch, since nobody could tell where one value ends.
    pub(super) fn read(text: &str) -> Result<Option<Self>, String> {
        let wrong = || format!("has braces in `{text}` that do not fit");
        let (head, mut rest) = match text.split_once('{') {
            Some(found) => found,
            None if text.contains('}') => return Err(wrong()),
            None => return Ok(None),
        };
        let mut places: Vec<(String, String)> = Vec::new();
        loop {
            let (name, after) = rest.split_once('}').ok_or_else(wrong)?;
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(format!("has `{{{name}}}` in its address, which is not a valid name"));
            }
            if places.iter().any(|(known, _)| known == name) {
                return Err(format!("has `{{{name}}}` twice in its address"));
            }
            let (literal, next) = after.split_once('{').map_or((after, None), |(literal, next)| (literal, Some(next)));
            if literal.contains('}') || head.contains('}') {
                return Err(wrong());
            }
            if literal.is_empty() && next.is_some() {
                return Err(format!("has two places in `{text}` that touch"));
            }
            places.push((name.to_owned(), literal.to_owned()));
            match next {
                Some(next) => rest = next,
                None => return Ok(Some(Self { head: head.to_owned(), places })),
            }
        }
    }

    /// The names of its places.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|(name, _)| name.as_str())
    }

    /// The values of an address of this form, decoded: none is empty or has a slash.
    pub(super) fn values(&self, address: &str) -> Option<Map<String, Value>> {
        let mut rest = address.strip_prefix(&self.head)?;
        let mut values = Map::new();
        for (at, (name, literal)) in self.places.iter().enumerate() {
            let is_last = at + 1 == self.places.len();
            let (raw, after) = match is_last {
                true => (rest.strip_suffix(literal.as_str())?, ""),
                false => rest.split_once(literal.as_str())?,
            };
            if raw.is_empty() || raw.contains('/') {
                return None;
            }
            let value = percent_decode_str(raw).decode_utf8().ok()?;
            values.insert(name.clone(), value.as_ref().into());
            rest = after;
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values(template: &str, address: &str) -> Value {
        let template = AddressTemplate::read(template).expect("it is fine").expect("it has a place");
        template.values(address).map_or(Value::Null, Value::Object)
    }

    #[test]
    fn values_are_found_where_the_places_are() {
        assert_eq!(values("test://template/{id}/data", "test://template/123/data"), json!({"id": "123"}));
        assert_eq!(values("menu://{day}", "menu://m%C3%A4rz"), json!({"day": "m\u{e4}rz"}));
        assert_eq!(values("a:{x}-{y}", "a:1-2-3"), json!({"x": "1", "y": "2-3"}));
        for other in ["test://template//data", "test://template/1/2/data", "test://template/1/dat", "x", ""] {
            assert_eq!(values("test://template/{id}/data", other), Value::Null, "{other}");
        }
    }

    #[test]
    fn what_can_not_be_told_apart_is_refused() {
        assert_eq!(AddressTemplate::read("menu://today"), Ok(None));
        for wrong in ["a:{", "a:}", "a:{x", "a:{}", "a:{x y}", "a:{x}{y}", "a:{x}/{x}", "a:}{x}", "a:{x}}"] {
            assert!(AddressTemplate::read(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_address_is_too_much(template in "[a{}:/%]{0,12}", address in "\\PC{0,40}") {
            if let Ok(Some(template)) = AddressTemplate::read(&template) {
                let _ = template.values(&address);
            }
        }
    }
}
