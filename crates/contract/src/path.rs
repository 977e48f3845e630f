//! This module checks the grammar of paths. Sections 5.1 to 5.3.
//!
//! Nothing is normalised: `..`, `//` and percent signs stay as they are. The rules are checked on
//! the decoded segments, so that a verb can't hide behind percent signs, while literal segments are
//! compared as they were sent. What a parameter takes is a value, and may spell a verb.

mod template;

use percent_encoding::percent_decode_str;

pub use template::{Segment, Template, TemplateError, segment};

use crate::catalog::Catalog;

/// Why a path is not one. Holds the segment to change; "" is the one after a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wrong}")]
pub struct PathError {
    /// The offending segment, as it was sent.
    pub segment: String,
    /// What is wrong with it.
    pub wrong: PathWrong,
}

/// Which rule of the path grammar was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathWrong {
    /// Section 5.1.
    #[error("a path begins with a slash")]
    NoLeadingSlash,
    /// Section 5.1.
    #[error("a path does not end with a slash, unless it is the root")]
    TrailingSlash,
    /// `//` at the beginning: the first segment is never empty. Section 5.2.
    #[error("the first segment of a path is not empty")]
    EmptyFirstSegment,
    /// A character that no segment has, or a percent sign that encodes nothing. Section 5.2.
    #[error("a segment holds a character that does not belong in a path")]
    Character,
    /// Decoded, the segment is not UTF-8 or has control characters.
    #[error("a segment is not text once its percent signs are decoded")]
    NotText,
    /// Section 5.1.
    #[error("a segment spells the method `{0}`: the method goes before the path")]
    Method(String),
}

impl PathWrong {
    /// A short name for it, as in `path-grammar:method-name`.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::NoLeadingSlash => "no-leading-slash",
            Self::TrailingSlash => "trailing-slash",
            Self::EmptyFirstSegment => "empty-segment",
            Self::Character => "bad-character",
            Self::NotText => "not-text",
            Self::Method(_) => "method-name",
        }
    }
}

/// A path that keeps the grammar, with its decoded segments. The root has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    raw: String,
    decoded: Vec<String>,
}

impl RequestPath {
    /// Checks a path that takes no values. Time is linear in its length, which the caller bounds.
    ///
    /// # Errors
    /// The first segment that breaks a rule.
    pub fn parse(raw: &str, catalog: &Catalog) -> Result<RequestPath, PathError> {
        RequestPath::called(raw, catalog, |_| false)
    }

    /// Checks the path of a call. Values are not verbs: where a segment spells a method, `is_taken` says whether an
    /// endpoint takes the path, whose literal segments spell none. Section 5.1 is about these.
    ///
    /// # Errors
    /// The first segment that breaks a rule.
    pub fn called(
        raw: &str,
        catalog: &Catalog,
        is_taken: impl FnOnce(&RequestPath) -> bool,
    ) -> Result<RequestPath, PathError> {
        let (path, leak) = RequestPath::sent(raw, catalog)?;
        match leak {
            Some(fault) if !is_taken(&path) => Err(fault),
            _ => Ok(path),
        }
    }

    /// The path of a call, with its first segment that spells a method: a fault unless something takes the path.
    ///
    /// # Errors
    /// The first segment that breaks another rule.
    pub fn sent(raw: &str, catalog: &Catalog) -> Result<(RequestPath, Option<PathError>), PathError> {
        let decoded = segments(raw)?.map(decoded).collect::<Result<Vec<_>, _>>()?;
        let path = RequestPath { raw: raw.to_owned(), decoded };
        let leak = path.leak(catalog);
        Ok((path, leak))
    }

    /// The first segment that spells a method.
    fn leak(&self, catalog: &Catalog) -> Option<PathError> {
        self.segments().zip(&self.decoded).find_map(|(segment, text)| spelled(segment, text, catalog))
    }

    /// The path as it was sent.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// Its segments as they were sent; none for the root.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.raw.split('/').skip(1).take(self.decoded.len())
    }

    /// What a parameter takes from the segment at `index`: its decoded text. `None` for segments
    /// that no parameter takes: empty ones and the dots that mean folders elsewhere.
    pub fn value(&self, index: usize) -> Option<&str> {
        let text = self.decoded.get(index)?.as_str();
        // Nothing is normalised, so these would reach a handler as values that file systems and URLs resolve.
        (!matches!(text, "" | "." | "..")).then_some(text)
    }
}

/// The raw segments of a path whose slashes are where they should be.
fn segments(raw: &str) -> Result<impl Iterator<Item = &str>, PathError> {
    let fault = |segment: &str, wrong| Err(PathError { segment: segment.to_owned(), wrong });
    let Some(rest) = raw.strip_prefix('/') else {
        return fault(raw.split('/').next().unwrap_or_default(), PathWrong::NoLeadingSlash);
    };
    if rest.starts_with('/') {
        return fault("", PathWrong::EmptyFirstSegment);
    }
    if rest.ends_with('/') {
        return fault("", PathWrong::TrailingSlash);
    }
    // Splitting the empty rest of `/` gives one empty segment, where the root has none.
    Ok(rest.split('/').filter(move |_| !rest.is_empty()))
}

/// The decoded text of a segment that keeps the rules. A parameter in braces stays as it is.
fn checked(segment: &str, catalog: &Catalog) -> Result<String, PathError> {
    let text = decoded(segment)?;
    spelled(segment, &text, catalog).map_or(Ok(text), Err)
}

/// The fault of a segment whose decoded text spells a method. Decoded, since `/%62ook` must not pass where `/book` is
/// refused (5.1).
fn spelled(segment: &str, text: &str, catalog: &Catalog) -> Option<PathError> {
    if template::parameter(segment).is_some() {
        return None;
    }
    let verb = catalog.verb_in(text)?;
    Some(PathError { segment: segment.to_owned(), wrong: PathWrong::Method(verb) })
}

/// The decoded text of a segment, whatever it spells.
fn decoded(segment: &str) -> Result<String, PathError> {
    let fault = |wrong| PathError { segment: segment.to_owned(), wrong };
    if template::parameter(segment).is_some() {
        return Ok(segment.to_owned());
    }
    if !is_segment(segment) {
        return Err(fault(PathWrong::Character));
    }
    let text = percent_decode_str(segment).decode_utf8().map_err(|_| fault(PathWrong::NotText))?;
    if text.chars().any(char::is_control) {
        return Err(fault(PathWrong::NotText));
    }
    Ok(text.into_owned())
}

/// Whether a segment has only what RFC 3986 lets a segment have.
fn is_segment(segment: &str) -> bool {
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        let encodes = |next: Option<u8>| next.is_some_and(|b| b.is_ascii_hexdigit());
        let fine = match byte {
            b'%' => encodes(bytes.next()) && encodes(bytes.next()),
            byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte),
        };
        if !fine {
            return false;
        }
    }
    true
}
