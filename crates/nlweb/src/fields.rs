//! Reading the fields of an object one by one, with a path to name in what is wrong.

use serde_json::{Map, Value};

use crate::api_error::ApiError;

/// An object of a request, whose fields are taken out as they are read.
pub(crate) struct Fields {
    path: &'static str,
    fields: Map<String, Value>,
}

impl Fields {
    /// The object `value`, which is called `path`. `None` and `null` are an empty one.
    pub(crate) fn of(path: &'static str, value: Option<Value>) -> Result<Self, ApiError> {
        match value {
            None | Some(Value::Null) => Ok(Self { path, fields: Map::new() }),
            Some(Value::Object(fields)) => Ok(Self { path, fields }),
            Some(_) => Err(ApiError::wrong(path, "an object")),
        }
    }

    /// The full path of a field.
    pub(crate) fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The field as it is; `null` is none.
    pub(crate) fn value(&mut self, key: &str) -> Option<Value> {
        self.fields.remove(key).filter(|value| !value.is_null())
    }

    /// Takes a string. `null` is none; another type is an error that names the path.
    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, ApiError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ApiError::wrong(self.name(key), "a string")),
        }
    }

    /// A string of at most `bytes_max` bytes without control characters.
    pub(crate) fn short(&mut self, key: &str, bytes_max: usize) -> Result<Option<String>, ApiError> {
        match self.text(key)? {
            Some(text) if text.len() > bytes_max || text.chars().any(char::is_control) => {
                Err(ApiError::wrong(self.name(key), format!("at most {bytes_max} bytes without control characters")))
            }
            other => Ok(other),
        }
    }

    /// Takes a boolean, likewise.
    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>, ApiError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(ApiError::wrong(self.name(key), "true or false")),
        }
    }

    /// A count above 0, written as a number or in digits.
    pub(crate) fn count(&mut self, key: &str) -> Result<Option<usize>, ApiError> {
        match self.number(key) {
            Ok(None) => Ok(None),
            Ok(Some(count)) if count > 0 => Ok(Some(count)),
            Ok(Some(_)) | Err(_) => Err(ApiError::wrong(self.name(key), "a whole number above 0")),
        }
    }

    /// A whole number from 0 on, written as a number or in digits.
    pub(crate) fn number(&mut self, key: &str) -> Result<Option<usize>, ApiError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = match &value {
            Value::Number(number) => number.as_u64(),
            // The flat form of 0.54 has nothing but text.
            Value::String(digits) => digits.trim().parse().ok(),
            _ => None,
        };
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| ApiError::wrong(self.name(key), "a whole number from 0 on"))
    }

    /// An object; none is an empty one.
    pub(crate) fn object(&mut self, key: &str) -> Result<Map<String, Value>, ApiError> {
        match self.value(key) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) => Err(ApiError::wrong(self.name(key), "an object")),
        }
    }

    /// A list of names: an array of strings, or one string with commas.
    pub(crate) fn names(&mut self, key: &str, count_max: usize) -> Result<Vec<String>, ApiError> {
        let wrong = |fields: &Self| ApiError::wrong(fields.name(key), "a string, or an array of strings");
        let texts = match self.value(key) {
            None => Vec::new(),
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text),
                    _ => Err(wrong(self)),
                })
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong(self)),
        };
        let names = texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        match names.len() > count_max {
            true => Err(ApiError::wrong(self.name(key), format!("at most {count_max} names"))),
            false => Ok(names),
        }
    }

    /// The fields that nobody took.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.fields
    }
}
