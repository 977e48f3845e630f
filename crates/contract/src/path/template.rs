//! This module has the path that an endpoint is registered under: literal segments and parameters in braces. Sections
//! 5.2 to 5.4.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PathError, checked, segments};
use crate::catalog::Catalog;
use crate::limits::{TEMPLATE_BYTES_MAX, TEMPLATE_SEGMENTS_MAX};

/// One segment of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// Matches itself, byte for byte.
    Literal(String),
    /// Takes whatever is there. The name is unique in its template.
    Parameter(String),
}

/// A path that endpoints are registered under. With no parameter it matches exactly itself.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Template {
    raw: String,
    segments: Vec<Segment>,
}

/// Why an endpoint can't be registered under such a path. Section 5.3.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It breaks a rule that every path keeps.
    #[error("{0}")]
    Path(PathError),
    /// Braces that are not exactly `{name}`.
    #[error("`{0}`: a parameter is a whole segment, written {{name}}, with letters, digits and _ in its name")]
    Form(String),
    /// Two parameters of one name.
    #[error("the parameter `{0}` occurs twice")]
    Twice(String),
    /// A segment that no call can have.
    #[error("a path has no empty segment and none that is `.` or `..`")]
    NeverMatches,
    /// A path beyond its bounds.
    #[error("a path has at most {TEMPLATE_SEGMENTS_MAX} segments and {TEMPLATE_BYTES_MAX} bytes")]
    TooLong,
}

impl TemplateError {
    /// A short name for it, as in `path-grammar:bad-parameter`.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::Path(fault) => fault.wrong.tag(),
            Self::Form(_) => "bad-parameter",
            Self::Twice(_) => "duplicate-parameter",
            Self::NeverMatches => "empty-segment",
            Self::TooLong => "too-long",
        }
    }
}

impl Template {
    /// Reads a path of a definition.
    ///
    /// # Errors
    /// The first rule that it breaks, those of every path included.
    pub fn parse(raw: &str, catalog: &Catalog) -> Result<Template, TemplateError> {
        // One more piece than segments: the empty one before the first slash.
        if raw.len() > TEMPLATE_BYTES_MAX || raw.split('/').count() > TEMPLATE_SEGMENTS_MAX + 1 {
            return Err(TemplateError::TooLong);
        }
        let read = |segment| segment_of(segment, catalog);
        let segments = segments(raw).map_err(TemplateError::Path)?.map(read).collect::<Result<Vec<_>, _>>()?;
        let template = Template { raw: raw.to_owned(), segments };
        let mut names = BTreeSet::new();
        let twice = template.parameters().find(|name| !names.insert(*name)).map(str::to_owned);
        twice.map_or(Ok(template), |name| Err(TemplateError::Twice(name)))
    }

    /// The path as it was declared.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// Its segments; none for the root.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The names of its parameters, in order.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Parameter(name) => Some(name.as_str()),
            Segment::Literal(_) => None,
        })
    }

    /// Whether it matches one path only.
    pub fn is_literal(&self) -> bool {
        self.parameters().next().is_none()
    }

    /// The path with each parameter filled in: `fill` gives the text for a name, which is
    /// percent-encoded into one segment. `None`: a text is missing, or is one that no segment takes.
    pub fn fill(&self, fill: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut path = String::with_capacity(self.raw.len());
        for segment in &self.segments {
            path.push('/');
            match segment {
                Segment::Literal(text) => path.push_str(text),
                Segment::Parameter(name) => path.push_str(&encoded(&fill(name)?)?),
            }
        }
        Some(if path.is_empty() { "/".to_owned() } else { path })
    }
}

/// A value as the text of one segment. `None` for lists, objects and `null`, and for texts that no segment may be
/// (empty, `.`, `..`, control characters).
pub fn segment(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    is_takeable(&text).then_some(text)
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.raw)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.raw)
    }
}

/// The name between the braces of `{name}`.
pub(super) fn parameter(segment: &str) -> Option<&str> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    let fine = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    fine.then_some(name)
}

fn segment_of(segment: &str, catalog: &Catalog) -> Result<Segment, TemplateError> {
    if let Some(name) = parameter(segment) {
        return Ok(Segment::Parameter(name.to_owned()));
    }
    if segment.contains(['{', '}']) {
        return Err(TemplateError::Form(segment.to_owned()));
    }
    match checked(segment, catalog).map_err(TemplateError::Path)?.as_str() {
        "" | "." | ".." => Err(TemplateError::NeverMatches),
        _ => Ok(Segment::Literal(segment.to_owned())),
    }
}

/// A text as one segment. `None` for texts that no parameter takes.
fn encoded(text: &str) -> Option<String> {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    // All but the unreserved characters of RFC 3986 2.3: a `/` in a value must not make two segments of it.
    const OUTSIDE_SEGMENTS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    is_takeable(text).then(|| utf8_percent_encode(text, OUTSIDE_SEGMENTS).to_string())
}

fn is_takeable(text: &str) -> bool {
    // Dots are never encoded, and a client or a proxy that resolves `..` would call another path.
    !matches!(text, "" | "." | "..") && !text.chars().any(char::is_control)
}
