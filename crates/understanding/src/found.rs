//! What a rule found in a part of a question.

use std::ops::Range;

use forecourt_vocabulary::Quantity;

use crate::filter::{Filter, SortOrder};

/// Where filters stand among those of a question, by what they are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Quantity(Quantity),
    Stock,
    Without,
    Free,
    Diet,
    Wanted,
}

/// A part of a question that a rule understood, or knows to be a limit.
#[derive(Debug)]
pub(crate) struct UnderstoodPart {
    /// The tokens that it takes.
    pub(crate) tokens: Range<usize>,
    /// Whether its words are searched for all the same.
    pub(crate) keeps_words: bool,
    pub(crate) meaning: FoundMeaning,
}

/// What it is.
#[derive(Debug)]
pub(crate) enum FoundMeaning {
    /// Limits.
    Limits(Rank, Vec<Filter>),
    /// Limits that hold if any item keeps them beside the others: "with a smile" is none.
    Wishes(Vec<Filter>),
    /// Little (`false`) or much of a quantity, as far as nothing else is said of it.
    Level(Quantity, bool),
    /// An order.
    Order(SortOrder),
    /// How many items are wanted.
    Count(usize),
    /// A limit that can't be checked.
    NotUnderstood,
}

impl UnderstoodPart {
    /// What takes its words away.
    pub(crate) fn new(tokens: Range<usize>, meaning: FoundMeaning) -> Self {
        Self { tokens, keeps_words: false, meaning }
    }

    pub(crate) fn limit(tokens: Range<usize>, rank: Rank, filter: Filter) -> Self {
        Self::new(tokens, FoundMeaning::Limits(rank, vec![filter]))
    }

    /// The same, with its words still searched for.
    pub(crate) fn keeping_words(self) -> Self {
        Self { keeps_words: true, ..self }
    }
}
