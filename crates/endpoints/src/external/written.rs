//! How fields are written into the query and into header fields.

use std::collections::BTreeMap;

use forecourt_contract::Violation;
use forecourt_contract::endpoint::{ExternalService, Style};
use forecourt_egress::limits::URL_BYTES_MAX;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::address::{encoded, word};
use super::names::unique;
use crate::unfit::HandlerProblem;

/// The fields that are written in a way of their own, by our names.
#[derive(Debug)]
pub(super) struct Written(BTreeMap<String, Place>);

/// Where a field goes, under the service's name.
#[derive(Debug)]
enum Place {
    Query(String, Style),
    Header(HeaderName),
}

impl Place {
    /// A name that only this place has.
    fn name(&self) -> String {
        match self {
            Place::Query(name, _) => format!("{name} in the query"),
            Place::Header(name) => format!("{name} in the header"),
        }
    }
}

impl Written {
    /// The styles of a service. `fields` are those that do not stand in its URL.
    ///
    /// # Errors
    /// A style of no such field, a field whose name no header field can have, or two fields in one place.
    pub(super) fn new(service: &ExternalService, fields: &[&str]) -> Result<Written, HandlerProblem> {
        let place = |(field, style): (&String, &Style)| {
            if !fields.contains(&field.as_str()) {
                let message =
                    format!("`input_styles` names `{field}`, which the input must declare and `url` must not take");
                return Err(HandlerProblem::new(format!("external-service-style-undeclared:{field}"), message));
            }
            let theirs = service.input_transform.get(field).unwrap_or(field);
            let place = match style {
                Style::Header => Place::Header(header(theirs)?),
                style => Place::Query(theirs.clone(), *style),
            };
            Ok((field.clone(), place))
        };
        let places: BTreeMap<String, Place> = service.styles.iter().map(place).collect::<Result<_, _>>()?;
        unique(places.values().map(Place::name), "input_styles")?;
        Ok(Written(places))
    }

    /// Takes those fields out of an input: into the header, and as the pairs of a query.
    ///
    /// # Errors
    /// A value that no header field can have.
    pub(super) fn take(&self, input: &mut Map<String, Value>, headers: &mut HeaderMap) -> Result<Query, Violation> {
        let mut query = Query::default();
        for (field, place) in &self.0 {
            let Some(value) = input.remove(field).filter(|value| !value.is_null()) else { continue };
            match place {
                Place::Query(name, style) => query.add(name, &value, *style),
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

fn header(name: &str) -> Result<HeaderName, HandlerProblem> {
    let message = format!("invalid HTTP header name `{name}`");
    HeaderName::try_from(name).map_err(|_| HandlerProblem::new("external-service-bad-style", message))
}

/// The pairs of a query while they are written, encoded.
///
/// No more is written than a URL may hold: a name that a caller chose stands before each item beneath it, so
/// that one large body would make gigabytes of pairs.
#[derive(Debug, Default)]
pub(super) struct Query {
    pairs: Vec<String>,
    bytes: usize,
}

impl Query {
    /// The pairs so far; more bytes than a URL may have where there was more to write.
    pub(super) fn pairs(&self) -> &[String] {
        &self.pairs
    }

    /// Writes a field. What is not there is left out, and so are lists without items.
    pub(super) fn add(&mut self, name: &str, value: &Value, style: Style) {
        match (style, value) {
            (_, Value::Null) => {}
            (Style::Comma | Style::Header, value) => self.joined(name, value, ","),
            (Style::Space, value) => self.joined(name, value, "%20"),
            (Style::Pipe, value) => self.joined(name, value, "%7C"),
            (Style::Deep, Value::Object(members)) => self.deep(&mut name.to_owned(), members),
            (Style::Fields, Value::Object(members)) => {
                members.iter().for_each(|(key, value)| self.add(key, value, Style::Repeat));
            }
            (Style::Json, value) => self.push(name, &encoded(&value.to_string())),
            (_, Value::Array(items)) => {
                items.iter().filter(|item| !item.is_null()).for_each(|item| self.push(name, &encoded(&text(item))));
            }
            (_, value) => self.push(name, &encoded(&text(value))),
        }
    }

    /// The members of an object by their names in brackets behind `name`, which is left as it was.
    fn deep(&mut self, name: &mut String, members: &Map<String, Value>) {
        let outer = name.len();
        for (key, value) in members {
            name.extend(["[", key, "]"]);
            match value {
                Value::Object(members) => self.deep(name, members),
                value => self.add(name, value, Style::Repeat),
            }
            name.truncate(outer);
        }
    }

    /// One pair, whose value has the items between `mark`s.
    fn joined(&mut self, name: &str, value: &Value, mark: &str) {
        let words: Vec<String> = items(value).iter().map(|word| encoded(word)).collect();
        if !words.is_empty() {
            self.push(name, &words.join(mark));
        }
    }

    fn push(&mut self, name: &str, value: &str) {
        if self.bytes <= URL_BYTES_MAX {
            let pair = format!("{}={value}", encoded(name));
            self.bytes += pair.len();
            self.pairs.push(pair);
        }
    }
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
