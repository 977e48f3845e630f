//! This module moves what is kept when the clock of the machine was set.

use forecourt_core::MachineTime;
use rusqlite::{Connection, OptionalExtension, params};

use super::error::{SqliteError, corrupt};
use crate::clock::{ClockMark, ClockStep, LastMove};

/// The columns with moments up to which something is kept or waits, in nanoseconds, but for claims. A moment at which
/// something happened stays as it was written.
const AHEAD: &[(&str, &str)] = &[
    ("tasks", "expires_at"),
    ("threads", "expires_at"),
    ("routes", "expires_at"),
    ("entries", "expires_at"),
    ("deliveries", "expires_at"),
    ("deliveries", "due_at"),
];
/// The column of claims.
const CLAIMS: (&str, &str) = ("claims", "expires_at");

/// Compares the clocks of the machine with what they said last, moves what is kept if they were set since, and
/// remembers them; gives by how much, in nanoseconds. All of it in the transaction of `db`.
pub(super) fn follow(db: &Connection, now: &MachineTime, moved: &LastMove) -> Result<i64, SqliteError> {
    let mut select = db.prepare_cached("SELECT value FROM meta WHERE name = 'clock'")?;
    let last: Option<Vec<u8>> = select.query_row([], |row| row.get(0)).optional()?;
    let last: Option<ClockMark> = last.and_then(|last| serde_json::from_slice(&last).ok());
    let step = ClockMark::step(last.as_ref(), now);
    // Before this is committed: what comes next on this thread may go by the clock of before.
    moved.note(&step);
    let ClockStep { mark, shift, claims_shift } = step;
    AHEAD.iter().try_for_each(|column| shift_column(db, *column, shift))?;
    shift_column(db, CLAIMS, claims_shift)?;
    // `ended` is 1 or seconds.
    let seconds = shift / 1_000_000_000;
    if seconds != 0 {
        db.execute("UPDATE runs SET ended = max(ended + ?1, 2) WHERE ended > 1", [seconds])?;
    }
    let mark = serde_json::to_vec(&mark).map_err(|error| corrupt(error.to_string()))?;
    let mut write = db.prepare_cached("INSERT OR REPLACE INTO meta VALUES ('clock', ?1)")?;
    write.execute([mark])?;
    Ok(shift)
}

/// Moves the moments of a column, up to the last one that there is.
fn shift_column(db: &Connection, (table, column): (&str, &str), by: i64) -> Result<(), SqliteError> {
    if by == 0 {
        return Ok(());
    }
    let (least, most) = (i64::MIN.saturating_sub(by.min(0)), i64::MAX.saturating_sub(by.max(0)));
    let update = format!(
        "UPDATE {table} SET {column} = min(max({column}, ?2), ?3) + ?1 WHERE {column} IS NOT NULL AND {column} < ?4"
    );
    // What is kept for ever stays for ever.
    db.execute(&update, params![by, least, most, i64::MAX])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use forecourt_core::Timestamp;

    use super::super::schema;
    use super::*;

    /// Columns with moments at which something happened.
    const PAST: &[(&str, &str)] =
        &[("tasks", "created_at"), ("tasks", "updated_at"), ("deliveries", "settled_at"), ("entries", "at")];

    fn database() -> Connection {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db, schema::MIGRATIONS).unwrap();
        db
    }

    fn read(wall: i64, uptime: u64) -> MachineTime {
        let wall = Timestamp::from_second(wall).unwrap();
        MachineTime { wall, uptime: Duration::from_secs(uptime), boot: Some("a".to_owned()) }
    }

    #[test]
    fn every_moment_of_the_schema_is_known_to_move_or_to_stay() {
        let db = database();
        let mut select = db
            .prepare(
                "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'
                 AND c.type = 'INTEGER' AND (c.name = 'at' OR c.name LIKE '%\\_at' ESCAPE '\\' OR c.name LIKE '%until%')",
            )
            .unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let mut found: Vec<_> = select.query_map([], row).unwrap().map(Result::unwrap).collect();
        let known =
            AHEAD.iter().chain(PAST).chain([&CLAIMS]).map(|(table, at)| ((*table).to_owned(), (*at).to_owned()));
        let mut known: Vec<_> = known.collect();
        found.sort();
        known.sort();
        assert_eq!(found, known, "what is kept until a moment moves when the clock was set");
    }

    #[test]
    fn moments_ahead_move_with_the_clock_and_those_of_the_past_stay() {
        let db = database();
        db.execute_batch(
            "INSERT INTO streams VALUES (1, x'01', 4);
             INSERT INTO entries (stream, n, at, expires_at, body) VALUES (1, 1, 5, 60000000000, x'00'),
                 (1, 2, 6, NULL, x'00'), (1, 3, 7, 9223372036854775807, x'00'), (1, 4, 8, 9223372036854775806, x'00');
             INSERT INTO claims VALUES (x'01', 60000000000), (x'02', 9223372036854775807);
             INSERT INTO runs (run, beat, ended) VALUES ('a', 1, 0), ('b', 1, 1), ('c', 1, 60);",
        )
        .unwrap();
        let all = |sql: &str| -> Vec<Option<i64>> {
            let mut select = db.prepare(sql).unwrap();
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let (ends, claims, ended) = (
            "SELECT expires_at FROM entries ORDER BY n",
            "SELECT expires_at FROM claims ORDER BY hash",
            "SELECT ended FROM runs ORDER BY run",
        );
        let moved = LastMove::default();
        assert_eq!(follow(&db, &read(1_000, 10), &moved).unwrap(), 0);
        assert_eq!(follow(&db, &read(1_003, 13), &moved).unwrap(), 0);
        assert_eq!(all(ends)[0], Some(60_000_000_000));
        assert_eq!(follow(&db, &read(1_106, 16), &moved).unwrap(), 100_000_000_000);
        assert_eq!(all(ends), [Some(160_000_000_000), None, Some(i64::MAX), Some(i64::MAX)]);
        assert_eq!(all(claims), [Some(160_000_000_000), Some(i64::MAX)]);
        assert_eq!(all(ended), [Some(0), Some(1), Some(160)]);
        assert_eq!(follow(&db, &read(1_006, 16), &moved).unwrap(), -100_000_000_000);
        assert_eq!((all(ends)[0], all(claims)[0]), (Some(60_000_000_000), Some(160_000_000_000)));
        assert_eq!(all("SELECT at FROM entries ORDER BY n"), [Some(5), Some(6), Some(7), Some(8)]);
    }
}
