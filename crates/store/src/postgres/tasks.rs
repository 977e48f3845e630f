//! This module reads and writes tasks in PostgreSQL.

use forecourt_core::limits::WEBHOOKS_PER_TASK_MAX;
use forecourt_core::store::{Cursor, TaskChange, TaskFilter, TaskPage, Webhook, cost};
use forecourt_core::{Event, StoreError, Task, TaskId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::answer::{DONE, LOOK_AGAIN, NO_TASK, NOT_SO};
use super::batch::{TaskStep, TaskWrite};
use super::call::{Call, Param, Subject};
use super::known::{KnownTask, Payer};
use super::read::{any_text, column, hash_column, number};
use super::{Postgres, answer};
use crate::limits::POSTGRES_BATCHED_BYTES_MAX;
use crate::seal::{Hash, hash};
use crate::sealed::tasks::{self, Move, NewTask, SealedTask};
use crate::sealed::webhooks::{NewWebhook, cost_of_all};
use crate::sealed::{self, Holder, cost_of, is_free, signed};
use crate::time::{count, moment, nanos};

/// The columns of [`sealed_task`], in its order.
pub(super) const COLUMNS: &str =
    "t.hash, t.agent, t.owner, t.run, t.created_at, t.expires_at, t.body, t.state, t.updated_at, t.outcome";
/// How often a move is sealed again because another event was logged in between.
const GUESSES_MAX: usize = 8;

/// A row of [`COLUMNS`].
pub(super) fn sealed_task(row: &Row) -> Result<SealedTask, StoreError> {
    Ok(SealedTask {
        hash: hash_column(row, 0)?,
        agent: column(row, 1)?,
        owner: any_text(row, 2)?,
        run: column(row, 3)?,
        created_at: column(row, 4)?,
        expires_at: column(row, 5)?,
        body: column(row, 6)?,
        state: column(row, 7)?,
        updated_at: column(row, 8)?,
        outcome: column(row, 9)?,
    })
}

/// Webhooks as two lists: their names, and what is sealed of them.
fn lists(webhooks: &[NewWebhook]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    webhooks.iter().map(|webhook| (webhook.hash.to_vec(), webhook.body.clone())).unzip()
}

impl Postgres {
    pub(super) fn bounds(&self) -> answer::Bounds {
        answer::Bounds {
            caller: self.options.callers.caller,
            pending: self.options.deliveries_pending_max,
            artifacts: self.options.artifacts_bytes_max,
        }
    }

    /// The bound of one caller, as it is bound to a parameter.
    pub(super) fn caller_max(&self) -> Param {
        signed(self.options.callers.caller).into()
    }

    pub(super) fn pending_max(&self) -> Param {
        count(self.options.deliveries_pending_max).into()
    }

    /// A task as the subject of a call.
    pub(super) fn subject(&self, task: Hash) -> Subject {
        Subject::Task(task, self.known.of(&task).payer != Payer::Host)
    }

    pub(super) async fn make_task(&self, task: Task, webhooks: Vec<Webhook>) -> Result<(), StoreError> {
        let new = NewTask::new(&self.seal, task, &webhooks)?;
        let (hash, payer) = (new.hash, Payer::from(new.holder));
        let (bytes, room) = (cost_of(new.outcome.iter().chain([&new.body])), new.cost());
        let is_charged = new.holder.account.is_some() && !new.state.is_settled();
        let reserved = if is_charged { self.options.callers.answer() } else { 0 };
        self.has_room(room + reserved).await?;
        let claim = self.strangers.claim(self, &new.holder, room + reserved).await?;
        let made = self.writer.write(self.creation(new, bytes, room, reserved)).await?;
        claim.done(made.done(self.bounds()))?;
        self.known.put(hash, KnownTask { last: 0, payer, reserved });
        Ok(())
    }

    /// The call that makes a task: one row of a batch where it is small and has no webhooks, else a function of its
    /// own.
    fn creation(&self, new: NewTask, bytes: u64, room: u64, reserved: u64) -> Call {
        if new.webhooks.is_empty() && bytes <= POSTGRES_BATCHED_BYTES_MAX {
            let step = TaskStep::Create {
                agent: new.agent,
                owner: new.owner.map(String::into_bytes),
                thread: new.thread,
                state: new.state,
                created_at: new.created_at,
                updated_at: new.updated_at,
                expires_at: new.expires_at,
                body: new.body,
                outcome: new.outcome,
            };
            return self.task_write(new.hash, new.run, new.holder, Some(room), step);
        }
        let (hooks, hook_bodies) = lists(&new.webhooks);
        let params: [Param; 20] = [
            new.hash.into(),
            new.agent.into(),
            new.owner.map(String::into_bytes).into(),
            new.thread.into(),
            new.state.name().into(),
            new.run.into(),
            new.created_at.into(),
            new.updated_at.into(),
            new.expires_at.into(),
            new.body.into(),
            new.outcome.into(),
            new.holder.account.into(),
            signed(bytes).into(),
            signed(room).into(),
            self.caller_max(),
            hooks.into(),
            hook_bodies.into(),
            count(WEBHOOKS_PER_TASK_MAX).into(),
            self.pending_max(),
            signed(reserved).into(),
        ];
        Call::new("create_task_4", Subject::Task(new.hash, false), new.holder, params).repeatable()
    }

    /// A write that is done together with others of its kind.
    fn task_write(&self, task: Hash, run: String, payer: Holder, room: Option<u64>, step: TaskStep) -> Call {
        let callers = &self.options.callers;
        let (room, max, reserve) = (room.map(signed), signed(callers.caller), signed(callers.answer()));
        Call::task(TaskWrite { task, run, payer, room, max, reserve, step })
    }

    pub(super) async fn log_events(
        &self,
        task: Hash,
        run: String,
        first: u64,
        events: Vec<Event>,
    ) -> Result<(), StoreError> {
        let sealed = sealed::events::seal_all(&self.seal, &task, first, &events)?;
        let bytes = cost_of(&sealed);
        self.answer_room(&task, bytes).await?;
        let first = i64::try_from(first).unwrap_or(i64::MAX);
        let call = match self.known.of(&task).payer.known() {
            Some(payer) if bytes <= POSTGRES_BATCHED_BYTES_MAX => {
                self.task_write(task, run, payer, Some(bytes), TaskStep::Append { first, events: sealed })
            }
            _ => {
                let params: [Param; 6] =
                    [task.into(), run.into(), first.into(), sealed.into(), signed(bytes).into(), self.caller_max()];
                Call::new("append_events_4", self.subject(task), Holder::HOST, params).repeatable()
            }
        };
        let logged = self.writer.write(call).await?;
        if logged.code == NO_TASK {
            return Ok(());
        }
        let last = logged.done(self.bounds())?;
        self.known.put_logged(task, last, bytes);
        Ok(())
    }

    pub(super) async fn move_task(&self, id: &TaskId, change: TaskChange) -> Result<bool, StoreError> {
        let task = hash(id.expose());
        let change = Move::new(&self.seal, id, change)?;
        // An ending with a short outcome is written over every bound: a task of a full account must still end.
        let is_bounded = change.resume.is_some() || !is_free(change.outcome.as_ref());
        let bytes = cost_of(change.outcome.as_ref()) + cost(change.resume_bytes) + cost_of_all(&change.webhooks);
        // A task that goes on reserves anew.
        let reserved = if change.resume.is_some() { self.options.callers.answer() } else { 0 };
        if is_bounded {
            self.answer_room(&task, bytes + reserved).await?;
        }
        let mut last = self.known.of(&task).last;
        for _ in 0..GUESSES_MAX {
            let moved = self
                .writer
                .write(self.advance(task, &change, last, is_bounded.then_some(bytes), reserved).await?)
                .await?;
            match moved.code {
                // The ending is sealed for its number. An event was written since the guess, so that it is sealed again
                // for the next one.
                LOOK_AGAIN => last = moved.n.unsigned_abs(),
                NO_TASK | NOT_SO => return Ok(false),
                _ => {
                    let last = moved.done(self.bounds())?;
                    if change.ending.is_some() {
                        self.known.put_last(task, last);
                    }
                    if change.resume.is_some() {
                        self.known.put_reserved(task, reserved);
                    }
                    return Ok(true);
                }
            }
        }
        Err(StoreError::Unavailable("a task changed all the time".to_owned()))
    }

    /// The call that moves a task whose last event is believed to be `last`: what it is sealed for.
    async fn advance(
        &self,
        task: Hash,
        change: &Move,
        last: u64,
        room: Option<u64>,
        reserved: u64,
    ) -> Result<Call, StoreError> {
        let ending = change.ending.clone().map(|ending| {
            let sealed = sealed::events::seal_all(&self.seal, &task, last + 1, &[Event::Ending(ending)]);
            sealed.map(|mut sealed| sealed.pop().unwrap_or_default())
        });
        let is_small = room.unwrap_or_default() <= POSTGRES_BATCHED_BYTES_MAX;
        let is_usual = change.resume.is_none() && !change.from.is_settled() && is_small;
        if let Some(payer) = self.known.of(&task).payer.known().filter(|_| is_usual) {
            let step = TaskStep::Move {
                from: change.from,
                to: change.to,
                at: change.at,
                outcome: change.outcome.clone(),
                ending: ending.transpose()?,
                last: signed(last),
            };
            return Ok(self.task_write(task, change.run.clone(), payer, room, step));
        }
        let (mut before, mut body) = (None, None);
        if let Some(resumption) = &change.resume
            && let Some(was) = self.task_body(&task).await?
        {
            body = Some(tasks::resumed(&self.seal, &task, was.clone(), resumption)?);
            before = Some(was);
        }
        let (hooks, hook_bodies) = lists(&change.webhooks);
        let resume = change.resume.as_ref();
        let params: [Param; 22] = [
            task.into(),
            change.from.name().into(),
            change.run.clone().into(),
            change.to.name().into(),
            change.at.into(),
            change.outcome.clone().into(),
            room.is_some().into(),
            signed(room.unwrap_or_default()).into(),
            self.caller_max(),
            ending.transpose()?.into(),
            signed(last).into(),
            resume.map(|resumption| resumption.run.clone()).into(),
            resume.map(|resumption| nanos(resumption.expires_at)).into(),
            before.into(),
            body.into(),
            hooks.into(),
            hook_bodies.into(),
            count(WEBHOOKS_PER_TASK_MAX).into(),
            self.pending_max(),
            change.from.is_settled().into(),
            change.to.is_settled().into(),
            signed(reserved).into(),
        ];
        Ok(Call::new("advance_task_4", self.subject(task), Holder::HOST, params).repeatable())
    }

    async fn task_body(&self, task: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT body FROM forecourt.tasks WHERE hash = $1";
        let rows = self.read(sql, &[(&&task[..], Type::BYTEA)]).await?;
        rows.first().map(|row| column(row, 0)).transpose()
    }

    pub(super) async fn find_task(&self, task: Hash, now: Timestamp) -> Result<Option<Task>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM forecourt.tasks t WHERE t.hash = $1 AND t.expires_at > $2");
        let rows = self.read(&sql, &[(&&task[..], Type::BYTEA), (&nanos(now), Type::INT8)]).await?;
        rows.first().map(|row| sealed_task(row)?.open(&self.seal)).transpose()
    }

    pub(super) async fn read_events(
        &self,
        task: Hash,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Event)>, StoreError> {
        let sql = "SELECT e.n, e.body FROM forecourt.tasks t JOIN forecourt.events e ON e.task = t.id
             WHERE t.hash = $1 AND e.n > $2 ORDER BY e.n LIMIT $3";
        let params = [Param::from(task), i64::try_from(after).unwrap_or(i64::MAX).into(), count(limit).into()];
        let rows = self.read(sql, &params.each_ref().map(Param::typed)).await?;
        let open = |row: &Row| {
            let n = number(row, 0)?;
            Ok((n, sealed::events::open(&self.seal, &task, n, column(row, 1)?)?))
        };
        rows.iter().map(open).collect()
    }

    pub(super) async fn last_number(&self, task: Hash) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce((SELECT max(n) FROM forecourt.events WHERE task = t.id), 0)
             FROM forecourt.tasks t WHERE t.hash = $1";
        let rows = self.read(sql, &[(&&task[..], Type::BYTEA)]).await?;
        rows.first().map_or(Ok(0), |row| number(row, 0))
    }

    pub(super) async fn find_orphans(&self, limit: usize) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM forecourt.tasks t WHERE t.state IN ('submitted', 'working')
             AND NOT EXISTS (SELECT 1 FROM forecourt.runs r WHERE r.run = t.run AND NOT r.ended) LIMIT $1"
        );
        let rows = self.read(&sql, &[(&count(limit), Type::INT8)]).await?;
        rows.iter().map(|row| sealed_task(row)?.open(&self.seal)).collect()
    }

    pub(super) async fn list_tasks(&self, filter: TaskFilter, now: Timestamp) -> Result<TaskPage, StoreError> {
        self.list(Conditions::of(&filter, now), &filter).await
    }

    /// The same of everybody.
    pub(super) async fn list_all_tasks(&self, filter: TaskFilter, now: Timestamp) -> Result<TaskPage, StoreError> {
        self.list(Conditions::of_all(&filter, now), &filter).await
    }

    async fn list(&self, mut conditions: Conditions, filter: &TaskFilter) -> Result<TaskPage, StoreError> {
        let total = format!("SELECT count(*) FROM forecourt.tasks t WHERE {}", conditions.text);
        let rows = self.read(&total, &conditions.params()).await?;
        let total = rows.first().map_or(Ok(0), |row| number(row, 0))?;
        if let Some(cursor) = filter.cursor {
            conditions.add_place(cursor);
        }
        // One more than is wanted, to know whether there is a next page.
        conditions.values.push(count(filter.limit.saturating_add(1)).into());
        let page = format!(
            "SELECT {COLUMNS}, t.id FROM forecourt.tasks t WHERE {}
             ORDER BY t.updated_at DESC, t.id DESC LIMIT ${}",
            conditions.text,
            conditions.values.len()
        );
        let mut rows = self.read(&page, &conditions.params()).await?;
        let more = rows.len() > filter.limit;
        rows.truncate(filter.limit);
        let cursor = |row: &Row| -> Result<Cursor, StoreError> {
            Ok(Cursor { updated_at: moment(column(row, 8)?), place: column(row, 10)? })
        };
        let next = rows.last().filter(|_| more).map(cursor).transpose()?;
        let tasks = rows.iter().map(|row| sealed_task(row)?.open(&self.seal)).collect::<Result<_, StoreError>>()?;
        Ok(TaskPage { tasks, next, total })
    }

    /// Calls a function that is about a run; its number.
    pub(super) async fn call_run(
        &self,
        function: &'static str,
        run: String,
        params: Vec<Param>,
    ) -> Result<u64, StoreError> {
        let answer = self.writer.write(Call::new(function, Subject::Run(run), Holder::HOST, params)).await?;
        debug_assert_eq!(answer.code, DONE);
        answer.done(self.bounds())
    }
}

/// Conditions in fixed text, and what is bound to them.
#[derive(Default)]
struct Conditions {
    text: String,
    values: Vec<Param>,
}

impl Conditions {
    /// What `filter` asks for, its cursor and limit aside.
    fn of(filter: &TaskFilter, now: Timestamp) -> Self {
        let mut all = Self::of_all(filter, now);
        match &filter.owner {
            Some(owner) => all.add("t.owner =", owner.clone().into_bytes()),
            None => all.text.push_str(" AND t.owner IS NULL"),
        }
        if !filter.threads.is_empty() {
            let hashes: Vec<Vec<u8>> = filter.threads.iter().map(|thread| hash(thread.key()).to_vec()).collect();
            all.values.push(hashes.into());
            all.text.push_str(&format!(" AND t.thread = ANY (${})", all.values.len()));
        }
        all
    }

    /// The same, whoever's they are.
    fn of_all(filter: &TaskFilter, now: Timestamp) -> Self {
        let mut all = Self { text: "t.expires_at > $1".to_owned(), values: vec![nanos(now).into()] };
        if let Some(agent) = &filter.agent {
            all.add("t.agent =", agent.as_str());
        }
        if let Some(state) = filter.state {
            all.add("t.state =", state.name());
        }
        if let Some(since) = filter.since {
            all.add("t.updated_at >=", nanos(since));
        }
        all
    }

    fn add(&mut self, condition: &str, value: impl Into<Param>) {
        self.values.push(value.into());
        self.text.push_str(&format!(" AND {condition} ${}", self.values.len()));
    }

    fn add_place(&mut self, cursor: Cursor) {
        self.values.extend([nanos(cursor.updated_at).into(), cursor.place.into()]);
        let n = self.values.len();
        self.text.push_str(&format!(" AND (t.updated_at, t.id) < (${}, ${n})", n - 1));
    }

    fn params(&self) -> Vec<(&(dyn tokio_postgres::types::ToSql + Sync), Type)> {
        self.values.iter().map(Param::typed).collect()
    }
}
