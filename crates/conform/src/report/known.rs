//! What was known of a server before: findings that somebody has seen and lives with. A run is held against them, so
//! that only news fail it. A report as JSON is such a file; [`KnownFindings::of`] makes a shorter one.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_client::printable::line;
use serde::{Deserialize, Serialize};

use super::{Finding, OfferStatus, Outcome, ProtocolReport, Report};
use crate::limits::{KNOWN_BYTES_MAX, REASON_CHARS_MAX};

/// What is known of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFindings {
    /// Which server it was, for people.
    #[serde(default)]
    pub target: String,
    /// What it offered.
    #[serde(default)]
    pub protocols: Vec<KnownProtocol>,
    /// What was found.
    pub checks: Vec<KnownFinding>,
}

/// A protocol that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownProtocol {
    /// Its name.
    pub name: String,
    /// Whether it was offered.
    pub status: OfferStatus,
}

/// A finding that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFinding {
    /// The check's name, which never changes.
    pub id: String,
    /// What came of it.
    pub outcome: Outcome,
    /// What was wrong, as the run said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why that stays, in somebody's own words. Kept when the file is written anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a run found that was not known, and what was known and is not found any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Checks that fail and did not.
    pub new_failures: Vec<String>,
    /// Checks that warn and did neither warn nor fail.
    pub new_warnings: Vec<String>,
    /// Checks that failed or warned, and pass.
    pub gone: Vec<String>,
    /// Checks that failed or warned, of which nothing can be told now.
    pub untold: Vec<String>,
    /// Protocols that were offered and are not.
    pub protocols_gone: Vec<String>,
    /// Protocols that were not offered and are.
    pub protocols_new: Vec<String>,
    /// Whether nothing was there to be judged, and that was not known.
    pub is_unjudged: bool,
}

impl KnownFindings {
    /// Reads a file, of this form or a report as JSON.
    ///
    /// # Errors
    /// It is none, or has more than [`KNOWN_BYTES_MAX`]; why, in a sentence.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > KNOWN_BYTES_MAX {
            return Err(format!("it has {} bytes, and {KNOWN_BYTES_MAX} are read", bytes.len()));
        }
        let read = serde_json::from_slice(bytes);
        read.map_err(|error| format!("it is neither a report as JSON nor what --write-known writes: {error}"))
    }

    /// What is known after a run: its failures and warnings, with the words that somebody wrote beside them `before`,
    /// and what was known before of which this run could tell nothing.
    pub fn of(report: &Report, before: Option<&Self>) -> Self {
        let why = |id: &str| before?.checks.iter().find(|known| known.id == id)?.why.clone();
        let protocol = |found: &ProtocolReport| KnownProtocol { name: found.name.to_owned(), status: found.status };
        let finding = |found: &Finding| KnownFinding {
            id: found.id.to_owned(),
            outcome: found.outcome,
            reason: found.reason.clone(),
            why: why(found.id),
        };
        let found = report.checks.iter().filter(|found| is_finding(found.outcome)).map(finding);
        let told: BTreeSet<&str> =
            report.checks.iter().filter(|found| found.outcome != Outcome::Skip).map(|found| found.id).collect();
        let kept = before.into_iter().flat_map(|before| &before.checks);
        let kept = kept.filter(|known| is_finding(known.outcome) && !told.contains(known.id.as_str()));
        let looked_for = |name: &str| report.protocols.iter().any(|protocol| protocol.name == name);
        let protocols = before.into_iter().flat_map(|before| &before.protocols);
        let protocols = protocols.filter(|known| !looked_for(&known.name));
        Self {
            target: report.target.clone(),
            protocols: report.protocols.iter().map(protocol).chain(protocols.cloned()).collect(),
            checks: found.chain(kept.cloned()).collect(),
        }
    }

    /// Holds a run against it. What the run did not look at is neither new nor gone.
    pub fn compare(&self, report: &Report) -> Comparison {
        let known: BTreeMap<&str, Outcome> = self.checks.iter().map(|one| (one.id.as_str(), one.outcome)).collect();
        let is_unjudged = !report.offers_anything() && !self.expects_nothing(report);
        let mut comparison = Comparison { is_unjudged, ..Comparison::default() };
        for found in &report.checks {
            let before = known.get(found.id).copied().filter(|one| is_finding(*one));
            let list = match (before, found.outcome) {
                (None | Some(Outcome::Warn), Outcome::Fail) => &mut comparison.new_failures,
                (None, Outcome::Warn) => &mut comparison.new_warnings,
                (Some(_), Outcome::Pass) => &mut comparison.gone,
                (Some(_), Outcome::Skip) => &mut comparison.untold,
                _ => continue,
            };
            list.push(found.id.to_owned());
        }
        for protocol in &report.protocols {
            use OfferStatus::{NotOffered, Offered, Untold};
            match (self.status_of(protocol.name), protocol.status) {
                (Some(Offered), NotOffered | Untold) => &mut comparison.protocols_gone,
                (Some(NotOffered | Untold), Offered) => &mut comparison.protocols_new,
                _ => continue,
            }
            .push(protocol.name.to_owned());
        }
        comparison
    }

    /// Whether a protocol was offered. `None`: it was not looked for.
    fn status_of(&self, name: &str) -> Option<OfferStatus> {
        self.protocols.iter().find(|protocol| protocol.name == name).map(|protocol| protocol.status)
    }

    /// Whether it says of each protocol that a run judges a server by that it is not offered.
    fn expects_nothing(&self, report: &Report) -> bool {
        let mut judged = report.judged_by().peekable();
        judged.peek().is_some() && judged.all(|protocol| self.status_of(protocol.name) == Some(OfferStatus::NotOffered))
    }
}

/// Whether a rule is not kept.
fn is_finding(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Fail | Outcome::Warn)
}

impl Comparison {
    /// Whether nothing is new that fails a run, and something was judged unless it was known that nothing is there.
    pub fn is_ok(&self) -> bool {
        self.news() == 0 && !self.is_unjudged
    }

    /// How many things are new that fail a run.
    pub fn news(&self) -> usize {
        self.new_failures.len() + self.protocols_gone.len()
    }

    /// It for people: a line for each thing that is new or gone.
    pub fn text(&self) -> String {
        let lists = [
            ("new failure", &self.new_failures),
            ("new warning", &self.new_warnings),
            ("gone", &self.gone),
            ("not told any more", &self.untold),
            ("not offered any more", &self.protocols_gone),
            ("offered now", &self.protocols_new),
        ];
        let lines = lists.into_iter().flat_map(|(word, all)| all.iter().map(move |one| format!("{word}: {one}\n")));
        let text: String = lines.map(|text| format!("{}\n", line(&text, REASON_CHARS_MAX))).collect();
        match text.is_empty() {
            true if self.is_unjudged => "nothing was judged\n".to_owned(),
            true => "nothing is new, and nothing is gone\n".to_owned(),
            false => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{finding, report};
    use super::*;

    fn known(checks: &[(&str, Outcome)]) -> KnownFindings {
        let one = |(id, outcome): &(&str, Outcome)| KnownFinding {
            id: (*id).to_owned(),
            outcome: *outcome,
            reason: None,
            why: Some("so it is".to_owned()),
        };
        KnownFindings { target: String::new(), protocols: Vec::new(), checks: checks.iter().map(one).collect() }
    }

    #[test]
    fn only_what_was_not_known_is_new() {
        let found = report(vec![finding("a", Outcome::Fail), finding("b", Outcome::Fail), finding("c", Outcome::Warn)]);
        assert_eq!(known(&[]).compare(&found).new_failures, ["a", "b"]);
        let comparison = known(&[("a", Outcome::Fail), ("b", Outcome::Warn), ("d", Outcome::Fail)]).compare(&found);
        assert_eq!(
            (comparison.new_failures.as_slice(), comparison.new_warnings.as_slice()),
            (&["b".to_owned()][..], &["c".to_owned()][..])
        );
        // `d` was not looked at.
        assert!(comparison.gone.is_empty() && !comparison.is_ok());
        let all = known(&[("a", Outcome::Fail), ("b", Outcome::Fail), ("c", Outcome::Fail)]).compare(&found);
        assert!(all.is_ok() && all == Comparison::default(), "{all:?}");
        assert_eq!(all.text(), "nothing is new, and nothing is gone\n");
    }

    #[test]
    fn what_is_gone_is_told_and_fails_nothing() {
        let found = report(vec![finding("a", Outcome::Pass), finding("b", Outcome::Skip)]);
        let comparison = known(&[("a", Outcome::Fail), ("b", Outcome::Fail)]).compare(&found);
        assert!(comparison.is_ok());
        assert_eq!(comparison.text(), "gone: a\nnot told any more: b\n");
    }

    #[test]
    fn a_protocol_that_is_not_offered_any_more_is_news() {
        let found = report(vec![finding("a", Outcome::Pass)]);
        let before = |status| KnownFindings {
            protocols: vec![KnownProtocol { name: found.protocols[0].name.to_owned(), status }],
            ..known(&[])
        };
        assert_eq!(before(OfferStatus::NotOffered).compare(&found).protocols_new, ["X"]);
        let mut gone = found.clone();
        gone.protocols[0].status = OfferStatus::NotOffered;
        let comparison = before(OfferStatus::Offered).compare(&gone);
        assert!(!comparison.is_ok() && comparison.news() == 1, "{comparison:?}");
    }

    #[test]
    fn a_report_is_such_a_file_and_words_beside_findings_are_kept() {
        let found = report(vec![finding("a", Outcome::Fail), finding("b", Outcome::Pass)]);
        let read = KnownFindings::parse(serde_json::to_string(&found).unwrap().as_bytes()).unwrap();
        assert!(read.compare(&found).is_ok());
        let written = KnownFindings::of(&found, Some(&known(&[("a", Outcome::Warn)])));
        assert_eq!(written.checks.len(), 1);
        assert_eq!(written.checks[0].why.as_deref(), Some("so it is"));
        assert_eq!(KnownFindings::parse(serde_json::to_string(&written).unwrap().as_bytes()), Ok(written));
    }

    #[test]
    fn what_a_run_could_not_tell_of_stays_known() {
        let before = KnownFindings {
            protocols: vec![KnownProtocol { name: "Y".to_owned(), status: OfferStatus::Offered }],
            ..known(&[
                ("elsewhere", Outcome::Fail),
                ("skipped", Outcome::Warn),
                ("kept", Outcome::Fail),
                ("passed", Outcome::Pass),
            ])
        };
        let found = report(vec![finding("skipped", Outcome::Skip), finding("kept", Outcome::Pass)]);
        let written = KnownFindings::of(&found, Some(&before));
        assert_eq!(written.checks, before.checks[..2], "what passes now is not known any more");
        let offered: Vec<&str> = written.protocols.iter().map(|protocol| protocol.name.as_str()).collect();
        assert_eq!(offered, ["X", "Y"]);
    }

    #[test]
    fn a_run_that_judges_nothing_fails_unless_that_was_known() {
        let mut found = report(Vec::new());
        found.protocols[0].status = OfferStatus::NotOffered;
        let comparison = known(&[]).compare(&found);
        assert!(comparison.is_unjudged && !comparison.is_ok() && comparison.news() == 0);
        assert_eq!(comparison.text(), "nothing was judged\n");
        assert!(KnownFindings::of(&found, None).compare(&found).is_ok());
        let untold = KnownProtocol { name: found.protocols[0].name.to_owned(), status: OfferStatus::Untold };
        assert!(!KnownFindings { protocols: vec![untold], ..known(&[]) }.compare(&found).is_ok());
        found.protocols.clear();
        assert!(!KnownFindings::of(&found, None).compare(&found).is_ok(), "nothing was looked for");
    }

    #[test]
    fn a_file_has_a_bound_that_the_refusal_names() {
        let padded = |bytes: usize| "{\"checks\": []}".to_owned() + &" ".repeat(bytes - 14);
        assert!(KnownFindings::parse(padded(KNOWN_BYTES_MAX).as_bytes()).is_ok());
        let refused = KnownFindings::parse(padded(KNOWN_BYTES_MAX + 1).as_bytes()).unwrap_err();
        assert!(refused.contains(&KNOWN_BYTES_MAX.to_string()), "{refused}");
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\":,a-z0-9]{0,80}") {
            let _ = KnownFindings::parse(&bytes);
            let _ = KnownFindings::parse(text.as_bytes());
        }
    }
}
