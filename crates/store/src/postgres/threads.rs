//! This module reads and writes conversations, routes, claims and streams in PostgreSQL.

use forecourt_core::store::{Conversation, ConversationAppend, ConversationVersion, LedgerEntry, Span, cost};
use forecourt_core::{Account, Handle, StoreError, Timestamp};
use tokio_postgres::Row;

use super::answer::NOT_SO;
use super::call::{Call, Param, Subject};
use super::read::{any_text, column, number};
use super::{LeaseClock, Postgres};
use crate::limits::THREAD_BYTES_MAX;
use crate::seal::{Hash, OVERHEAD};
use crate::sealed::ledger::NewEntry;
use crate::sealed::threads::{SealedAddition, ThreadName};
use crate::sealed::{Holder, cost_of, ledger, routes, signed};
use crate::time::{count, moment, nanos};

impl Postgres {
    pub(super) async fn add_turns(
        &self,
        name: ThreadName,
        addition: ConversationAppend,
    ) -> Result<Option<ConversationVersion>, StoreError> {
        let SealedAddition { owner, holder, turns, keep, expires_at } = name.seal(&self.seal, addition)?;
        self.has_room(cost_of(&turns)).await?;
        let claim = self.strangers.claim(self, &holder, cost_of(&turns)).await?;
        let agent = name.agent.as_str().to_owned();
        let params: [Param; 10] = [
            name.hash.into(),
            agent.clone().into(),
            owner.map(String::into_bytes).into(),
            nanos(expires_at).into(),
            turns.into(),
            count(keep).into(),
            count(OVERHEAD).into(),
            count(THREAD_BYTES_MAX).into(),
            holder.account.into(),
            self.caller_max(),
        ];
        let subject = Subject::Thread(name.hash, agent);
        // Not repeatable: after a commit whose answer was lost, the turns could be appended twice.
        let added = self.writer.write(Call::new("append_turns_1", subject, holder, params)).await?;
        if added.code == NOT_SO {
            return Ok(None);
        }
        let last_turn = claim.done(added.done(self.bounds()))?;
        Ok(Some(ConversationVersion { last_turn, expires_at: moment(nanos(expires_at)) }))
    }

    pub(super) async fn read_thread(
        &self,
        name: ThreadName,
        now: Timestamp,
    ) -> Result<Option<Conversation>, StoreError> {
        let sql = "SELECT c.owner, c.expires_at, t.n, t.body
             FROM forecourt.threads c LEFT JOIN forecourt.turns t ON t.thread = c.id
             WHERE c.hash = $1 AND c.agent = $2 AND c.expires_at > $3 ORDER BY t.n";
        let rows = self.read(sql, &named(&name, now).each_ref().map(Param::typed)).await?;
        let Some(first) = rows.first() else { return Ok(None) };
        let (owner, expires_at) = (any_text(first, 0)?, moment(column(first, 1)?));
        let (mut turns, mut last_turn) = (Vec::new(), 0);
        for row in &rows {
            if let Some(sealed) = column::<Option<Vec<u8>>>(row, 3)? {
                last_turn = number(row, 2)?;
                turns.push(name.open(&self.seal, sealed)?);
            }
        }
        Ok(Some(Conversation { owner, turns, version: ConversationVersion { last_turn, expires_at } }))
    }

    pub(super) async fn read_version(
        &self,
        name: ThreadName,
        now: Timestamp,
    ) -> Result<Option<ConversationVersion>, StoreError> {
        let sql = "SELECT coalesce((SELECT max(n) FROM forecourt.turns WHERE thread = c.id), 0), c.expires_at
             FROM forecourt.threads c WHERE c.hash = $1 AND c.agent = $2 AND c.expires_at > $3";
        let rows = self.read(sql, &named(&name, now).each_ref().map(Param::typed)).await?;
        let version =
            |row: &Row| Ok(ConversationVersion { last_turn: number(row, 0)?, expires_at: moment(column(row, 1)?) });
        rows.first().map(version).transpose()
    }

    pub(super) async fn put_route(
        &self,
        thread: Hash,
        agent: Handle,
        expires_at: Timestamp,
        account: Account,
    ) -> Result<(), StoreError> {
        let body = routes::seal(&self.seal, &thread, &agent)?;
        let (bytes, holder) = (cost(body.len()), Holder::new(&self.seal, &account));
        self.has_room(bytes).await?;
        let claim = self.strangers.claim(self, &holder, bytes).await?;
        let params: [Param; 6] = [
            thread.into(),
            nanos(expires_at).into(),
            body.into(),
            holder.account.into(),
            signed(bytes).into(),
            self.caller_max(),
        ];
        let set =
            self.writer.write(Call::new("set_route_1", Subject::Route(thread), holder, params).repeatable()).await?;
        claim.done(set.done(self.bounds())).map(drop)
    }

    pub(super) async fn read_route(&self, thread: Hash, now: Timestamp) -> Result<Option<Handle>, StoreError> {
        let sql = "SELECT body FROM forecourt.routes WHERE hash = $1 AND expires_at > $2";
        let params = [Param::from(thread), nanos(now).into()];
        let rows = self.read(sql, &params.each_ref().map(Param::typed)).await?;
        rows.first().map(|row| routes::open(&self.seal, &thread, column(row, 0)?)).transpose()
    }

    pub(super) async fn claim_key(&self, key: Hash, now: Timestamp, expires_at: Timestamp) -> Result<bool, StoreError> {
        let now = (self.options.lease_clock == LeaseClock::Caller).then(|| nanos(now));
        let params: [Param; 3] = [key.into(), now.into(), nanos(expires_at).into()];
        // Not repeatable: after a commit whose answer was lost, the key would be taken, and its own claimant refused.
        let claimed = self.writer.write(Call::new("claim_once_3", Subject::Claim(key), Holder::HOST, params)).await?;
        Ok(claimed.done(self.bounds())? == 1)
    }

    pub(super) async fn add_entry(
        &self,
        stream: Hash,
        entry: LedgerEntry,
        last: Option<u64>,
    ) -> Result<Option<u64>, StoreError> {
        let NewEntry { stream, at, expires_at, body, holder } = NewEntry::new(&self.seal, stream, &entry)?;
        let bytes = cost(body.len());
        self.has_room(bytes).await?;
        let claim = self.strangers.claim(self, &holder, bytes).await?;
        let params: [Param; 8] = [
            stream.into(),
            last.map(|last| i64::try_from(last).unwrap_or(i64::MAX)).into(),
            nanos(at).into(),
            expires_at.map(nanos).into(),
            body.into(),
            holder.account.into(),
            signed(bytes).into(),
            self.caller_max(),
        ];
        // Not repeatable, as in `add_turns`.
        let added = self.writer.write(Call::new("append_entry_1", Subject::Stream(stream), holder, params)).await?;
        if added.code == NOT_SO { Ok(None) } else { claim.done(added.done(self.bounds())).map(Some) }
    }

    pub(super) async fn read_entries(
        &self,
        stream: Hash,
        span: Span,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<(u64, LedgerEntry)>, StoreError> {
        let (comparison, order, n) = match span {
            Span::After(n) => (">", "", n),
            Span::Before(n) => ("<", "DESC", n),
        };
        let sql = format!(
            "SELECT e.n, e.at, e.expires_at, e.body FROM forecourt.streams s JOIN forecourt.entries e ON e.stream = s.id
             WHERE s.hash = $1 AND e.n {comparison} $2 AND (e.expires_at IS NULL OR e.expires_at > $3)
             ORDER BY e.n {order} LIMIT $4"
        );
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        let params = [Param::from(stream), n.into(), nanos(now).into(), count(limit).into()];
        let rows = self.read(&sql, &params.each_ref().map(Param::typed)).await?;
        let open = |row: &Row| {
            let entry = ledger::open(&self.seal, &stream, column(row, 1)?, column(row, 2)?, column(row, 3)?)?;
            Ok((number(row, 0)?, entry))
        };
        rows.iter().map(open).collect()
    }

    /// Whether an account has room for so many bytes more.
    pub(super) async fn account_room(&self, account: Account, bytes: u64) -> Result<(), StoreError> {
        let holder = Holder::new(&self.seal, &account);
        drop(self.strangers.claim(self, &holder, bytes).await?);
        if let Some(account) = holder.account {
            let params = [Param::from(account)];
            let sql = "SELECT bytes FROM forecourt.accounts WHERE hash = $1";
            let rows = self.read(sql, &params.each_ref().map(Param::typed)).await?;
            let stored = rows.first().map_or(Ok(0), |row| number(row, 0))?;
            let max = self.options.callers.caller;
            if stored.saturating_add(bytes) > max {
                return Err(StoreError::Full { bound: forecourt_core::QuotaBound::Caller { max } });
            }
        }
        self.has_room(bytes).await
    }
}

fn named(name: &ThreadName, now: Timestamp) -> [Param; 3] {
    [name.hash.into(), name.agent.as_str().into(), nanos(now).into()]
}
