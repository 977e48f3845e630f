//! This module has the verified answer to a refusal, as the agent gets it. PolicyPart 5, PolicyResolution (F-3).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::StateToken;

/// A verified completion of a `payment_required` or `consent_required`: made by the host, from its own
/// records alone. PolicyPart 5.4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyResolution {
    /// The state of the refusal that it answers.
    pub in_reply_to_state: StateToken,
    /// The payment or the consent.
    #[serde(flatten)]
    pub confirmation: Confirmation,
    /// The verifier, for logs and audit. Nobody may decide by it.
    pub verified_by: String,
}

/// The payment or consent that answered a refusal, by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "confirmation")]
pub enum Confirmation {
    /// It was paid.
    PaymentRequired(PaymentConfirmation),
    /// It was agreed to.
    ConsentRequired(ConsentConfirmation),
}

/// A payment that was settled, or is reserved until the answer is complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaymentConfirmation {
    /// The scheme of the way that was used.
    pub scheme: String,
    /// The offer, as it was made: out of the host's records, never from the payer. PolicyPart 5.6.
    pub original_payload: Map<String, Value>,
    /// The transaction, in the scheme's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// The payer, in the scheme's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer: Option<String>,
    /// The network on which it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
}

/// A consent that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentConfirmation {
    /// SHA-256 of the canonical JSON of what was agreed to, in lower-case hex.
    pub scope_hash: String,
    /// The end of the consent; it holds for good when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A caller's continuation after a refusal. All of it is a claim, which the host compares with its own records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Submission {
    /// The state of the refusal that it goes on after.
    pub state: Option<StateToken>,
    /// A payment in the words of its scheme, not looked at yet.
    pub payment: Option<PaymentSubmission>,
}

/// A signed payment, as its payer wrote it.
#[derive(Clone, PartialEq)]
pub struct PaymentSubmission {
    /// The first part of its scheme's name, such as `x402`.
    pub family: &'static str,
    /// The payment in the scheme's words; a bearer of money.
    pub payload: Map<String, Value>,
}

/// Never prints the payment: it can be settled by whoever reads it.
impl std::fmt::Debug for PaymentSubmission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PaymentSubmission").field("family", &self.family).finish_non_exhaustive()
    }
}
