//! This module holds what a run found. Each form of a report has a file of its own.
//!
//! | file | for |
//! |---|---|
//! | `text.rs` | people, on a terminal |
//! | `html.rs` | people, as a page |
//! | `junit.rs`, `sarif.rs` | continuous integration |
//! | `known.rs` | what was known before, and what is new or gone |

mod html;
mod junit;
mod known;
mod sarif;
mod text;

pub use known::{Comparison, KnownFinding, KnownFindings, KnownProtocol};

use serde::{Deserialize, Serialize};

use crate::check::{Level, Rule, Shortfall, ShownExchange, Verdict};
use crate::limits::REASON_CHARS_MAX;
use forecourt_client::printable::line;

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check's name, which never changes: the finding is known by it from run to run.
    pub id: &'static str,
    /// The protocol that the rule is of.
    pub protocol: &'static str,
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
    /// What was sent, unless it passed or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// What came back, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub came: Option<String>,
    /// Whether there was no answer at all.
    #[serde(skip)]
    pub is_silent: bool,
}

/// What came of a check, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// Whether a server offers a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfferStatus {
    /// It was found, and is judged.
    Offered,
    /// It was looked for, and is not there.
    NotOffered,
    /// It could not be told.
    Untold,
}

/// What was found out of one protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtocolReport {
    /// Its name.
    pub name: &'static str,
    /// Whether the server offers it.
    pub status: OfferStatus,
    /// What was asked and what answered, if it is not offered or can't be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What holds for all of its checks, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How many checks of it were selected.
    pub checks: usize,
    /// Whether it only carries others.
    #[serde(skip)]
    pub is_carrier: bool,
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
    /// Whether nothing failed, and something was there to be judged.
    pub ok: bool,
    /// The counts.
    pub summary: Summary,
    /// What the server offers of what was looked for.
    pub protocols: Vec<ProtocolReport>,
    /// Everything that was looked at, in the order of the sections.
    pub checks: Vec<Finding>,
}

impl OfferStatus {
    /// It in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::NotOffered => "not offered",
            Self::Untold => "can't be told",
        }
    }
}

impl Level {
    /// The word of BCP 14.
    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
        }
    }
}

impl Finding {
    /// What `verdict` on a rule comes to: what a MUST asks for fails, what a SHOULD asks for warns.
    pub(crate) fn of(protocol: &'static str, rule: &Rule, verdict: Verdict) -> Self {
        let Rule { id, section, level, title } = *rule;
        let when_broken = match level {
            Level::Must => Outcome::Fail,
            Level::Should => Outcome::Warn,
        };
        let passed = Self {
            id,
            protocol,
            section,
            level: level.word(),
            title,
            outcome: Outcome::Pass,
            reason: None,
            sent: None,
            came: None,
            is_silent: false,
        };
        let because = |what: String| Some(line(&what, REASON_CHARS_MAX));
        let shown = |outcome, what, exchange: ShownExchange| {
            let ShownExchange { sent, came } = exchange;
            Self { outcome, reason: because(what), sent: Some(sent), came: Some(came), ..passed.clone() }
        };
        match verdict {
            Ok(()) => passed,
            Err(Shortfall::Skipped(why)) => Self { outcome: Outcome::Skip, reason: because(why), ..passed },
            Err(Shortfall::Advice(what, exchange)) => shown(Outcome::Warn, what, exchange),
            Err(Shortfall::Broken(what, exchange)) => shown(when_broken, what, exchange),
            Err(Shortfall::Silent { what, sent }) => {
                Self { outcome: when_broken, reason: because(what), sent: Some(sent), is_silent: true, ..passed }
            }
        }
    }
}

impl Report {
    /// The report of a run.
    pub(crate) fn new(target: String, protocols: Vec<ProtocolReport>, checks: Vec<Finding>) -> Self {
        let count = |outcome| checks.iter().filter(|finding| finding.outcome == outcome).count();
        let summary = Summary {
            pass: count(Outcome::Pass),
            fail: count(Outcome::Fail),
            warn: count(Outcome::Warn),
            skip: count(Outcome::Skip),
        };
        let report = Self { target, ok: false, summary, protocols, checks };
        Self { ok: summary.fail == 0 && report.offers_anything(), ..report }
    }

    /// Whether the server offers anything of what was looked for.
    pub fn offers_anything(&self) -> bool {
        self.judged_by().any(|protocol| protocol.status == OfferStatus::Offered)
    }

    /// The protocols that a server is judged by. What only carries others counts where nothing else was looked for.
    fn judged_by(&self) -> impl Iterator<Item = &ProtocolReport> {
        let is_carrier = self.protocols.iter().all(|protocol| protocol.is_carrier);
        self.protocols.iter().filter(move |protocol| protocol.is_carrier == is_carrier)
    }

    /// Whether anything was judged.
    pub(crate) fn has_judged(&self) -> bool {
        self.protocols.iter().any(|protocol| protocol.status == OfferStatus::Offered)
    }

    /// The findings of one protocol.
    pub(crate) fn of_protocol(&self, name: &str) -> impl Iterator<Item = &Finding> {
        self.checks.iter().filter(move |finding| finding.protocol == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "X";

    fn judged(level: Level, verdict: Verdict) -> Finding {
        Finding::of(NAME, &Rule { id: "x-1", section: "1", level, title: "a rule" }, verdict)
    }

    /// A check that came to this.
    pub(super) fn finding(id: &'static str, outcome: Outcome) -> Finding {
        Finding { id, outcome, ..judged(Level::Must, Ok(())) }
    }

    pub(super) fn report(findings: Vec<Finding>) -> Report {
        let status = OfferStatus::Offered;
        let checks = findings.len();
        let protocol =
            ProtocolReport { name: NAME, status, reason: None, notes: Vec::new(), checks, is_carrier: false };
        Report::new("t\u{1b}".into(), vec![protocol], findings)
    }

    fn exchange() -> ShownExchange {
        ShownExchange { sent: "GET /".into(), came: "a\u{1b}[2Jb\nc".into() }
    }

    #[test]
    fn what_must_be_fails_and_what_should_be_warns() {
        let broken = || Err(Shortfall::Broken("no".into(), exchange()));
        assert_eq!(judged(Level::Must, Ok(())).outcome, Outcome::Pass);
        assert_eq!(judged(Level::Must, broken()).outcome, Outcome::Fail);
        assert_eq!(judged(Level::Should, broken()).outcome, Outcome::Warn);
        assert_eq!(judged(Level::Must, Err(Shortfall::Advice("so".into(), exchange()))).outcome, Outcome::Warn);
        assert_eq!(judged(Level::Must, Err(Shortfall::skip("so"))).outcome, Outcome::Skip);
        let warned = report(vec![judged(Level::Should, broken())]);
        assert!(warned.ok && warned.summary.warn == 1);
        assert!(!report(vec![judged(Level::Must, broken())]).ok);
        assert!(!Report::new("x".into(), Vec::new(), Vec::new()).ok, "nothing was judged");
    }

    #[test]
    fn who_offers_a_carrier_alone_offers_nothing_unless_that_was_asked_for() {
        let protocol = |is_carrier, status| ProtocolReport {
            name: NAME,
            status,
            reason: None,
            notes: Vec::new(),
            checks: 1,
            is_carrier,
        };
        let is_ok = |protocols| Report::new("x".into(), protocols, Vec::new()).ok;
        let (offered, absent) = (OfferStatus::Offered, OfferStatus::NotOffered);
        assert!(is_ok(vec![protocol(true, offered)]));
        assert!(!is_ok(vec![protocol(true, offered), protocol(false, absent)]));
        assert!(is_ok(vec![protocol(true, absent), protocol(false, offered)]));
    }

    #[test]
    fn a_stranger_writes_nothing_on_a_terminal_but_words() {
        let verdict = Err(Shortfall::Broken("\u{1b}]0;x\u{7}".into(), exchange()));
        let text = report(vec![judged(Level::Must, verdict)]).text();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
}
