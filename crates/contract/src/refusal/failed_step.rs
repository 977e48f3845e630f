//! This module has the failure of a step, which ends its composition. Section 12.1.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Refusal;
use crate::method::Method;

/// The step at which a run ended, and why. Section 12.1.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedStep {
    /// The recipe's name.
    pub recipe: String,
    /// The recipe's edition.
    pub version: String,
    /// The step, counted from 0.
    pub step: usize,
    /// What the step calls.
    pub method: Method,
    /// What came of the call.
    pub refusal: Refusal,
    /// The results of earlier steps that have a name.
    pub captured: BTreeMap<String, Value>,
}

impl FailedStep {
    /// What the caller of the composition learns. Only a wire has a status; it also says how it spells
    /// the refusal of the step.
    pub fn details(&self, status: impl Into<Value>, underlying: Value) -> Value {
        json!({
            "recipe": self.recipe,
            "recipe_version": self.version,
            "failed_step": self.step,
            "method": self.method,
            "underlying_status": status.into(),
            "underlying": underlying,
            "captured_outputs": self.captured,
        })
    }
}
