//! What a question comes to.

use crate::contradiction::Contradiction;
use crate::filter::{Filter, SortOrder};
use crate::reading::ReadPart;

/// A question taken apart: filters, an order, a count, and the text that is left to search for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedQuestion {
    /// The text that is left to search for.
    pub text: String,
    /// Constraints, each with its wording; at most [`crate::limits::FILTERS_MAX`].
    pub filters: Vec<Filter>,
    /// Sentences about the constraints, for the answer.
    pub notes: Vec<String>,
    /// Limits that the question states and that could not be turned into a constraint, as they are written.
    /// They are told, never claimed.
    pub not_understood: Vec<String>,
    /// What must be absent and can't be checked, in words: items that mention it come later.
    pub unwanted: Vec<String>,
    /// The order that the question asks for: "the cheapest".
    pub order: Option<SortOrder>,
    /// How many items the question asks for: "three soups".
    pub count: Option<usize>,
    /// Limits of which one rules out what is asked for all the same, with both ways to read the question.
    pub contradictions: Vec<Contradiction>,
    /// What became of each word of the question, in its order.
    pub reading: Vec<ReadPart>,
}
