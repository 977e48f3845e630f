//! Writing JSON: what is absent or empty is left out.

use forecourt_core::Timestamp;
use serde_json::{Map, Value};

use crate::model::Metadata;

/// An object on its way out.
#[derive(Default)]
pub(super) struct Object(Map<String, Value>);

impl Object {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// With one more member.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// With one more member, if there is a value.
    pub(super) fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With one more member, if `on`.
    pub(super) fn with_true(self, name: &str, on: bool) -> Self {
        self.with_some(name, on.then_some(true))
    }

    /// With a list of what `write` makes of each item, if there is any.
    pub(super) fn with_list<T>(self, name: &str, items: &[T], write: impl Fn(&T) -> Value) -> Self {
        match items {
            [] => self,
            items => self.with(name, items.iter().map(write).collect::<Vec<_>>()),
        }
    }

    /// With a list of strings, if there is any.
    pub(super) fn with_texts(self, name: &str, texts: &[String]) -> Self {
        self.with_list(name, texts, |text| text.as_str().into())
    }

    /// With free members, if there are any.
    pub(super) fn with_metadata(self, metadata: &Metadata) -> Self {
        match metadata.is_empty() {
            true => self,
            false => self.with("metadata", metadata.clone()),
        }
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object.0)
    }
}

/// RFC 3339, UTC, milliseconds.
pub(super) fn moment(at: Timestamp) -> Value {
    format!("{at:.3}").into()
}
