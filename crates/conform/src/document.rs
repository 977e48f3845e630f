//! This module keeps a document together with the exchange that it came in, so that whoever finds fault with it can
//! show where it is from.

use std::ops::Deref;

use serde_json::Value;

use crate::check::ShownExchange;
use crate::evidence::Evidence;

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
}

impl Evidence for Document {
    fn shown(&self) -> ShownExchange {
        self.exchange.clone()
    }
}

impl Deref for Document {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.body
    }
}
