//! What a search tells about its own answer, for protocols that have words of their own for it.

use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::part::{Data, Part};

/// The extension that a protocol activates on a message to be told: [`Message::extensions`].
pub const WISH: &str = "urn:forecourt:findings";
/// The media type of the data part that tells it.
pub const MEDIA_TYPE: &str = "application/vnd.forecourt.findings+json";

/// What came of a search, beside the items themselves. Told before them, in one data part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The answer in a sentence or two, in markdown, without a list of the items.
    pub summary: String,
    /// Items in this answer. None is an honest "nothing found", and the summary says what might help.
    pub count: usize,
    /// Whether there are more behind them.
    #[serde(default)]
    pub more: bool,
    /// Filters by name that meant nothing to the content, and so were left out.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// How well each item fits, in the order of the items. Comparable within one answer only.
    #[serde(default)]
    pub scores: Vec<f32>,
}

impl Findings {
    /// The part that tells them.
    pub fn to_part(&self) -> Part {
        let data = serde_json::to_value(self).unwrap_or_default();
        Part::Data(Data { data, mime: Some(MEDIA_TYPE.to_owned()) })
    }

    /// Reads [`Self::to_part`]. `None`: the part is something else.
    pub fn from_part(part: &Part) -> Option<Self> {
        match part {
            Part::Data(Data { data, mime: Some(mime) }) if mime == MEDIA_TYPE => Self::deserialize(data).ok(),
            _ => None,
        }
    }
}

impl Message {
    /// Whether whoever carries this message would like to be told [`Findings`].
    pub fn wants_findings(&self) -> bool {
        self.extensions.iter().any(|uri| uri == WISH)
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
            ignored: vec!["price".to_owned()],
            scores: vec![2.5, 1.0],
        };
        assert_eq!(Findings::from_part(&told.to_part()), Some(told));
    }

    #[test]
    fn other_data_is_none() {
        let other = json!({"summary": "x", "count": 1});
        assert_eq!(Findings::from_part(&Part::data(other)), None);
        let broken = Part::Data(Data { data: json!({"count": -1}), mime: Some(MEDIA_TYPE.to_owned()) });
        assert_eq!(Findings::from_part(&broken), None);
    }
}
