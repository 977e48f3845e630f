//! Where what happened is kept, each read backwards from a place on.

use std::time::Duration;

use forecourt_audit::{AUDIT_STREAM, AuditOutcome, AuditRecord};
use forecourt_core::Timestamp;
use forecourt_core::clock::after;
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::policy::{Demand, transaction};
use forecourt_core::store::{Span, number_at};
use forecourt_issuance::{HoldingFilter, HoldingStatus, ListedHolding};
use forecourt_store::{ConversationPlace, ConversationSummary, TaskSummary};

use super::filter::SearchFilter;
use super::{SearchHit, SearchKind};
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::{DELIVERIES_LOOKED_AT_MAX, PAGE_MAX, SEARCH_HOLDINGS_LOOKED_AT_MAX, SEARCH_LOOKED_AT_MAX};
use crate::nouns::deliveries;
use crate::nouns::nodes::mark;
use crate::nouns::usage;

/// Rows that are read in one go, where nothing is opened for them.
const ROWS_PER_READ: usize = 500;
/// Entries of the audit, each with as many as 256 records.
const ENTRIES_PER_READ: usize = 50;
/// Consents or payments, each with a look at where it stands.
const HOLDINGS_PER_READ: usize = 50;
/// How far what several nodes write may lie out of its order.
const APART_MAX: Duration = Duration::from_secs(60);

/// Something that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Tasks,
    Audit,
    Consents,
    Payments,
    Conversations,
    Deliveries,
}

/// All of them, in the order of their places in a cursor.
pub(super) const SOURCES: [Source; 6] =
    [Source::Tasks, Source::Audit, Source::Consents, Source::Payments, Source::Conversations, Source::Deliveries];

/// A place in a source: before a number, or behind so many of what has that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) number: u64,
    pub(super) within: u64,
}

impl Place {
    /// Before everything.
    pub(super) const START: Self = Self { number: u64::MAX, within: 0 };

    fn before(number: u64) -> Self {
        Self { number, within: 0 }
    }
}

/// What was read in one go.
#[derive(Default)]
pub(super) struct Batch {
    /// What is searched for, each with the place behind it.
    pub(super) found: Vec<(Place, SearchHit)>,
    /// The place behind all that was looked at; none at the end.
    pub(super) next: Option<Place>,
    pub(super) looked_at: usize,
    /// When the last that was looked at happened.
    pub(super) back_to: Option<Timestamp>,
}

impl Source {
    pub(super) fn is_wanted(self, wanted: &SearchFilter) -> bool {
        match self {
            Self::Tasks => wanted.has(SearchKind::Task),
            Self::Audit => [SearchKind::Refusal, SearchKind::Step, SearchKind::Usage].iter().any(|of| wanted.has(*of)),
            Self::Consents => wanted.has(SearchKind::Consent),
            Self::Payments => wanted.has(SearchKind::Payment),
            Self::Conversations => wanted.has(SearchKind::Conversation),
            Self::Deliveries => wanted.has(SearchKind::Delivery),
        }
    }

    /// As much as one page looks at.
    pub(super) fn looked_at_max(self) -> usize {
        match self {
            Self::Consents | Self::Payments => SEARCH_HOLDINGS_LOOKED_AT_MAX,
            _ => SEARCH_LOOKED_AT_MAX,
        }
    }

    /// Where a search begins: history after its span is leapt over, however long it is.
    pub(super) async fn start(self, ask: &Ask, wanted: &SearchFilter) -> Result<Option<Place>, ApiError> {
        let Some(until) = wanted.until.filter(|_| self.is_wanted(wanted)) else { return Ok(Some(Place::START)) };
        let (until, now) = (after(until, APART_MAX), ask.now());
        Ok(Some(match self {
            Self::Tasks => Place::before(first_task_at(ask, until).await?),
            Self::Audit => Place::before(number_at(&*ask.desk.reads, AUDIT_STREAM, until, now).await?),
            Self::Conversations => Place { number: nanos(after(until, THREAD_TTL)), within: u64::MAX },
            Self::Consents | Self::Payments | Self::Deliveries => Place::START,
        }))
    }

    pub(super) async fn read(self, ask: &Ask, wanted: &SearchFilter, from: Place) -> Result<Batch, ApiError> {
        let batch = match self {
            Self::Tasks => tasks(ask, wanted, from).await?,
            Self::Audit => audit(ask, wanted, from).await?,
            Self::Consents => holdings(ask, wanted, from, false).await?,
            Self::Payments => holdings(ask, wanted, from, true).await?,
            Self::Conversations => conversations(ask, wanted, from).await?,
            Self::Deliveries => return waiting(ask, wanted, from).await,
        };
        let is_past = wanted.since.zip(batch.back_to).is_some_and(|(since, at)| after(at, APART_MAX) < since);
        Ok(if is_past { Batch { next: None, ..batch } } else { batch })
    }
}

/// The number before which all tasks were begun before a moment.
async fn first_task_at(ask: &Ask, at: Timestamp) -> Result<u64, ApiError> {
    let now = ask.now();
    let newest =
        async |before| ask.desk.reads.task_summaries(before, 1, now).await.map(|found| found.into_iter().next());
    let Some(last) = newest(u64::MAX).await? else { return Ok(u64::MAX) };
    if last.created_at < at {
        return Ok(u64::MAX);
    }
    let (mut low, mut high) = (0, last.number + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match newest(middle).await? {
            Some(task) if task.created_at >= at => high = middle,
            _ => low = middle,
        }
    }
    Ok(low)
}

async fn tasks(ask: &Ask, wanted: &SearchFilter, from: Place) -> Result<Batch, ApiError> {
    let rows = ask.desk.reads.task_summaries(from.number, ROWS_PER_READ, ask.now()).await?;
    let next = rows.last().filter(|_| rows.len() == ROWS_PER_READ).map(|last| Place::before(last.number));
    let (looked_at, back_to) = (rows.len(), rows.last().map(|last| last.created_at));
    let hit = |row: TaskSummary| (Place::before(row.number), of_task(row));
    let found = rows.into_iter().map(hit).filter(|(_, hit)| wanted.takes(hit)).collect();
    Ok(Batch { found, next, looked_at, back_to })
}

/// A task as it is found.
fn of_task(row: TaskSummary) -> SearchHit {
    SearchHit {
        kind: SearchKind::Task,
        at: row.created_at,
        agent: Some(row.agent.to_string()),
        who: row.owner.unwrap_or_default(),
        outcome: row.state.name().to_owned(),
        about: format!("changed {}, on node {}", row.updated_at.strftime("%Y-%m-%d %H:%M:%S UTC"), mark(&row.run)),
        via: None,
        task: Some(row.task),
        conversation: row.conversation,
        request: None,
        state: None,
    }
}

async fn audit(ask: &Ask, wanted: &SearchFilter, from: Place) -> Result<Batch, ApiError> {
    let before = from.number.saturating_add(u64::from(from.within > 0));
    let entries = ask.desk.reads.entries(AUDIT_STREAM, Span::Before(before), ENTRIES_PER_READ, ask.now()).await?;
    let next = entries.last().filter(|_| entries.len() == ENTRIES_PER_READ).map(|(last, _)| Place::before(*last));
    let back_to = entries.last().map(|(_, entry)| entry.at);
    let (mut found, mut looked_at) = (Vec::new(), 0);
    for (number, entry) in entries {
        let records: Vec<AuditRecord> = serde_json::from_value(entry.body).unwrap_or_default();
        let all = records.len() as u64;
        for (record, within) in records.into_iter().rev().zip(1..) {
            looked_at += 1;
            let is_given = number == from.number && within <= from.within;
            let is_of = |agent: &str| record.agent.as_str() == agent;
            if is_given || !wanted.agent.as_deref().is_none_or(is_of) {
                continue;
            }
            let hit = of_record(record);
            if wanted.takes(&hit) {
                found.push((if within == all { Place::before(number) } else { Place { number, within } }, hit));
            }
        }
    }
    Ok(Batch { found, next, looked_at, back_to })
}

/// A record of the audit as it is found.
pub(crate) fn of_record(record: AuditRecord) -> SearchHit {
    let kind = match record.outcome {
        AuditOutcome::Refused => SearchKind::Refusal,
        AuditOutcome::Used => SearchKind::Usage,
        _ => SearchKind::Step,
    };
    let about = match kind {
        SearchKind::Usage => usage::words(&usage::used(&record.usage)),
        _ if record.rule.is_empty() => record.kind,
        _ => format!("{} by rule {}", record.kind, record.rule),
    };
    SearchHit {
        kind,
        at: record.at,
        agent: Some(record.agent.to_string()),
        who: record.who,
        outcome: record.outcome.name().to_owned(),
        about,
        via: record.origin.transport,
        task: None,
        conversation: None,
        request: record.origin.request,
        state: record.state,
    }
}

async fn holdings(ask: &Ask, wanted: &SearchFilter, from: Place, payments: bool) -> Result<Batch, ApiError> {
    let filter = HoldingFilter {
        payments,
        agent: wanted.agent.as_deref(),
        who: wanted.who.as_deref(),
        since: wanted.since,
        until: wanted.until,
    };
    let page = ask.house.host.listed_holdings(filter, from.number, HOLDINGS_PER_READ).await?;
    let next = page.next.map(Place::before);
    // A page that is not full was looked for as far as one look goes.
    let is_whole = page.next.is_none() || page.listed.len() == HOLDINGS_PER_READ;
    let looked_at = if is_whole { page.listed.len() } else { forecourt_issuance::HOLDINGS_LOOKED_AT_MAX };
    let back_to = page.looked_back_to;
    let hit = |listed: ListedHolding| (Place::before(listed.number), of_holding(listed));
    let found = page.listed.into_iter().map(hit).filter(|(_, hit)| wanted.takes(hit)).collect();
    Ok(Batch { found, next, looked_at, back_to })
}

/// A consent or a payment as it is found.
pub(crate) fn of_holding(listed: ListedHolding) -> SearchHit {
    let ListedHolding { who, holding, state, .. } = listed;
    let rule = &holding.requirement.rule;
    let (kind, outcome, about) = match &holding.requirement.demand {
        Demand::Payment(terms) => {
            let transaction = holding.receipt.as_ref().and_then(transaction);
            let transaction = transaction.map(|id| format!(", transaction {id}")).unwrap_or_default();
            let outcome = match holding.status {
                HoldingStatus::Holds => "unused",
                HoldingStatus::Ended => "used",
                HoldingStatus::Pending => "pending",
                HoldingStatus::GivenBack => "given_back",
            };
            (SearchKind::Payment, outcome, format!("{} by rule {rule}{transaction}", terms.price))
        }
        Demand::Consent(_) => {
            let outcome = if holding.status == HoldingStatus::Holds { "holds" } else { "ended" };
            (SearchKind::Consent, outcome, format!("by rule {rule}"))
        }
    };
    SearchHit {
        kind,
        at: holding.at,
        agent: Some(holding.agent.to_string()),
        who,
        outcome: outcome.to_owned(),
        about,
        via: None,
        task: None,
        conversation: None,
        request: None,
        state: Some(state),
    }
}

async fn conversations(ask: &Ask, wanted: &SearchFilter, from: Place) -> Result<Batch, ApiError> {
    let place = match from {
        Place::START => ConversationPlace::FIRST,
        Place { number, within } => {
            let expires_at = Timestamp::from_nanosecond(i128::from(number)).unwrap_or(Timestamp::MAX);
            ConversationPlace { expires_at, number: within }
        }
    };
    let rows = ask.desk.reads.conversation_summaries(place, ROWS_PER_READ, ask.now()).await?;
    let behind = |row: &ConversationSummary| Place { number: nanos(row.expires_at), within: row.number };
    let next = rows.last().filter(|_| rows.len() == ROWS_PER_READ).map(behind);
    let (looked_at, back_to) = (rows.len(), rows.last().map(|last| went_on_at(last.expires_at)));
    let hit = |row: ConversationSummary| (behind(&row), of_conversation(row));
    let found = rows.into_iter().map(hit).filter(|(_, hit)| wanted.takes(hit)).collect();
    Ok(Batch { found, next, looked_at, back_to })
}

fn of_conversation(row: ConversationSummary) -> SearchHit {
    SearchHit {
        kind: SearchKind::Conversation,
        at: went_on_at(row.expires_at),
        agent: Some(row.agent.to_string()),
        who: row.owner.unwrap_or_default(),
        outcome: "kept".to_owned(),
        about: format!("{} turns, kept until {}", row.turns, row.expires_at.strftime("%Y-%m-%d %H:%M:%S UTC")),
        via: None,
        task: None,
        conversation: Some(row.conversation),
        request: None,
        state: None,
    }
}

/// When the last turn was, which is what a conversation is kept from.
fn went_on_at(expires_at: Timestamp) -> Timestamp {
    expires_at.checked_sub(THREAD_TTL).unwrap_or(expires_at)
}

/// Those that wait are no history, and few: all of them are read, and put in order.
async fn waiting(ask: &Ask, wanted: &SearchFilter, from: Place) -> Result<Batch, ApiError> {
    let (mut found, mut looked_at, mut last) = (Vec::new(), 0, 0);
    while looked_at < DELIVERIES_LOOKED_AT_MAX {
        let queued = ask.desk.reads.deliveries(last, PAGE_MAX).await?;
        looked_at += queued.len();
        let is_last = queued.len() < PAGE_MAX;
        last = queued.last().map_or(last, |last| last.id);
        found.extend(queued.iter().map(|queued| {
            (Place { number: nanos(queued.due_at), within: queued.id }, of_delivery(deliveries::seen(queued)))
        }));
        if is_last {
            break;
        }
    }
    found.retain(|(place, hit)| (from == Place::START || *place < from) && wanted.takes(hit));
    found.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    Ok(Batch { found, next: None, looked_at, back_to: None })
}

fn of_delivery(delivery: deliveries::Delivery) -> SearchHit {
    SearchHit {
        kind: SearchKind::Delivery,
        at: delivery.due_at,
        agent: delivery.agent,
        who: String::new(),
        about: format!("to {}, {} of {} attempts made", delivery.to, delivery.attempts, delivery.attempts_max),
        outcome: delivery.state,
        via: Some(delivery.of),
        task: delivery.task,
        conversation: None,
        request: None,
        state: None,
    }
}

/// A moment as a number, which is what places are made of. What is before 1970 is nothing of ours.
fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond().max(0)).unwrap_or(u64::MAX)
}
