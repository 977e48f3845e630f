//! What is deducted from credit, in whole units. PolicyPart F-7.

use std::time::Duration;

use forecourt_core::Handle;
use forecourt_core::policy::{CreditTerms, Requirement};
use serde::{Deserialize, Serialize};

use forecourt_audit::RequestOrigin;

/// Whole units, as a decimal string on the outside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Amount(u128);

impl Amount {
    /// Digits and nothing else: no sign, no point, no spaces.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // `parse` alone would take a plus sign, which no amount on the wire has.
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok().map(Self))?
    }

    /// About as much, for what is counted.
    pub(crate) fn as_float(self) -> Option<f64> {
        self.0.to_string().parse().ok()
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl TryFrom<String> for Amount {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| "not a whole number of units".to_owned())
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.0.to_string()
    }
}

/// A deduction, before and after it was made.
pub(crate) struct Deduction {
    /// What it pays for.
    pub(crate) requirement: Requirement,
    pub(crate) agent: Handle,
    /// Who is charged, for the audit: nobody's name where nobody proved one.
    pub(crate) who: String,
    /// The message that it is for.
    pub(crate) origin: RequestOrigin,
    pub(crate) stream: String,
    pub(crate) terms: CreditTerms,
    pub(crate) amount: Amount,
    pub(crate) kept: Duration,
    pub(crate) id: String,
}
