//! How fields are written into the query and into header fields.

use std::collections::BTreeMap;

use forecourt_contract::Violation;
use forecourt_contract::endpoint::{ExternalService, Style};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::address::{encoded, word};
use crate::unfit::Unfit;

/// The fields that are written in a way of their own, by our names.
#[derive(Debug)]
pub(super) struct Written(BTreeMap<String, Place>);

/// Where a field goes, under the service's name.
#[derive(Debug)]
enum Place {
    Query(String, Style),
    Header(HeaderName),
}

impl Written {
    /// The styles of a service. `fields` are those that do not stand in its URL.
    ///
    /// # Errors
    /// A style of no such field, or a field whose name no header field can have.
    pub(super) fn new(service: &ExternalService, fields: &[&str]) -> Result<Written, Unfit> {
        let place = |(field, style): (&String, &Style)| {
            if !fields.contains(&field.as_str()) {
                let message =
                    format!("`input_styles` names `{field}`, which the input must declare and `url` must not take");
                return Err(Unfit::new(format!("external-service-style-undeclared:{field}"), message));
            }
            let theirs = service.input_transform.get(field).unwrap_or(field);
            let place = match style {
                Style::Header => Place::Header(header(theirs)?),
                style => Place::Query(theirs.clone(), *style),
            };
            Ok((field.clone(), place))
        };
        Ok(Written(service.styles.iter().map(place).collect::<Result<_, _>>()?))
    }

    /// Takes those fields out of an input: into the header, and as the pairs of a query.
    ///
    /// # Errors
    /// A value that no header field can have.
    pub(super) fn take(
        &self,
        input: &mut Map<String, Value>,
        headers: &mut HeaderMap,
    ) -> Result<Vec<String>, Violation> {
        let mut query = Vec::new();
        for (field, place) in &self.0 {
            let Some(value) = input.remove(field).filter(|value| !value.is_null()) else { continue };
            match place {
                Place::Query(name, style) => query.extend(pairs(name, &value, *style)),
                Place::Header(name) => {
                    let text = HeaderValue::try_from(text(&value)).ok().filter(|value| value.to_str().is_ok());
                    let message = "only printable ASCII fits into a header field of the service";
                    headers.insert(name, text.ok_or_else(|| Violation::of_field(field, message))?);
                }
            }
        }
        Ok(query)
    }
}

fn header(name: &str) -> Result<HeaderName, Unfit> {
    let message = format!("`{name}` is no name of a header field");
    HeaderName::try_from(name).map_err(|_| Unfit::new("external-service-bad-style", message))
}

/// A field as pairs of a query, encoded. What is not there is left out, and so are lists without items.
pub(super) fn pairs(name: &str, value: &Value, style: Style) -> Vec<String> {
    let pair = |value: &Value| format!("{}={}", encoded(name), encoded(&text(value)));
    match (style, value) {
        (_, Value::Null) => Vec::new(),
        (Style::Comma | Style::Header, value) => joined(name, value, ","),
        (Style::Space, value) => joined(name, value, "%20"),
        (Style::Pipe, value) => joined(name, value, "%7C"),
        (Style::Deep, Value::Object(members)) => {
            let inner = |(key, value): (&String, &Value)| pairs(&format!("{name}[{key}]"), value, Style::Deep);
            members.iter().flat_map(inner).collect()
        }
        (Style::Fields, Value::Object(members)) => {
            members.iter().flat_map(|(key, value)| pairs(key, value, Style::Repeat)).collect()
        }
        (Style::Json, value) => vec![format!("{}={}", encoded(name), encoded(&value.to_string()))],
        (_, Value::Array(items)) => items.iter().filter(|item| !item.is_null()).map(pair).collect(),
        (_, value) => vec![pair(value)],
    }
}

/// One pair, whose value has the items between `mark`s.
fn joined(name: &str, value: &Value, mark: &str) -> Vec<String> {
    let words: Vec<String> = items(value).iter().map(|word| encoded(word)).collect();
    if words.is_empty() { Vec::new() } else { vec![format!("{}={}", encoded(name), words.join(mark))] }
}

/// A value as one text; what has parts, with commas.
fn text(value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().all(|item| word(item).is_some()) => self::items(value).join(","),
        value => word(value).unwrap_or_else(|| value.to_string()),
    }
}

/// The items of a list; of an object, its members by name and value; of anything else, itself.
fn items(value: &Value) -> Vec<String> {
    let one = |value: &Value| word(value).unwrap_or_else(|| value.to_string());
    match value {
        Value::Array(items) => items.iter().filter(|item| !item.is_null()).map(one).collect(),
        Value::Object(members) => members.iter().flat_map(|(name, value)| [name.clone(), one(value)]).collect(),
        value => vec![one(value)],
    }
}
