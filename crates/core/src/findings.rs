//! What a search tells about its own answer, for protocols that have words of their own for it.

use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::part::{Data, Part};

/// The extension that a protocol activates on a message to be told: [`Message::extensions`].
pub const WISH: &str = "urn:forecourt:findings";
/// The extension for who wishes to be told how the items differ as well, which takes a look at many
/// more of them: [`Findings::total`], [`Findings::facets`], and [`Findings::reasons`] in any case.
pub const FACETS_WISH: &str = "urn:forecourt:findings:facets";
/// The extension for who wishes for items alone: a summary that takes long to make is not wanted.
pub const LIST_WISH: &str = "urn:forecourt:findings:list";
/// The media type of the data part that tells it.
pub const MEDIA_TYPE: &str = "application/vnd.forecourt.findings+json";
/// The media type of the data part that narrows a search down.
const NARROWING_TYPE: &str = "application/vnd.forecourt.narrowing+json";

/// What came of a search, beside the items themselves. Told before them, in one data part; told again
/// whenever more is known, such as a summary that takes its time: the last one holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The answer in a sentence or two, in markdown, without a list of the items. Empty: it follows.
    pub summary: String,
    /// Items in this answer. None is an honest "nothing found", and the summary says what might help.
    pub count: usize,
    /// Whether there are more behind them.
    #[serde(default)]
    pub more: bool,
    /// The limits that hold for every item, in words: those of the question, and those that are known of
    /// the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<String>,
    /// Filters by name that meant nothing to the content, and so were left out.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// How well each item fits, in the order of the items. Comparable within one answer only.
    #[serde(default)]
    pub scores: Vec<f32>,
    /// What the caller should know about how the answer was made, such as what had to be left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Items that fit in all. Told on [`FACETS_WISH`] alone, as the facets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// The best of them, in which values were counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted: usize,
    /// Properties by which they can be narrowed down, the most telling first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<Facet>,
    /// Why each item is here, in the order of the items. Told on [`FACETS_WISH`], and where somebody judged them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// How items differ in one property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facet {
    /// Names it to [`Narrowing::exactly`]: a dot path.
    pub field: String,
    /// What people call it, such as `cuisine`.
    pub label: String,
    /// Values as they are written with how many items have each, the most frequent first.
    pub values: Vec<(String, usize)>,
}

/// Why an item is in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The sentence of its text that says most about the question. May be empty.
    pub snippet: String,
    /// The limits of the question that it keeps, and with what.
    pub fits: Vec<String>,
    /// Why it stands where it does, in a sentence of plain text, when somebody judged it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The property that says which host of the web an item is from, for [`Narrowing::exactly`].
pub const URL_HOST: &str = "url.host";

/// How a search is narrowed down or widened without further words: what a person clicks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Narrowing {
    /// Properties and the values they shall have; all of them hold.
    pub exactly: Vec<(String, String)>,
    /// Items wanted in the answer. An agent may give fewer.
    pub results: Option<usize>,
    /// Whether a question back is unwanted.
    pub decided: bool,
}

impl Narrowing {
    /// The part that carries it to the agent, beside the words.
    pub fn to_part(&self) -> Part {
        let data = serde_json::to_value(self).unwrap_or_default();
        Part::Data(Data { data, mime: Some(NARROWING_TYPE.to_owned()) })
    }

    /// Reads [`Self::to_part`]. `None`: the part is something else.
    pub fn from_part(part: &Part) -> Option<Self> {
        read(part, NARROWING_TYPE)
    }
}

impl Findings {
    /// The part that tells them.
    pub fn to_part(&self) -> Part {
        let data = serde_json::to_value(self).unwrap_or_default();
        Part::Data(Data { data, mime: Some(MEDIA_TYPE.to_owned()) })
    }

    /// Reads [`Self::to_part`]. `None`: the part is something else.
    pub fn from_part(part: &Part) -> Option<Self> {
        read(part, MEDIA_TYPE)
    }
}

fn read<T: for<'a> Deserialize<'a>>(part: &Part, wanted: &str) -> Option<T> {
    match part {
        Part::Data(Data { data, mime: Some(mime) }) if mime == wanted => T::deserialize(data).ok(),
        _ => None,
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Message {
    /// Whether whoever carries this message would like to be told [`Findings`].
    pub fn wants_findings(&self) -> bool {
        self.extensions.iter().any(|uri| uri == WISH || uri == FACETS_WISH)
    }

    /// Whether it wishes for items alone: [`LIST_WISH`].
    pub fn wants_list(&self) -> bool {
        self.extensions.iter().any(|uri| uri == LIST_WISH)
    }

    /// Whether it would like to be told of facets as well: [`FACETS_WISH`].
    pub fn wants_facets(&self) -> bool {
        self.extensions.iter().any(|uri| uri == FACETS_WISH)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_told_is_read_again() {
        let told = Findings {
            summary: "Two soups.".to_owned(),
            count: 2,
            more: true,
            applied: vec!["no nuts".to_owned()],
            ignored: vec!["price".to_owned()],
            scores: vec![2.5, 1.0],
            notes: vec!["Not ranked.".to_owned()],
            total: Some(7),
            counted: 7,
            facets: vec![Facet {
                field: "a.b".to_owned(),
                label: "kind".to_owned(),
                values: vec![("x".to_owned(), 3)],
            }],
            reasons: vec![Reason {
                snippet: "Hot.".to_owned(),
                fits: vec!["vegan".to_owned()],
                why: "Hot.".to_owned(),
            }],
        };
        assert_eq!(Findings::from_part(&told.to_part()), Some(told));
    }

    #[test]
    fn what_narrows_is_read_again_and_may_be_left_out() {
        let narrowing = Narrowing { exactly: vec![("a".to_owned(), "b".to_owned())], results: Some(20), decided: true };
        assert_eq!(Narrowing::from_part(&narrowing.to_part()), Some(narrowing));
        let empty = Part::Data(Data { data: json!({}), mime: Some(NARROWING_TYPE.to_owned()) });
        assert_eq!(Narrowing::from_part(&empty), Some(Narrowing::default()));
        assert_eq!(Narrowing::from_part(&Part::data(json!({}))), None);
        assert_eq!(Findings::from_part(&empty), None);
    }

    #[test]
    fn other_data_is_none() {
        let other = json!({"summary": "x", "count": 1});
        assert_eq!(Findings::from_part(&Part::data(other)), None);
        let broken = Part::Data(Data { data: json!({"count": -1}), mime: Some(MEDIA_TYPE.to_owned()) });
        assert_eq!(Findings::from_part(&broken), None);
    }
}
