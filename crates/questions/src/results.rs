//! Which results of a question were shown on a page, and which of them were clicked.
//!
//! A click changes a counter of a result that was shown, and no more often than it was: so that whoever makes clicks up
//! writes nothing new. No ranking reads these counters.

use forecourt_core::Timestamp;
use rusqlite::{OptionalExtension, params};

use crate::limits::{CLICKS_PER_MINUTE_MAX, RESULT_BYTES_MAX, RESULTS_NOTED_MAX};
use crate::log::{DAY, Error, Inner, QuestionLog, count};
use crate::normalized::normalized;
use crate::report::ResultCount;

/// A click on a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Click {
    /// The agent's handle.
    pub agent: String,
    /// The question, as it was asked.
    pub question: String,
    /// The address or the id of the item.
    pub item: String,
}

/// What became of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickOutcome {
    /// It is counted.
    Counted,
    /// This was not shown for such a question in the days that are kept, or was clicked as often as shown.
    NotShown,
    /// There are too many at once.
    Full,
}

impl QuestionLog {
    /// Counts that a page showed these items, in this order, for a question that was counted today. The first
    /// [`RESULTS_NOTED_MAX`] count. When there is no room, the oldest day makes some; on its first day, new results are
    /// not kept.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn note_shown(&self, agent: &str, question: &str, items: &[String], now: Timestamp) -> Result<(), Error> {
        let Some(question) = normalized(question) else { return Ok(()) };
        let day = now.as_second().div_euclid(DAY);
        let mut inner = self.inner()?;
        inner.sweep(day, self.keep_days)?;
        // One transaction for all of them: each would else wait for the disk by itself.
        let is_counted = inner.is_counted(agent, day, &question)?;
        if !is_counted || items.is_empty() {
            return Ok(());
        }
        let has_room = inner.has_room_for_results(day)?;
        let transaction = inner.db.transaction()?;
        {
            let add = "INSERT INTO results (agent, question, item, day, shown, place) VALUES (?1, ?2, ?3, ?4, 1, ?5)
                ON CONFLICT DO UPDATE SET shown = shown + 1, place = ?5";
            let again = "UPDATE results SET shown = shown + 1, place = ?5
                WHERE agent = ?1 AND question = ?2 AND item = ?3 AND day = ?4";
            let mut write = transaction.prepare_cached(if has_room { add } else { again })?;
            for (at, item) in items.iter().take(RESULTS_NOTED_MAX).enumerate() {
                if !item.is_empty() && item.len() <= RESULT_BYTES_MAX {
                    write.execute(params![agent, question, item, day, at as i64 + 1])?;
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Counts a click on a result that was shown.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn click(&self, click: &Click, now: Timestamp) -> Result<ClickOutcome, Error> {
        let Some(question) = normalized(&click.question) else { return Ok(ClickOutcome::NotShown) };
        let mut inner = self.inner()?;
        if !inner.clicked.take(now, CLICKS_PER_MINUTE_MAX) {
            return Ok(ClickOutcome::Full);
        }
        inner.sweep(now.as_second().div_euclid(DAY), self.keep_days)?;
        let update = "UPDATE results SET clicked = clicked + 1, places = places + place
            WHERE agent = ?1 AND question = ?2 AND item = ?3 AND clicked < shown AND day = (
                SELECT MAX(day) FROM results WHERE agent = ?1 AND question = ?2 AND item = ?3
            )";
        let counted = inner.db.prepare_cached(update)?.execute(params![click.agent, question, click.item])?;
        Ok(if counted > 0 { ClickOutcome::Counted } else { ClickOutcome::NotShown })
    }
}

impl Inner {
    fn is_counted(&self, agent: &str, day: i64, question: &str) -> rusqlite::Result<bool> {
        let known = "SELECT 1 FROM questions WHERE agent = ?1 AND day = ?2 AND question = ?3";
        let known = self.db.prepare_cached(known)?.query_row(params![agent, day, question], |_| Ok(())).optional()?;
        Ok(known.is_some())
    }

    /// Whether the results of one more answer may be kept.
    fn has_room_for_results(&mut self, day: i64) -> rusqlite::Result<bool> {
        let (noted, max) = (RESULTS_NOTED_MAX as u64, self.results_max);
        let fits = |rows: u64| rows.saturating_add(noted) <= max;
        if !fits(self.results_at_most) {
            self.results_at_most = self.rows("results")?;
        }
        if fits(self.results_at_most) {
            self.results_at_most += noted;
            return Ok(true);
        }
        let oldest: Option<i64> = self.db.query_row("SELECT MIN(day) FROM results", [], |row| row.get(0))?;
        // As with questions: a flood on one day does not push out what the same day has counted.
        let Some(oldest) = oldest.filter(|oldest| *oldest < day) else { return Ok(false) };
        self.db.execute("DELETE FROM results WHERE day = ?1", [oldest])?;
        self.results_at_most = self.rows("results")?;
        let has_room = fits(self.results_at_most);
        self.results_at_most += if has_room { noted } else { 0 };
        Ok(has_room)
    }

    /// Clicks in all, and at which place they were on average.
    pub(crate) fn clicks(&self) -> rusqlite::Result<(u64, Option<f64>)> {
        let whole = "SELECT COALESCE(SUM(clicked), 0), COALESCE(SUM(places), 0) FROM results";
        let (clicks, places) = self.db.query_row(whole, [], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
        Ok((clicks, (clicks > 0).then(|| average(places, clicks))))
    }

    /// The results that were clicked most.
    pub(crate) fn clicked_most(&self, top: usize) -> rusqlite::Result<Vec<ResultCount>> {
        self.results("SUM(clicked) > 0", "SUM(clicked)", top)
    }

    /// The results that were shown most, and that nobody clicked.
    pub(crate) fn never_clicked(&self, top: usize) -> rusqlite::Result<Vec<ResultCount>> {
        self.results("SUM(clicked) = 0", "SUM(shown)", top)
    }

    fn results(&self, having: &str, order: &str, top: usize) -> rusqlite::Result<Vec<ResultCount>> {
        // Of several days, the last place is that of the latest: SQLite takes bare columns from the row of the maximum.
        let mut rows = self.db.prepare(&format!(
            "SELECT agent, question, item, SUM(shown), SUM(clicked), SUM(places), place, MAX(day)
             FROM results GROUP BY agent, question, item HAVING {having}
             ORDER BY {order} DESC, agent, question, item LIMIT ?1"
        ))?;
        let rows = rows.query_map([top as i64], |row| {
            let (clicked, places, last) = (count(row, 4)?, count(row, 5)?, count(row, 6)?);
            let place = if clicked > 0 { average(places, clicked) } else { last as f64 };
            let (agent, question, item) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(ResultCount { agent, question, item, shown: count(row, 3)?, clicked, place })
        })?;
        rows.collect()
    }
}

/// A mean with one decimal.
fn average(sum: u64, count: u64) -> f64 {
    (sum as f64 / count as f64 * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::AnswerOutcome;

    fn log(keep_days: u32) -> (tempfile::TempDir, QuestionLog) {
        let folder = tempfile::tempdir().unwrap();
        let log = QuestionLog::new(folder.path().join("questions.db"), keep_days);
        (folder, log)
    }

    fn day(day: i64) -> Timestamp {
        Timestamp::from_second(day * DAY + 60).unwrap()
    }

    fn show(log: &QuestionLog, question: &str, items: &[&str], on: i64) {
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        log.count("chef", question, AnswerOutcome::Answered, day(on)).unwrap();
        log.note_shown("chef", question, &items, day(on)).unwrap();
    }

    fn click(log: &QuestionLog, question: &str, item: &str, on: i64) -> ClickOutcome {
        let click = Click { agent: "chef".to_owned(), question: question.to_owned(), item: item.to_owned() };
        log.click(&click, day(on)).unwrap()
    }

    fn told(results: &[ResultCount]) -> Vec<(&str, u64, u64, f64)> {
        results.iter().map(|one| (one.item.as_str(), one.shown, one.clicked, one.place)).collect()
    }

    #[test]
    fn what_is_shown_and_clicked_is_counted_with_its_place() {
        let (_folder, log) = log(30);
        show(&log, "soup", &["a", "b", "c"], 1);
        show(&log, "Soup?", &["b", "a", "c"], 2);
        assert_eq!(click(&log, "SOUP", "a", 2), ClickOutcome::Counted);
        assert_eq!(click(&log, "soup", "b", 2), ClickOutcome::Counted);
        let report = log.report(10, day(2)).unwrap();
        assert_eq!((report.clicks, report.average_place, report.top[0].clicked), (2, Some(1.5), 2));
        assert_eq!(told(&report.clicked_most), [("a", 2, 1, 2.0), ("b", 2, 1, 1.0)]);
        assert_eq!(told(&report.never_clicked), [("c", 2, 0, 3.0)]);
        assert_eq!(log.report(1, day(2)).unwrap().clicked_most.len(), 1);
        assert!(log.marked("chef").unwrap().is_empty(), "a click is no judgement");
    }

    #[test]
    fn a_made_up_click_writes_nothing_and_none_counts_more_often_than_it_was_shown() {
        let (_folder, log) = log(30);
        show(&log, "soup", &["a"], 1);
        for (question, item) in [("soup", "b"), ("stew", "a"), ("?!", "a"), ("", ""), ("soup", "")] {
            assert_eq!(click(&log, question, item, 1), ClickOutcome::NotShown, "{question} {item}");
        }
        let clicks = [(); 3].map(|()| click(&log, "soup", "a", 1));
        assert_eq!(clicks, [ClickOutcome::Counted, ClickOutcome::NotShown, ClickOutcome::NotShown]);
        assert_eq!(log.inner().unwrap().rows("results").unwrap(), 1);
    }

    #[test]
    fn results_of_a_question_that_is_not_counted_are_not_either() {
        let (_folder, log) = log(30);
        log.note_shown("chef", "soup", &["a".to_owned()], day(1)).unwrap();
        assert_eq!(log.inner().unwrap().rows("results").unwrap(), 0);
    }

    #[test]
    fn results_and_clicks_end_at_their_bounds() {
        let (_folder, log) = log(30);
        let names: Vec<String> = (0..=RESULTS_NOTED_MAX).map(|n| format!("i{n:02}")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        show(&log, "soup", &all, 1);
        assert_eq!(log.inner().unwrap().rows("results").unwrap(), RESULTS_NOTED_MAX as u64);
        let long = |bytes: usize| "x".repeat(bytes);
        show(&log, "stew", &[&long(RESULT_BYTES_MAX), &long(RESULT_BYTES_MAX + 1)], 1);
        assert_eq!(log.inner().unwrap().rows("results").unwrap(), RESULTS_NOTED_MAX as u64 + 1);
        log.inner().unwrap().results_max = 2 * RESULTS_NOTED_MAX as u64;
        show(&log, "cake", &["a"], 1);
        show(&log, "soup", &["i00"], 1);
        let report = log.report(100, day(1)).unwrap();
        assert!(report.never_clicked.iter().all(|one| one.question != "cake"), "its first day makes no room");
        assert_eq!(told(&report.never_clicked)[0], ("i00", 2, 0, 1.0), "what is known is counted on");
        show(&log, "cake", &["a"], 2);
        assert_eq!(told(&log.report(100, day(2)).unwrap().never_clicked), [("a", 1, 0, 1.0)]);
        log.inner().unwrap().clicked.count = CLICKS_PER_MINUTE_MAX - 1;
        let click_of = |item: &str| {
            log.click(
                &Click { agent: "chef".to_owned(), question: "cake".to_owned(), item: item.to_owned() },
                Timestamp::UNIX_EPOCH,
            )
        };
        assert_eq!((click_of("b").unwrap(), click_of("a").unwrap()), (ClickOutcome::NotShown, ClickOutcome::Full));
    }

    #[test]
    fn results_are_forgotten_with_their_day() {
        let (_folder, log) = log(1);
        show(&log, "soup", &["a"], 1);
        assert_eq!(log.report(9, day(1)).unwrap().never_clicked.len(), 1);
        assert!(log.report(9, day(2)).unwrap().never_clicked.is_empty());
        assert_eq!(click(&log, "soup", "a", 2), ClickOutcome::NotShown);
    }

    proptest! {
        #[test]
        fn any_click_is_counted_or_not(question in "\\PC{0,60}", item in "\\PC{0,60}") {
            let (_folder, log) = log(1);
            show(&log, "soup", &["a"], 1);
            let _ = click(&log, &question, &item, 1);
            prop_assert_eq!(log.inner().unwrap().rows("results").unwrap(), 1);
        }
    }
}
