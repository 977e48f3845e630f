//! This module hands JSON that is kept as a text on to a serializer, value by value. No tree is made of it, which takes
//! ten times the room of its text.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Number;

use super::{INEXACT, is_exact_number};

/// A JSON text as a value to be written. Fails on an integer that no double holds exactly.
pub(super) struct Rewritten<'t>(pub(super) &'t [u8]);

impl Serialize for Rewritten<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut reader = serde_json::Deserializer::from_slice(self.0);
        reader.deserialize_any(Writer(serializer)).map_err(S::Error::custom)
    }
}

/// A value that is still to be read, by whoever writes it.
struct Unread<D>(Cell<Option<D>>);

impl<'de, D: Deserializer<'de>> Serialize for Unread<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reader = self.0.take().ok_or_else(|| S::Error::custom("a value that is read twice"))?;
        reader.deserialize_any(Writer(serializer)).map_err(S::Error::custom)
    }
}

/// An element that goes into a list.
struct Element<'l, L>(&'l mut L);

impl<'de, L: SerializeSeq> DeserializeSeed<'de> for Element<'_, L> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        self.0.serialize_element(&Unread(Cell::new(Some(reader)))).map_err(D::Error::custom)
    }
}

/// The value of a key that was written last.
struct Member<'f, F>(&'f mut F);

impl<'de, F: SerializeMap> DeserializeSeed<'de> for Member<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        self.0.serialize_value(&Unread(Cell::new(Some(reader)))).map_err(D::Error::custom)
    }
}

/// Writes the value that it visits.
struct Writer<S>(S);

impl<S: Serializer> Writer<S> {
    fn number<E: serde::de::Error>(self, number: Number) -> Result<S::Ok, E> {
        match is_exact_number(&number) {
            true => number.serialize(self.0).map_err(E::custom),
            false => Err(E::custom(INEXACT)),
        }
    }
}

impl<'de, S: Serializer> Visitor<'de> for Writer<S> {
    type Value = S::Ok;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<S::Ok, E> {
        self.0.serialize_unit().map_err(E::custom)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<S::Ok, E> {
        self.0.serialize_bool(value).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<S::Ok, E> {
        self.number(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<S::Ok, E> {
        self.number(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<S::Ok, E> {
        self.0.serialize_f64(value).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<S::Ok, E> {
        self.0.serialize_str(value).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<S::Ok, A::Error> {
        let mut list = self.0.serialize_seq(None).map_err(A::Error::custom)?;
        while items.next_element_seed(Element(&mut list))?.is_some() {}
        list.end().map_err(A::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<S::Ok, A::Error> {
        let mut fields = self.0.serialize_map(None).map_err(A::Error::custom)?;
        while let Some(key) = entries.next_key::<String>()? {
            fields.serialize_key(&key).map_err(A::Error::custom)?;
            entries.next_value_seed(Member(&mut fields))?;
        }
        fields.end().map_err(A::Error::custom)
    }
}
