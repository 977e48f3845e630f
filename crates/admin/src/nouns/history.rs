//! What happened around a task: its requests with their trace, refusals and steps of consents and payments by which it
//! came about, what models used for it, posts that tell of it, and tasks beside it.

use std::collections::HashSet;
use std::time::Duration;

use forecourt_audit::{AUDIT_STREAM, AuditRecord};
use forecourt_core::clock::after;
use forecourt_core::store::{Span, TaskFilter, number_at};
use forecourt_core::{Event, Task, Timestamp};
use forecourt_host::TaskPermit;
use forecourt_issuance::HoldingFilter;
use forecourt_store::{conversation_reference, reference};
use schemars::JsonSchema;
use serde::Serialize;

use super::deliveries::{self, Delivery};
use super::search::{SearchHit, of_holding, of_record};
use super::tasks::{self, TaskLine};
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::{
    DELIVERIES_LOOKED_AT_MAX, EVENTS_MAX, HISTORY_LOOKED_AT_MAX, HISTORY_TOLD_MAX, PAGE_MAX, WHO_CHARS_MAX,
};

/// How long before its task somebody may have been asked for a consent or a payment.
const BEFORE: Duration = Duration::from_secs(60 * 60);
/// How long after its last change something may be written down of a task.
const BEHIND: Duration = Duration::from_secs(2 * 60);
/// Entries of the audit that are read in one go.
const ENTRIES_PER_READ: usize = 100;

/// What happened around a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskHistory {
    /// The task.
    pub task: TaskLine,
    /// The trace of the request that began it, where requests are traced: by it, lines of the access log and spans of a
    /// collector are found.
    pub trace: Option<String>,
    /// The ids of its messages, by which records are found.
    pub requests: Vec<String>,
    /// What its conversation is called here. Opens nothing.
    pub conversation: Option<String>,
    /// Refusals, and steps of the consents and payments that let it through; the first one first.
    pub records: Vec<SearchHit>,
    /// What models used for it.
    pub usage: Vec<SearchHit>,
    /// The consents and payments that were used for it.
    pub holdings: Vec<SearchHit>,
    /// Posts that tell of it and wait.
    pub deliveries: Vec<Delivery>,
    /// Tasks that it goes on as, and others of its conversation and caller.
    pub related: Vec<RelatedTask>,
    /// Whether everything that may belong to it was looked at: a very busy hour is looked at in part.
    pub is_whole: bool,
}

/// A task beside another one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RelatedTask {
    /// `goes_on_as`, or `same_conversation`.
    pub relation: String,
    /// The task.
    #[serde(flatten)]
    pub task: TaskLine,
}

pub(crate) async fn one(ask: Ask) -> Result<TaskHistory, ApiError> {
    let permit = tasks::permit(&ask).await?;
    let _place = ask.desk.place()?;
    let task = permit.task().clone();
    let requests: Vec<String> = task.turns.iter().filter_map(|turn| turn.id.clone()).collect();
    let found = recorded(&ask, &task).await?;
    let (mut records, mut usage) = (Vec::new(), Vec::new());
    for record in found.records {
        let hit = of_record(record);
        if hit.kind == super::search::SearchKind::Usage { usage.push(hit) } else { records.push(hit) }
    }
    Ok(TaskHistory {
        trace: task.trace.clone(),
        conversation: task.thread.as_ref().map(conversation_reference),
        holdings: held(&ask, &task, &found.states).await?,
        deliveries: telling(&ask, &reference(&task.id)).await?,
        related: related(&ask, &permit).await?,
        task: tasks::line(&task),
        requests,
        records,
        usage,
        is_whole: found.is_whole,
    })
}

/// What the audit has of a task.
struct TaskRecords {
    /// The first one first.
    records: Vec<AuditRecord>,
    /// The issuances among them.
    states: HashSet<String>,
    is_whole: bool,
}

/// The records of its requests, and of the issuances that these name.
async fn recorded(ask: &Ask, task: &Task) -> Result<TaskRecords, ApiError> {
    let own = TaskOrigin::of(task);
    let now = ask.now();
    let since = task.created_at.checked_sub(BEFORE).unwrap_or(Timestamp::MIN);
    let mut before = number_at(&*ask.desk.reads, AUDIT_STREAM, after(task.updated_at, BEHIND), now).await?;
    let (mut kept, mut looked_at, mut is_whole) = (Vec::new(), 0, false);
    while looked_at < HISTORY_LOOKED_AT_MAX {
        let entries = ask.desk.reads.entries(AUDIT_STREAM, Span::Before(before), ENTRIES_PER_READ, now).await?;
        is_whole = entries.len() < ENTRIES_PER_READ || entries.last().is_some_and(|(_, entry)| entry.at < since);
        for (number, entry) in entries {
            before = number;
            let batch: Vec<AuditRecord> = serde_json::from_value(entry.body).unwrap_or_default();
            looked_at += batch.len().max(1);
            // Other people's records of this hour are let go of at once, but for those that a state may lead to.
            let may_belong =
                |record: &AuditRecord| record.agent == task.agent && (record.state.is_some() || own.is_of(record));
            kept.extend(batch.into_iter().rev().filter(may_belong));
        }
        if is_whole {
            break;
        }
    }
    let named = kept.iter().filter(|record| own.is_of(record)).filter_map(|record| record.state.clone());
    let states: HashSet<String> = named.collect();
    kept.retain(|record| own.is_of(record) || record.state.as_ref().is_some_and(|state| states.contains(state)));
    kept.reverse();
    kept.truncate(HISTORY_TOLD_MAX);
    Ok(TaskRecords { records: kept, states, is_whole })
}

/// By what records of a task's own requests are known. An id of a request alone is not enough: callers choose it.
struct TaskOrigin<'a> {
    requests: HashSet<&'a str>,
    via: &'a str,
    /// As records have it; none where nobody proved who they are.
    who: Option<String>,
}

impl<'a> TaskOrigin<'a> {
    fn of(task: &'a Task) -> Self {
        Self {
            requests: task.turns.iter().filter_map(|turn| turn.id.as_deref()).collect(),
            via: &task.received_via,
            who: task.owner.as_ref().map(|owner| owner.chars().take(WHO_CHARS_MAX).collect()),
        }
    }

    fn is_of(&self, record: &AuditRecord) -> bool {
        let AuditRecord { origin, who, .. } = record;
        origin.request.as_deref().is_some_and(|request| self.requests.contains(request))
            // Records of earlier versions do not say it.
            && origin.transport.as_deref().is_none_or(|via| via == self.via)
            && self.who.as_ref().is_none_or(|own| own == who)
    }
}

/// The consents and payments of these issuances.
async fn held(ask: &Ask, task: &Task, states: &HashSet<String>) -> Result<Vec<SearchHit>, ApiError> {
    let mut found = Vec::new();
    for payments in [false, true] {
        if states.is_empty() {
            break;
        }
        let filter = HoldingFilter {
            payments,
            agent: Some(task.agent.as_str()),
            since: task.created_at.checked_sub(BEFORE).ok(),
            until: Some(after(task.updated_at, BEHIND)),
            ..HoldingFilter::default()
        };
        let listed = ask.house.host.listed_holdings(filter, u64::MAX, PAGE_MAX).await?.listed;
        found.extend(listed.into_iter().filter(|held| states.contains(&held.state)).map(of_holding));
    }
    Ok(found)
}

/// Posts that tell of a task and wait.
async fn telling(ask: &Ask, task: &str) -> Result<Vec<Delivery>, ApiError> {
    let (mut found, mut looked_at, mut last) = (Vec::new(), 0, 0);
    while looked_at < DELIVERIES_LOOKED_AT_MAX {
        let queued = ask.desk.reads.deliveries(last, PAGE_MAX).await?;
        found.extend(queued.iter().filter(|of| of.task.as_deref() == Some(task)).map(deliveries::seen));
        looked_at += queued.len();
        match queued.last().filter(|_| queued.len() == PAGE_MAX) {
            Some(queued) => last = queued.id,
            None => break,
        }
    }
    Ok(found)
}

async fn related(ask: &Ask, permit: &TaskPermit) -> Result<Vec<RelatedTask>, ApiError> {
    let (task, now) = (permit.task(), ask.now());
    let mut all = Vec::new();
    for (_, event) in permit.events(0, EVENTS_MAX).await? {
        let Event::Task(id) = event else { continue };
        let found = ask.desk.reads.task_by_reference(&reference(&id), now).await?;
        all.extend(found.map(|task| RelatedTask { relation: "goes_on_as".to_owned(), task: tasks::line(&task) }));
    }
    if let Some(thread) = &task.thread {
        let (owner, threads) = (task.owner.clone(), vec![thread.clone()]);
        let filter = TaskFilter { owner, threads, limit: HISTORY_TOLD_MAX, ..TaskFilter::default() };
        let others = ask.desk.reads.tasks(filter, now).await?.tasks;
        let beside = |task: &Task| RelatedTask { relation: "same_conversation".to_owned(), task: tasks::line(task) };
        all.extend(others.iter().filter(|other| other.id != task.id).map(beside));
    }
    all.truncate(HISTORY_TOLD_MAX);
    Ok(all)
}
