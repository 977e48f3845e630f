//! Questions that wait for the operator.

use forecourt_core::Timestamp;
use forecourt_host::{OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, OperatorQuestion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ActionOutcome;
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};

/// Questions to the operator.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Queue {
    /// How many wait.
    pub waiting: u64,
    /// The oldest first.
    pub questions: Vec<Question>,
}

/// A question.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Question {
    /// Names it.
    pub id: String,
    /// Who asks, when that was proven.
    pub by: Option<String>,
    /// The agent that it is about.
    pub agent: Option<String>,
    /// What it is about.
    pub subject: String,
    /// Why a person must decide.
    pub reason: String,
    /// How much it hurries.
    pub urgency: String,
    /// What a person must know to decide.
    pub context: Value,
    /// When it was asked.
    #[schemars(with = "String")]
    pub asked_at: Timestamp,
    /// By when an answer is of use.
    #[schemars(with = "Option<String>")]
    pub due: Option<Timestamp>,
    /// Whether it waits.
    pub waits: bool,
    /// What was decided last: `accepted`, `rejected` or `deferred`.
    pub decision: Option<String>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// Why.
    pub decision_reason: Option<String>,
    /// When.
    #[schemars(with = "Option<String>")]
    pub decided_at: Option<Timestamp>,
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// `accepted`, `rejected` or `deferred`.
    pub decision: Decision,
    /// Why, or what to do instead.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What may be decided.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Yes.
    Accepted,
    /// No.
    Rejected,
    /// Not now; it goes on waiting.
    Deferred,
}

pub(crate) const QUERY: &[(&str, &str)] = &[("all", "`true`: those that were answered as well")];

pub(crate) async fn list(ask: Ask) -> Result<Queue, ApiError> {
    let all = match ask.query("all") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(ApiError::invalid("`all` is `true` or `false`")),
    };
    let questions = ask.house.host.operator().questions().await?;
    let waiting = questions.iter().filter(|asked| asked.waits()).count() as u64;
    let questions = questions.into_iter().filter(|asked| all || asked.waits()).map(seen).collect();
    Ok(Queue { waiting, questions })
}

pub(crate) async fn one(ask: Ask) -> Result<Question, ApiError> {
    let asked = ask.house.host.operator().question(ask.named("id")).await?;
    asked.map(seen).ok_or_else(unknown)
}

pub(crate) async fn answer(ask: Command) -> Result<ActionOutcome, ApiError> {
    let Answer { decision, reason: why } = ask.body()?;
    let (host, why) = (&ask.house.host, reason(why.as_deref())?);
    let wanted = match decision {
        Decision::Accepted => OperatorDecision::Accepted,
        Decision::Rejected => OperatorDecision::Rejected,
        Decision::Deferred => OperatorDecision::Deferred,
    };
    let answer =
        OperatorAnswer { decision: wanted, reason: why.clone(), by: ask.actor.name.clone(), at: host.clock().now() };
    let (came, answer) = match host.operator().answer(ask.named("id"), answer).await? {
        OperatorAnswerOutcome::Unknown => return Err(unknown()),
        OperatorAnswerOutcome::Now(_) => (Came::Done, Ok(format!("the answer is {}", word(wanted)))),
        // The first answer stands, also when two operators answer at once.
        OperatorAnswerOutcome::Before(asked) => match asked.answer {
            Some(before) if before.decision == wanted => {
                (Came::Already, Ok(format!("{} has answered so already", before.by)))
            }
            Some(before) => {
                let words = format!("{} has answered already: {}", before.by, word(before.decision));
                (Came::Refused, Err(ApiError::conflict(words)))
            }
            None => return Err(unknown()),
        },
    };
    let target = format!("question {}", super::nodes::mark(ask.named("id")));
    account::note(host, &ask.actor.name, "answer", target, why.as_deref(), came).await;
    answer.map(|message| ActionOutcome::new(came, message))
}

fn word(decision: OperatorDecision) -> &'static str {
    match decision {
        OperatorDecision::Accepted => "accepted",
        OperatorDecision::Rejected => "rejected",
        OperatorDecision::Deferred => "deferred",
    }
}

fn seen(asked: OperatorQuestion) -> Question {
    let (waits, answer) = (asked.waits(), asked.answer);
    Question {
        id: asked.id,
        by: asked.inquiry.by,
        agent: asked.inquiry.agent.map(|agent| agent.to_string()),
        subject: asked.inquiry.subject,
        reason: asked.inquiry.reason,
        urgency: asked.inquiry.urgency,
        context: asked.inquiry.context,
        asked_at: asked.asked_at,
        due: asked.inquiry.due,
        waits,
        decision: answer.as_ref().map(|answer| word(answer.decision).to_owned()),
        decided_by: answer.as_ref().map(|answer| answer.by.clone()),
        decision_reason: answer.as_ref().and_then(|answer| answer.reason.clone()),
        decided_at: answer.map(|answer| answer.at),
    }
}

fn unknown() -> ApiError {
    ApiError::not_found("no such question")
        .hint("GET /api/v1/queue tells which wait, and so does `forecourt admin queue`")
}
