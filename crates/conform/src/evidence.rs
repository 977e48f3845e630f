//! What shows whether a rule is kept: an exchange, or a document that came in one.

use crate::check::{Shortfall, ShownExchange, Verdict, named};

/// Something that can be shown together with what is wrong with it.
pub(crate) trait Evidence {
    /// It as a report shows it.
    fn shown(&self) -> ShownExchange;

    /// That it shows a rule broken.
    fn wrong(&self, what: impl Into<String>) -> Shortfall {
        Shortfall::Broken(what.into(), self.shown())
    }

    /// That it keeps a rule to the letter, and somebody should know something nevertheless.
    fn advice(&self, what: impl Into<String>) -> Shortfall {
        Shortfall::Advice(what.into(), self.shown())
    }

    /// Fine when nothing is wrong with any part of it.
    fn none_wrong(&self, wrong: Vec<String>) -> Verdict {
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(self.wrong(named(&wrong))),
        }
    }

    /// Fine when each of these rules, which are sentences, holds.
    fn holds(&self, rules: &[(&str, bool)]) -> Verdict {
        match rules.iter().find(|(_, holds)| !holds) {
            Some((rule, _)) => Err(self.wrong(format!("not so: {rule}"))),
            None => Ok(()),
        }
    }
}
