//! Guardrails: what a message may say before its agent hears it, and what a reply may say before anybody sees it.
//!
//! They hold for every agent and every protocol, since they sit where every message enters and every reply passes.
//! Nothing of what was judged is logged.
//!
//! | file | holds |
//! |---|---|
//! | `patterns.rs`, `webhook.rs` | two ways to judge; the third, a second model, is brought by whoever builds rules |
//! | `message.rs` | a message before its agent |
//! | `reply.rs` | a reply before its caller, held back a window at a time |
//! | `value.rs` | what a server behind this host says, before its caller |

mod message;
mod patterns;
mod reply;
mod value;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Handle, PolicyPart};
use futures::future::BoxFuture;

pub use message::GuardedMessage;
pub use patterns::Patterns;
pub use reply::{DenialNote, ReplyGuards, guarded};
pub use webhook::WebhookJudge;

use crate::limits::GUARDED_BYTES_MAX;

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A message, before its agent hears it.
    Message,
    /// A reply, before its caller sees it.
    Reply,
}

impl Side {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Reply => "reply",
        }
    }
}

/// A text that is judged.
#[derive(Debug, Clone, Copy)]
pub struct GuardCase<'a> {
    /// Whose text it is.
    pub side: Side,
    /// The agent that it is to, or from.
    pub agent: &'a Handle,
    /// What was said before it and passed: what begins there may end in the text.
    pub before: &'a str,
    /// The text.
    pub text: &'a str,
}

/// The ruling of a judge about a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// The text passes as it is.
    Allow,
    /// This passes in its place.
    Replace(String),
    /// The text does not pass.
    Deny,
}

/// The reason why a text could not be judged, for the log. It holds nothing of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JudgeError(pub String);

/// A way to judge texts: patterns, a webhook or a model.
pub trait Judge: Send + Sync + 'static {
    /// Judges one. Dropping the future gives up on it.
    fn judge<'a>(&'a self, case: GuardCase<'a>) -> BoxFuture<'a, Result<Ruling, JudgeError>>;
}

/// Counts what guardrails said, for the operator.
pub trait GuardCounter: Send + Sync {
    /// A text of `agent` was judged; `outcome` is one of `allowed`, `replaced`, `denied` and `failed`.
    fn count(&self, agent: &Handle, side: Side, outcome: &'static str);
}

/// A judge of a guardrail, with its time limit and what happens when it can't judge.
pub(crate) struct Seat {
    pub(crate) judge: Arc<dyn Judge>,
    pub(crate) time_max: Duration,
    /// Whether a text passes that could not be judged.
    pub(crate) fails_open: bool,
}

/// One guardrail before an agent.
pub struct Guardrail {
    /// Its name in records.
    pub(crate) rule: String,
    pub(crate) judges_messages: bool,
    pub(crate) judges_replies: bool,
    pub(crate) seats: Vec<Seat>,
    /// Characters of a reply that are held back at most.
    pub(crate) window_chars: usize,
    /// What those are told whose message was denied.
    pub(crate) of_message: PolicyPart,
    /// What those are told who see no reply.
    pub(crate) of_reply: PolicyPart,
}

/// Why a text does not pass.
#[derive(Debug)]
pub struct GuardDenial {
    /// The guardrail that denied it, by its name in records.
    pub rule: String,
    /// What its sender, or its reader, is told in its place.
    pub part: Box<PolicyPart>,
}

impl Guardrail {
    /// Whether it judges texts of this side.
    pub fn judges(&self, side: Side) -> bool {
        match side {
            Side::Message => self.judges_messages,
            Side::Reply => self.judges_replies,
        }
    }

    /// What may pass of a text: all of it (`None`), or another text in its place.
    async fn passed(&self, case: GuardCase<'_>, counter: &dyn GuardCounter) -> Result<Option<String>, GuardDenial> {
        let mut text: Option<String> = None;
        for seat in &self.seats {
            // Each judge gets what the one before it has put in the text's place.
            let now = GuardCase { text: text.as_deref().unwrap_or(case.text), ..case };
            let ruling = match now.text.len() > GUARDED_BYTES_MAX {
                // A text that is too long is one that can't be judged: whether it passes is what `on_failure` says.
                true => Err(JudgeError(format!("a text has more than {GUARDED_BYTES_MAX} bytes"))),
                false => {
                    let judged = tokio::time::timeout(seat.time_max, seat.judge.judge(now)).await;
                    judged.unwrap_or_else(|_| Err(JudgeError("it took too long".to_owned())))
                }
            };
            let (side, agent) = (case.side, case.agent);
            match ruling {
                Ok(Ruling::Allow) => counter.count(agent, side, "allowed"),
                Ok(Ruling::Replace(other)) => {
                    counter.count(agent, side, "replaced");
                    text = Some(other);
                }
                Ok(Ruling::Deny) => {
                    counter.count(agent, side, "denied");
                    let part = if side == Side::Message { &self.of_message } else { &self.of_reply };
                    return Err(GuardDenial { rule: self.rule.clone(), part: Box::new(part.clone()) });
                }
                Err(fault) => {
                    counter.count(agent, side, "failed");
                    tracing::warn!(%fault, rule = self.rule, %agent, side = side.name(), "a guardrail could not judge");
                    if !seat.fails_open {
                        return Err(GuardDenial { rule: self.rule.clone(), part: Box::new(unjudged(side)) });
                    }
                }
            }
        }
        Ok(text)
    }
}

/// The refusal where nobody could judge.
fn unjudged(side: Side) -> PolicyPart {
    let what = if side == Side::Message { "message" } else { "answer" };
    let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: Some(5) };
    let mut part = PolicyPart::new(kind, format!("This {what} could not be checked at the moment. Please try again."));
    part.code = Some("mentionable:guardrail_unavailable".to_owned());
    part
}

impl std::fmt::Debug for Guardrail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guardrail").field("rule", &self.rule).finish_non_exhaustive()
    }
}
