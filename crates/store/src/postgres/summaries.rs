//! This module has tasks and conversations as their operator searches them, in PostgreSQL: rows without what is sealed in
//! them.

use forecourt_core::{StoreError, TaskState, Timestamp};
use tokio_postgres::Row;

use super::Postgres;
use super::call::Param;
use super::read::{any_text, column, hash_column, number};
use super::reads::handle;
use crate::reads::{ConversationPlace, ConversationSummary, TaskSummary, name_of};
use crate::sealed::corrupt;
use crate::time::{count, moment, nanos};

/// By their numbers, which go by time, so that it needs no index.
const TASKS: &str = "SELECT id, hash, agent, owner, thread, state, run, created_at, updated_at FROM forecourt.tasks
    WHERE id < $1 AND expires_at > $2 ORDER BY id DESC LIMIT $3";
/// In the order of `threads_by_expiry`.
const CONVERSATIONS: &str = "SELECT id, hash, agent, owner, expires_at,
        (SELECT count(*) FROM forecourt.turns u WHERE u.thread = t.id)
    FROM forecourt.threads t WHERE expires_at <= $1 AND (expires_at < $1 OR id < $2) AND expires_at > $3
    ORDER BY expires_at DESC, id DESC LIMIT $4";

impl Postgres {
    pub(super) async fn summed_up_tasks(
        &self,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<TaskSummary>, StoreError> {
        let params = [Param::from(signed(before)), nanos(now).into(), count(limit).into()];
        let rows = self.read(TASKS, &params.each_ref().map(Param::typed)).await?;
        rows.iter().map(task).collect()
    }

    pub(super) async fn summed_up_conversations(
        &self,
        place: ConversationPlace,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<ConversationSummary>, StoreError> {
        let behind = (nanos(place.expires_at), signed(place.number));
        let params = [Param::from(behind.0), behind.1.into(), nanos(now).into(), count(limit).into()];
        let rows = self.read(CONVERSATIONS, &params.each_ref().map(Param::typed)).await?;
        rows.iter().map(conversation).collect()
    }
}

fn task(row: &Row) -> Result<TaskSummary, StoreError> {
    let thread: Option<&[u8]> = column(row, 4)?;
    Ok(TaskSummary {
        number: number(row, 0)?,
        task: name_of(&hash_column(row, 1)?),
        conversation: thread.map(name_of),
        agent: handle(column(row, 2)?)?,
        owner: any_text(row, 3)?,
        state: TaskState::from_name(column(row, 5)?).ok_or_else(|| corrupt("a task is in no known state"))?,
        run: column(row, 6)?,
        created_at: moment(column(row, 7)?),
        updated_at: moment(column(row, 8)?),
    })
}

fn conversation(row: &Row) -> Result<ConversationSummary, StoreError> {
    Ok(ConversationSummary {
        number: number(row, 0)?,
        conversation: name_of(&hash_column(row, 1)?),
        agent: handle(column(row, 2)?)?,
        owner: any_text(row, 3)?,
        turns: number(row, 5)?,
        expires_at: moment(column(row, 4)?),
    })
}

/// A number as PostgreSQL counts.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
