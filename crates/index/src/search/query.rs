//! What a caller asks for.

use forecourt_core::Language;
use forecourt_understanding::{Filter, SortOrder};

use super::adjustment::Adjustment;
use crate::analysis::LanguageAnalyzer;

/// A search: free text, and constraints that every hit satisfies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Words in any order; no syntax. Empty: everything that the filters let through, in a stable
    /// order.
    pub text: String,
    /// All of them hold for every hit. At most [`forecourt_understanding::limits::FILTERS_MAX`]; with more, there
    /// are no hits.
    pub filters: Vec<Filter>,
    /// Hits wanted.
    pub limit: usize,
    /// Hits passed over. `offset + limit` reaches [`crate::limits::HITS_MAX`] at most.
    pub offset: usize,
    /// The language of the text, if it is known.
    pub language: Option<Language>,
    /// By which quantity hits are ordered. Without it, by how well they fit. Hits that don't state it are left
    /// out.
    pub order: Option<SortOrder>,
    /// Rules that give some items another place. They change no order that is asked for.
    pub adjustments: Vec<Adjustment>,
    /// Whether what nobody can have comes later than what fits about as well.
    pub sold_out_later: bool,
    /// Whether items alone are wanted: neither what their texts say about the query nor how they satisfy it,
    /// which both take a look into each item.
    pub items_only: bool,
}

impl Query {
    /// The first ten hits for a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), limit: 10, ..Self::default() }
    }

    /// The language that its words are read in.
    pub(crate) fn tongue(&self, default: LanguageAnalyzer) -> LanguageAnalyzer {
        self.language.as_ref().map_or(default, |language| LanguageAnalyzer::of(language.as_str()))
    }
}
