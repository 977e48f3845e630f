//! Who was refused, what was asked for first, and what was let through: the audit of the gate.

use forecourt_audit::{AUDIT_STREAM, AuditOutcome, AuditRecord};
use forecourt_core::Timestamp;
use forecourt_core::store::Span;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::AUDIT_ENTRIES_LOOKED_AT_MAX;

/// Batches of records that are read in one go.
const BATCHES_PER_READ: usize = 20;

/// A page of records.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusals {
    /// The last one first.
    pub records: Vec<Refusal>,
    /// What to give as `before` for the next page; none at the end.
    pub next: Option<u64>,
}

/// One record.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// To whom the message was.
    pub agent: String,
    /// From whom: the proven subject, else the network, else empty.
    pub who: String,
    /// Which rule wanted it.
    pub rule: String,
    /// The kind of the refusal.
    pub kind: String,
    /// What came of it.
    pub outcome: String,
    /// What tells steps of one issuance from those of others.
    pub state: Option<String>,
    /// Who decided, where a person did: the proven subject; none for somebody who proved none.
    pub decided_by: Option<String>,
    /// What proved who decided: the type of evidence such as `session`; `conversation` or `address` where nothing
    /// did, and the decision was made by whoever has that.
    pub decided_by_proof: Option<String>,
    /// The protocol.
    pub via: Option<String>,
    /// Records before this one that found no room.
    pub dropped: u64,
}

pub(crate) const QUERY: &[(&str, &str)] = &[
    ("agent", "Only messages to this agent"),
    ("outcome", "Only records that ended so: refused, issued, verified, declined, paid, resumed, expired …"),
    ("before", "What `next` of the page before was"),
    ("limit", "At least so many, where there are; up to 200"),
];

pub(crate) async fn list(ask: Ask) -> Result<Refusals, ApiError> {
    let limit = ask.limit()?;
    let agent = ask.query("agent").map(|agent| agent.trim_start_matches('@'));
    let outcome = ask.query("outcome");
    let wanted = |record: &AuditRecord| {
        // What models used is a noun of its own.
        record.outcome != AuditOutcome::Used
            && agent.is_none_or(|agent| record.agent.as_str() == agent)
            && outcome.is_none_or(|outcome| record.outcome.name() == outcome)
    };
    let (mut before, mut looked_at, mut records) = (ask.number("before")?.unwrap_or(u64::MAX), 0, Vec::new());
    let mut next = None;
    // Bounded: a filter that fits nothing would else read the whole audit. `next` says where to go on.
    while looked_at < AUDIT_ENTRIES_LOOKED_AT_MAX && records.len() < limit {
        let batches = ask.desk.reads.entries(AUDIT_STREAM, Span::Before(before), BATCHES_PER_READ, ask.now()).await?;
        next = batches.last().filter(|_| batches.len() == BATCHES_PER_READ).map(|(number, _)| *number);
        for (number, entry) in batches {
            looked_at += 1;
            // Batches are given whole, so that none is told twice.
            let batch: Vec<AuditRecord> = serde_json::from_value(entry.body).unwrap_or_default();
            records.extend(batch.into_iter().rev().filter(wanted).map(seen));
            if records.len() >= limit {
                next = (number > 1).then_some(number);
                break;
            }
        }
        let Some(number) = next else { break };
        before = number;
    }
    Ok(Refusals { records, next })
}

fn seen(record: AuditRecord) -> Refusal {
    let (decided_by, decided_by_proof) =
        record.origin.decider.map_or((None, None), |decider| (decider.subject, Some(decider.proof)));
    Refusal {
        at: record.at,
        agent: record.agent.to_string(),
        who: record.who,
        rule: record.rule,
        kind: record.kind,
        outcome: record.outcome.name().to_owned(),
        state: record.state,
        decided_by,
        decided_by_proof,
        via: record.origin.transport,
        dropped: record.dropped,
    }
}
