//! A form whose every field must be known.

use std::collections::BTreeMap;

use super::{Answer, refused};

/// The fields that are still to be read.
pub(super) struct Form(BTreeMap<String, String>);

impl Form {
    pub(super) fn read(bytes: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// Takes a field; an empty one is none.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name).filter(|value| !value.is_empty())
    }

    pub(super) fn need(&mut self, name: &str) -> Result<String, Answer> {
        self.take(name).ok_or_else(|| refused(400, "parameter_missing", &format!("Missing required param: {name}.")))
    }

    /// Takes a field that can have but one value here.
    pub(super) fn need_word(&mut self, name: &str, word: &str) -> Result<(), Answer> {
        let value = self.need(name)?;
        match value == word {
            true => Ok(()),
            false => Err(refused(400, "parameter_invalid", &format!("{name} must be {word}, not {value}"))),
        }
    }

    pub(super) fn need_number(&mut self, name: &str) -> Result<i64, Answer> {
        let value = self.need(name)?;
        value.parse().map_err(|_| refused(400, "parameter_invalid_integer", &format!("Invalid integer: {name}")))
    }

    /// Fails when something is left.
    pub(super) fn end(&self) -> Result<(), Answer> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(refused(400, "parameter_unknown", &format!("Received unknown parameter: {name}"))),
        }
    }
}
