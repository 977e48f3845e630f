//! The tables of one agent: `NAME` has the documents, `NAME_words` the words as they are written, `NAME_meta` what is said
//! of all documents.

use std::collections::BTreeSet;

use forecourt_core::StoreError;
use forecourt_retrieval::limits::ENTRIES_READ;
use forecourt_retrieval::{Candidate, Change, EngineDocument, EngineState, RetrievalError, StoredEntry, last_changes};
use forecourt_store::{Database, SqlParameter};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use super::failed;
use super::statement::{signed, unsigned};
use super::terms::vector;
use crate::limits::{POSTGRES_ITEMS_COUNTED_MAX, POSTGRES_PUT_MAX};

/// The oldest PostgreSQL that is known to do.
const VERSION_MIN: i32 = 150_000;
/// The name of the one row of `NAME_meta`.
const SUMMARY: &str = "summary";

/// What is behind the name of each table, and its columns.
const TABLES: [(&str, &[&str]); 3] = [
    ("", &["key", "hash", "origin", "id", "length", "pairs", "terms", "numbers", "item"]),
    ("_words", &["word"]),
    ("_meta", &["name", "value"]),
];

pub(super) type Result<T, E = RetrievalError> = std::result::Result<T, E>;

/// Tables in a database.
pub(super) struct Table {
    pub(super) database: Database,
    pub(super) name: String,
}

impl Table {
    pub(super) fn new(database: Database, name: &str) -> Self {
        Self { database, name: name.to_owned() }
    }

    pub(super) async fn rows(&self, sql: &str, parameters: &[SqlParameter<'_>]) -> Result<Vec<Row>> {
        self.database.query(sql, parameters).await.map_err(failed)
    }

    /// What it is, and whether it will do.
    pub(super) async fn state(&self) -> Result<EngineState> {
        let sql = "SELECT current_setting('server_version_num')::int, current_setting('server_version'), \
                   EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'), \
                   EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm')";
        let rows = self.rows(sql, &[]).await?;
        let row = rows.first().ok_or_else(nothing)?;
        let (number, version): (i32, String) = (column(row, 0)?, column(row, 1)?);
        if number < VERSION_MIN {
            return Err(RetrievalError::Refused(format!(
                "it is PostgreSQL {version}, and 15 is the oldest that will do"
            )));
        }
        self.check_owner().await?;
        let mut notices = Vec::new();
        match (column::<bool>(row, 2)?, column::<bool>(row, 3)?) {
            (true, _) => {}
            (false, true) => notices.push(
                "the extension `pg_trgm` is there and not made: it is when the content is loaded, if the user may \
                 (`CREATE EXTENSION pg_trgm`)"
                    .to_owned(),
            ),
            (false, false) => notices.push(
                "PostgreSQL has no extension `pg_trgm` (on Debian in `postgresql-contrib`): misspelled words are not \
                 corrected by it"
                    .to_owned(),
            ),
        }
        Ok(EngineState { name: format!("PostgreSQL {version}"), notices })
    }

    /// Fails where a table of one of the names is not ours: we would write into it.
    async fn check_owner(&self) -> Result<()> {
        let names: Vec<String> = TABLES.iter().map(|(ending, _)| format!("{}{ending}", self.name)).collect();
        let sql = "SELECT name, array(SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(name) \
                   AND attnum > 0 AND NOT attisdropped ORDER BY attnum) FROM unnest($1) AS asked (name) \
                   WHERE to_regclass(name) IS NOT NULL";
        for row in &self.rows(sql, &[(&names, Type::TEXT_ARRAY)]).await? {
            let (found, columns): (String, Vec<String>) = (column(row, 0)?, column(row, 1)?);
            let own = names.iter().zip(TABLES).find(|(name, _)| **name == found);
            if own.is_none_or(|(_, (_, own))| columns != own) {
                return Err(RetrievalError::Refused(format!(
                    "there is a table `{found}` that is not of Forecourt; name another one in `name` of `[backend.engine]`"
                )));
            }
        }
        Ok(())
    }

    /// Makes what is not there.
    pub(super) async fn prepare(&self) -> Result<()> {
        self.check_owner().await?;
        let name = &self.name;
        for sql in [
            format!(
                "CREATE TABLE IF NOT EXISTS {name} (key int8 PRIMARY KEY, hash int8 NOT NULL, origin int8 NOT NULL, \
                 id text NOT NULL, length int4 NOT NULL, pairs int4 NOT NULL, terms tsvector NOT NULL, numbers jsonb NOT NULL, \
                 item text NOT NULL)"
            ),
            format!("CREATE INDEX IF NOT EXISTS {name}_terms ON {name} USING gin (terms) WITH (fastupdate = off)"),
            format!("CREATE TABLE IF NOT EXISTS {name}_words (word text PRIMARY KEY)"),
            format!("CREATE TABLE IF NOT EXISTS {name}_meta (name text PRIMARY KEY, value text NOT NULL)"),
        ] {
            // Of two nodes that make it at once, the second finds it made.
            if self.rows(&sql, &[]).await.is_err() {
                self.rows(&sql, &[]).await?;
            }
        }
        // May be forbidden, or not installed: then misspelled words are not corrected, which `check` tells.
        let trigrams = self.rows("CREATE EXTENSION IF NOT EXISTS pg_trgm", &[]).await;
        if let Err(error) = trigrams {
            tracing::info!(%error, "without the extension pg_trgm, misspelled words are not corrected by PostgreSQL");
            return Ok(());
        }
        let sql =
            format!("CREATE INDEX IF NOT EXISTS {name}_words_like ON {name}_words USING gist (word gist_trgm_ops)");
        self.rows(&sql, &[]).await.map(drop)
    }

    /// `None` too where nothing was prepared yet.
    pub(super) async fn summary(&self) -> Result<Option<String>> {
        if !self.is_there().await? {
            return Ok(None);
        }
        let sql = format!("SELECT value FROM {}_meta WHERE name = $1", self.name);
        let rows = self.rows(&sql, &[(&SUMMARY, Type::TEXT)]).await?;
        rows.first().map(|row| column(row, 0)).transpose()
    }

    pub(super) async fn is_there(&self) -> Result<bool> {
        let meta = format!("{}_meta", self.name);
        let rows = self.rows("SELECT to_regclass($1) IS NOT NULL", &[(&meta, Type::TEXT)]).await?;
        column(rows.first().ok_or_else(nothing)?, 0)
    }

    /// Counted up to a bound; of more, what the statistics of the table say.
    pub(super) async fn items(&self) -> Result<u64> {
        if self.is_there().await? { self.counted_items().await } else { Ok(0) }
    }

    pub(super) async fn counted_items(&self) -> Result<u64> {
        let sql = format!(
            "SELECT CASE WHEN estimated > {POSTGRES_ITEMS_COUNTED_MAX} THEN estimated ELSE (SELECT count(*) FROM {0}) END \
             FROM (SELECT reltuples::int8 AS estimated FROM pg_class WHERE oid = to_regclass('{0}')) about",
            self.name
        );
        let rows = self.rows(&sql, &[]).await?;
        rows.first().map_or(Ok(0), |row| Ok(column::<i64>(row, 0)?.unsigned_abs()))
    }

    pub(super) async fn entries(&self, after: Option<u64>) -> Result<Vec<StoredEntry>> {
        let sql = format!(
            "SELECT key, hash, origin, length, pairs FROM {} WHERE ($1::int8 IS NULL OR key > $1) ORDER BY key LIMIT {ENTRIES_READ}",
            self.name
        );
        let rows = self.rows(&sql, &[(&after.map(signed), Type::INT8)]).await?;
        rows.iter().map(entry).collect()
    }

    pub(super) async fn by_key(&self, keys: &[u64]) -> Result<Vec<Candidate>> {
        if !self.is_there().await? {
            return Ok(Vec::new());
        }
        let keys: Vec<i64> = keys.iter().copied().map(signed).collect();
        let sql = format!("SELECT key, hash, origin, length, pairs, id, item FROM {} WHERE key = ANY($1)", self.name);
        let rows = self.rows(&sql, &[(&keys, Type::INT8_ARRAY)]).await?;
        rows.iter().map(candidate).collect()
    }

    pub(super) async fn write(&self, changes: &[Change]) -> Result<()> {
        let (mut removed, mut put): (Vec<i64>, Vec<&EngineDocument>) = (Vec::new(), Vec::new());
        for change in last_changes(changes) {
            match change {
                Change::Put(document) => put.push(document),
                Change::Remove(key) => removed.push(signed(*key)),
            }
        }
        if !removed.is_empty() {
            let sql = format!("DELETE FROM {} WHERE key = ANY($1)", self.name);
            self.rows(&sql, &[(&removed, Type::INT8_ARRAY)]).await?;
        }
        for some in put.chunks(POSTGRES_PUT_MAX) {
            self.put(some).await?;
        }
        Ok(())
    }

    async fn put(&self, documents: &[&EngineDocument]) -> Result<()> {
        let all = || documents.iter();
        let words: BTreeSet<&str> = all().flat_map(|document| &document.spelled).map(String::as_str).collect();
        let words: Vec<&str> = words.into_iter().collect();
        let sql = format!("INSERT INTO {}_words SELECT unnest($1) ON CONFLICT DO NOTHING", self.name);
        self.rows(&sql, &[(&words, Type::TEXT_ARRAY)]).await?;
        let keys: Vec<i64> = all().map(|document| signed(document.key)).collect();
        let hashes: Vec<i64> = all().map(|document| signed(document.hash)).collect();
        let origins: Vec<i64> = all().map(|document| signed(document.origin)).collect();
        let ids: Vec<String> = all().map(|document| document.id.replace('\0', "\u{FFFD}")).collect();
        let signed_count = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
        let lengths: Vec<i32> = all().map(|document| signed_count(document.entry().words)).collect();
        let pairs: Vec<i32> = all().map(|document| signed_count(document.entry().pairs)).collect();
        let terms: Vec<String> = all().map(|document| vector(document)).collect();
        let numbers: Vec<serde_json::Value> = all().map(|document| serde_json::json!(document.numbers)).collect();
        let items: Vec<&str> = all().map(|document| document.item.as_str()).collect();
        let sql = format!(
            "INSERT INTO {} (key, hash, origin, id, length, pairs, terms, numbers, item) \
             SELECT key, hash, origin, id, length, pairs, terms::tsvector, numbers, item \
             FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             AS document (key, hash, origin, id, length, pairs, terms, numbers, item) \
             ON CONFLICT (key) DO UPDATE SET hash = excluded.hash, origin = excluded.origin, id = excluded.id, \
             length = excluded.length, pairs = excluded.pairs, terms = excluded.terms, numbers = excluded.numbers, item = excluded.item",
            self.name
        );
        let parameters: [SqlParameter<'_>; 9] = [
            (&keys, Type::INT8_ARRAY),
            (&hashes, Type::INT8_ARRAY),
            (&origins, Type::INT8_ARRAY),
            (&ids, Type::TEXT_ARRAY),
            (&lengths, Type::INT4_ARRAY),
            (&pairs, Type::INT4_ARRAY),
            (&terms, Type::TEXT_ARRAY),
            (&numbers, Type::JSONB_ARRAY),
            (&items, Type::TEXT_ARRAY),
        ];
        self.rows(&sql, &parameters).await.map(drop)
    }

    pub(super) async fn commit(&self, before: Option<&str>, summary: &str) -> Result<bool> {
        let name = &self.name;
        let (put, new) = ((&SUMMARY as _, Type::TEXT), (&summary as _, Type::TEXT));
        let kept = match before {
            Some(before) => {
                let sql = format!("UPDATE {name}_meta SET value = $2 WHERE name = $1 AND value = $3 RETURNING 1");
                self.rows(&sql, &[put, new, (&before, Type::TEXT)]).await?
            }
            None => {
                let sql = format!("INSERT INTO {name}_meta VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1");
                self.rows(&sql, &[put, new]).await?
            }
        };
        if kept.is_empty() {
            return Ok(false);
        }
        // The database looks at a table by itself, some minutes after it was filled; until then it knows nothing of it.
        let sql = format!("SELECT 1 FROM pg_class WHERE oid = to_regclass('{0}') AND reltuples < 0", self.name);
        if !self.rows(&sql, &[]).await?.is_empty() {
            self.rows(&format!("ANALYZE {}", self.name), &[]).await?;
        }
        Ok(true)
    }
}

pub(super) fn entry(row: &Row) -> Result<StoredEntry> {
    let number = |at| column(row, at).map(unsigned);
    let length = |at| column(row, at).map(i32::unsigned_abs);
    Ok(StoredEntry { key: number(0)?, hash: number(1)?, origin: number(2)?, words: length(3)?, pairs: length(4)? })
}

pub(super) fn candidate(row: &Row) -> Result<Candidate> {
    Ok(Candidate { entry: entry(row)?, id: column(row, 5)?, item: column(row, 6)? })
}

/// A column; fails when it has another type.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T> {
    row.try_get(at).map_err(|error| RetrievalError::Unreadable(error.to_string()))
}

fn nothing() -> RetrievalError {
    failed(StoreError::Unavailable("no row came back".to_owned()))
}
