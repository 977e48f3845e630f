//! A section whose keys are those of two types: its own, and those that it shares with other sections.

use schemars::{JsonSchema, Schema};
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::Section;
use crate::error::Problems;

impl Section {
    /// What is left, as the owner's type and a `Shared` one, a struct whose keys other sections have too. `flatten` can't
    /// do that, since it keeps neither the place of a value nor that unknown keys are refused.
    ///
    /// # Errors
    /// Those of [`Section::read`], of both.
    pub fn read_both<T: DeserializeOwned, Shared: DeserializeOwned>(&self) -> Result<(T, Shared), Problems> {
        let shared_keys = keys_of::<Shared>();
        let (mut own, mut shared) = (self.clone(), self.clone());
        own.table.retain(|key, _| !shared_keys.contains(&key.as_str()));
        shared.table.retain(|key, _| shared_keys.contains(&key.as_str()));
        for key in shared_keys {
            own.note_taken(key);
        }
        let mut problems = Problems::new();
        let own = problems.absorb(own.read());
        let shared = problems.absorb(shared.read());
        let problems = problems.in_file_order();
        match (own, shared) {
            (Some(own), Some(shared)) => problems.into_result((own, shared)),
            _ => Err(problems),
        }
    }
}

/// The schema of a section that [`Section::read_both`] reads.
pub fn schema_of_both<T: JsonSchema, Shared: JsonSchema>() -> Schema {
    let mut schema = schemars::schema_for!(T);
    let mut shared = schemars::schema_for!(Shared);
    for (part, of_shared) in std::mem::take(shared.ensure_object()) {
        match (schema.ensure_object().entry(part).or_insert(Value::Null), of_shared) {
            (Value::Object(own), Value::Object(of_shared)) => own.extend(of_shared),
            (Value::Array(own), Value::Array(of_shared)) => own.extend(of_shared),
            (own @ Value::Null, of_shared) => *own = of_shared,
            // A title, a description: the owner's.
            _ => {}
        }
    }
    schema
}

/// The names of a struct's fields, as they are read.
fn keys_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // It always fails: there is nothing to read.
    let _ = T::deserialize(FieldNames(&mut keys));
    keys
}

/// Notes which fields a struct asks for, and has none of them.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("no values, only names"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("no struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Lamp {
        /// How bright it is.
        #[serde(rename = "lumens")]
        light: u32,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Plug {
        /// The voltage.
        volts: u32,
        #[serde(default)]
        earthed: bool,
    }

    fn section(text: &str) -> Section {
        Section::parse(Path::new("lamps/a.toml"), text, &|_: &str| None).unwrap()
    }

    #[test]
    fn each_key_goes_to_the_type_that_has_it() {
        let (lamp, plug) = section("lumens = 800\nvolts = 12\n").read_both::<Lamp, Plug>().unwrap();
        assert_eq!((lamp.light, plug.volts, plug.earthed), (800, 12, false));
    }

    #[test]
    fn what_is_wrong_with_either_is_said_with_its_line() {
        let text = "lumens = \"much\"\nvolts = 12\nearthd = true\nearthed = 3\n";
        let said = section(text).read_both::<Lamp, Plug>().unwrap_err().to_string();
        assert!(said.contains("lamps/a.toml:1") && said.contains("lumens"), "{said}");
        // A key of the shared type is the nearest of one that nobody knows.
        assert!(said.contains("lamps/a.toml:3") && said.contains("did you mean `earthed`?"), "{said}");
        assert!(said.contains("lamps/a.toml:4"), "{said}");
    }

    #[test]
    fn what_either_misses_is_said() {
        let said = section("").read_both::<Lamp, Plug>().unwrap_err().to_string();
        assert!(said.contains("missing key `lumens`") && said.contains("missing key `volts`"), "{said}");
    }

    #[test]
    fn the_schema_has_the_keys_of_both() {
        let schema = schema_of_both::<Lamp, Plug>().to_value();
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert_eq!(schema["required"], serde_json::json!(["lumens", "volts"]));
        assert_eq!((&schema["title"], &schema["additionalProperties"]), (&Value::from("Lamp"), &Value::from(false)));
    }
}
