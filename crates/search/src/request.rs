//! This module holds what a search is asked for: words, filters and how much, whoever understood them.

use forecourt_content::{Contradiction, Filter, Library, ParsedQuestion, SortOrder, Test};
use forecourt_core::{AgentCard, Language, Message, Timestamp};
use serde_json::Value;

/// What the caller wants.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one of it for each question")]
pub(super) enum SearchIntent {
    /// To know what this is.
    Introduction,
    /// Items.
    Items(SearchRequest),
}

/// What to look for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SearchRequest {
    /// The words that are left beside the constraints.
    pub(super) text: String,
    /// What holds for every item.
    pub(super) filters: Vec<Filter>,
    /// Those of them that nobody said now: what is known of the caller.
    pub(super) known: Vec<Filter>,
    /// Filters by name, which hold only if the content has such a property at all.
    pub(super) named: Vec<NamedFilter>,
    /// Names of filters whose values say nothing that could be looked for.
    pub(super) unread: Vec<String>,
    /// Words that let an item come earlier, and leave none out.
    pub(super) leanings: Vec<String>,
    /// What a person should know about the constraints.
    pub(super) notes: Vec<String>,
    /// Limits that were not understood, as they were written.
    pub(super) not_understood: Vec<String>,
    /// Limits of which one rules out what is asked for all the same.
    pub(super) contradictions: Vec<Contradiction>,
    /// The order that is asked for, if it is another than by how well items fit.
    pub(super) order: Option<SortOrder>,
    /// Items that were shown before.
    pub(super) offset: usize,
    /// Items wanted, when the caller says so: 1 to [`crate::limits::SHOWN_MAX`].
    pub(super) results: Option<usize>,
    /// Whether this answers a question of ours, so that none follows.
    pub(super) was_asked_back: bool,
}

/// Where questions are understood.
pub(super) trait QuestionParser {
    /// Takes a question apart into words and constraints.
    fn understand(&self, text: &str) -> ParsedQuestion;
    /// The constraints that a name and a value say.
    fn named(&self, name: &str, value: &Value) -> Vec<Filter>;
}

/// A library that words what it understands in one language.
pub(super) struct LibraryParser<'a> {
    pub(super) library: &'a Library,
    /// The language of the answer.
    pub(super) answer_in: &'a Language,
    /// When the question was put.
    pub(super) now: Timestamp,
}

impl QuestionParser for LibraryParser<'_> {
    fn understand(&self, text: &str) -> ParsedQuestion {
        self.library.understand_at(text, self.answer_in, self.now)
    }

    fn named(&self, name: &str, value: &Value) -> Vec<Filter> {
        self.library.named(name, value, self.answer_in)
    }
}

/// The language in which a message is answered: the one that its caller asked for, else that of the agent.
pub(super) fn answer_language<'a>(message: &'a Message, card: &'a AgentCard) -> &'a Language {
    message.language.as_ref().unwrap_or(&card.language)
}

/// A filter by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedFilter {
    /// The name that the caller gave.
    pub(super) name: String,
    /// What it means.
    pub(super) filter: Filter,
    /// What it means where no item has a value that is exactly this one.
    pub(super) loosely: Vec<Filter>,
}

impl NamedFilter {
    pub(super) fn new(name: &str, filter: Filter) -> Self {
        Self { name: name.to_owned(), filter, loosely: Vec::new() }
    }
}

/// Whether a constraint bounds a quantity.
pub(super) fn is_limit(filter: &Filter) -> bool {
    matches!(filter.test, Test::Within { .. })
}

/// Adds a note, unless it is there.
pub(super) fn push_new(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}
