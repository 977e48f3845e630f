//! This module lists the failures of the host for protocols to spell: the rows of `forecourt reference errors`.

use forecourt_contract::Refusal;
use forecourt_core::codes::{self, CodeEntry};
use forecourt_core::{Ending, Error, PolicyPart};

/// A failure as the host has it, before a protocol spells it.
#[derive(Debug)]
pub enum HostFailure {
    /// A message could not be carried to an answer.
    Error(Error),
    /// A rule or a limit refused the message, or the call.
    Refused(PolicyPart),
    /// The agent was asked, and there is no answer.
    Ended(Ending),
    /// A call of an endpoint has no result.
    Call(Refusal),
}

/// Errors of the host, one row for each code.
pub fn errors() -> Vec<CodeEntry<HostFailure>> {
    rows(codes::errors(), HostFailure::Error)
}

/// Refusals of rules and limits, one row for each kind.
pub fn refusals() -> Vec<CodeEntry<HostFailure>> {
    rows(codes::refusals(), HostFailure::Refused)
}

/// Endings without an answer, one row for each code.
pub fn endings() -> Vec<CodeEntry<HostFailure>> {
    rows(codes::endings(), HostFailure::Ended)
}

/// Refusals of calls of endpoints, one row for each kind.
pub fn calls() -> Vec<CodeEntry<HostFailure>> {
    rows(forecourt_contract::refusal::codes(), HostFailure::Call)
}

fn rows<T>(entries: Vec<CodeEntry<T>>, of: fn(T) -> HostFailure) -> Vec<CodeEntry<HostFailure>> {
    let row = |CodeEntry { code, cause, remedy, sample }| CodeEntry { code, cause, remedy, sample: of(sample) };
    entries.into_iter().map(row).collect()
}
