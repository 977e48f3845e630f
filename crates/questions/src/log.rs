//! Counters of questions, in a SQLite file of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_core::{Account, Timestamp};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, params};

use crate::AnswerOutcome;
use crate::limits::{
    ITEM_BYTES_MAX, QUESTIONS_MAX, RATINGS_MAX, RATINGS_PER_MINUTE_MAX, REPORTED_MAX, RESULTS_MAX, SUGGESTED_MAX,
};
use crate::normalized::normalized;
use crate::people::AskerCounts;
use crate::report::{MarkedQuestion, QuestionCount, QuestionReport};

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS questions (
        agent TEXT NOT NULL, day INTEGER NOT NULL, question TEXT NOT NULL, asked INTEGER NOT NULL DEFAULT 0,
        nothing_found INTEGER NOT NULL DEFAULT 0, not_understood INTEGER NOT NULL DEFAULT 0,
        good INTEGER NOT NULL DEFAULT 0, bad INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (agent, day, question)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS questions_day ON questions (day);
    CREATE INDEX IF NOT EXISTS questions_text ON questions (agent, question);
    CREATE TABLE IF NOT EXISTS ratings (
        agent TEXT NOT NULL, day INTEGER NOT NULL, question TEXT NOT NULL, item TEXT NOT NULL,
        good INTEGER NOT NULL DEFAULT 0, bad INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (agent, day, question, item)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS results (
        agent TEXT NOT NULL, question TEXT NOT NULL, item TEXT NOT NULL, day INTEGER NOT NULL,
        shown INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL DEFAULT 0, clicked INTEGER NOT NULL DEFAULT 0,
        places INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (agent, question, item, day)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS results_day ON results (day);
    CREATE TABLE IF NOT EXISTS asked_by_several (
        agent TEXT NOT NULL, question TEXT NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (agent, question)
    ) WITHOUT ROWID;
";

/// What others have asked whose beginning somebody types: the days of each such question are found by its text, since a
/// scan of the log for each would keep whoever types waiting.
const SUGGESTED: &str = "
    SELECT s.question FROM asked_by_several s
    CROSS JOIN questions q INDEXED BY questions_text ON q.agent = s.agent AND q.question = +s.question
    WHERE s.agent = ?1 AND s.question >= ?2 AND s.question < ?2 || char(1114111)
    GROUP BY s.question HAVING SUM(q.nothing_found) = 0 AND SUM(q.bad) <= SUM(q.good)
    ORDER BY SUM(q.asked) DESC, s.question LIMIT ?3";

/// How long another process may write before a question is not counted.
const BUSY_TIME_MAX: Duration = Duration::from_secs(2);
/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// Why the log can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the log of questions cannot be used: {0}")]
pub struct Error(#[from] rusqlite::Error);

/// The log of one deployment. Its file is opened when it is first needed.
pub struct QuestionLog {
    file: PathBuf,
    pub(crate) keep_days: u32,
    /// Whether what several people ask is offered to others.
    suggests: bool,
    askers: Mutex<AskerCounts>,
    inner: Mutex<Option<Inner>>,
}

pub(crate) struct Inner {
    pub(crate) db: Connection,
    /// The day on which what is too old was last removed.
    swept: Option<i64>,
    rated: MinuteCount,
    pub(crate) clicked: MinuteCount,
    questions_max: u64,
    ratings_max: u64,
    pub(crate) results_max: u64,
    /// There are at most so many rows of results: what was written since they were counted is added, and they are counted
    /// anew when that leaves no room.
    pub(crate) results_at_most: u64,
}

/// How many there were in a minute. All callers share the bound: the log does not know who they are.
#[derive(Debug, Default)]
pub(crate) struct MinuteCount {
    minute: i64,
    pub(crate) count: u32,
}

impl MinuteCount {
    /// Counts one more. Whether it is within the bound.
    pub(crate) fn take(&mut self, now: Timestamp, max: u32) -> bool {
        let minute = now.as_second().div_euclid(60);
        if self.minute != minute {
            *self = Self { minute, count: 0 };
        }
        self.count = self.count.saturating_add(1);
        self.count <= max
    }
}

/// A thumb up or down for an answer or for one of its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rating {
    /// The agent's handle.
    pub agent: String,
    /// The question, as it was asked.
    pub question: String,
    /// The item that is meant. `None`: the answer as a whole.
    pub item: Option<String>,
    /// Thumb up or thumb down.
    pub is_good: bool,
}

/// What became of a rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatingOutcome {
    /// It is counted.
    Counted,
    /// Nobody asked this in the days that are kept.
    UnknownQuestion,
    /// There are too many at once, or of too many items.
    Full,
}

impl QuestionLog {
    /// The log in `file`, which is made when it is missing. Questions are kept for so many days, that of asking
    /// included.
    pub fn new(file: PathBuf, keep_days: u32) -> Self {
        let keep_days = keep_days.max(1);
        Self { file, keep_days, suggests: true, askers: Mutex::default(), inner: Mutex::new(None) }
    }

    /// Counts questions and offers none of them to others.
    #[must_use]
    pub fn without_suggestions(self) -> Self {
        Self { suggests: false, ..self }
    }

    /// Notes who asked a question that was answered, in memory alone. Once several people have, others who type its
    /// beginning are offered it.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn note_person(&self, agent: &str, question: &str, who: &Account, now: Timestamp) -> Result<(), Error> {
        let Some(question) = normalized(question) else { return Ok(()) };
        if !self.suggests || !self.askers.lock().note(agent, &question, who) {
            return Ok(());
        }
        let day = now.as_second().div_euclid(DAY);
        // Only what is in the log, whose bound it shares.
        let insert = "INSERT OR REPLACE INTO asked_by_several (agent, question, day)
            SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM questions WHERE agent = ?1 AND question = ?2)";
        self.inner()?.db.prepare_cached(insert)?.execute(params![agent, question, day])?;
        Ok(())
    }

    /// Questions that several people have asked an agent and that begin as `typed` does, the most frequent first; none
    /// to which nothing was found. Empty for a text of fewer than two characters.
    /// Blocks while the file is read.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn suggestions(&self, agent: &str, typed: &str) -> Result<Vec<String>, Error> {
        let Some(typed) = normalized(typed).filter(|typed| self.suggests && typed.chars().count() > 1) else {
            return Ok(Vec::new());
        };
        let inner = self.inner()?;
        let mut rows = inner.db.prepare_cached(SUGGESTED)?;
        let found = rows.query_map(params![agent, typed, SUGGESTED_MAX], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The opened file.
    pub(crate) fn inner(&self) -> Result<MappedMutexGuard<'_, Inner>, Error> {
        let mut inner = self.inner.lock();
        if inner.is_none() {
            *inner = Some(Inner::open(&self.file)?);
        }
        // Opened above if it was not before: the error can't come.
        MutexGuard::try_map(inner, Option::as_mut).map_err(|_| Error(rusqlite::Error::InvalidQuery))
    }

    /// Counts a question. When the log is full, the oldest day makes room; on its first day, new questions are not
    /// kept.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn count(&self, agent: &str, question: &str, outcome: AnswerOutcome, now: Timestamp) -> Result<(), Error> {
        let Some(question) = normalized(question) else { return Ok(()) };
        let day = now.as_second().div_euclid(DAY);
        let mut inner = self.inner()?;
        inner.sweep(day, self.keep_days)?;
        if !inner.has_room(agent, day, &question)? {
            return Ok(());
        }
        let counts = [outcome == AnswerOutcome::NothingFound, outcome == AnswerOutcome::NotUnderstood];
        inner.db.prepare_cached(
            "INSERT INTO questions (agent, day, question, asked, nothing_found, not_understood) VALUES (?1, ?2, ?3, 1, ?4, ?5)
             ON CONFLICT DO UPDATE SET asked = asked + 1, nothing_found = nothing_found + ?4,
             not_understood = not_understood + ?5",
        )?
        .execute(params![agent, day, question, counts[0], counts[1]])?;
        Ok(())
    }

    /// Counts what somebody thinks of the answer to a question that is in the log.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn rate(&self, rating: &Rating, now: Timestamp) -> Result<RatingOutcome, Error> {
        let Some(question) = normalized(&rating.question) else { return Ok(RatingOutcome::UnknownQuestion) };
        let mut inner = self.inner()?;
        inner.sweep(now.as_second().div_euclid(DAY), self.keep_days)?;
        if !inner.rated.take(now, RATINGS_PER_MINUTE_MAX)
            || rating.item.as_ref().is_some_and(|item| item.len() > ITEM_BYTES_MAX)
        {
            return Ok(RatingOutcome::Full);
        }
        // Only questions that were asked can be rated: else ratings would be a way to write into the log.
        let latest = "SELECT MAX(day) FROM questions WHERE agent = ?1 AND question = ?2";
        let day: Option<i64> =
            inner.db.prepare_cached(latest)?.query_row(params![rating.agent, question], |row| row.get(0))?;
        let Some(day) = day else { return Ok(RatingOutcome::UnknownQuestion) };
        let (good, bad) = (rating.is_good, !rating.is_good);
        inner
            .db
            .prepare_cached(
                "UPDATE questions SET good = good + ?4, bad = bad + ?5 WHERE agent = ?1 AND day = ?2 AND question = ?3",
            )?
            .execute(params![rating.agent, day, question, good, bad])?;
        let Some(item) = &rating.item else { return Ok(RatingOutcome::Counted) };
        if !inner.has_room_for_rating(&rating.agent, day, &question, item)? {
            return Ok(RatingOutcome::Full);
        }
        inner
            .db
            .prepare_cached(
                "INSERT INTO ratings (agent, day, question, item, good, bad) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET good = good + ?5, bad = bad + ?6",
            )?
            .execute(params![rating.agent, day, question, item, good, bad])?;
        Ok(RatingOutcome::Counted)
    }

    /// The questions of the days that are kept, at most `top` of each list and [`REPORTED_MAX`].
    ///
    /// # Errors
    /// The file can't be read.
    pub fn report(&self, top: usize, now: Timestamp) -> Result<QuestionReport, Error> {
        let mut inner = self.inner()?;
        inner.sweep(now.as_second().div_euclid(DAY), self.keep_days)?;
        let top = top.min(REPORTED_MAX);
        let whole = "SELECT COALESCE(SUM(asked), 0), COALESCE(SUM(nothing_found + not_understood), 0) FROM questions";
        let (asked, unanswered) = inner.db.query_row(whole, [], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
        let (clicks, average_place) = inner.clicks()?;
        Ok(QuestionReport {
            asked,
            unanswered,
            keep_days: self.keep_days,
            top: inner.counted("1", "SUM(asked)", top)?,
            without_good_answer: inner.counted(
                "SUM(nothing_found + not_understood) > 0 OR SUM(bad) > SUM(good)",
                "SUM(nothing_found + not_understood + bad)",
                top,
            )?,
            clicks,
            average_place,
            clicked_most: inner.clicked_most(top)?,
            never_clicked: inner.never_clicked(top)?,
        })
    }

    /// The questions of an agent of which somebody rated items, in the order of their words.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn marked(&self, agent: &str) -> Result<Vec<MarkedQuestion>, Error> {
        let inner = self.inner()?;
        let mut rows = inner.db.prepare(
            "SELECT question, item, SUM(good) - SUM(bad) FROM ratings WHERE agent = ?1 GROUP BY question, item",
        )?;
        let rows = rows.query_map([agent], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, i64>(2)?)))?;
        let mut questions: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
        for row in rows {
            let (question, item, worth) = row?;
            questions.entry(question).or_default().insert(item, worth);
        }
        Ok(questions.into_iter().map(|(question, items)| MarkedQuestion { question, items }).collect())
    }
}

impl Inner {
    fn open(file: &Path) -> rusqlite::Result<Self> {
        let db = Connection::open(file)?;
        // `forecourt eval --log` reads the file while the daemon writes it.
        db.busy_timeout(BUSY_TIME_MAX)?;
        db.execute_batch(SCHEMA)?;
        Ok(Self {
            db,
            swept: None,
            rated: MinuteCount::default(),
            clicked: MinuteCount::default(),
            questions_max: QUESTIONS_MAX,
            ratings_max: RATINGS_MAX,
            results_max: RESULTS_MAX,
            results_at_most: u64::MAX,
        })
    }

    /// Removes what is too old, once a day.
    pub(crate) fn sweep(&mut self, today: i64, keep_days: u32) -> rusqlite::Result<()> {
        // Rows have days and no hours, so that a second sweep on one day finds nothing.
        if self.swept == Some(today) {
            return Ok(());
        }
        // Today is one of the days that are kept.
        let first = today - i64::from(keep_days) + 1;
        self.db.execute("DELETE FROM questions WHERE day < ?1", [first])?;
        self.db.execute("DELETE FROM ratings WHERE day < ?1", [first])?;
        self.db.execute("DELETE FROM results WHERE day < ?1", [first])?;
        self.db.execute("DELETE FROM asked_by_several WHERE day < ?1", [first])?;
        self.swept = Some(today);
        Ok(())
    }

    /// Whether a question is there, or there is room for it.
    fn has_room(&self, agent: &str, day: i64, question: &str) -> rusqlite::Result<bool> {
        let known = "SELECT 1 FROM questions WHERE agent = ?1 AND day = ?2 AND question = ?3";
        let known = self.db.prepare_cached(known)?.query_row(params![agent, day, question], |_| Ok(())).optional()?;
        if known.is_some() || self.rows("questions")? < self.questions_max {
            return Ok(true);
        }
        let oldest: i64 = self.db.query_row("SELECT MIN(day) FROM questions", [], |row| row.get(0))?;
        // A flood of new questions on one day must not push out what the same day has counted.
        if oldest < day {
            self.db.execute("DELETE FROM questions WHERE day = ?1", [oldest])?;
            self.db.execute("DELETE FROM ratings WHERE day = ?1", [oldest])?;
            self.db.execute("DELETE FROM results WHERE day <= ?1", [oldest])?;
            self.db.execute("DELETE FROM asked_by_several WHERE day <= ?1", [oldest])?;
        }
        Ok(oldest < day)
    }

    fn has_room_for_rating(&self, agent: &str, day: i64, question: &str, item: &str) -> rusqlite::Result<bool> {
        let known = "SELECT 1 FROM ratings WHERE agent = ?1 AND day = ?2 AND question = ?3 AND item = ?4";
        let known =
            self.db.prepare_cached(known)?.query_row(params![agent, day, question, item], |_| Ok(())).optional()?;
        Ok(known.is_some() || self.rows("ratings")? < self.ratings_max)
    }

    pub(crate) fn rows(&self, table: &str) -> rusqlite::Result<u64> {
        self.db.prepare_cached(&format!("SELECT COUNT(*) FROM {table}"))?.query_row([], |row| count(row, 0))
    }

    fn counted(&self, having: &str, order: &str, top: usize) -> rusqlite::Result<Vec<QuestionCount>> {
        let mut rows = self.db.prepare(&format!(
            "SELECT agent, question, SUM(asked), SUM(nothing_found), SUM(not_understood), SUM(good), SUM(bad),
             (SELECT COALESCE(SUM(clicked), 0) FROM results AS r WHERE r.agent = q.agent AND r.question = q.question)
             FROM questions AS q GROUP BY agent, question HAVING {having} ORDER BY {order} DESC, agent, question LIMIT ?1"
        ))?;
        let rows = rows.query_map([top as i64], |row| {
            Ok(QuestionCount {
                agent: row.get(0)?,
                question: row.get(1)?,
                asked: count(row, 2)?,
                nothing_found: count(row, 3)?,
                not_understood: count(row, 4)?,
                good: count(row, 5)?,
                bad: count(row, 6)?,
                clicked: count(row, 7)?,
            })
        })?;
        rows.collect()
    }
}

/// A number of rows or of questions, which is never negative.
pub(crate) fn count(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(keep_days: u32) -> (tempfile::TempDir, QuestionLog) {
        let folder = tempfile::tempdir().unwrap();
        let log = QuestionLog::new(folder.path().join("questions.db"), keep_days);
        (folder, log)
    }

    fn day(day: i64) -> Timestamp {
        Timestamp::from_second(day * DAY + 60).unwrap()
    }

    fn rating(question: &str, item: Option<&str>, is_good: bool) -> Rating {
        Rating { agent: "chef".to_owned(), question: question.to_owned(), item: item.map(str::to_owned), is_good }
    }

    fn texts(counts: &[QuestionCount]) -> Vec<(&str, u64)> {
        counts.iter().map(|one| (one.question.as_str(), one.asked)).collect()
    }

    fn somebody(n: u8) -> Account {
        let network = forecourt_core::network::Network::of([10, 0, 0, n].into());
        forecourt_core::CallerKey::of(None, None, Some(network)).account()
    }

    #[test]
    fn a_question_is_suggested_once_several_people_asked_it_and_it_was_answered() {
        let (_folder, log) = log(2);
        let ask = |question: &str, who: u8, outcome| {
            log.count("chef", question, outcome, day(1)).unwrap();
            log.note_person("chef", question, &somebody(who), day(1)).unwrap();
        };
        (0..9).for_each(|_| ask("Soup with leek", 1, AnswerOutcome::Answered));
        assert!(log.suggestions("chef", "soup").unwrap().is_empty(), "one person's question is nobody else's");
        (2..4).for_each(|who| ask("soup with leek?", who, AnswerOutcome::Answered));
        (1..4).for_each(|who| ask("soup of unicorn", who, AnswerOutcome::NothingFound));
        assert_eq!(log.suggestions("chef", "Soup w").unwrap(), ["soup with leek"]);
        assert_eq!(log.suggestions("chef", "soup").unwrap(), ["soup with leek"], "nothing was found for the other");
        for (agent, typed) in [("other", "soup"), ("chef", "leek"), ("chef", "s"), ("chef", "%"), ("chef", "")] {
            assert!(log.suggestions(agent, typed).unwrap().is_empty(), "{typed}");
        }
        log.report(10, day(3)).unwrap();
        assert!(log.suggestions("chef", "soup").unwrap().is_empty(), "it is forgotten with its day");
    }

    #[test]
    fn what_people_ask_is_nobody_elses_where_the_operator_wants_that() {
        let (_folder, log) = log(2);
        let log = log.without_suggestions();
        log.count("chef", "soup", AnswerOutcome::Answered, day(1)).unwrap();
        (1..9).for_each(|who| log.note_person("chef", "soup", &somebody(who), day(1)).unwrap());
        assert!(log.suggestions("chef", "soup").unwrap().is_empty());
        let noted = log.inner().unwrap().rows("asked_by_several").unwrap();
        assert_eq!((log.report(10, day(1)).unwrap().asked, noted), (1, 0));
    }

    #[test]
    fn suggestions_are_found_by_their_text_and_not_by_a_scan_of_the_log() {
        let (_folder, log) = log(2);
        let inner = log.inner().unwrap();
        let mut plan = inner.db.prepare(&format!("EXPLAIN QUERY PLAN {SUGGESTED}")).unwrap();
        let steps = plan.query_map(params!["chef", "soup", SUGGESTED_MAX], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        let text = "SEARCH q USING INDEX questions_text (agent=? AND question=?)";
        assert!(steps.iter().any(|step| step == text), "{steps:?}");
    }

    #[test]
    fn questions_are_counted_however_they_are_written() {
        let (_folder, log) = log(30);
        log.count("chef", "Soup?", AnswerOutcome::Answered, day(1)).unwrap();
        log.count("chef", " soup", AnswerOutcome::Answered, day(2)).unwrap();
        log.count("chef", "unicorn steak", AnswerOutcome::NothingFound, day(2)).unwrap();
        log.count("chef", "soup without love", AnswerOutcome::NotUnderstood, day(2)).unwrap();
        log.count("chef", "?!", AnswerOutcome::NothingFound, day(2)).unwrap();
        let report = log.report(10, day(2)).unwrap();
        assert_eq!((report.asked, report.unanswered, report.keep_days), (4, 2, 30));
        assert_eq!(texts(&report.top), [("soup", 2), ("soup without love", 1), ("unicorn steak", 1)]);
        assert_eq!(texts(&report.without_good_answer), [("soup without love", 1), ("unicorn steak", 1)]);
        assert_eq!(log.report(1, day(2)).unwrap().top.len(), 1);
    }

    #[test]
    fn days_behind_the_last_kept_one_are_forgotten() {
        let (_folder, log) = log(2);
        log.count("chef", "old", AnswerOutcome::Answered, day(1)).unwrap();
        log.count("chef", "new", AnswerOutcome::Answered, day(2)).unwrap();
        assert_eq!(log.report(10, day(2)).unwrap().asked, 2);
        assert_eq!(texts(&log.report(10, day(3)).unwrap().top), [("new", 1)]);
        assert_eq!(log.report(10, day(4)).unwrap().asked, 0);
    }

    #[test]
    fn thumbs_count_for_questions_that_were_asked_and_mark_items() {
        let (_folder, log) = log(30);
        assert_eq!(log.rate(&rating("soup", None, true), day(1)).unwrap(), RatingOutcome::UnknownQuestion);
        log.count("chef", "soup", AnswerOutcome::Answered, day(1)).unwrap();
        for (item, is_good) in [(Some("a"), true), (Some("a"), true), (Some("b"), false), (None, false), (None, false)]
        {
            assert_eq!(log.rate(&rating("SOUP?", item, is_good), day(1)).unwrap(), RatingOutcome::Counted);
        }
        let report = log.report(10, day(1)).unwrap();
        assert_eq!((report.top[0].good, report.top[0].bad), (2, 3));
        assert_eq!(texts(&report.without_good_answer), [("soup", 1)]);
        let marked = log.marked("chef").unwrap();
        assert_eq!(marked[0].items, BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), -1)]));
        assert!(log.marked("other").unwrap().is_empty());
    }

    #[test]
    fn a_full_log_forgets_its_oldest_day_and_takes_no_more_on_its_first() {
        let (_folder, log) = log(30);
        log.inner().unwrap().questions_max = 2;
        for question in ["a", "b", "c", "a"] {
            log.count("chef", question, AnswerOutcome::Answered, day(1)).unwrap();
        }
        assert_eq!(texts(&log.report(10, day(1)).unwrap().top), [("a", 2), ("b", 1)]);
        let people = |question: &str, on: i64| {
            (1..4).for_each(|who| log.note_person("chef", question, &somebody(who), day(on)).unwrap());
        };
        people("a", 1);
        log.count("chef", "c", AnswerOutcome::Answered, day(2)).unwrap();
        people("c", 2);
        assert_eq!(texts(&log.report(10, day(2)).unwrap().top), [("c", 1)]);
        assert_eq!(log.inner().unwrap().rows("asked_by_several").unwrap(), 1, "who asked is forgotten with the day");
    }

    #[test]
    fn ratings_end_at_their_bounds() {
        let (_folder, log) = log(30);
        log.count("chef", "soup", AnswerOutcome::Answered, day(1)).unwrap();
        log.inner().unwrap().ratings_max = 1;
        let rate = |item: &str| log.rate(&rating("soup", Some(item), true), day(1)).unwrap();
        assert_eq!(
            (rate("a"), rate("b"), rate("a")),
            (RatingOutcome::Counted, RatingOutcome::Full, RatingOutcome::Counted)
        );
        let long = |bytes: usize| log.rate(&rating("soup", Some(&"x".repeat(bytes)), true), day(1)).unwrap();
        log.inner().unwrap().ratings_max = 2;
        assert_eq!((long(ITEM_BYTES_MAX), long(ITEM_BYTES_MAX + 1)), (RatingOutcome::Counted, RatingOutcome::Full));
        log.inner().unwrap().rated.count = RATINGS_PER_MINUTE_MAX;
        assert_eq!(rate("a"), RatingOutcome::Full);
    }

    #[test]
    fn a_file_that_is_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("questions.db");
        std::fs::write(&file, "x".repeat(4096)).unwrap();
        assert!(QuestionLog::new(file, 30).report(1, day(1)).is_err());
    }
}
