//! This module keeps a document together with the exchange that it came in, so that whoever finds fault with it can
//! show where it is from.

use std::ops::Deref;

use serde_json::Value;

use crate::check::{Shortfall, ShownExchange, Verdict, named};

/// A JSON document that a server gave.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    body: Value,
    exchange: ShownExchange,
}

impl Document {
    /// The document that came in `exchange`.
    pub(crate) fn new(body: Value, exchange: ShownExchange) -> Self {
        Self { body, exchange }
    }

    /// That it shows a rule broken.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> Shortfall {
        Shortfall::Broken(what.into(), self.exchange.clone())
    }

    /// Fine when nothing is wrong with any part of it.
    pub(crate) fn none_wrong(&self, wrong: Vec<String>) -> Verdict {
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(self.wrong(named(&wrong))),
        }
    }

    /// Fine when each of these rules, which are sentences, holds.
    pub(crate) fn holds(&self, rules: &[(&str, bool)]) -> Verdict {
        match rules.iter().find(|(_, holds)| !holds) {
            Some((rule, _)) => Err(self.wrong(format!("not so: {rule}"))),
            None => Ok(()),
        }
    }
}

impl Deref for Document {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.body
    }
}
