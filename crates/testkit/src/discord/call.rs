//! A call of the API, as its methods see it.

use axum::body::Bytes;
use axum::http::Method;
use serde_json::Value;

/// Why a method is not done: a status, Discord's code, and words.
pub(super) type Refused = (u16, u64, &'static str);

/// A request as the methods see it.
pub(super) struct Call<'a> {
    pub(super) method: &'a Method,
    pub(super) path: Vec<&'a str>,
    pub(super) query: &'a str,
    pub(super) kind: &'a str,
    pub(super) body: &'a Bytes,
}

impl Call<'_> {
    /// The method with its words and without ids.
    pub(super) fn name(&self) -> String {
        let is_word = |piece: &&&str| piece.chars().all(|c| c.is_ascii_lowercase() || c == '@');
        let words: Vec<&str> = self.path.iter().filter(is_word).copied().collect();
        format!("{} {}", self.method, words.last().copied().unwrap_or_default())
    }

    /// What it counts in: the method, for each channel or whatever stands there.
    pub(super) fn bucket(&self) -> String {
        format!("{} {}", self.name(), self.path.get(1).copied().unwrap_or_default())
    }

    /// What it takes, of these fields and no others.
    pub(super) fn fields(&self, known: &[&str]) -> Result<Value, Refused> {
        if self.kind != "application/json" {
            return Err((400, 50_109, "The request body contains invalid JSON."));
        }
        let value: Value =
            serde_json::from_slice(self.body).map_err(|_| (400, 50_109, "The request body contains invalid JSON."))?;
        let fields = value.as_object().ok_or((400, 50_035, "Invalid Form Body"))?;
        match fields.keys().all(|key| known.contains(&key.as_str())) {
            true => Ok(value),
            false => Err((400, 50_035, "a field that is not known")),
        }
    }
}
