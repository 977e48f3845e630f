//! One transaction for many, and none of them for another's fault.

use super::*;
use crate::limits::WRITES_PER_COMMIT_MAX;

type Answer = oneshot::Receiver<Result<i64, StoreError>>;

fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE TABLE kept (x INTEGER NOT NULL UNIQUE) STRICT").unwrap();
    db
}

fn pending(work: impl Fn(&Connection) -> Result<i64, SqliteError> + Send + 'static) -> (Box<dyn Write>, Answer) {
    let (answer, answered) = oneshot::channel();
    (Box::new(Pending { work, result: None, answer }), answered)
}

/// Keeps `x`.
fn keep(x: i64) -> (Box<dyn Write>, Answer) {
    pending(move |db| insert(db, x))
}

fn insert(db: &Connection, x: i64) -> Result<i64, SqliteError> {
    db.execute("INSERT INTO kept VALUES (?1)", [x])?;
    Ok(x)
}

fn kept(db: &Connection) -> Vec<i64> {
    let mut select = db.prepare("SELECT x FROM kept ORDER BY x").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Commits a batch; which of them succeeded.
fn committed(db: &Connection, writes: Vec<(Box<dyn Write>, Answer)>) -> Vec<bool> {
    let (batch, answers): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
    commit(db, batch, &Anchor(None), &mut || {});
    answers.into_iter().map(|mut answer| answer.try_recv().expect("everybody is answered").is_ok()).collect()
}

#[test]
fn a_write_that_fails_is_taken_back_and_its_neighbours_stay() {
    let db = database();
    let half = pending(|db| insert(db, 7).and_then(|_| insert(db, 7)));
    assert_eq!(committed(&db, vec![keep(1), half, keep(2)]), [true, false, true]);
    assert_eq!(kept(&db), [1, 2]);
}

#[test]
fn a_write_that_fails_alone_leaves_nothing() {
    let db = database();
    assert_eq!(committed(&db, vec![pending(|db| insert(db, 7).and_then(|_| insert(db, 7)))]), [false]);
    assert!(kept(&db).is_empty() && db.is_autocommit());
}

#[test]
fn a_write_that_takes_down_the_transaction_fails_alone_all_the_same() {
    let db = database();
    let fatal = pending(|db| {
        insert(db, 7)?;
        db.execute_batch("ROLLBACK")?;
        Err(SqliteError::Store(StoreError::Unavailable("full".to_owned())))
    });
    assert_eq!(committed(&db, vec![keep(1), fatal, keep(2)]), [true, false, true]);
    assert_eq!(kept(&db), [1, 2]);
}

#[test]
fn a_transaction_that_was_left_open_does_not_stop_the_next() {
    let db = database();
    db.execute_batch("BEGIN; INSERT INTO kept VALUES (9)").unwrap();
    assert_eq!(committed(&db, vec![keep(1)]), [true]);
    assert_eq!(kept(&db), [1]);
}

#[tokio::test]
async fn a_batch_ends_at_its_bound() {
    for queued in [WRITES_PER_COMMIT_MAX, WRITES_PER_COMMIT_MAX + 1] {
        let (queue, waiting) = queue();
        for n in 0..queued {
            queue.push(Command::Write(keep(n as i64).0)).await.unwrap();
        }
        assert_eq!(waiting.take(queued, Duration::ZERO).len(), WRITES_PER_COMMIT_MAX);
        assert_eq!(waiting.len(), queued - WRITES_PER_COMMIT_MAX);
    }
}

#[test]
fn who_is_answered_is_expected_back_beside_those_who_waited_meanwhile() {
    let db = database();
    let mut waited = 0;
    commit(&db, vec![keep(1).0, keep(2).0], &Anchor(None), &mut || waited += 1);
    assert_eq!(waited, 1);
    let patience = |commit| Pace { expected: 0, commit }.patience();
    assert_eq!((patience(Duration::from_micros(10)), patience(Duration::MAX)), (Duration::from_micros(5), GATHER_MAX));
}

#[tokio::test]
async fn dropping_the_writer_writes_what_is_queued() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let open = || Connection::open(&path).unwrap();
    open().execute_batch("CREATE TABLE kept (x INTEGER NOT NULL UNIQUE) STRICT").unwrap();
    let writer = Writer::start(open()).unwrap();
    for n in 0..50 {
        let mut write = Box::pin(writer.write(move |db| insert(db, n)));
        assert!(futures::poll!(&mut write).is_pending() || n > 0);
    }
    drop(writer);
    assert_eq!(kept(&open()).len(), 50);
}
