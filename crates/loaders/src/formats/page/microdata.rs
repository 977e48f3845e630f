//! Microdata: elements with `itemscope` and `itemprop` to the same shape as JSON-LD.

use html5ever::tokenizer::Tag;
use serde_json::{Map, Value};

use super::markup::{attribute, push_collapsed};
use crate::item::type_name;
use crate::limits::{PAGE_DEPTH_MAX, PAGE_ITEMS_MAX, PAGE_PROPERTIES_MAX};

/// Elements without an end.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Elements that end where the next of their kind begins.
const IMPLIED: &[&str] = &["li", "p", "dt", "dd", "option", "tr", "td", "th"];

/// The elements that are open, and the items that are complete.
#[derive(Default)]
pub(super) struct Microdata {
    open: Vec<Open>,
    done: Vec<Value>,
    properties: usize,
}

#[derive(Default)]
struct Open {
    name: String,
    /// The item that it begins.
    item: Option<Map<String, Value>>,
    /// The properties that it is, of the item around it.
    is: Vec<String>,
    /// Its text, when that is what the property says.
    text: Option<String>,
}

impl Microdata {
    /// Takes a start tag. `resolve` makes a link whole.
    pub(super) fn start(&mut self, tag: &Tag, resolve: &dyn Fn(&str) -> String) {
        let name = &*tag.name;
        // HTML lets these ends be left out; without them, each item of a list would lie within the one before.
        if IMPLIED.contains(&name) && self.open.last().is_some_and(|open| open.name == name) {
            self.close();
        }
        let is = attribute(tag, "itemprop").map(property_names).unwrap_or_default();
        let item = attribute(tag, "itemscope").map(|_| begin(tag, resolve));
        // The value of an element with `itemscope` is its item, whatever else it says (HTML, 5.2.4).
        let said = said(tag, resolve).filter(|_| item.is_none());
        if let Some(value) = &said {
            self.give(&is, &Value::String(value.trim().to_owned()));
        }
        let has_end = !VOID.contains(&name) && !tag.self_closing;
        if has_end && self.open.len() < PAGE_DEPTH_MAX {
            let text = (said.is_none() && item.is_none() && !is.is_empty()).then(String::new);
            // The attributes have said the value; its text would give the property once more.
            let is = if said.is_some() { Vec::new() } else { is };
            self.open.push(Open { name: name.to_owned(), item, is, text });
        }
    }

    /// Takes an end tag: closes the innermost element of that name, and those in it.
    pub(super) fn end(&mut self, name: &str) {
        let Some(at) = self.open.iter().rposition(|open| open.name == name) else { return };
        while self.open.len() > at {
            self.close();
        }
    }

    /// Takes text: it belongs to all properties that it is in.
    pub(super) fn characters(&mut self, text: &str) {
        for open in &mut self.open {
            if let Some(own) = &mut open.text {
                push_collapsed(own, text);
            }
        }
    }

    /// Closes what is open. Gives the items that are in no other.
    pub(super) fn finish(mut self) -> Vec<Value> {
        while !self.open.is_empty() {
            self.close();
        }
        self.done
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        match (open.item, open.text) {
            (Some(item), _) if open.is.is_empty() => self.complete(item),
            (Some(item), _) => self.give(&open.is, &Value::Object(item)),
            (None, Some(text)) => self.give(&open.is, &Value::String(text.trim().to_owned())),
            (None, None) => {}
        }
    }

    fn complete(&mut self, item: Map<String, Value>) {
        if self.done.len() < PAGE_ITEMS_MAX {
            self.done.push(Value::Object(item));
        }
    }

    /// Gives properties to the innermost item that is open; without one they mean nothing.
    fn give(&mut self, names: &[String], value: &Value) {
        let Some(item) = self.open.iter_mut().rev().find_map(|open| open.item.as_mut()) else { return };
        for name in names {
            if self.properties >= PAGE_PROPERTIES_MAX || value.as_str() == Some("") {
                return;
            }
            self.properties += 1;
            match item.get_mut(name) {
                None => drop(item.insert(name.clone(), value.clone())),
                Some(Value::Array(values)) => values.push(value.clone()),
                Some(first) => *first = Value::Array(vec![first.take(), value.clone()]),
            }
        }
    }
}

/// Names of properties, without the vocabulary in front; keywords of JSON-LD are none.
fn property_names(names: &str) -> Vec<String> {
    let names = names.split_ascii_whitespace().map(type_name);
    names.filter(|name| !name.is_empty() && !name.starts_with('@')).map(str::to_owned).collect()
}

fn begin(tag: &Tag, resolve: &dyn Fn(&str) -> String) -> Map<String, Value> {
    let mut item = Map::new();
    if let Some(kind) = attribute(tag, "itemtype").and_then(|kinds| kinds.split_ascii_whitespace().next()) {
        item.insert("@type".to_owned(), type_name(kind).into());
    }
    if let Some(id) = attribute(tag, "itemid").filter(|id| !id.trim().is_empty()) {
        item.insert("@id".to_owned(), resolve(id).into());
    }
    item
}

/// What a tag says in its attributes, so that its text is not asked.
fn said(tag: &Tag, resolve: &dyn Fn(&str) -> String) -> Option<String> {
    attribute(tag, "itemprop")?;
    if let Some(content) = attribute(tag, "content") {
        return Some(content.to_owned());
    }
    match &*tag.name {
        "a" | "area" | "link" => attribute(tag, "href").map(resolve),
        "img" | "audio" | "video" | "source" | "iframe" | "embed" | "track" => attribute(tag, "src").map(resolve),
        "object" => attribute(tag, "data").map(resolve),
        "time" => attribute(tag, "datetime").map(str::to_owned),
        "data" | "meter" => attribute(tag, "value").map(str::to_owned),
        _ => None,
    }
}
