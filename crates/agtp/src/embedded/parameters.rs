//! What a method is given, by the names of the base protocol or by those of its reference implementation.
//! Base 3.1.

use forecourt_agtp_wire::status::Status;
use forecourt_core::{AgentId, Timestamp};
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::limits::{KEPT_BYTES_MAX, NAME_CHARS_MAX, REASON_BYTES_MAX};
use crate::reply::Problem;

/// The names of one parameter, the right one first.
pub(super) type Names<'n> = &'n [&'n str];

/// The parameters of one call.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'a> {
    body: &'a Map<String, Value>,
    method: &'a str,
}

impl<'a> Parameters<'a> {
    /// Those of a request for `method`.
    pub(super) fn of(ask: &'a Ask, method: &'a str) -> Self {
        Self { body: &ask.call.body, method }
    }

    /// A parameter that says something: nothing and an empty text don't, an empty list does.
    pub(super) fn get(self, names: Names<'_>) -> Option<&'a Value> {
        let says = |value: &&Value| !value.is_null() && value.as_str() != Some("");
        names.iter().find_map(|name| self.body.get(*name).filter(says))
    }

    /// Everything that must be there.
    ///
    /// # Errors
    /// 422 with all that is missing, by their right names.
    pub(super) fn require(self, wanted: &[Names<'_>]) -> Result<(), Problem> {
        let missing: Vec<&str> = wanted
            .iter()
            .filter(|names| self.get(names).is_none())
            .filter_map(|names| names.first().copied())
            .collect();
        if missing.is_empty() { Ok(()) } else { Err(self.missing(Status::UNPROCESSABLE, &missing)) }
    }

    /// A parameter that a target of INSPECT needs. Base 3.3: a missing one is 400.
    pub(super) fn named(self, name: &'static str) -> Result<&'a str, Problem> {
        self.text(&[name])?.ok_or_else(|| self.missing(Status::BAD_REQUEST, &[name]))
    }

    /// Whether it is there at all, be it empty.
    pub(super) fn has(self, name: &str) -> bool {
        self.body.contains_key(name)
    }

    /// The problem that parameters are missing.
    pub(super) fn missing(self, status: Status, names: &[&str]) -> Problem {
        let message = format!("{} needs {}", self.method, names.join(", "));
        Problem::new(status, "missing-required-params", message).with("missing", names).with("method", self.method)
    }

    /// A parameter that is text.
    pub(super) fn text(self, names: Names<'_>) -> Result<Option<&'a str>, Problem> {
        let Some(value) = self.get(names) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.wrong(names, "must be a text"))
    }

    /// A parameter that names something: text of at most [`NAME_CHARS_MAX`] characters, as in the fields.
    pub(super) fn name(self, names: Names<'_>) -> Result<Option<&'a str>, Problem> {
        let named = self.text(names)?;
        match named.is_some_and(|name| name.len() > NAME_CHARS_MAX) {
            true => Err(self.wrong(names, &format!("has at most {NAME_CHARS_MAX} characters"))),
            false => Ok(named),
        }
    }

    /// A parameter that is kept for the caller: at most [`KEPT_BYTES_MAX`] bytes.
    pub(super) fn kept(self, names: Names<'_>) -> Result<Option<&'a Value>, Problem> {
        self.within(names, KEPT_BYTES_MAX)
    }

    fn within(self, names: Names<'_>, bytes_max: usize) -> Result<Option<&'a Value>, Problem> {
        let value = self.get(names);
        match value.is_some_and(|value| value.to_string().len() > bytes_max) {
            true => Err(self.wrong(names, &format!("has at most {bytes_max} bytes in JSON"))),
            false => Ok(value),
        }
    }

    /// A parameter that must be there and is text.
    pub(super) fn required_text(self, names: Names<'_>) -> Result<&'a str, Problem> {
        self.require(&[names])?;
        Ok(self.text(names)?.unwrap_or_default())
    }

    /// A parameter that is text, or a value that is shown as text.
    pub(super) fn words(self, names: Names<'_>) -> Option<String> {
        self.get(names).map(to_text)
    }

    /// Why something is done, which is kept with it: at most [`REASON_BYTES_MAX`] bytes.
    pub(super) fn reason(self) -> Result<Option<String>, Problem> {
        Ok(self.within(&["reason", "rationale"], REASON_BYTES_MAX)?.map(to_text))
    }

    /// A parameter that is a number within a range. One that came in the query is text.
    pub(super) fn number(self, names: Names<'_>, range: std::ops::RangeInclusive<f64>) -> Result<Option<f64>, Problem> {
        let Some(value) = self.get(names) else { return Ok(None) };
        let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
        let wrong = || self.wrong(names, &format!("must be a number from {} to {}", range.start(), range.end()));
        number.filter(|number| range.contains(number)).map(Some).ok_or_else(wrong)
    }

    /// A parameter that is a whole number within a range.
    pub(super) fn count(
        self,
        names: Names<'_>,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, Problem> {
        let (least, most) = (*range.start() as f64, *range.end() as f64);
        let Some(number) = self.number(names, least..=most)? else { return Ok(None) };
        if number.fract() == 0.0 { Ok(Some(number as usize)) } else { Err(self.wrong(names, "must be a whole number")) }
    }

    /// A parameter that is one of a few words.
    pub(super) fn one_of(self, names: Names<'_>, words: &[&'static str]) -> Result<Option<&'static str>, Problem> {
        let Some(text) = self.text(names)? else { return Ok(None) };
        let known = words.iter().find(|word| **word == text).copied();
        known.map(Some).ok_or_else(|| self.wrong(names, &format!("must be one of {}", words.join(", "))))
    }

    /// A parameter that is a moment. RFC 3339.
    pub(super) fn moment(self, names: Names<'_>) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = self.text(names)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.wrong(names, "must be a moment such as 2026-01-15T09:00:00Z"))
    }

    /// A parameter that is an agent's canonical name.
    pub(super) fn agent(self, names: Names<'_>) -> Result<Option<AgentId>, Problem> {
        let Some(text) = self.text(names)? else { return Ok(None) };
        let name = names.first().copied().unwrap_or_default();
        let malformed = |_| {
            let message = format!("`{name}` must be an Agent-ID: 64 lowercase hexadecimal digits");
            Problem::new(Status::BAD_REQUEST, "invalid-agent-id", message).with("field", format!("/{name}"))
        };
        AgentId::parse(text).map(Some).map_err(malformed)
    }

    /// A parameter that is an object.
    pub(super) fn object(self, names: Names<'_>) -> Result<Option<&'a Map<String, Value>>, Problem> {
        let Some(value) = self.get(names) else { return Ok(None) };
        value.as_object().map(Some).ok_or_else(|| self.wrong(names, "must be an object"))
    }

    /// The problem that a parameter is not what it must be.
    pub(super) fn wrong(self, names: Names<'_>, must: &str) -> Problem {
        let name = names.first().copied().unwrap_or_default();
        let message = format!("`{name}` {must}");
        Problem::new(Status::UNPROCESSABLE, "input-validation-failed", message.as_str())
            .with("detail", message)
            .with("field", format!("/{name}"))
            .with("method", self.method)
    }
}

/// A text as it is, any other value as JSON.
fn to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
