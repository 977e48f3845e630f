//! This module has the consents and payments that a rule or an agent requires, before the host issues a state for them.
//! PolicyPart 3.3.3, 3.3.4.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::kind::AcceptedPayment;
use super::part::{PolicyPart, Translation};

/// Something that must happen before a message is let through. Says what, never whether it has happened:
/// rules may be asked any number of times, and the host alone knows what was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// Which rule wants it: its name in the configuration, or [`Self::AGENT`] where an agent does. For the audit.
    pub rule: String,
    /// A short summary; the kind's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The message for people.
    pub message: String,
    /// Title and message by BCP 47 tag.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub message_translations: BTreeMap<String, Translation>,
    /// The consent or the payment.
    pub demand: Demand,
}

/// How a [`Requirement`] is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Demand {
    /// A person agrees.
    Consent(ConsentTerms),
    /// Somebody pays.
    Payment(PaymentTerms),
}

/// The terms of a consent. PolicyPart 3.3.4, 5.4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentTerms {
    /// What is agreed to, whole: its text, version and bounds. Its hash is the consent's name, so that other
    /// terms are another consent.
    pub scope: Map<String, Value>,
    /// Seconds for which a consent holds; for good when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_seconds: Option<u64>,
}

/// What is paid, and for how long that is enough. PolicyPart 3.3.3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaymentTerms {
    /// How it may be paid, the preferred way first; one at least.
    pub accepted: Vec<AcceptedPayment>,
    /// What it costs, as a person reads it, such as `0.05 USDC`.
    pub price: String,
    /// The messages that one payment pays for.
    pub covers: PaidFor,
    /// How credit is counted; needed with [`PaidFor::Credit`], and looked at nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit: Option<Box<CreditTerms>>,
    /// When the money is taken.
    // What was stored before there was a choice was taken before the answer.
    #[serde(default)]
    pub charge: Charge,
}

/// When the money for a message is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Charge {
    /// Before the agent is asked.
    #[default]
    Before,
    /// Once the answer is complete: until then it is reserved. Holds for [`PaidFor::Turn`] alone, since a period and
    /// credit are bought.
    After,
}

/// How credit is counted. Amounts are decimal strings in the smallest unit. PolicyPart F-7.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreditTerms {
    /// What is counted: the asset and its network, say. Credit of one unit pays nothing in another.
    pub unit: String,
    /// The price of one message.
    pub per_turn: String,
    /// Decimals of what is counted, by which people read it; `None` where nobody said them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u8>,
    /// What must be agreed to before anything is deducted; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caps: Option<DeductionCaps>,
}

/// The caps under which a person lets the host deduct. PolicyPart F-7.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeductionCaps {
    /// The consent that must be given before the first deduction: its scope has the caps in a person's words.
    pub consent: Box<Requirement>,
    /// At most so much for one message, in the smallest unit.
    pub per_turn_max: String,
    /// At most so much within a period.
    pub period_max: String,
    /// The period, counted by the calendar in UTC.
    pub period: DeductionPeriod,
}

/// The calendar period, in UTC, after which deductions count from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeductionPeriod {
    /// A day.
    Daily,
    /// A week, from Monday on.
    Weekly,
    /// A month.
    Monthly,
}

/// The messages that one payment pays for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "per")]
pub enum PaidFor {
    /// One message.
    Turn,
    /// Every message of the payer for so many seconds.
    Period {
        /// How long.
        seconds: u64,
    },
    /// Messages until it is used up: what is paid over the price of one message is credit. PolicyPart F-7.
    Credit,
}

impl CreditTerms {
    /// An amount in the smallest unit as a person reads it, such as `0.25 USDC`.
    pub fn in_words(&self, units: &str) -> String {
        let decimals = usize::from(self.decimals.unwrap_or_default());
        let digits = format!("{units:0>width$}", width = decimals + 1);
        // Digits alone come here; anything else is shown as it is, and nothing is cut within a character.
        let Some((whole, part)) = digits.split_at_checked(digits.len() - decimals) else {
            return format!("{units} {}", self.unit);
        };
        match part.trim_end_matches('0') {
            "" => format!("{whole} {}", self.unit),
            part => format!("{whole}.{part} {}", self.unit),
        }
    }
}

impl PaymentTerms {
    /// Whether the money is taken once the answer is complete.
    pub fn is_charged_after(&self) -> bool {
        self.charge == Charge::After && self.covers == PaidFor::Turn
    }
}

impl Requirement {
    /// The name of the rule of what an agent requires. No rule of the operator may have it: whose an offer is decides
    /// who signs it.
    pub const AGENT: &str = "agent";

    /// Whether an agent requires it, and no rule of the operator's.
    pub fn is_agents(&self) -> bool {
        self.rule == Self::AGENT
    }

    /// The terms that a consent or payment is remembered by, hashed in their canonical form (RFC 8785). Title, message
    /// and translations are not part of it: rewording them does not ask everybody again.
    pub fn terms(&self) -> Value {
        match &self.demand {
            Demand::Consent(consent) => json!({"kind": "consent_required", "scope": consent.scope}),
            Demand::Payment(payment) => {
                // Without the price in words, the credit's terms and when it is charged: what is signed and settled is
                // in `accepted`.
                json!({"kind": "payment_required", "accepted": payment.accepted, "covers": payment.covers})
            }
        }
    }

    /// What must be agreed to before credit may be deducted for this, if it is paid by credit and wants that.
    /// PolicyPart F-7.
    pub fn deduction_consent(&self) -> Option<&Self> {
        let Demand::Payment(PaymentTerms { credit: Some(credit), covers: PaidFor::Credit, .. }) = &self.demand else {
            return None;
        };
        credit.caps.as_ref().map(|caps| &*caps.consent)
    }

    /// The `kind` of the refusal that it becomes.
    pub fn kind(&self) -> &'static str {
        match &self.demand {
            Demand::Consent(_) => "consent_required",
            Demand::Payment(_) => "payment_required",
        }
    }
}

/// Why a message does not pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Objection {
    /// It is refused, whatever its caller does now.
    Refused(Box<PolicyPart>),
    /// It passes once this was done.
    Required(Box<Requirement>),
}

impl From<PolicyPart> for Objection {
    fn from(part: PolicyPart) -> Self {
        Self::Refused(Box::new(part))
    }
}

impl From<Box<PolicyPart>> for Objection {
    fn from(part: Box<PolicyPart>) -> Self {
        Self::Refused(part)
    }
}

impl From<Requirement> for Objection {
    fn from(requirement: Requirement) -> Self {
        Self::Required(Box::new(requirement))
    }
}

#[cfg(test)]
mod tests {
    use super::CreditTerms;

    #[test]
    fn credit_is_read_by_the_decimals_of_its_unit() {
        let words = |units: &str, decimals| {
            let terms = CreditTerms { unit: "USDC".to_owned(), per_turn: "50000".to_owned(), decimals, caps: None };
            terms.in_words(units)
        };
        for (units, decimals, said) in [
            ("250000", Some(6), "0.25 USDC"),
            ("0", Some(6), "0 USDC"),
            ("3000000", Some(6), "3 USDC"),
            ("1", Some(18), "0.000000000000000001 USDC"),
            ("7", None, "7 USDC"),
        ] {
            assert_eq!(words(units, decimals), said);
        }
    }
}
