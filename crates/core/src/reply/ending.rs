//! This module has the endings of replies, as facts with a code: their sentences are for people alone.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::policy::{AuthChallenge, PolicyPart};
use crate::question::Question;

/// How a reply ends. Being one last value, nothing can follow a refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The answer is whole.
    Complete,
    /// The whole answer is this markdown, and there is no task to keep where a wire has a choice.
    Message(String),
    /// The agent needs to know more.
    Question(Question),
    /// The agent goes on once whoever asks has signed in with it. Boxed, as it is rare.
    SignIn(Box<SignIn>),
    /// A rule, or an agent that names one, declines, with what can be done about it. Boxed, as it is much the largest.
    Refused(Box<PolicyPart>),
    /// The agent declines for good, and by no rule that programs know. It did nothing, and asking again changes nothing.
    Declined {
        /// A sentence for the caller.
        reason: String,
    },
    /// It could not be done. The reason is for the caller, and tells nothing of the inside.
    Failed {
        /// The kind of failure, for programs.
        // Endings that were stored before there were causes have none.
        #[serde(default)]
        cause: FailureCause,
        /// A sentence for the caller.
        reason: String,
    },
    /// The caller gave up, or somebody cancelled the task.
    Canceled,
}

/// What an agent wants whoever asks to sign in with: itself, not this host. For what this host can prove there is
/// [`crate::policy::RefusalKind::Unauthorized`]. PolicyPart 4.2: a sign-in without a refusal is no refusal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SignIn {
    /// The agent's words about where and how to sign in, with a form where it has one.
    pub question: Question,
    /// The challenges of its server; may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub challenges: Vec<AuthChallenge>,
}

/// Why a reply failed, from a closed list that every protocol carries unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The agent itself: it said so, crashed, or gave what means nothing.
    #[default]
    Agent,
    /// Nobody could be reached behind it; nothing was sent.
    Unreachable,
    /// What is behind it does not serve this host, or did not take what it was asked.
    UpstreamRefused,
    /// It took longer than it may.
    TimedOut,
    /// It broke off before the answer was whole.
    CutOff,
    /// The node that worked on it is gone.
    NodeLost,
    /// Something was larger, or more, than a bound of this host.
    OverBound,
}

impl FailureCause {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Agent,
        Self::Unreachable,
        Self::UpstreamRefused,
        Self::TimedOut,
        Self::CutOff,
        Self::NodeLost,
        Self::OverBound,
    ];

    /// The word for programs, the same over every protocol.
    pub fn code(self) -> &'static str {
        match self {
            Self::Agent => "agent-failed",
            Self::Unreachable => "upstream-unreachable",
            Self::UpstreamRefused => "upstream-refused",
            Self::TimedOut => "timed-out",
            Self::CutOff => "cut-off",
            Self::NodeLost => "node-lost",
            Self::OverBound => "over-bound",
        }
    }

    /// Reads what [`Self::code`] wrote.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.code() == code)
    }

    /// Whether the same message may be answered another time: what failed is on the way, and not the message.
    pub fn is_passing(self) -> bool {
        match self {
            Self::Unreachable | Self::TimedOut | Self::CutOff | Self::NodeLost => true,
            // A wrong key or a message that was refused stays so until somebody changes it: retrying costs and helps
            // nobody.
            Self::Agent | Self::UpstreamRefused | Self::OverBound => false,
        }
    }

    /// The ending that says so with `reason`.
    pub fn ending(self, reason: impl Into<String>) -> Ending {
        Ending::Failed { cause: self, reason: reason.into() }
    }
}

impl Ending {
    /// That an agent declined for good.
    pub const DECLINED: &str = "declined";
    /// That an agent wants whoever asks to sign in with it.
    pub const SIGN_IN: &str = "sign-in-needed";
    /// That the caller gave up.
    pub const CANCELED: &str = "canceled";

    /// The agent failed, and says `reason` to the caller.
    pub fn failed(reason: impl Into<String>) -> Self {
        FailureCause::Agent.ending(reason)
    }

    /// The agent declines for good, and says `reason` to the caller.
    pub fn declined(reason: impl Into<String>) -> Self {
        Self::Declined { reason: reason.into() }
    }

    /// The ending of a stream that stops without one: never success. PolicyPart 3.5.
    pub fn unfinished() -> Self {
        FailureCause::CutOff.ending("the agent stopped before its answer was whole")
    }

    /// The word for programs, the same over every protocol: what [`crate::codes::endings`] and
    /// [`crate::codes::refusals`] list. Short of an answer there is always one.
    pub fn code(&self) -> &str {
        match self {
            Self::Complete | Self::Message(_) => "complete",
            Self::Question(_) => "question",
            Self::SignIn(_) => Self::SIGN_IN,
            Self::Refused(part) => part.kind(),
            Self::Declined { .. } => Self::DECLINED,
            Self::Failed { cause, .. } => cause.code(),
            Self::Canceled => Self::CANCELED,
        }
    }

    /// Reads an ending without a policy part that came over a wire: one that is no answer, with its word and sentence.
    /// `None` for a word that is not known here.
    pub fn from_code(code: &str, reason: impl Into<String>) -> Option<Self> {
        let text = reason.into();
        Some(match code {
            Self::DECLINED => Self::Declined { reason: text },
            Self::SIGN_IN => Self::SignIn(Box::new(SignIn { question: Question::new(text), challenges: Vec::new() })),
            Self::CANCELED => Self::Canceled,
            code => FailureCause::from_code(code)?.ending(text),
        })
    }

    /// The agent's question, if it waits for the caller's next turn.
    pub fn question(&self) -> Option<&Question> {
        match self {
            Self::Question(question) => Some(question),
            Self::SignIn(wanted) => Some(&wanted.question),
            Self::Complete
            | Self::Message(_)
            | Self::Refused(_)
            | Self::Declined { .. }
            | Self::Failed { .. }
            | Self::Canceled => None,
        }
    }

    /// Why there is no answer, in a sentence for the caller. `None` for answers and questions, and for refusals, whose
    /// words have translations.
    pub fn reason(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::SignIn(wanted) => Some(wanted.question.text.as_str().into()),
            Self::Declined { reason } | Self::Failed { reason, .. } => Some(reason.as_str().into()),
            Self::Canceled => Some("the answer was cancelled before its end".into()),
            Self::Complete | Self::Message(_) | Self::Question(_) | Self::Refused(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_written() {
        let endings = FailureCause::ALL.into_iter().map(|cause| cause.ending("No."));
        for ending in endings.chain([Ending::declined("No."), Ending::Canceled]) {
            assert_eq!(Ending::from_code(ending.code(), "No."), Some(ending));
        }
        assert!(matches!(Ending::from_code(Ending::SIGN_IN, "In?"), Some(Ending::SignIn(_))));
        for word in ["", "complete", "forbidden", "Declined"] {
            assert_eq!(Ending::from_code(word, "No."), None, "{word}");
        }
    }

    #[test]
    fn an_ending_that_was_kept_before_there_were_causes_is_read() {
        let kept: Ending = serde_json::from_str(r#"{"failed":{"reason":"No salt."}}"#).unwrap();
        assert_eq!(kept, Ending::failed("No salt."));
        let text = serde_json::to_string(&FailureCause::NodeLost.ending("Gone.")).unwrap();
        assert_eq!(text, r#"{"failed":{"cause":"node_lost","reason":"Gone."}}"#);
    }
}
