//! This module says what a check is, and what may come of one.

use futures::future::BoxFuture;

/// How strongly a specification asks for something. BCP 14.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Whoever does otherwise does not conform.
    Must,
    /// There may be reasons to do otherwise.
    Should,
}

/// One rule of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its name: the wire, the section, and what tells it from others of that section. Never changes.
    pub id: &'static str,
    /// The sections that it is from, with the document where that is not the wire's own.
    pub section: &'static str,
    /// How strongly it is asked for.
    pub level: Level,
    /// The rule in plain words.
    pub title: &'static str,
}

/// One rule, and how to find out whether a server keeps it. `F` is the proof that the rule's protocol was found
/// there: see [`crate::offer`].
pub struct Check<F: 'static> {
    /// The rule.
    pub rule: Rule,
    /// Asks the server.
    pub run: for<'a> fn(&'a F) -> BoxFuture<'a, Verdict>,
}

/// What came of a check: nothing to say, or why the rule is not seen to be kept.
pub type Verdict = Result<(), Shortfall>;

/// One exchange as a report shows it: within its bounds, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownExchange {
    /// What was sent: head and body.
    pub sent: String,
    /// What came back.
    pub came: String,
}

/// Why a rule is not seen to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortfall {
    /// It is broken: in what, in a sentence, and the exchange that shows it. No rule is called broken without one.
    Broken(String, ShownExchange),
    /// It is kept to the letter, and somebody should know something nevertheless.
    Advice(String, ShownExchange),
    /// It can't be told, and why.
    Skipped(String),
    /// There was no answer at all, and why.
    Silent {
        /// What became of the exchange, in a sentence.
        what: String,
        /// What was sent.
        sent: String,
    },
}

impl Shortfall {
    /// A rule that nothing can be said about.
    pub(crate) fn skip(why: impl Into<String>) -> Self {
        Self::Skipped(why.into())
    }
}

/// Makes a [`Check`] of a function.
macro_rules! check {
    ($id:literal, $section:literal, $level:ident, $title:literal, $run:expr) => {
        $crate::check::Check {
            rule: $crate::check::Rule {
                id: $id,
                section: $section,
                level: $crate::check::Level::$level,
                title: $title,
            },
            run: |found| Box::pin($run(found)),
        }
    };
}

pub(crate) use check;

/// Names a few things, and says if there are more.
pub(crate) fn named(things: &[String]) -> String {
    use crate::limits::NAMED_MAX;
    let shown = things.get(..NAMED_MAX).unwrap_or(things).join("; ");
    match things.len().checked_sub(NAMED_MAX) {
        Some(more @ 1..) => format!("{shown}; and {more} more"),
        _ => shown,
    }
}
