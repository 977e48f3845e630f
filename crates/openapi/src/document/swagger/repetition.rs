//! How much of a document may stand in several places once it is one of OpenAPI 3.0.

use std::cell::Cell;

use serde_json::Value;

use crate::document::OpenApiDocumentError;
use crate::limits::{SWAGGER_REPEATED_BYTES_MAX, SWAGGER_VALUE_BYTES};

/// What may still be repeated. It is counted before anything is copied.
pub(super) struct Repetition {
    bytes_left: Cell<usize>,
}

impl Default for Repetition {
    fn default() -> Repetition {
        Repetition { bytes_left: Cell::new(SWAGGER_REPEATED_BYTES_MAX) }
    }
}

impl Repetition {
    /// Counts a value with all that is in it.
    ///
    /// # Errors
    /// It is more than may be repeated.
    pub(super) fn of_value(&self, value: &Value) -> Result<(), OpenApiDocumentError> {
        self.of_bytes(SWAGGER_VALUE_BYTES)?;
        match value {
            Value::String(text) => self.of_bytes(text.len()),
            Value::Array(all) => all.iter().try_for_each(|inner| self.of_value(inner)),
            Value::Object(fields) => fields.iter().try_for_each(|(key, inner)| {
                self.of_bytes(key.len())?;
                self.of_value(inner)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn of_bytes(&self, count: usize) -> Result<(), OpenApiDocumentError> {
        let left = self.bytes_left.get().checked_sub(count).ok_or(OpenApiDocumentError::Repeated)?;
        self.bytes_left.set(left);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_bytes_are_repeated_and_no_more() {
        let of = |bytes: usize| {
            let repetition = Repetition::default();
            let key = "k".repeat(10);
            let fields = serde_json::Map::from_iter([(key, Value::String("x".repeat(bytes)))]);
            repetition.of_value(&Value::Array(vec![Value::Object(fields)]))
        };
        // A list, an object and a text, and a key of ten bytes.
        let fits = SWAGGER_REPEATED_BYTES_MAX - 3 * SWAGGER_VALUE_BYTES - 10;
        assert_eq!(of(fits), Ok(()));
        let refused = of(fits + 1).unwrap_err();
        assert!(refused.to_string().contains(&SWAGGER_REPEATED_BYTES_MAX.to_string()), "{refused}");
    }
}
