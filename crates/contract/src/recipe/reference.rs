//! This module has references to earlier results: to a whole result, or to something inside it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::{ECHO_CHARS_MAX, RESULT_MEMBERS_MAX};

/// Leads to every element of a list.
pub const EACH: &str = "*";

/// A captured result, or what lies inside it. In a recipe it is written `facts`, `facts.order.id` or
/// `facts.results.0.content`; as a table, `{ step = "facts", pointer = "/order.id" }`, where a name has dots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultReference {
    /// The name that the result was captured under.
    pub capture: String,
    /// The members that lead inside, the outermost first, at most [`RESULT_MEMBERS_MAX`]: names of an object's
    /// members, and places in a list counted from 0. None: all of the result.
    /// `*` leads to every element of a list, and makes the whole a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// Which element of the list that the members lead to is meant; none: the list itself.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub element: Option<ElementMatch>,
}

/// The one element of a list that has what the caller gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementMatch {
    /// The member of the element.
    pub member: String,
    /// The field of the caller's input that it equals.
    pub field: String,
    /// The members that lead further, inside the element.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<String>,
}

impl ResultReference {
    /// All of a result.
    pub fn whole(capture: impl Into<String>) -> ResultReference {
        ResultReference { capture: capture.into(), members: Vec::new(), element: None }
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

    /// The same for one element of the list, by the keys `where` and `then` of its table.
    ///
    /// # Errors
    /// A sentence: there are other keys, or `where` is no table with `member` and `equals`.
    pub(super) fn element_of(self, table: &Map<String, Value>) -> Result<ResultReference, String> {
        const KEYS: [&str; 4] = ["step", "pointer", "where", "then"];
        let condition = table.get("where").and_then(Value::as_object);
        let text = |key: &str| condition.and_then(|condition| condition.get(key)).and_then(Value::as_str);
        let then = table.get("then").map_or(Some(""), Value::as_str);
        match (text("member"), text("equals"), then) {
            (Some(member), Some(field), Some(then))
                if condition.is_some_and(|condition| condition.len() == 2)
                    && table.keys().all(|key| KEYS.contains(&key.as_str())) =>
            {
                let then = ResultReference::pointed(&self.capture, then, |_| true)?.members;
                let (member, field) = (member.to_owned(), field.to_owned());
                Ok(ResultReference { element: Some(ElementMatch { member, field, then }), ..self })
            }
            _ => Err("one element of a list is `{ step, pointer, where = { member, equals }, then }`".to_owned()),
        }
    }

    fn of(capture: &str, members: Vec<String>) -> Result<ResultReference, String> {
        if members.len() > RESULT_MEMBERS_MAX {
            return Err(format!("at most {RESULT_MEMBERS_MAX} members lead into a result"));
        }
        if members.iter().any(String::is_empty) {
            return Err(format!("a member of `{capture}` has no name"));
        }
        Ok(ResultReference { capture: capture.to_owned(), members, element: None })
    }

    /// What it leads to in a result, where the caller gave `input`. `None`: nothing is there, or no element, or more
    /// than one, is the one that is meant.
    pub fn select(&self, result: &Value, input: &Map<String, Value>) -> Option<Value> {
        let found = inside(result, &self.members)?;
        let Some(ElementMatch { member, field, then }) = &self.element else { return Some(found) };
        let wanted = input.get(field)?;
        let mut meant = found.as_array()?.iter().filter(|element| element.get(member) == Some(wanted));
        // Of two with one key nobody knows which is meant.
        meant.next().filter(|_| meant.next().is_none()).and_then(|element| inside(element, then))
    }
}

/// What members lead to. An element that has nothing there is left out of a list that `*` makes.
pub(super) fn inside(value: &Value, members: &[String]) -> Option<Value> {
    let Some((member, rest)) = members.split_first() else { return Some(value.clone()) };
    match value {
        Value::Array(items) if member == EACH => {
            Some(Value::Array(items.iter().filter_map(|item| inside(item, rest)).collect()))
        }
        Value::Object(fields) => inside(fields.get(member)?, rest),
        Value::Array(items) => inside(items.get(place(member)?)?, rest),
        _ => None,
    }
}

impl fmt::Display for ResultReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.capture)?;
        self.members.iter().try_for_each(|member| write!(f, ".{member}"))?;
        let Some(ElementMatch { member, field, then }) = &self.element else { return Ok(()) };
        write!(f, "[{member} = {field}]")?;
        then.iter().try_for_each(|member| write!(f, ".{member}"))
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
