//! A change of what is held, within one transaction.

use forecourt_loaders::item::hash;
use rusqlite::{Connection, OptionalExtension, params};

use super::PushedItem;

/// How much is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PushUsage {
    /// Ids, removed ones included.
    pub(super) ids: u64,
    /// Bytes of items.
    pub(super) bytes: u64,
    /// Goes up with every change.
    pub(super) revision: u64,
}

impl PushUsage {
    /// How much a file holds.
    pub(super) fn of(db: &Connection) -> rusqlite::Result<Self> {
        db.query_row("SELECT ids, bytes, revision FROM held", [], |row| {
            let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            Ok(Self { ids: number(0)?, bytes: number(1)?, revision: number(2)? })
        })
    }
}

/// The key of an id, as it stands in a row.
pub(super) fn key_of(id: &str) -> i64 {
    hash(&[id.as_bytes()]).cast_signed()
}

/// A change under way.
pub(super) struct Change<'a> {
    pub(super) db: &'a Connection,
    pub(super) held: PushUsage,
    /// What it will have been.
    revision: u64,
}

impl<'a> Change<'a> {
    /// A change of what is held now.
    pub(super) fn begin(db: &'a Connection, held: PushUsage) -> Self {
        Self { db, held, revision: held.revision + 1 }
    }

    /// Whether the item is another one than before.
    pub(super) fn put(&mut self, entry: &PushedItem) -> rusqlite::Result<bool> {
        let (key, said) = (key_of(&entry.id), entry.said.cast_signed());
        let same = "SELECT 1 FROM pushed WHERE key = ?1 AND said = ?2 AND item IS NOT NULL";
        if self.db.prepare_cached(same)?.exists(params![key, said])? {
            return Ok(false);
        }
        self.take_away(key)?;
        let insert = "INSERT INTO pushed (key, id, url, item, said, revision) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let revision = self.revision.cast_signed();
        self.db.prepare_cached(insert)?.execute(params![key, entry.id, entry.url, entry.item, said, revision])?;
        self.noted(entry.item.len() as u64);
        Ok(true)
    }

    pub(super) fn remove(&mut self, id: &str) -> rusqlite::Result<()> {
        self.take_away(key_of(id))?;
        let insert = "INSERT INTO pushed (key, id, said, revision) VALUES (?1, ?2, 0, ?3)";
        self.db.prepare_cached(insert)?.execute(params![key_of(id), id, self.revision.cast_signed()])?;
        self.noted(0);
        Ok(())
    }

    pub(super) fn forget_removed(&mut self, key: u64, revision: u64) -> rusqlite::Result<()> {
        let delete = "DELETE FROM pushed WHERE key = ?1 AND item IS NULL AND revision <= ?2";
        let gone = self.db.prepare_cached(delete)?.execute([key.cast_signed(), revision.cast_signed()])?;
        // What can be found stays as it is, and so does the revision: a new one would call for a whole run.
        self.held.ids -= gone as u64;
        Ok(())
    }

    pub(super) fn clear(&mut self) -> rusqlite::Result<()> {
        self.db.execute("DELETE FROM pushed", [])?;
        self.held = PushUsage { ids: 0, bytes: 0, revision: self.revision };
        Ok(())
    }

    /// Deletes the row of a key, if there is one.
    fn take_away(&mut self, key: i64) -> rusqlite::Result<()> {
        let delete = "DELETE FROM pushed WHERE key = ?1 RETURNING coalesce(length(item), 0)";
        let length: Option<i64> = self.db.prepare_cached(delete)?.query_row([key], |row| row.get(0)).optional()?;
        if let Some(length) = length {
            self.held.ids -= 1;
            self.held.bytes -= length.cast_unsigned();
        }
        Ok(())
    }

    fn noted(&mut self, bytes: u64) {
        self.held = PushUsage { ids: self.held.ids + 1, bytes: self.held.bytes + bytes, revision: self.revision };
    }
}
