//! What language models used for answers, by who asked and when: tokens and costs, and nothing of what was said.

use forecourt_audit::{AUDIT_STREAM, AuditOutcome, AuditRecord};
use forecourt_core::Timestamp;
use forecourt_core::store::Span;
use forecourt_core::usage::{AnswerUsage, ModelUsage};
use forecourt_surface::usage::units;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::AUDIT_ENTRIES_LOOKED_AT_MAX;

/// Batches of records that are read in one go.
const BATCHES_PER_READ: usize = 20;

/// What models used for an answer, all its requests together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UsedModel {
    /// The model, as the settings name it.
    pub model: String,
    /// How often its provider was asked.
    pub requests: u64,
    /// Tokens that it read.
    pub input_tokens: u64,
    /// Those of them that its provider had in its cache.
    pub cached_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// What they cost, in the unit of money of `price`; none where no price is set.
    pub cost: Option<f64>,
    /// Whether the provider counted nothing, so that some of it is estimated.
    pub is_estimated: bool,
}

/// A page of answers for which models were asked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Usages {
    /// The last one first.
    pub answers: Vec<AnswerOfModels>,
    /// What to give as `before` for the next page; none at the end.
    pub next: Option<u64>,
}

/// An answer for which models were asked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerOfModels {
    /// When it was over.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Whose answer.
    pub agent: String,
    /// Who asked: the proven subject, else the network, else empty.
    pub who: String,
    /// The protocol.
    pub via: Option<String>,
    /// What was used, by model.
    pub models: Vec<UsedModel>,
    /// What all of it cost; none where no price is set.
    pub cost: Option<f64>,
}

pub(crate) const QUERY: &[(&str, &str)] = &[
    ("agent", "Only answers of this agent"),
    ("who", "Only answers to this subject or network"),
    ("before", "What `next` of the page before was"),
    ("limit", "At least so many, where there are; up to 200"),
];

pub(crate) async fn list(ask: Ask) -> Result<Usages, ApiError> {
    let limit = ask.limit()?;
    let agent = ask.query("agent").map(|agent| agent.trim_start_matches('@'));
    let who = ask.query("who");
    let is_wanted = |record: &AuditRecord| {
        record.outcome == AuditOutcome::Used
            && agent.is_none_or(|agent| record.agent.as_str() == agent)
            && who.is_none_or(|who| record.who == who)
    };
    let (mut before, mut looked_at, mut answers) = (ask.number("before")?.unwrap_or(u64::MAX), 0, Vec::new());
    let mut next = None;
    // Bounded: a filter that fits nothing would else read the whole audit. `next` says where to go on.
    while looked_at < AUDIT_ENTRIES_LOOKED_AT_MAX && answers.len() < limit {
        let batches = ask.desk.reads.entries(AUDIT_STREAM, Span::Before(before), BATCHES_PER_READ, ask.now()).await?;
        next = batches.last().filter(|_| batches.len() == BATCHES_PER_READ).map(|(number, _)| *number);
        for (number, entry) in batches {
            looked_at += 1;
            // Batches are given whole, so that none is told twice.
            let batch: Vec<AuditRecord> = serde_json::from_value(entry.body).unwrap_or_default();
            answers.extend(batch.into_iter().rev().filter(is_wanted).map(seen));
            if answers.len() >= limit {
                next = (number > 1).then_some(number);
                break;
            }
        }
        let Some(number) = next else { break };
        before = number;
    }
    Ok(Usages { answers, next })
}

fn seen(record: AuditRecord) -> AnswerOfModels {
    AnswerOfModels {
        at: record.at,
        agent: record.agent.to_string(),
        who: record.who,
        via: record.origin.transport,
        models: used(&record.usage),
        cost: record.usage.cost_micros().map(units),
    }
}

/// What models used, a line each.
pub(crate) fn used(usage: &AnswerUsage) -> Vec<UsedModel> {
    let line = |used: &ModelUsage| UsedModel {
        model: used.model.clone(),
        requests: used.requests,
        input_tokens: used.input_tokens,
        cached_tokens: used.cached_tokens,
        output_tokens: used.output_tokens,
        cost: used.cost_micros.map(units),
        is_estimated: used.is_estimated,
    };
    usage.models().iter().map(line).collect()
}

/// What models used, for people: `tiny: 300 read (128 cached), 20 written, 0.0015`.
pub(crate) fn words(models: &[UsedModel]) -> String {
    let line = |used: &UsedModel| {
        let cached = if used.cached_tokens > 0 { format!(" ({} cached)", used.cached_tokens) } else { String::new() };
        let cost = used.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
        let about = if used.is_estimated { "about " } else { "" };
        format!("{}: {about}{} read{cached}, {} written{cost}", used.model, used.input_tokens, used.output_tokens)
    };
    models.iter().map(line).collect::<Vec<_>>().join("; ")
}
