//! This module keeps pushed items in PostgreSQL.
//!
//! A change locks the head of its agent, so that revisions are committed in order: a node that has read up to one has
//! missed none before it.

use std::collections::HashMap;

use forecourt_core::store::StoreFuture;
use forecourt_core::{Handle, StoreError};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{IsolationLevel, Row, Transaction};

use super::Postgres;
use super::error::to_store_error;
use super::read::{column, number};
use crate::content::{
    ContentBounds, ContentChange, ContentChanged, ContentFull, ContentHead, ContentItem, ContentPage, ContentRow,
    ContentRows, PAGE_BYTES_MAX, PAGE_ROWS_MAX, RowPlace, epoch,
};
use crate::seal::{Hash, Label, Seal};

const BEGIN_HEAD: &str =
    "INSERT INTO forecourt.content_heads (agent, epoch, revision, ids, bytes) VALUES ($1, $2, 0, 0, 0)
     ON CONFLICT (agent) DO NOTHING";
const LOCK_HEAD: &str = "SELECT epoch, revision, ids, bytes FROM forecourt.content_heads WHERE agent = $1 FOR UPDATE";
const KNOWN: &str =
    "SELECT key, said, item_bytes, removed FROM forecourt.content_rows WHERE agent = $1 AND key = ANY($2)";
const PUT: &str = "INSERT INTO forecourt.content_rows (agent, key, revision, said, body, item_bytes, removed)
     SELECT $1, t.key, $2, t.said, t.body, t.item_bytes, $3
     FROM unnest($4, $5, $6, $7) AS t (key, said, body, item_bytes)
     ON CONFLICT (agent, key) DO UPDATE SET revision = excluded.revision, said = excluded.said,
       body = excluded.body, item_bytes = excluded.item_bytes, removed = excluded.removed";
const CLEAR: &str = "DELETE FROM forecourt.content_rows WHERE agent = $1";
const SET_HEAD: &str =
    "UPDATE forecourt.content_heads SET epoch = $2, revision = $3, ids = $4, bytes = $5 WHERE agent = $1";
const HEADS: &str = "SELECT agent, epoch, revision FROM forecourt.content_heads";
const PAGE: &str = "SELECT key, revision, body, total FROM (
       SELECT key, revision, body, item_bytes, sum(item_bytes) OVER (ORDER BY revision, key)::bigint AS total FROM (
         SELECT r.key, r.revision, r.body, r.item_bytes FROM forecourt.content_rows r
         JOIN forecourt.content_heads h ON h.agent = r.agent
         WHERE r.agent = $1 AND h.epoch = $2 AND (r.revision, r.key) > ($3, $4)
         ORDER BY r.revision, r.key LIMIT $5
       ) few
     ) summed WHERE total - item_bytes < $6 ORDER BY revision, key";

/// The sealed part of a row.
#[derive(Serialize, Deserialize)]
struct Body {
    id: String,
    url: Option<String>,
    item: Option<String>,
    said: u64,
}

/// The head of an agent, locked.
#[derive(Clone, Copy)]
struct LockedHead {
    head: ContentHead,
    ids: u64,
    bytes: u64,
}

/// The columns of an id's row that a change is compared with.
struct KnownItem {
    said: Vec<u8>,
    item_bytes: u64,
    is_removed: bool,
}

/// A row to write.
struct RowWrite {
    key: Hash,
    said: Hash,
    body: Vec<u8>,
    item_bytes: i64,
}

type Params<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

impl ContentRows for Postgres {
    fn change(
        &self,
        agent: &Handle,
        change: ContentChange,
        bounds: ContentBounds,
    ) -> StoreFuture<'_, Result<ContentChanged, ContentFull>> {
        let agent = agent.as_str().to_owned();
        Box::pin(async move {
            let mut client = self.connections.lend().await?;
            // Named, as a server may have another default: under repeatable read the lock of the head would fail
            // instead of waiting.
            let begin = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
            let transaction = begin.start().await.map_err(away)?;
            let of = Change { transaction: &transaction, seal: &self.seal, agent: &agent };
            let before = of.lock().await?;
            let (after, differs) = of.make(before, change).await?;
            let is_full = (after.ids > bounds.ids && after.ids > before.ids)
                || (after.bytes > bounds.bytes && after.bytes > before.bytes);
            if is_full {
                transaction.rollback().await.map_err(away)?;
                return Ok(Err(ContentFull));
            }
            if after.head == before.head {
                transaction.rollback().await.map_err(away)?;
            } else {
                of.set(after).await?;
                transaction.commit().await.map_err(away)?;
            }
            Ok(Ok(ContentChanged { head: after.head, differs }))
        })
    }

    fn heads(&self) -> StoreFuture<'_, Vec<(Handle, ContentHead)>> {
        Box::pin(async move {
            let mut heads = Vec::new();
            for row in self.read(HEADS, &[]).await? {
                let head = ContentHead { epoch: number(&row, 1)?, revision: number(&row, 2)? };
                heads.extend(Handle::parse(column(&row, 0)?).ok().map(|agent| (agent, head)));
            }
            Ok(heads)
        })
    }

    fn page(&self, agent: &Handle, epoch: u64, after: RowPlace) -> StoreFuture<'_, ContentPage> {
        let agent = agent.as_str().to_owned();
        Box::pin(async move {
            let (epoch, revision) = (epoch.cast_signed(), after.revision.cast_signed());
            let (limit, bytes) = (PAGE_ROWS_MAX as i64, PAGE_BYTES_MAX.cast_signed());
            let params: Params<'_> = &[
                (&agent, Type::TEXT),
                (&epoch, Type::INT8),
                (&revision, Type::INT8),
                (&after.key, Type::BYTEA),
                (&limit, Type::INT8),
                (&bytes, Type::INT8),
            ];
            let rows = self.read(PAGE, params).await?;
            let total = rows.last().map_or(Ok(0), |row| number(row, 3))?;
            let is_last = rows.len() < PAGE_ROWS_MAX && total < PAGE_BYTES_MAX;
            let rows = rows.iter().map(|row| opened(&self.seal, &agent, row)).collect::<Result<_, _>>()?;
            Ok(ContentPage { rows, is_last })
        })
    }
}

/// A change under way.
struct Change<'a> {
    transaction: &'a Transaction<'a>,
    seal: &'a Seal,
    agent: &'a str,
}

impl Change<'_> {
    async fn lock(&self) -> Result<LockedHead, StoreError> {
        let first = epoch().cast_signed();
        // An agent without a head would have no row to lock, and two nodes would both begin it.
        self.run(BEGIN_HEAD, &[(&self.agent, Type::TEXT), (&first, Type::INT8)]).await?;
        let rows = self.run(LOCK_HEAD, &[(&self.agent, Type::TEXT)]).await?;
        let row = rows.first().ok_or_else(|| StoreError::Unavailable("the head of an agent is gone".to_owned()))?;
        let head = ContentHead { epoch: number(row, 0)?, revision: number(row, 1)? };
        Ok(LockedHead { head, ids: number(row, 2)?, bytes: number(row, 3)? })
    }

    /// How it stands then, and of items that are put, which are different.
    async fn make(&self, before: LockedHead, change: ContentChange) -> Result<(LockedHead, Vec<bool>), StoreError> {
        let mut after = before;
        after.head.revision += 1;
        match change {
            ContentChange::Put(items) => {
                let known = self.known(items.iter().map(|item| item.id.as_str())).await?;
                let mut differs = Vec::with_capacity(items.len());
                let mut rows = Vec::new();
                for item in items {
                    let (key, said) = (self.key(&item.id), self.said(item.said));
                    let had = known.get(&key[..]);
                    let is_other = had.is_none_or(|had| had.is_removed || had.said != said[..]);
                    differs.push(is_other);
                    if is_other {
                        after.count(had, item.item.len() as u64);
                        rows.push(self.row(key, said, item)?);
                    }
                }
                if rows.is_empty() {
                    return Ok((before, differs));
                }
                self.write(after, rows, false).await?;
                Ok((after, differs))
            }
            ContentChange::Remove(ids) => {
                let known = self.known(ids.iter().map(String::as_str)).await?;
                let removed = |id: String| {
                    let key = self.key(&id);
                    after.count(known.get(&key[..]), 0);
                    let body = Body { id, url: None, item: None, said: 0 };
                    let body = self.seal.seal(label(&key, self.agent), &body)?;
                    Ok(RowWrite { key, said: Hash::default(), body, item_bytes: 0 })
                };
                let rows = ids.into_iter().map(removed).collect::<Result<Vec<_>, StoreError>>()?;
                self.write(after, rows, true).await?;
                Ok((after, Vec::new()))
            }
            ContentChange::Clear => {
                self.run(CLEAR, &[(&self.agent, Type::TEXT)]).await?;
                after.head.epoch = epoch();
                (after.ids, after.bytes) = (0, 0);
                Ok((after, Vec::new()))
            }
        }
    }

    async fn known(&self, ids: impl Iterator<Item = &str>) -> Result<HashMap<Vec<u8>, KnownItem>, StoreError> {
        let keys: Vec<Vec<u8>> = ids.map(|id| self.key(id).to_vec()).collect();
        let rows = self.run(KNOWN, &[(&self.agent, Type::TEXT), (&keys, Type::BYTEA_ARRAY)]).await?;
        let known = |row: &Row| {
            let known = KnownItem { said: column(row, 1)?, item_bytes: number(row, 2)?, is_removed: column(row, 3)? };
            Ok((column(row, 0)?, known))
        };
        rows.iter().map(known).collect()
    }

    fn row(&self, key: Hash, said: Hash, item: ContentItem) -> Result<RowWrite, StoreError> {
        let ContentItem { id, url, item, said: hash } = item;
        let item_bytes = item.len() as i64;
        let item = String::from_utf8(item).map_err(|_| StoreError::Corrupt("an item is not text".to_owned()))?;
        let body = Body { id, url, item: Some(item), said: hash };
        let body = self.seal.seal(label(&key, self.agent), &body)?;
        Ok(RowWrite { key, said, body, item_bytes })
    }

    async fn write(&self, after: LockedHead, rows: Vec<RowWrite>, is_removed: bool) -> Result<(), StoreError> {
        let revision = after.head.revision.cast_signed();
        let keys: Vec<&[u8]> = rows.iter().map(|row| &row.key[..]).collect();
        let said: Vec<&[u8]> = rows.iter().map(|row| &row.said[..]).collect();
        let bodies: Vec<&[u8]> = rows.iter().map(|row| &row.body[..]).collect();
        let item_bytes: Vec<i64> = rows.iter().map(|row| row.item_bytes).collect();
        let params: Params<'_> = &[
            (&self.agent, Type::TEXT),
            (&revision, Type::INT8),
            (&is_removed, Type::BOOL),
            (&keys, Type::BYTEA_ARRAY),
            (&said, Type::BYTEA_ARRAY),
            (&bodies, Type::BYTEA_ARRAY),
            (&item_bytes, Type::INT8_ARRAY),
        ];
        self.run(PUT, params).await.map(drop)
    }

    async fn set(&self, LockedHead { head, ids, bytes }: LockedHead) -> Result<(), StoreError> {
        let [epoch, revision, ids, bytes] = [head.epoch, head.revision, ids, bytes].map(u64::cast_signed);
        let params: Params<'_> = &[
            (&self.agent, Type::TEXT),
            (&epoch, Type::INT8),
            (&revision, Type::INT8),
            (&ids, Type::INT8),
            (&bytes, Type::INT8),
        ];
        self.run(SET_HEAD, params).await.map(drop)
    }

    async fn run(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, StoreError> {
        self.transaction.query_typed(sql, params).await.map_err(away)
    }

    /// The key of an id: a keyed hash, as a copy of the database would let ids be guessed from a plain one.
    fn key(&self, id: &str) -> Hash {
        self.seal.pseudonym(&format!("content {id}"))
    }

    fn said(&self, hash: u64) -> Hash {
        self.seal.pseudonym(&format!("content said {hash}"))
    }
}

impl LockedHead {
    /// Counts an id, in place of what was held for it.
    fn count(&mut self, had: Option<&KnownItem>, bytes: u64) {
        self.ids += u64::from(had.is_none());
        self.bytes = (self.bytes + bytes).saturating_sub(had.map_or(0, |had| had.item_bytes));
    }
}

fn label<'a>(key: &'a [u8], agent: &'a str) -> Label<'a> {
    Label { kind: "content", of: key, part: agent.as_bytes() }
}

fn opened(seal: &Seal, agent: &str, row: &Row) -> Result<ContentRow, StoreError> {
    let key: Vec<u8> = column(row, 0)?;
    let Body { id, url, item, said } = seal.open(label(&key, agent), column(row, 2)?)?;
    let place = RowPlace { revision: number(row, 1)?, key };
    Ok(ContentRow { place, id, url, item: item.map(String::into_bytes), said })
}

fn away(error: tokio_postgres::Error) -> StoreError {
    to_store_error(&error)
}
