//! What became of each part of a question. Nothing of it is dropped in silence: every word is looked for, limits,
//! orders or counts, says nothing by itself, or is told as not understood.

use std::ops::Range;

use forecourt_vocabulary::WordClass;

use crate::reader::Reader;

/// A part of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPart {
    /// The bytes of the question that it takes.
    pub bytes: Range<usize>,
    /// What became of it.
    pub role: PartRole,
}

/// What became of a part of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartRole {
    /// It is looked for.
    Subject,
    /// It limits what is found, in the words of these limits.
    Limit(Vec<String>),
    /// It puts what is found in an order, in the words of that order.
    Order(String),
    /// It says how many items are wanted.
    Count(usize),
    /// It says nothing by itself: politeness, articles, words that join others.
    Filler,
    /// It looks like a limit, and no item can be held against it.
    NotUnderstood,
}

impl PartRole {
    /// Whether it says a limit that is worded so.
    pub fn says(&self, limit: &str) -> bool {
        matches!(self, Self::Limit(limits) if limits.iter().any(|words| words == limit))
    }

    /// What it comes to, in the words of the answer. Empty: nothing but itself.
    pub fn told(&self) -> String {
        match self {
            Self::Limit(limits) => limits.join("; "),
            Self::Order(words) => words.clone(),
            Self::Count(count) => count.to_string(),
            Self::Subject | Self::Filler | Self::NotUnderstood => String::new(),
        }
    }

    /// What it is, in a word.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Limit(_) => "limit",
            Self::Order(_) => "order",
            Self::Count(_) => "count",
            Self::Filler => "filler",
            Self::NotUnderstood => "not understood",
        }
    }
}

/// Words that say nothing where no rule takes them.
const FILLERS: &[WordClass] = &[
    WordClass::Filler,
    WordClass::Article,
    WordClass::And,
    WordClass::Or,
    WordClass::Again,
    WordClass::With,
    WordClass::For,
    WordClass::Asks,
    WordClass::AtTime,
    WordClass::LimitLead,
    WordClass::WithoutLead,
    WordClass::Question,
    WordClass::Near,
];

/// The parts that rules took, with what lies between them, in the order of the question.
pub(crate) fn whole(reader: &Reader<'_>, taken: Vec<ReadPart>) -> Vec<ReadPart> {
    let taken = beside_each_other(taken, reader.text);
    let words = reader.tokens.iter().enumerate().filter(|(_, token)| token.is_word() || token.number().is_some());
    let mut parts = taken.clone();
    for (at, token) in words {
        let is_taken =
            taken.iter().any(|part| part.bytes.start <= token.range.start && token.range.end <= part.bytes.end);
        if is_taken {
            continue;
        }
        let is_filler = FILLERS.iter().any(|class| reader.is_single(at, *class));
        let role = if is_filler { PartRole::Filler } else { PartRole::Subject };
        parts.push(ReadPart { bytes: token.range.clone(), role });
    }
    parts.sort_by_key(|part| part.bytes.start);
    joined(parts, reader.text)
}

/// The parts in their order. One that has another one within it ("Thai near Porto food") is what is before that and what
/// is behind it.
fn beside_each_other(mut taken: Vec<ReadPart>, text: &str) -> Vec<ReadPart> {
    taken.sort_by_key(|part| (part.bytes.start, std::cmp::Reverse(part.bytes.end)));
    let mut parts: Vec<ReadPart> = Vec::new();
    for part in taken {
        let behind = parts.last_mut().filter(|around| part.bytes.end < around.bytes.end).map(|around| {
            let before = &text[around.bytes.start..part.bytes.start];
            let rest = text[part.bytes.end..around.bytes.end].trim_start();
            let behind = around.bytes.end - rest.len()..around.bytes.end;
            around.bytes.end = around.bytes.start + before.trim_end().len();
            ReadPart { bytes: behind, role: around.role.clone() }
        });
        parts.push(part);
        parts.extend(behind);
    }
    parts
}

/// Neighbours that became the same, as one part.
fn joined(parts: Vec<ReadPart>, text: &str) -> Vec<ReadPart> {
    let mut all: Vec<ReadPart> = Vec::new();
    for part in parts {
        let is_open = matches!(part.role, PartRole::Subject | PartRole::Filler);
        match all.last_mut() {
            Some(last) if is_open && last.role == part.role && is_gap(text, last.bytes.end..part.bytes.start) => {
                last.bytes.end = part.bytes.end;
            }
            _ => all.push(part),
        }
    }
    all
}

fn is_gap(text: &str, between: Range<usize>) -> bool {
    text.get(between).is_some_and(|gap| gap.chars().all(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::tests::{Everything, understood};

    /// The parts of a question, each with what became of it.
    fn read(text: &str) -> Vec<(&str, &'static str)> {
        let parts = understood(text, &Everything).reading;
        parts.into_iter().map(|part| (&text[part.bytes], part.role.id())).collect()
    }

    #[test]
    fn each_word_is_accounted_for() {
        assert_eq!(
            read("please three soups with no nuts under 30 minutes, without kryptonite"),
            [
                ("please", "filler"),
                ("three soups", "subject"),
                ("with no nuts", "limit"),
                ("under 30 minutes", "limit"),
                ("without kryptonite", "not understood"),
            ]
        );
        assert_eq!(read("3 movies in Berlin"), [("3", "count"), ("movies", "limit"), ("in Berlin", "limit")]);
        assert_eq!(read("the cheapest wine"), [("the cheapest", "order"), ("wine", "subject")]);
        assert_eq!(read("comedies with Bill Murray"), [("comedies", "limit"), ("with Bill Murray", "limit")]);
        assert_eq!(read("a soup near Porto, please")[2..], [("near Porto", "limit"), ("please", "filler")]);
        assert_eq!(
            read("comedies under near Porto 30 minutes")[1..],
            [("under", "limit"), ("near Porto", "limit"), ("30 minutes", "limit")]
        );
        assert_eq!(read("a chowder"), [("a", "filler"), ("chowder", "subject")]);
    }

    #[test]
    fn what_was_understood_is_where_it_was_said() {
        let text = "Süße Suppe ohne Nüsse, bitte";
        let found = understood(text, &Everything);
        let limit = &found.filters[0].words;
        let part = found.reading.iter().find(|part| part.role.says(limit)).expect("a part");
        assert_eq!(&text[part.bytes.clone()], "ohne Nüsse");
    }

    proptest! {
        #[test]
        fn parts_are_in_order_and_hold_every_word(
            text in "(under|no|with|from|the|and|or|cheapest|nuts|-free|minutes|\\$|[0-9]{1,4}|,|é|süß|comedies|near Porto|within 5 km of Porto| ){0,25}"
        ) {
            let parts = understood(&text, &Everything).reading;
            prop_assert!(parts.windows(2).all(|two| two[0].bytes.end <= two[1].bytes.start), "{parts:?}");
            let mut left = text.clone();
            for part in parts.iter().rev() {
                left.replace_range(part.bytes.clone(), " ");
            }
            prop_assert!(!left.chars().any(char::is_alphanumeric), "{text:?}: {left:?}");
        }
    }
}
