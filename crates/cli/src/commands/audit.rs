//! `forecourt audit`: who was refused, and what came of it.

use super::printable::printable;
use forecourt::storage;
use forecourt_audit::{AuditReader, AuditRecord};
use forecourt_core::{Clock, ModelUsage, SystemClock, Timestamp};
use forecourt_surface::usage::units;
use jiff::{Span, tz::TimeZone};

use crate::args::Audit;
use crate::output::{Failure, Outcome, stdoutln};

/// Prints the records that were asked for, the oldest first.
pub(crate) async fn run(audit: Audit) -> Outcome {
    let now = SystemClock.now();
    let since = audit.since.as_deref().map(|text| moment(text, now)).transpose()?;
    let deployment = super::load(&audit.place)?;
    let mut reader = AuditReader::new(storage::look(&deployment).await?);
    let ours = |error: forecourt_core::StoreError| Failure::ours(format!("the store: {error}"));
    while let Some(records) = reader.next(now).await.map_err(ours)? {
        for record in records.iter().filter(|record| is_wanted(record, since, audit.agent.as_deref())) {
            match audit.json {
                true => stdoutln!("{}", serde_json::to_string(record).map_err(|e| Failure::ours(e.to_string()))?),
                false => stdoutln!("{}", line(record)),
            }
        }
    }
    Ok(())
}

fn is_wanted(record: &AuditRecord, since: Option<Timestamp>, agent: Option<&str>) -> bool {
    let agent = agent.map(|agent| agent.trim_start_matches('@'));
    since.is_none_or(|since| record.at >= since) && agent.is_none_or(|agent| record.agent.to_string() == agent)
}

/// A moment, or one so long before `now`.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    // `-2h` and `2h` mean the same: how long ago.
    let ago = text.parse::<Span>().ok().map(Span::abs);
    let moment = ago.and_then(|ago| now.to_zoned(TimeZone::UTC).checked_sub(ago).ok());
    let moment = moment.map(|moment| moment.timestamp());
    moment.ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a time")).hint("write 2026-11-23T08:00:00Z, or how long ago: 2h, 7d")
    })
}

/// A record for people. Callers chose some of its words.
fn line(record: &AuditRecord) -> String {
    let or_dash = |text: Option<&str>| match text.unwrap_or_default() {
        "" => "-".to_owned(),
        text => printable(text),
    };
    let dropped = match record.dropped {
        0 => String::new(),
        count => format!("  ({count} before this one were dropped)"),
    };
    format!(
        "{:.0}  @{:<12} {:<15} {:<30} {:<20} {:<8}  {}  {}{}{dropped}",
        record.at,
        record.agent.to_string(),
        record.outcome.name(),
        record.kind,
        or_dash(Some(&record.rule)),
        or_dash(record.state.as_deref()),
        or_dash(record.origin.transport.as_deref()),
        or_dash(Some(&record.who)),
        decided(record) + &used(record),
    )
}

/// Who decided, in records of decisions.
fn decided(record: &AuditRecord) -> String {
    let Some(decider) = &record.origin.decider else { return String::new() };
    let proof = printable(&decider.proof);
    match &decider.subject {
        Some(subject) => format!("  decided by {} ({proof})", printable(subject)),
        None => format!("  decided by whoever has the {proof}"),
    }
}

/// What models used, in records of that.
fn used(record: &AuditRecord) -> String {
    let line = |used: &ModelUsage| {
        let cost = used.cost_micros.map(|micros| format!(" for {}", units(micros))).unwrap_or_default();
        let (read, cached, written) = (used.input_tokens, used.cached_tokens, used.output_tokens);
        format!("  {}: {read} tokens read, {cached} of them cached, {written} written{cost}", printable(&used.model))
    };
    record.usage.models().iter().map(line).collect()
}
