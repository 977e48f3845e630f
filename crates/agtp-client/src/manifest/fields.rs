//! This module reads the fields of a manifest's objects, and notes with its JSON Pointer each one that is missing or of
//! another form.

use serde_json::{Map, Value};

use super::FindingList;

/// An object of the document and where it is.
pub(super) struct Fields<'a> {
    object: &'a Value,
    pointer: String,
}

impl<'a> Fields<'a> {
    pub(super) fn new(object: &'a Value, pointer: impl Into<String>) -> Self {
        Self { object, pointer: pointer.into() }
    }

    /// Where a field is, or would be.
    pub(super) fn at(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))
    }

    /// A field that is there. `null` is there.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name)
    }

    /// A field that is there and says something.
    pub(super) fn given(&self, name: &str) -> Option<&'a Value> {
        self.get(name).filter(|value| !value.is_null())
    }

    /// A text that must be there and not be empty.
    pub(super) fn text(&self, name: &str, section: &'static str, found: &mut FindingList) -> Option<&'a str> {
        let text = self.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        self.needs(text, name, section, "a text that says something", found)
    }

    /// A text or `null`, if it is there.
    pub(super) fn text_or_null(&self, name: &str, section: &'static str, found: &mut FindingList) {
        if self.given(name).is_some_and(|value| !value.is_string()) {
            found.wrong(section, &self.at(name), format!("`{name}` is a text or null"));
        }
    }

    /// A list that must be there.
    pub(super) fn list(&self, name: &str, section: &'static str, found: &mut FindingList) -> Option<&'a [Value]> {
        let list = self.get(name).and_then(Value::as_array).map(Vec::as_slice);
        self.needs(list, name, section, "a list", found)
    }

    /// A list, if it is there.
    pub(super) fn optional_list(&self, name: &str, section: &'static str, found: &mut FindingList) -> &'a [Value] {
        match self.given(name) {
            None => &[],
            Some(_) => self.list(name, section, found).unwrap_or_default(),
        }
    }

    /// A list of texts, if it is there.
    pub(super) fn texts(&self, name: &str, section: &'static str, found: &mut FindingList) -> Vec<&'a str> {
        let list = self.optional_list(name, section, found);
        for (at, _) in list.iter().enumerate().filter(|(_, one)| !one.is_string()) {
            found.wrong(section, &format!("{}/{at}", self.at(name)), format!("`{name}` is a list of texts"));
        }
        list.iter().filter_map(Value::as_str).collect()
    }

    /// An object that must be there.
    pub(super) fn object(&self, name: &str, section: &'static str, found: &mut FindingList) -> Option<Fields<'a>> {
        let object = self.get(name).filter(|value| value.is_object());
        self.needs(object, name, section, "an object", found).map(|object| Fields::new(object, self.at(name)))
    }

    /// Its members, none if it is no object.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.object.as_object().into_iter().flat_map(Map::iter)
    }

    fn needs<T>(
        &self,
        value: Option<T>,
        name: &str,
        section: &'static str,
        kind: &str,
        found: &mut FindingList,
    ) -> Option<T> {
        if value.is_none() {
            found.wrong(section, &self.at(name), format!("`{name}` must be {kind}"));
        }
        value
    }
}
