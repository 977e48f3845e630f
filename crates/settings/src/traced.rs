//! A reader of JSON that knows where it is, so that a problem can be said with its place.
//!
//! It is written for [`Value`] alone, on purpose: a wrapper around any reader would be compiled once more with each
//! type of settings, and with all that they hold.

use std::cell::RefCell;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Error, Map, Number, Value};

use crate::words::table_with;

/// One step from a value to one in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// Why a value is not what a type takes.
#[derive(Debug)]
pub(crate) struct TracedError {
    /// The way to the value that is not right. Names of variants are no steps.
    pub(crate) steps: Vec<Step>,
    pub(crate) message: String,
}

/// Reads a value as what `T` takes.
pub(crate) fn deserialize<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, TracedError> {
    let way = Way::default();
    T::deserialize(TracedDeserializer { value, way: &way }).map_err(|error| way.locate(&error))
}

/// Where the reader is. What fails leaves it where it stands.
#[derive(Default)]
struct Way(RefCell<Vec<Step>>);

impl Way {
    fn depth(&self) -> usize {
        self.0.borrow().len()
    }

    /// Goes to a value within the one at `depth`.
    fn enter(&self, depth: usize, step: Step) {
        let mut steps = self.0.borrow_mut();
        steps.truncate(depth);
        steps.push(step);
    }

    /// Goes back to the value at `depth`.
    fn leave(&self, depth: usize) {
        self.0.borrow_mut().truncate(depth);
    }

    fn locate(self, error: &Error) -> TracedError {
        TracedError { steps: self.0.into_inner(), message: error.to_string() }
    }
}

#[derive(Clone, Copy)]
struct TracedDeserializer<'de, 'w> {
    value: &'de Value,
    way: &'w Way,
}

impl<'de, 'w> TracedDeserializer<'de, 'w> {
    fn list<V: Visitor<'de>>(self, items: &'de [Value], visitor: V) -> Result<V::Value, Error> {
        let mut list = List { items: items.iter().enumerate(), depth: self.way.depth(), way: self.way };
        let read = visitor.visit_seq(&mut list)?;
        match list.items.len() {
            0 => Ok(read),
            // As `serde_json` says it: a tuple with more items than its type has is refused.
            _ => Err(Error::invalid_length(items.len(), &"fewer elements in array")),
        }
    }

    fn table<V: Visitor<'de>>(self, fields: &'de Map<String, Value>, visitor: V) -> Result<V::Value, Error> {
        let mut table = Table { fields: fields.iter(), value: None, depth: self.way.depth(), way: self.way };
        let read = visitor.visit_map(&mut table)?;
        match table.fields.len() {
            0 => Ok(read),
            _ => Err(Error::invalid_length(fields.len(), &"fewer elements in map")),
        }
    }

    fn unexpected(self) -> Unexpected<'de> {
        match self.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(whole), _) => Unexpected::Unsigned(whole),
                (None, Some(whole)) => Unexpected::Signed(whole),
                (None, None) => Unexpected::Float(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        }
    }
}

impl<'de> Deserializer<'de> for TracedDeserializer<'de, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => self.list(items, visitor),
            Value::Object(fields) => self.table(fields, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (variant, value) = match self.value {
            Value::String(variant) => (variant, None),
            Value::Object(fields) => match fields.iter().next() {
                Some((variant, value)) if fields.len() == 1 => (variant, Some(value)),
                _ => return Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
            },
            _ => return Err(Error::invalid_type(self.unexpected(), &"string or map")),
        };
        visitor.visit_enum(Variant {
            name: variant,
            value: value.map(|value| TracedDeserializer { value, way: self.way }),
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let read = self.deserialize_any(visitor);
        // The name of a type means nothing to whoever writes settings; its keys do.
        match (read, self.value) {
            (Err(error), Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))
                if error.to_string().contains(", expected struct ") =>
            {
                Err(Error::invalid_type(self.unexpected(), &table_with(fields).as_str()))
            }
            (read, _) => read,
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

struct List<'de, 'w> {
    items: std::iter::Enumerate<std::slice::Iter<'de, Value>>,
    depth: usize,
    way: &'w Way,
}

impl<'de> SeqAccess<'de> for List<'de, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((index, value)) = self.items.next() else { return Ok(None) };
        self.way.enter(self.depth, Step::Index(index));
        let read = seed.deserialize(TracedDeserializer { value, way: self.way })?;
        self.way.leave(self.depth);
        Ok(Some(read))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Table<'de, 'w> {
    fields: serde_json::map::Iter<'de>,
    value: Option<&'de Value>,
    depth: usize,
    way: &'w Way,
}

impl<'de> MapAccess<'de> for Table<'de, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.fields.next() else { return Ok(None) };
        self.value = Some(value);
        self.way.enter(self.depth, Step::Key(key.clone()));
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let value = self.value.take().ok_or_else(|| Error::custom("value is missing"))?;
        let read = seed.deserialize(TracedDeserializer { value, way: self.way })?;
        self.way.leave(self.depth);
        Ok(read)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}

/// The key of a table: a text, in which a number may be written.
struct Key<'de>(&'de str);

macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.number()?.deserialize_any(visitor)
        })*
    };
}

impl Key<'_> {
    fn number(&self) -> Result<Number, Error> {
        let begins = self.0.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        // JSON would take blanks before the number.
        let number = serde_json::from_str(self.0).ok().filter(|_| begins);
        number.ok_or_else(|| Error::custom("invalid value: expected key to be a number in quotes"))
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(Error::invalid_type(Unexpected::Str(self.0), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let variant: serde::de::value::BorrowedStrDeserializer<'de, Error> =
            serde::de::value::BorrowedStrDeserializer::new(self.0);
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant by its name, and what it holds.
struct Variant<'de, 'w> {
    name: &'de str,
    value: Option<TracedDeserializer<'de, 'w>>,
}

impl<'de, 'w> EnumAccess<'de> for Variant<'de, 'w> {
    type Error = Error;
    type Variant = VariantContent<'de, 'w>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
        let variant = seed.deserialize(IntoDeserializer::<Error>::into_deserializer(self.name))?;
        Ok((variant, VariantContent(self.value)))
    }
}

/// What a variant holds.
struct VariantContent<'de, 'w>(Option<TracedDeserializer<'de, 'w>>);

impl<'de> VariantContent<'de, '_> {
    fn wrong<T>(self, expected: &str) -> Result<T, Error> {
        let unexpected = self.0.map_or(Unexpected::UnitVariant, TracedDeserializer::unexpected);
        Err(Error::invalid_type(unexpected, &expected))
    }
}

impl<'de> VariantAccess<'de> for VariantContent<'de, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Deserialize::deserialize)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        match self.0 {
            Some(value) => seed.deserialize(value),
            None => self.wrong("newtype variant"),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Some(held @ TracedDeserializer { value: Value::Array(items), .. }) => held.list(items, visitor),
            _ => self.wrong("tuple variant"),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Some(held @ TracedDeserializer { value: Value::Object(fields), .. }) => held.table(fields, visitor),
            _ => self.wrong("struct variant"),
        }
    }
}

#[cfg(test)]
mod tests;
