//! This module lists the error codes that programs see, each with its cause and its remedy.
//!
//! It knows no protocol's spelling: the manual's table is generated from these rows and each protocol's own function,
//! so that no spelling is written down twice.

use crate::error::{Error, Noun};
use crate::policy::{KINDS, PolicyPart, RefusalKindEntry};
use crate::question::Question;
use crate::quota::QuotaBound;
use crate::reply::{Ending, FailureCause, SignIn};
use crate::task_state::TaskState;

/// A row of the table of errors.
#[derive(Debug)]
pub struct CodeEntry<T> {
    /// The code, the same over every protocol that has a place for it.
    pub code: &'static str,
    /// The cause, as a sentence.
    pub cause: &'static str,
    /// The remedy, as a sentence.
    pub remedy: &'static str,
    /// One such failure, for protocols to spell.
    pub sample: T,
}

/// Every kind of [`Error`], by [`Error::code`].
pub fn errors() -> Vec<CodeEntry<Error>> {
    let row = |sample: Error, cause, remedy| CodeEntry { code: sample.code(), cause, remedy, sample };
    let full = |bound| Error::Full { bound };
    vec![
        row(
            Error::not_found(Noun::Agent),
            "No agent has this name, or it is hidden from you.",
            "List the agents: `forecourt discover DOMAIN`.",
        ),
        row(
            Error::not_found(Noun::Task),
            "The task id is unknown, has expired, or belongs to another caller.",
            "Send the proof with which the task began; else begin again.",
        ),
        row(
            Error::not_found(Noun::Thread),
            "The conversation is unknown, has expired, or belongs to another caller.",
            "Begin a new conversation.",
        ),
        row(Error::not_found(Noun::Artifact), "The task has no such file.", "Read the task: it lists its files."),
        row(
            Error::Gone { what: Noun::Agent },
            "The agent was retired for good.",
            "Use its successor, which its documents name if there is one.",
        ),
        row(
            Error::Conflict { what: Noun::Task, state: TaskState::Completed },
            "The request contradicts the state of the task, such as cancelling one that has ended.",
            "Read the task first.",
        ),
        row(
            Error::invalid("field", "reason"),
            "A field has a value that means nothing here; the message names it.",
            "Change that field.",
        ),
        row(
            full(QuotaBound::Caller { max: 1 }),
            "As much is kept for you as one caller may have (`limits.stored_bytes_per_caller`), or for those you count \
             with: callers of your network, or all, who have not proven who they are (`limits.strangers_percent`).",
            "Prove who you are, wait until something has expired, or ask the operator for more.",
        ),
        row(
            full(QuotaBound::Store { max: 1 }),
            "The store or its disk is full (`store.size_max`).",
            "Try again later. Operator: free disk space or raise the bound.",
        ),
        row(Error::unavailable(), "The host is stopping, or has too much to do.", "Try again after `Retry-After`."),
        row(
            Error::internal("cause"),
            "The host failed. The cause is in its log and nowhere else.",
            "Report it to the operator, with the time and the request id.",
        ),
    ]
}

/// Every kind of refusal of PolicyPart v0.1, by its name on the wire: the table of [`KINDS`].
pub fn refusals() -> Vec<CodeEntry<PolicyPart>> {
    let row = |kind: &RefusalKindEntry| {
        let RefusalKindEntry { name: code, cause, remedy, .. } = *kind;
        CodeEntry { code, cause, remedy, sample: PolicyPart::new((kind.sample)(), cause) }
    };
    KINDS.iter().map(row).collect()
}

/// Every kind of ending short of an answer that carries no policy part, by [`Ending::code`].
pub fn endings() -> Vec<CodeEntry<Ending>> {
    let row = |sample, code, cause, remedy| CodeEntry { code, cause, remedy, sample };
    let failed = |of: FailureCause, cause: &'static str, remedy| row(of.ending(cause), of.code(), cause, remedy);
    let sign_in = SignIn { question: Question::new("Sign in first."), challenges: Vec::new() };
    vec![
        row(
            Ending::SignIn(Box::new(sign_in)),
            Ending::SIGN_IN,
            "The agent goes on once you have signed in with it, as its words say.",
            "Sign in there, then send your next message in the same conversation.",
        ),
        row(
            Ending::declined("No."),
            Ending::DECLINED,
            "The agent won't do this, and did nothing; its words say why.",
            "Ask for something else: asking again changes nothing.",
        ),
        failed(
            FailureCause::Agent,
            "The agent could not do it, crashed, or gave an answer that means nothing.",
            "Read the words. Operator: the log has the cause.",
        ),
        failed(
            FailureCause::Unreachable,
            "The service behind the agent can't be reached; nothing was sent.",
            "Try again later. Operator: is it running, and is its address right?",
        ),
        failed(
            FailureCause::UpstreamRefused,
            "The service behind the agent does not serve this host, or did not take the message.",
            "Operator: the log says which; look at `headers` and `url` in the agent's `[backend]`.",
        ),
        failed(
            FailureCause::TimedOut,
            "The agent, or the service behind it, took longer than it may.",
            "Look first at what was done, then try again. Operator: `timeout_seconds` of the agent, and those of its `[backend]`.",
        ),
        failed(
            FailureCause::CutOff,
            "The answer broke off before it was whole.",
            "Look first at what was done, then try again.",
        ),
        failed(
            FailureCause::NodeLost,
            "The host stopped, or one of its nodes did, while the task was running.",
            "Look first at what was done, then try again.",
        ),
        failed(
            FailureCause::OverBound,
            "The answer was larger than this host takes; the words name the bound.",
            "Ask for less.",
        ),
        row(Ending::Canceled, Ending::CANCELED, "Somebody cancelled it before its end.", "Ask again."),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RefusalKind;

    #[test]
    fn every_kind_has_one_row() {
        let mut codes: Vec<&str> = errors().iter().map(|row| row.code).collect();
        let refusals: Vec<&str> = refusals().iter().map(|row| row.code).collect();
        assert_eq!(refusals, RefusalKind::NAMES);
        codes.extend(refusals);
        let endings = endings();
        assert!(endings.iter().all(|row| row.code == row.sample.code()));
        for cause in FailureCause::ALL {
            assert!(endings.iter().any(|row| row.code == cause.code()), "{cause:?}");
        }
        codes.extend(endings.iter().map(|row| row.code));
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all, "a code means one thing");
    }
}
