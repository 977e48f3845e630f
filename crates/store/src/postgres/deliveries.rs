//! This module reads and writes artifacts, webhooks and deliveries in PostgreSQL.

use forecourt_core::store::{Delivery, IfTaskEnded, Notification, StoredArtifact, Webhook, WebhookRegistration, cost};
use forecourt_core::{StoreError, TaskState, Timestamp};
use tokio_postgres::Row;

use super::answer::{ENDED, NO_TASK, TOO_MANY};
use super::call::{Call, Param, Subject};
use super::read::column;
use super::tasks::sealed_task;
use super::{LeaseClock, Postgres};
use crate::seal::{Hash, hash};
use crate::sealed::artifacts::{self, NewArtifact};
use crate::sealed::deliveries::SealedDelivery;
use crate::sealed::webhooks::{self, NewNotice, NewWebhook};
use crate::sealed::{Holder, cost_of, signed};
use crate::time::{count, nanos};

/// The longest lease, in nanoseconds: ten years, so that sums stay in range.
const LEASE_MAX: i64 = 10 * 365 * 24 * 3600 * 1_000_000_000;

/// Takes what is due, the longest due first, and hides it for the length of the lease. `SKIP LOCKED`: a node passes
/// over what another node is taking, and does not wait for it.
const CLAIM: &str = "
    WITH clock AS (
        SELECT CASE WHEN $4 THEN (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint ELSE $1 END AS at
    ), due AS (
        SELECT d.id, CASE WHEN d.claimed THEN d.lease_until ELSE d.due_at END AS since
        FROM forecourt.deliveries d LEFT JOIN forecourt.tasks t ON t.id = d.task
        WHERE ((NOT d.claimed AND d.due_at <= $1)
            OR (d.claimed AND d.lease_until <= (SELECT at FROM clock)))
          AND coalesce(d.expires_at, t.expires_at) > $1
        ORDER BY since, d.id LIMIT $3 FOR UPDATE OF d SKIP LOCKED
    ), taken AS (
        UPDATE forecourt.deliveries d
        SET claimed = true, lease_until = (SELECT at FROM clock) + $2, attempts = d.attempts + 1
        FROM due WHERE d.id = due.id
        RETURNING d.*, due.since
    )
    SELECT t.hash, t.agent, t.owner, t.run, t.created_at, t.expires_at, t.body, taken.state, taken.settled_at,
           CASE WHEN taken.own THEN taken.outcome ELSE t.outcome END,
           taken.id, taken.attempts - 1, w.body, taken.notice
    FROM taken LEFT JOIN forecourt.tasks t ON t.id = taken.task
         LEFT JOIN forecourt.webhooks w ON w.task = taken.task AND w.n = taken.webhook
    ORDER BY taken.since, taken.id";

const PUT_OFF: &str = "
    UPDATE forecourt.deliveries
    SET due_at = $2, claimed = false, lease_until = NULL, attempts = greatest(attempts - 1, 0)
    WHERE id = $1 AND claimed";

fn sealed_delivery(row: &Row) -> Result<SealedDelivery, StoreError> {
    let (id, attempts) = (column(row, 10)?, column::<i64>(row, 11)?);
    let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    match column(row, 13)? {
        Some(webhook) => Ok(SealedDelivery { id, attempts, webhook, task: None }),
        None => Ok(SealedDelivery { id, attempts, webhook: column(row, 12)?, task: Some(sealed_task(row)?) }),
    }
}

impl Postgres {
    pub(super) async fn keep_artifact(
        &self,
        task: Hash,
        run: String,
        artifact: StoredArtifact,
    ) -> Result<(), StoreError> {
        let unavailable = |what: &str| StoreError::Unavailable(what.to_owned());
        let _permit = self.artifact_writes.acquire().await.map_err(|_| unavailable("the store is closed"))?;
        let seal = std::sync::Arc::clone(&self.seal);
        // Sealing megabytes takes milliseconds, in which a thread of the runtime would serve nobody else.
        let sealing = tokio::task::spawn_blocking(move || NewArtifact::new(&seal, task, artifact));
        let artifact = sealing.await.map_err(|_| unavailable("the artifact was not sealed"))??;
        let bytes = cost_of([&artifact.body, &artifact.bytes]);
        self.answer_room(&task, bytes).await?;
        let params: [Param; 9] = [
            task.into(),
            run.into(),
            artifact.hash.into(),
            artifact.size.into(),
            artifact.body.into(),
            artifact.bytes.into(),
            signed(bytes).into(),
            self.caller_max(),
            signed(self.options.artifacts_bytes_max).into(),
        ];
        // In a transaction of its own: all artifacts share one row with their sum, and a batch would hold its lock for
        // long.
        let put = self
            .writer
            .write_alone(Call::new("put_artifact_4", self.subject(task), Holder::HOST, params).repeatable())
            .await?;
        if put.code == NO_TASK { Ok(()) } else { put.done(self.bounds()).map(drop) }
    }

    pub(super) async fn read_artifact(
        &self,
        task: Hash,
        id: Hash,
        now: Timestamp,
    ) -> Result<Option<StoredArtifact>, StoreError> {
        let sql = "SELECT a.body, a.bytes FROM forecourt.tasks t JOIN forecourt.artifacts a ON a.task = t.id
             WHERE t.hash = $1 AND a.hash = $2 AND t.expires_at > $3";
        let params = [Param::from(task), id.into(), nanos(now).into()];
        let rows = self.read(sql, &params.each_ref().map(Param::typed)).await?;
        let open = |row: &Row| artifacts::open(&self.seal, &task, &id, column(row, 0)?, column(row, 1)?);
        rows.first().map(open).transpose()
    }

    pub(super) async fn register(
        &self,
        task: Hash,
        webhook: Webhook,
        limit: usize,
        at_end: IfTaskEnded,
    ) -> Result<WebhookRegistration, StoreError> {
        let NewWebhook { hash, body } = NewWebhook::new(&self.seal, &task, &webhook)?;
        let bytes = cost(body.len());
        self.has_room(bytes).await?;
        let states = TaskState::ALL.into_iter().filter(|state| state.is_final());
        let states: Vec<String> = states.map(|state| state.name().to_owned()).collect();
        let params: [Param; 9] = [
            task.into(),
            hash.into(),
            body.into(),
            signed(bytes).into(),
            self.caller_max(),
            count(limit).into(),
            self.pending_max(),
            states.into(),
            (at_end == IfTaskEnded::Tell).into(),
        ];
        let added = self.writer.write(Call::new("add_webhook_1", self.subject(task), Holder::HOST, params)).await?;
        match added.code {
            NO_TASK => Ok(WebhookRegistration::NoTask),
            TOO_MANY => Ok(WebhookRegistration::TooMany),
            ENDED => Ok(WebhookRegistration::Ended),
            _ => added.done(self.bounds()).map(|_| WebhookRegistration::Yes),
        }
    }

    pub(super) async fn read_webhooks(&self, task: Hash) -> Result<Vec<Webhook>, StoreError> {
        let sql = "SELECT w.body FROM forecourt.tasks t JOIN forecourt.webhooks w ON w.task = t.id
             WHERE t.hash = $1 ORDER BY w.n";
        let params = [Param::from(task)];
        let rows = self.read(sql, &params.each_ref().map(Param::typed)).await?;
        rows.iter().map(|row| webhooks::open(&self.seal, &task, column(row, 0)?)).collect()
    }

    pub(super) async fn unregister(&self, task: Hash, id: &str) -> Result<bool, StoreError> {
        let params: [Param; 2] = [task.into(), hash(id).into()];
        let removed =
            self.writer.write(Call::new("remove_webhook_1", self.subject(task), Holder::HOST, params)).await?;
        Ok(removed.done(self.bounds())? > 0)
    }

    pub(super) async fn queue_notice(&self, notice: Notification) -> Result<(), StoreError> {
        let NewNotice { body, holder, due_at, expires_at } = NewNotice::new(&self.seal, &notice)?;
        let bytes = cost(body.len());
        self.has_room(bytes).await?;
        let claim = self.strangers.claim(self, &holder, bytes).await?;
        let params: [Param; 7] = [
            body.into(),
            nanos(due_at).into(),
            nanos(expires_at).into(),
            holder.account.into(),
            signed(bytes).into(),
            self.caller_max(),
            self.pending_max(),
        ];
        let queued = self.writer.write(Call::new("enqueue_1", Subject::New, holder, params)).await?;
        claim.done(queued.done(self.bounds())).map(drop)
    }

    /// Claims deliveries. The caller's clock gives the length of the lease, and the database's its beginning: clocks of
    /// nodes that are apart must not free each other's claims.
    pub(super) async fn claim_due(
        &self,
        now: Timestamp,
        lease: Timestamp,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let length = nanos(lease).saturating_sub(nanos(now)).clamp(0, LEASE_MAX);
        let by_database = self.options.lease_clock == LeaseClock::Database;
        let params = [Param::from(nanos(now)), length.into(), count(limit).into(), by_database.into()];
        let rows = self.take(CLAIM, &params.each_ref().map(Param::typed)).await?;
        rows.iter().map(|row| sealed_delivery(row)?.open(&self.seal)).collect()
    }

    /// Takes back that an attempt was made. Not repeated: another node may have taken it by the second time.
    pub(super) async fn put_off(&self, id: u64, until: Timestamp) -> Result<(), StoreError> {
        let params = [Param::from(i64::try_from(id).unwrap_or(i64::MAX)), nanos(until).into()];
        self.take(PUT_OFF, &params.each_ref().map(Param::typed)).await.map(drop)
    }

    pub(super) async fn end_delivery(&self, id: u64, retry_at: Option<Timestamp>) -> Result<(), StoreError> {
        let id = i64::try_from(id).unwrap_or(i64::MAX);
        let params: [Param; 2] = [id.into(), retry_at.map(nanos).into()];
        let call = Call::new("settle_delivery_1", Subject::Delivery(id), Holder::HOST, params);
        // Deleting twice is deleting once. A delivery that was made due again may be claimed by another node by the
        // second time, and would be taken away from it.
        let settled = self.writer.write(if retry_at.is_none() { call.repeatable() } else { call }).await?;
        settled.done(self.bounds()).map(drop)
    }
}
