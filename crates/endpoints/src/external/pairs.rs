//! Names and values as a query and a form have them: `a=1&b[c]=2`, encoded.

use forecourt_contract::endpoint::Style;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::encoding::{encoded, word};

/// What a value in a query may have as it is, if its service wants that: RFC 3986 3.4 without what separates
/// pairs, and without what forms read as a blank.
const OUTSIDE_QUERIES: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b':')
    .remove(b'@')
    .remove(b'/')
    .remove(b'?');

/// The pairs while they are written.
///
/// No more is written than their bound: a name that a caller chose stands before each item beneath it, so
/// that one large body would make gigabytes of pairs.
#[derive(Debug)]
pub(super) struct Pairs {
    pairs: Vec<String>,
    bytes: usize,
    bytes_max: usize,
}

impl Pairs {
    /// None yet, and at most about so many bytes of them.
    pub(super) fn within(bytes_max: usize) -> Pairs {
        Pairs { pairs: Vec::new(), bytes: 0, bytes_max }
    }

    /// The pairs so far; more bytes than the bound where there was more to write.
    pub(super) fn pairs(&self) -> &[String] {
        &self.pairs
    }

    /// All of them as one text. `None`: they are more than the bound.
    pub(super) fn joined(self) -> Option<String> {
        (self.bytes <= self.bytes_max).then(|| self.pairs.join("&"))
    }

    /// Writes a field. What is not there is left out, and so are lists without items.
    pub(super) fn add(&mut self, name: &str, value: &Value, style: Style) {
        match (style, value) {
            (_, Value::Null) => {}
            (Style::Comma, value) => self.between(name, value, ","),
            (Style::Space, value) => self.between(name, value, "%20"),
            (Style::Pipe, value) => self.between(name, value, "%7C"),
            (Style::Deep, value) => bracketed(name, value, &mut |name, word| self.push(name, &encoded(&text(word)))),
            (Style::Fields, Value::Object(members)) => {
                members.iter().for_each(|(key, value)| self.add(key, value, Style::Repeat));
            }
            (Style::Json, value) => self.push(name, &encoded(&value.to_string())),
            (style, Value::Array(items)) => {
                items.iter().filter(|item| !item.is_null()).for_each(|item| self.one(name, item, style));
            }
            (style, value) => self.one(name, value, style),
        }
    }

    fn one(&mut self, name: &str, value: &Value, style: Style) {
        let text = text(value);
        match style {
            Style::Reserved => self.push(name, &utf8_percent_encode(&text, OUTSIDE_QUERIES).to_string()),
            _ => self.push(name, &encoded(&text)),
        }
    }

    /// One pair, whose value has the items between `mark`s.
    fn between(&mut self, name: &str, value: &Value, mark: &str) {
        let words: Vec<String> = items(value).iter().map(|word| encoded(word)).collect();
        if !words.is_empty() {
            self.push(name, &words.join(mark));
        }
    }

    fn push(&mut self, name: &str, value: &str) {
        if self.bytes <= self.bytes_max {
            let pair = format!("{}={value}", encoded(name));
            self.bytes += pair.len() + 1;
            self.pairs.push(pair);
        }
    }
}

/// Gives each word within a value under its name with brackets: `a[b][0]`. Lists are numbered, so that the
/// members of several objects in them stay together.
pub(super) fn bracketed(name: &str, value: &Value, give: &mut impl FnMut(&str, &Value)) {
    within(&mut name.to_owned(), value, give);
}

/// The same; `name` is left as it was.
fn within(name: &mut String, value: &Value, give: &mut impl FnMut(&str, &Value)) {
    let outer = name.len();
    let mut inner = |key: &str, value: &Value| {
        name.extend(["[", key, "]"]);
        within(name, value, give);
        name.truncate(outer);
    };
    match value {
        Value::Null => {}
        Value::Object(members) => members.iter().for_each(|(key, value)| inner(key, value)),
        Value::Array(list) => {
            // Numbered after `null`s are left out: with a gap, some services read a map and no list.
            let there = list.iter().filter(|item| !item.is_null()).enumerate();
            there.for_each(|(at, item)| inner(&at.to_string(), item));
        }
        word => give(name, word),
    }
}

/// A value as one text; what has parts, with commas.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Array(list) if list.iter().all(|item| word(item).is_some()) => items(value).join(","),
        value => word(value).unwrap_or_else(|| value.to_string()),
    }
}

/// The items of a list; of an object, its members by name and value; of anything else, itself.
pub(super) fn items(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter(|item| !item.is_null()).map(one).collect(),
        Value::Object(members) => present(members).flat_map(|(name, value)| [name.clone(), one(value)]).collect(),
        value => vec![one(value)],
    }
}

/// The members of an object as `name` and `value`; the items of anything else without a name.
pub(super) fn named_items(value: &Value) -> Vec<(Option<String>, String)> {
    match value {
        Value::Object(members) => present(members).map(|(name, value)| (Some(name.clone()), one(value))).collect(),
        value => items(value).into_iter().map(|item| (None, item)).collect(),
    }
}

fn present(members: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    members.iter().filter(|(_, value)| !value.is_null())
}

fn one(value: &Value) -> String {
    word(value).unwrap_or_else(|| value.to_string())
}
