//! What is deducted from credit, in whole units. PolicyPart F-7.

use std::time::Duration;

use forecourt_core::Handle;
use forecourt_core::policy::{CreditTerms, Requirement};
use serde::{Deserialize, Serialize};

use crate::audit::RequestOrigin;

/// Whole units, as a decimal string on the outside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Amount(u128);

impl Amount {
    /// Digits and nothing else: no sign, no point, no spaces.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok().map(Self))?
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
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
    pub(super) requirement: Requirement,
    pub(super) agent: Handle,
    /// Who is charged, for the audit: nobody's name where nobody proved one.
    pub(super) who: String,
    /// The message that it is for.
    pub(super) origin: RequestOrigin,
    pub(super) stream: String,
    pub(super) terms: CreditTerms,
    pub(super) amount: Amount,
    pub(super) kept: Duration,
    pub(super) id: String,
}
