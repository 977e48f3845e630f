//! This module holds what a run found: for people as text, for programs as JSON.

use forecourt_client::printable::{line, printable};
use serde::Serialize;

use crate::check::{Level, Shortfall, Verdict};
use crate::limits::REASON_CHARS_MAX;

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check's name.
    pub id: &'static str,
    /// The sections that it is from.
    pub section: &'static str,
    /// `MUST` or `SHOULD`.
    pub level: &'static str,
    /// The rule in plain words.
    pub title: &'static str,
    /// What came of it.
    pub outcome: Outcome,
    /// Why, unless it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was sent, if one exchange shows what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// What came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub came: Option<String>,
    /// Whether there was no answer at all.
    #[serde(skip)]
    pub is_silent: bool,
}

/// What came of a check, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The rule is kept, as far as was looked.
    Pass,
    /// It is broken.
    Fail,
    /// It is advice, and not followed.
    Warn,
    /// It could not be told.
    Skip,
}

/// How many checks came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Rules that are kept.
    pub pass: usize,
    /// Rules that are broken.
    pub fail: usize,
    /// Advice that is not followed.
    pub warn: usize,
    /// Rules of which nothing can be said.
    pub skip: usize,
}

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Which server was asked.
    pub target: String,
    /// Whether nothing failed.
    pub ok: bool,
    /// The counts.
    pub summary: Summary,
    /// Everything that was looked at, in the order of the sections.
    pub checks: Vec<Finding>,
}

impl Finding {
    /// What `verdict` on a rule comes to: what a MUST asks for fails, what a SHOULD asks for warns.
    pub(crate) fn of(rule: (&'static str, &'static str, Level, &'static str), verdict: Verdict) -> Self {
        let (id, section, level, title) = rule;
        let (level, when_broken) = match level {
            Level::Must => ("MUST", Outcome::Fail),
            Level::Should => ("SHOULD", Outcome::Warn),
        };
        let passed = Self {
            id,
            section,
            level,
            title,
            outcome: Outcome::Pass,
            reason: None,
            sent: None,
            came: None,
            is_silent: false,
        };
        let because = |what: String| Some(line(&what, REASON_CHARS_MAX));
        match verdict {
            Ok(()) => passed,
            Err(Shortfall::Skipped(why)) => Self { outcome: Outcome::Skip, reason: because(why), ..passed },
            Err(Shortfall::Advice(what)) => Self { outcome: Outcome::Warn, reason: because(what), ..passed },
            Err(Shortfall::Broken { what, sent, came }) => {
                Self { outcome: when_broken, reason: because(what), sent, came, ..passed }
            }
            Err(Shortfall::Silent { what, sent }) => {
                Self { outcome: when_broken, reason: because(what), sent: Some(sent), is_silent: true, ..passed }
            }
        }
    }
}

impl Report {
    /// The report of a run.
    pub(crate) fn new(target: String, checks: Vec<Finding>) -> Self {
        let count = |outcome| checks.iter().filter(|finding| finding.outcome == outcome).count();
        let summary = Summary {
            pass: count(Outcome::Pass),
            fail: count(Outcome::Fail),
            warn: count(Outcome::Warn),
            skip: count(Outcome::Skip),
        };
        Self { target, ok: summary.fail == 0, summary, checks }
    }

    /// For people: a line a check, and what was seen beneath those that are not kept.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", line(&self.target, REASON_CHARS_MAX));
        let width = self.checks.iter().map(|finding| finding.id.len()).max().unwrap_or(0);
        for finding in &self.checks {
            finding.write(&mut text, width);
        }
        let Summary { pass, fail, warn, skip } = self.summary;
        text.push_str(&format!("\n{pass} passed, {fail} failed, {warn} warned, {skip} skipped\n"));
        text
    }
}

impl Finding {
    fn write(&self, text: &mut String, width: usize) {
        let word = match self.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "FAIL",
            Outcome::Warn => "warn",
            Outcome::Skip => "skip",
        };
        let Self { id, section, level, title, .. } = self;
        text.push_str(&format!("{word}  {id:width$}  {title} ({level}, {section})\n"));
        let is_shown = matches!(self.outcome, Outcome::Fail | Outcome::Warn);
        for (name, words) in [("", &self.reason), ("sent: ", &self.sent), ("came: ", &self.came)] {
            let Some(words) = words.as_ref().filter(|_| is_shown || name.is_empty()) else { continue };
            for (at, part) in printable(words).lines().enumerate() {
                let before = if at == 0 { name.to_owned() } else { " ".repeat(name.len()) };
                text.push_str(&format!("      {before}{part}\n"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(level: Level, verdict: Verdict) -> Finding {
        Finding::of(("x-1", "1", level, "a rule"), verdict)
    }

    #[test]
    fn what_must_be_fails_and_what_should_be_warns() {
        let broken = || Err(Shortfall::broken("no"));
        assert_eq!(finding(Level::Must, Ok(())).outcome, Outcome::Pass);
        assert_eq!(finding(Level::Must, broken()).outcome, Outcome::Fail);
        assert_eq!(finding(Level::Should, broken()).outcome, Outcome::Warn);
        assert_eq!(finding(Level::Must, Err(Shortfall::Advice("so".into()))).outcome, Outcome::Warn);
        assert_eq!(finding(Level::Must, Err(Shortfall::skip("so"))).outcome, Outcome::Skip);
        let report = Report::new("x".into(), vec![finding(Level::Should, broken())]);
        assert!(report.ok && report.summary.warn == 1);
        assert!(!Report::new("x".into(), vec![finding(Level::Must, broken())]).ok);
    }

    #[test]
    fn a_stranger_writes_nothing_on_a_terminal_but_words() {
        let came = Some("a\u{1b}[2Jb\nc".to_owned());
        let verdict = Err(Shortfall::Broken { what: "\u{1b}]0;x\u{7}".into(), sent: None, came });
        let text = Report::new("t\u{1b}".into(), vec![finding(Level::Must, verdict)]).text();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
}
