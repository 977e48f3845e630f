//! This module has references to earlier results: to a whole result, or to something inside it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::{ECHO_CHARS_MAX, RESULT_MEMBERS_MAX};

/// A captured result, or what lies inside it. In a recipe it is written `facts`, `facts.order.id` or
/// `facts.results.0.content`; as a table, `{ step = "facts", pointer = "/order.id" }`, where a name has dots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultReference {
    /// The name that the result was captured under.
    pub capture: String,
    /// The members that lead inside, the outermost first, at most [`RESULT_MEMBERS_MAX`]: names of an object's
    /// members, and places in a list counted from 0. None: all of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
}

impl ResultReference {
    /// All of a result.
    pub fn whole(capture: impl Into<String>) -> ResultReference {
        ResultReference { capture: capture.into(), members: Vec::new() }
    }

    /// Reads the short form. A result that was captured under all of the text is meant before one that was
    /// captured under its beginning.
    ///
    /// # Errors
    /// A sentence: nothing earlier was captured under such a name, or the members are none.
    pub(super) fn read<'a>(
        text: &str,
        captured: impl Fn(&str) -> bool + Clone + 'a,
    ) -> Result<ResultReference, String> {
        if captured(text) {
            return Ok(ResultReference::whole(text));
        }
        // From the end: of captures named `a` and `a.b`, the longer one is meant by `a.b.c`.
        let mut dots = text.rmatch_indices('.').map(|(at, _)| at);
        let at = dots.find(|at| captured(&text[..*at])).ok_or_else(|| unknown(text))?;
        ResultReference::of(&text[..at], text[at + 1..].split('.').map(str::to_owned).collect())
    }

    /// Reads the table, with a JSON Pointer. RFC 6901 section 3.
    ///
    /// # Errors
    /// As [`ResultReference::read`].
    pub(super) fn pointed(
        capture: &str,
        pointer: &str,
        captured: impl Fn(&str) -> bool,
    ) -> Result<ResultReference, String> {
        if !captured(capture) {
            return Err(unknown(capture));
        }
        if pointer.is_empty() {
            return Ok(ResultReference::whole(capture));
        }
        let members = pointer.strip_prefix('/').ok_or_else(|| "a `pointer` begins with a slash".to_owned())?;
        // In this order (RFC 6901 section 4): the other way round `~01`, which is `~1`, would become a slash.
        let plain = |member: &str| member.replace("~1", "/").replace("~0", "~");
        ResultReference::of(capture, members.split('/').map(plain).collect())
    }

    fn of(capture: &str, members: Vec<String>) -> Result<ResultReference, String> {
        if members.len() > RESULT_MEMBERS_MAX {
            return Err(format!("at most {RESULT_MEMBERS_MAX} members lead into a result"));
        }
        if members.iter().any(String::is_empty) {
            return Err(format!("a member of `{capture}` has no name"));
        }
        Ok(ResultReference { capture: capture.to_owned(), members })
    }

    /// What it leads to in a result. `None`: nothing is there.
    pub fn select<'a>(&self, result: &'a Value) -> Option<&'a Value> {
        self.members.iter().try_fold(result, |value, member| match value {
            Value::Object(fields) => fields.get(member),
            Value::Array(items) => items.get(place(member)?),
            _ => None,
        })
    }
}

impl fmt::Display for ResultReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.capture)?;
        self.members.iter().try_for_each(|member| write!(f, ".{member}"))
    }
}

/// A place in a list, as JSON Pointers write it: no sign, and no zero before another digit.
pub(super) fn place(member: &str) -> Option<usize> {
    let plain = member == "0" || !member.starts_with(['0', '+']);
    if plain { member.parse().ok() } else { None }
}

fn unknown(text: &str) -> String {
    let shown: String = text.chars().take(ECHO_CHARS_MAX).collect();
    format!("no earlier step captures its result as `{shown}`")
}
