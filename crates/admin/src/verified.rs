//! What came of looking through all signed records: kept until it is done again.

use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// What came of looking through all records.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VerificationReport {
    /// When that began: records until then were looked at.
    #[schemars(with = "String")]
    pub up_to: Timestamp,
    /// Whether nothing is wrong.
    pub is_fine: bool,
    /// Records of responses.
    pub records: u64,
    /// Events of agents' lives.
    pub events: u64,
    /// Those of both that nobody signed.
    pub unsigned: u64,
    /// Agents that have a chain.
    pub agents: u64,
    /// What is wrong, in a sentence each.
    pub findings: Vec<String>,
    /// Findings above those.
    pub more_findings: u64,
    /// What is worth knowing and not wrong.
    pub notes: Vec<String>,
}
