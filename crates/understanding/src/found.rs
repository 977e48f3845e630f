//! What a rule found in a part of a question.

use std::ops::Range;

use forecourt_vocabulary::Quantity;

use crate::filter::{Filter, SortOrder};

/// The order of filters within a question: by what they are about, not by where they were said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Quantity(Quantity),
    Paid,
    Stated,
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

/// What a rule made of its words.
#[derive(Debug)]
pub(crate) enum FoundMeaning {
    /// Filters that every result has to pass, with their place among the others.
    Limits(Rank, Vec<Filter>),
    /// Limits that hold if any item keeps them beside the others: "with a smile" is none.
    Wishes(Vec<Filter>),
    /// Little (`false`) or much of a quantity, as far as nothing else is said of it.
    Level(Quantity, bool),
    /// The order in which results are wanted, and others that its words may mean, where what is asked for doesn't state what
    /// it goes by.
    Order(SortOrder, Vec<SortOrder>),
    /// How many items are wanted.
    Count(usize),
    /// Words that ask for nothing.
    Filler,
    /// A limit that can't be checked.
    NotUnderstood,
    /// The same of something that must be absent: these words. What mentions it comes later.
    Unwanted(String),
}

impl UnderstoodPart {
    /// A finding whose words leave the text.
    pub(crate) fn new(tokens: Range<usize>, meaning: FoundMeaning) -> Self {
        Self { tokens, keeps_words: false, meaning }
    }

    pub(crate) fn limit(tokens: Range<usize>, rank: Rank, filter: Filter) -> Self {
        Self::new(tokens, FoundMeaning::Limits(rank, vec![filter]))
    }

    /// Keeps the words of the finding in the text that is searched for.
    pub(crate) fn keeping_words(self) -> Self {
        Self { keeps_words: true, ..self }
    }
}
