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

/// One rule, and how to find out whether a server keeps it.
pub struct Check<P: 'static> {
    /// Its name: the wire, the section, and what tells it from others of that section. Never changes.
    pub id: &'static str,
    /// The sections that it is from, with the document where that is not the wire's own.
    pub section: &'static str,
    /// How strongly it is asked for.
    pub level: Level,
    /// The rule in plain words.
    pub title: &'static str,
    /// Asks the server.
    pub run: for<'a> fn(&'a P) -> BoxFuture<'a, Verdict>,
}

/// What came of a check: nothing to say, or why the rule is not seen to be kept.
pub type Verdict = Result<(), Shortfall>;

/// Why a rule is not seen to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortfall {
    /// It is broken.
    Broken {
        /// In what, in a sentence.
        what: String,
        /// What was sent, if one exchange shows it. Within its bound, without secrets.
        sent: Option<String>,
        /// What came back.
        came: Option<String>,
    },
    /// It is kept to the letter, and somebody should know something nevertheless.
    Advice(String),
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
    /// A rule that is broken in what was read before, rather than in one exchange.
    pub(crate) fn broken(what: impl Into<String>) -> Self {
        Self::Broken { what: what.into(), sent: None, came: None }
    }

    /// A rule that nothing can be said about.
    pub(crate) fn skip(why: impl Into<String>) -> Self {
        Self::Skipped(why.into())
    }
}

/// Makes a [`Check`] of a function.
macro_rules! check {
    ($id:literal, $section:literal, $level:ident, $title:literal, $run:expr) => {
        $crate::check::Check {
            id: $id,
            section: $section,
            level: $crate::check::Level::$level,
            title: $title,
            run: |peer| Box::pin($run(peer)),
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

/// Fine when nothing is wrong with any of them.
pub(crate) fn none_wrong(wrong: Vec<String>) -> Verdict {
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Shortfall::broken(named(&wrong))),
    }
}
