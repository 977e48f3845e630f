//! The SQLite file of what was pushed; what a call was answered for survives a crash.

use std::path::PathBuf;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, params};

use super::change::{Change, PushUsage, key_of};
use super::{FollowedItem, FollowedRevision, PushedItem};
use crate::error::{Error, Result, folder};
use crate::limits::{PUSHED_BYTES_MAX, PUSHED_IDS_MAX, PUSHED_ROWS_READ};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS pushed (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL, url TEXT, item BLOB, said INTEGER NOT NULL,
        revision INTEGER NOT NULL
    );
    CREATE INDEX IF NOT EXISTS pushed_url ON pushed (url) WHERE url IS NOT NULL;
    CREATE TABLE IF NOT EXISTS held (ids INTEGER NOT NULL, bytes INTEGER NOT NULL, revision INTEGER NOT NULL);
    INSERT INTO held SELECT 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM held);
    CREATE TABLE IF NOT EXISTS followed (epoch INTEGER NOT NULL, revision INTEGER NOT NULL);
    INSERT INTO followed SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM followed);
    CREATE TABLE IF NOT EXISTS taken_in (place TEXT NOT NULL, revision INTEGER NOT NULL);
";

/// The file, opened when there is something in it.
pub(crate) struct PushFile {
    file: Option<PathBuf>,
    db: Mutex<Option<Connection>>,
    ids_max: u64,
    bytes_max: u64,
}

/// One entry of the file: an item, or the removal of an id.
pub(crate) struct Row {
    pub(crate) key: u64,
    /// The item's JSON. `None`: the id is removed.
    pub(crate) item: Option<Vec<u8>>,
}

impl PushFile {
    /// What is held in `file`. Without one, nothing can be.
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self { file, db: Mutex::new(None), ids_max: PUSHED_IDS_MAX, bytes_max: PUSHED_BYTES_MAX }
    }

    /// Up to which change everything is held.
    pub(crate) fn revision(&self) -> Result<u64> {
        Ok(self.read(PushUsage::of)?.unwrap_or_default().revision)
    }

    /// The next rows behind a key, at most [`PUSHED_ROWS_READ`], in an order of their own.
    pub(crate) fn rows(&self, after: Option<u64>) -> Result<Vec<Row>> {
        // From a key on and not by a count: rows may come and go between two calls.
        const ROWS: &str = "SELECT key, item FROM pushed WHERE ?1 IS NULL OR key > ?1 ORDER BY key LIMIT ?2";
        let rows = self.read(|db| {
            let mut statement = db.prepare_cached(ROWS)?;
            let row =
                |row: &rusqlite::Row<'_>| Ok(Row { key: row.get::<_, i64>(0)?.cast_unsigned(), item: row.get(1)? });
            let rows = statement.query_map(params![after.map(u64::cast_signed), PUSHED_ROWS_READ], row)?;
            rows.collect()
        });
        Ok(rows?.unwrap_or_default())
    }

    /// The ids that go by a name, which is an id or a link, and whether an item is held for each.
    pub(crate) fn named(&self, name: &str) -> Result<Vec<(String, bool)>> {
        const NAMED: &str = "SELECT id, item IS NOT NULL FROM pushed WHERE key = ?1 OR url = ?2";
        let named = self.read(|db| {
            let mut statement = db.prepare_cached(NAMED)?;
            let named = statement.query_map(params![key_of(name), name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            named.collect()
        });
        Ok(named?.unwrap_or_default())
    }

    /// Holds items, all or none of them, in place of what was held for their ids. Gives back which of
    /// them are different from that. Fails with [`Error::NoRoom`] past the bounds.
    pub(crate) fn put(&self, entries: &[PushedItem]) -> Result<Vec<bool>> {
        self.change(|change| entries.iter().map(|entry| change.put(entry)).collect())
    }

    /// Holds for ids that they are removed, all or none of them.
    pub(crate) fn remove(&self, ids: &[String]) -> Result<()> {
        self.change(|change| ids.iter().try_for_each(|id| change.remove(id)))
    }

    /// Forgets that these were removed, unless that was after a revision.
    pub(crate) fn forget_removed(&self, keys: &[u64], revision: u64) -> Result<()> {
        match keys.is_empty() {
            true => Ok(()),
            false => self.change(|change| keys.iter().try_for_each(|key| change.forget_removed(*key, revision))),
        }
    }

    /// Up to where it follows what other nodes hold.
    pub(crate) fn followed(&self) -> Result<FollowedRevision> {
        const FOLLOWED: &str = "SELECT epoch, revision FROM followed";
        let row = |row: &rusqlite::Row<'_>| {
            let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            Ok(FollowedRevision { epoch: number(0)?, revision: number(1)? })
        };
        Ok(self.read(|db| db.query_row(FOLLOWED, [], row))?.unwrap_or_default())
    }

    /// Up to which change the engine at a place has what is held; 0 where nobody noted it.
    pub(crate) fn taken_in(&self, place: &str) -> Result<u64> {
        const TAKEN_IN: &str = "SELECT revision FROM taken_in WHERE place = ?1";
        let taken_in: Option<Option<i64>> =
            self.read(|db| db.query_row(TAKEN_IN, [place], |row| row.get(0)).optional())?;
        Ok(taken_in.flatten().unwrap_or_default().cast_unsigned())
    }

    /// Notes up to which change the engine at a place has what is held. Of another place nothing is known any more.
    pub(crate) fn note_taken_in(&self, place: &str, revision: u64) -> Result<()> {
        // A node that never pushed has no file, and gets none.
        if self.taken_in(place)? == revision {
            return Ok(());
        }
        self.change(|change| {
            change.db.execute("DELETE FROM taken_in", [])?;
            let row = params![place, revision.cast_signed()];
            change.db.execute("INSERT INTO taken_in (place, revision) VALUES (?1, ?2)", row).map(drop)
        })
    }

    /// What is held behind a key, as other nodes would hold it: at most [`PUSHED_ROWS_READ`], each with its key.
    pub(crate) fn held_items(&self, after: Option<u64>) -> Result<Vec<(u64, FollowedItem)>> {
        const ROWS: &str =
            "SELECT key, id, url, item, said FROM pushed WHERE ?1 IS NULL OR key > ?1 ORDER BY key LIMIT ?2";
        let rows = self.read(|db| {
            let mut statement = db.prepare_cached(ROWS)?;
            let row = |row: &rusqlite::Row<'_>| {
                let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
                let (id, url, said) = (row.get(1)?, row.get(2)?, number(4)?);
                let item = match row.get::<_, Option<Vec<u8>>>(3)? {
                    Some(item) => FollowedItem::Put(PushedItem { id, url, item, said }),
                    None => FollowedItem::Removed(id),
                };
                Ok((number(0)?, item))
            };
            let rows = statement.query_map(params![after.map(u64::cast_signed), PUSHED_ROWS_READ], row)?;
            rows.collect()
        });
        Ok(rows?.unwrap_or_default())
    }

    /// Holds what other nodes hold, whatever that is: they asked for the bounds. From `from_nothing` on it holds
    /// nothing else.
    pub(crate) fn follow(
        &self,
        entries: &[PushedItem],
        removed: &[String],
        at: FollowedRevision,
        from_nothing: bool,
    ) -> Result<()> {
        self.change_within(u64::MAX, u64::MAX, |change| {
            if from_nothing {
                change.clear()?;
            }
            entries.iter().try_for_each(|entry| change.put(entry).map(drop))?;
            removed.iter().try_for_each(|id| change.remove(id))?;
            let row = [at.epoch, at.revision].map(u64::cast_signed);
            change.db.execute("UPDATE followed SET epoch = ?1, revision = ?2", row).map(drop)
        })
    }

    /// Forgets everything: what was pushed, and what was removed.
    pub(crate) fn clear(&self) -> Result<()> {
        self.change(|change| change.clear())
    }

    /// Makes a change that is either whole and on disk, or not made.
    fn change<T>(&self, work: impl FnOnce(&mut Change<'_>) -> rusqlite::Result<T>) -> Result<T> {
        self.change_within(self.ids_max, self.bytes_max, work)
    }

    fn change_within<T>(
        &self,
        ids_max: u64,
        bytes_max: u64,
        work: impl FnOnce(&mut Change<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let mut opened = self.opened(true)?;
        let Some(db) = opened.as_mut() else { return Err(Error::NothingPushed) };
        let wrong = |error: rusqlite::Error| self.broken(&error);
        let transaction = db.transaction().map_err(wrong)?;
        let before = PushUsage::of(&transaction).map_err(wrong)?;
        let mut change = Change::begin(&transaction, before);
        let done = work(&mut change).map_err(wrong)?;
        let after = change.held;
        // Where more is held than a bound allows, a call that leaves less is taken all the same.
        if (after.ids > ids_max && after.ids > before.ids) || (after.bytes > bytes_max && after.bytes > before.bytes) {
            return Err(Error::NoRoom { ids_max, bytes_max });
        }
        let row = [after.ids, after.bytes, after.revision].map(u64::cast_signed);
        transaction.execute("UPDATE held SET ids = ?1, bytes = ?2, revision = ?3", row).map_err(wrong)?;
        transaction.commit().map_err(wrong)?;
        Ok(done)
    }

    /// Looks something up. `None` when there is no file yet.
    fn read<T>(&self, look: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<Option<T>> {
        let opened = self.opened(false)?;
        opened.as_ref().map(look).transpose().map_err(|error| self.broken(&error))
    }

    fn opened(&self, creates: bool) -> Result<MutexGuard<'_, Option<Connection>>> {
        let mut db = self.db.lock();
        // A look creates no file: a deployment that never pushes has none.
        let Some(file) = self.file.as_ref().filter(|file| db.is_none() && (creates || file.exists())) else {
            return Ok(db);
        };
        if let Some(dir) = file.parent() {
            std::fs::create_dir_all(dir).map_err(folder(dir))?;
        }
        *db = Some(open(file).map_err(|error| self.broken(&error))?);
        Ok(db)
    }

    fn broken(&self, error: &rusqlite::Error) -> Error {
        Error::Folder { path: self.file.clone().unwrap_or_default(), reason: error.to_string() }
    }
}

fn open(file: &std::path::Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(file)?;
    // As SQLite advises: the schema of a file that was tampered with runs no functions.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    // With a write-ahead log, `NORMAL` may lose the last commits with the power, and callers were answered for them.
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch(SCHEMA)?;
    Ok(db)
}

#[cfg(test)]
mod tests {
    use forecourt_loaders::item::hash;

    use super::*;

    fn entry(id: &str, text: &str) -> PushedItem {
        let url = Some(format!("https://e.org/{id}"));
        PushedItem { id: id.to_owned(), url, item: text.as_bytes().to_vec(), said: hash(&[text.as_bytes()]) }
    }

    fn pushed(dir: &tempfile::TempDir) -> PushFile {
        PushFile::new(Some(dir.path().join("a/pushed.db")))
    }

    fn all(pushed: &PushFile) -> Vec<Option<String>> {
        let mut out: Vec<_> = pushed.rows(None).unwrap().into_iter().map(|row| row.item).collect();
        out.sort();
        out.into_iter().map(|item| item.map(|item| String::from_utf8(item).unwrap())).collect()
    }

    #[test]
    fn what_was_put_and_removed_is_there_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let first = pushed(&dir);
        assert_eq!((first.revision().unwrap(), all(&first).len()), (0, 0));
        assert!(!dir.path().join("a").exists(), "looking makes nothing");
        assert_eq!(first.put(&[entry("a", "1"), entry("b", "1")]).unwrap(), [true, true]);
        assert_eq!(first.put(&[entry("a", "1"), entry("b", "2")]).unwrap(), [false, true]);
        first.remove(&["a".to_owned(), "c".to_owned()]).unwrap();
        drop(first);
        let again = pushed(&dir);
        assert_eq!(all(&again), [None, None, Some("2".to_owned())]);
        assert_eq!(again.revision().unwrap(), 3);
        assert_eq!(again.named("https://e.org/b").unwrap(), [("b".to_owned(), true)]);
        assert_eq!(again.named("a").unwrap(), [("a".to_owned(), false)]);
        again.put(&[entry("b", "2")]).unwrap();
        assert_eq!(again.revision().unwrap(), 3, "nothing has changed");
    }

    #[test]
    fn removals_are_forgotten_when_nothing_is_hidden_by_them() {
        let dir = tempfile::tempdir().unwrap();
        let pushed = pushed(&dir);
        pushed.remove(&["a".to_owned()]).unwrap();
        pushed.remove(&["b".to_owned()]).unwrap();
        pushed.put(&[entry("c", "3")]).unwrap();
        let keys = ["a", "b", "c", "d"].map(|id| key_of(id).cast_unsigned());
        pushed.forget_removed(&keys, 1).unwrap();
        assert_eq!(pushed.named("a").unwrap(), []);
        assert_eq!(pushed.named("b").unwrap(), [("b".to_owned(), false)], "it was removed later");
        assert_eq!((pushed.revision().unwrap(), all(&pushed).len()), (3, 2));
        pushed.clear().unwrap();
        assert_eq!((pushed.revision().unwrap(), all(&pushed).len()), (4, 0));
    }

    #[test]
    fn what_an_engine_has_is_known_of_the_last_one_only() {
        let dir = tempfile::tempdir().unwrap();
        let pushed = pushed(&dir);
        pushed.note_taken_in("items at a", 0).unwrap();
        assert!(!dir.path().join("a").exists(), "there is nothing to note");
        pushed.put(&[entry("a", "1")]).unwrap();
        pushed.note_taken_in("items at a", 1).unwrap();
        let taken_in = |place| pushed.taken_in(place).unwrap();
        assert_eq!((taken_in("items at a"), taken_in("items at b")), (1, 0));
        pushed.note_taken_in("items at b", 1).unwrap();
        assert_eq!((taken_in("items at a"), taken_in("items at b"), pushed.revision().unwrap()), (0, 1, 1));
    }

    #[test]
    fn ids_and_bytes_end_at_their_bounds_with_nothing_half_done() {
        let dir = tempfile::tempdir().unwrap();
        let small = PushFile { ids_max: 2, bytes_max: 4, ..pushed(&dir) };
        small.put(&[entry("a", "12"), entry("b", "34")]).unwrap();
        assert!(matches!(small.put(&[entry("c", "")]), Err(Error::NoRoom { .. })));
        assert!(matches!(small.put(&[entry("b", ""), entry("a", "12345")]), Err(Error::NoRoom { .. })));
        assert!(matches!(small.remove(&["c".to_owned()]), Err(Error::NoRoom { .. })));
        assert_eq!(all(&small), [Some("12".to_owned()), Some("34".to_owned())]);
        small.put(&[entry("a", "1")]).unwrap();
        small.put(&[entry("b", "345")]).unwrap();
        small.remove(&["a".to_owned()]).unwrap();
    }

    #[test]
    fn rows_are_read_in_pages() {
        let dir = tempfile::tempdir().unwrap();
        let pushed = pushed(&dir);
        let entries: Vec<PushedItem> = (0..=PUSHED_ROWS_READ).map(|n| entry(&n.to_string(), "x")).collect();
        pushed.put(&entries).unwrap();
        let first = pushed.rows(None).unwrap();
        assert_eq!(first.len(), PUSHED_ROWS_READ as usize);
        let rest = pushed.rows(first.last().map(|row| row.key)).unwrap();
        assert_eq!(rest.len(), 1);
        assert!(pushed.rows(rest.last().map(|row| row.key)).unwrap().is_empty());
    }
}
