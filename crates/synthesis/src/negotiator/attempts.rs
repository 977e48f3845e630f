//! Looks at the gate that led to no contract, kept a while for whoever asks why. Section 10.1.

use forecourt_contract::Method;
use forecourt_contract::negotiation::NoContractReason;
use forecourt_core::Timestamp;
use serde_json::Value;

use crate::contracts::ContractHolder;

/// A look at the gate that led to no contract.
#[derive(Clone, Debug)]
pub struct RcnsAttempt {
    /// Its name. Opaque.
    pub attempt_id: String,
    /// Who called.
    pub holder: ContractHolder,
    /// The method that was called.
    pub method: Method,
    /// Where, as it was sent.
    pub path: String,
    /// Why there is no contract.
    pub reason: NoContractReason,
    /// The same in a sentence.
    pub explanation: String,
    /// What helps to recover; null when there is nothing.
    pub details: Value,
    /// When.
    pub at: Timestamp,
}
