//! Values of the model are written straight to bytes, in the spelling of a dialect.
//!
//! What is absent or empty is left out. Members stand in the order of their names: hashes of messages
//! are kept for a day ([`crate::service`]), and must be the same however a message came.

use forecourt_core::Timestamp;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::Dialect;
use crate::model::Metadata;

/// A value as a dialect spells it. Becomes bytes or a tree, whatever its serializer makes.
pub(crate) struct DialectValue<'a, T: ?Sized>(pub(crate) Dialect, pub(crate) &'a T);

impl<T: ?Sized> Clone for DialectValue<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for DialectValue<'_, T> {}

impl<T: ?Sized> DialectValue<'_, T>
where
    Self: Serialize,
{
    /// As a tree, for what goes over it once more.
    pub(crate) fn to_value(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As bytes.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        serde_json::to_vec(&self).unwrap_or_default()
    }
}

/// A list, each item as the dialect spells it.
impl<'a, T> Serialize for DialectValue<'a, [T]>
where
    DialectValue<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|item| DialectValue(self.0, item)))
    }
}

/// The members of an object that is being written.
pub(super) struct ObjectWriter<S: Serializer>(S::SerializeMap);

impl<S: Serializer> ObjectWriter<S> {
    pub(super) fn begin(serializer: S) -> Result<Self, S::Error> {
        serializer.serialize_map(None).map(Self)
    }

    /// One more member.
    pub(super) fn member(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), S::Error> {
        self.0.serialize_entry(name, value)
    }

    /// One more member, if there is a value.
    pub(super) fn some(&mut self, name: &'static str, value: Option<impl Serialize>) -> Result<(), S::Error> {
        value.map_or(Ok(()), |value| self.member(name, &value))
    }

    /// One more member, if `on`.
    pub(super) fn when(&mut self, on: bool, name: &'static str, value: impl Serialize) -> Result<(), S::Error> {
        if on { self.member(name, &value) } else { Ok(()) }
    }

    /// A list of strings, if there is any.
    pub(super) fn texts(&mut self, name: &'static str, texts: &[String]) -> Result<(), S::Error> {
        self.when(!texts.is_empty(), name, texts)
    }

    /// Free members, if there are any.
    pub(super) fn metadata(&mut self, metadata: &Metadata) -> Result<(), S::Error> {
        self.when(!metadata.is_empty(), "metadata", metadata)
    }

    pub(super) fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

/// A timestamp in RFC 3339, in UTC and with milliseconds: the only form that 1.0 admits.
pub(super) struct Moment(pub(super) Timestamp);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.3}", self.0))
    }
}
