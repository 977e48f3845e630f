//! A report for people: a line for each check, and what was seen beneath those that are not kept. What is skipped for one
//! reason is one line.

use forecourt_client::printable::{line, printable};

use super::{Finding, OfferStatus, Outcome, ProtocolReport, Report, Summary};
use crate::limits::REASON_CHARS_MAX;

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", line(&self.target, REASON_CHARS_MAX));
        // What is absent for one reason is one line.
        let is_one = |a: &ProtocolReport, b: &ProtocolReport| {
            a.status != OfferStatus::Offered && (a.status, &a.reason) == (b.status, &b.reason)
        };
        for group in self.protocols.chunk_by(is_one) {
            text.push('\n');
            match group {
                [protocol] if protocol.status == OfferStatus::Offered => self.write_protocol(&mut text, protocol),
                _ => text.push_str(&absence(group)),
            }
        }
        let Summary { pass, fail, warn, skip } = self.summary;
        text.push_str(&format!("\n{pass} passed, {fail} failed, {warn} warned, {skip} skipped\n"));
        text
    }

    fn write_protocol(&self, text: &mut String, protocol: &ProtocolReport) {
        text.push_str(&format!("{}\n", protocol.name));
        for note in &protocol.notes {
            text.push_str(&format!("note  {}\n", line(note, REASON_CHARS_MAX)));
        }
        let all: Vec<&Finding> = self.of_protocol(protocol.name).collect();
        let is_told = |finding: &&&Finding| finding.outcome != Outcome::Skip;
        let width = all.iter().filter(is_told).map(|finding| finding.id.len()).max().unwrap_or(0);
        let mut shown: Vec<&Finding> = Vec::new();
        for finding in all.iter().filter(is_told) {
            // Rules about one document are often broken together: it is shown once.
            let same = |other: &&&Finding| {
                other.came.is_some() && (&other.sent, &other.came) == (&finding.sent, &finding.came)
            };
            let before = shown.iter().find(same).map(|other| other.id);
            write_finding(text, finding, width, before);
            shown.push(finding);
        }
        write_skipped(text, all.iter().filter(|finding| finding.outcome == Outcome::Skip));
    }
}

/// `NLWeb: not offered: 15 checks skipped (POST /ask answers 404)`, of protocols that are absent for one reason.
fn absence(group: &[ProtocolReport]) -> String {
    let names = group.iter().map(|protocol| protocol.name).collect::<Vec<_>>().join(", ");
    let count = group.iter().map(|protocol| protocol.checks).sum();
    let Some(ProtocolReport { status, reason, .. }) = group.first() else { return String::new() };
    let reason = line(reason.as_deref().unwrap_or_default(), REASON_CHARS_MAX);
    format!("{names}: {}: {} skipped ({reason})\n", status.words(), checks(count))
}

fn checks(count: usize) -> String {
    match count {
        1 => "1 check".to_owned(),
        _ => format!("{count} checks"),
    }
}

fn write_finding(text: &mut String, finding: &Finding, width: usize, same_as: Option<&str>) {
    let word = match finding.outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "FAIL",
        Outcome::Warn => "warn",
        Outcome::Skip => "skip",
    };
    let Finding { id, section, level, title, .. } = finding;
    text.push_str(&format!("{word}  {id:width$}  {title} ({level}, {section})\n"));
    write_words(text, "", finding.reason.as_deref());
    match same_as {
        Some(id) => write_words(text, "", Some(&format!("in the exchange that is shown at {id}"))),
        None => {
            write_words(text, "sent: ", finding.sent.as_deref());
            write_words(text, "came: ", finding.came.as_deref());
        }
    }
}

fn write_words(text: &mut String, name: &str, words: Option<&str>) {
    for (at, part) in printable(words.unwrap_or_default()).lines().enumerate() {
        let before = if at == 0 { name.to_owned() } else { " ".repeat(name.len()) };
        text.push_str(format!("      {before}{part}").trim_end());
        text.push('\n');
    }
}

fn write_skipped<'a>(text: &mut String, skipped: impl Iterator<Item = &'a &'a Finding>) {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for finding in skipped {
        let reason = finding.reason.as_deref().unwrap_or_default();
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, ids)) => ids.push(finding.id),
            None => by_reason.push((reason, vec![finding.id])),
        }
    }
    for (reason, ids) in by_reason {
        text.push_str(&format!("skip  {}: {}\n", checks(ids.len()), line(reason, REASON_CHARS_MAX)));
        text.push_str(&format!("      {}\n", ids.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, report};
    use super::*;

    #[test]
    fn what_is_absent_or_skipped_for_one_reason_is_one_line() {
        let skipped = |id| Finding { reason: Some("a reason".to_owned()), ..finding(id, Outcome::Skip) };
        let mut found = report(vec![finding("a", Outcome::Pass), skipped("b"), skipped("c")]);
        let absent = |name, reason: &str| ProtocolReport {
            name,
            status: OfferStatus::NotOffered,
            reason: Some(reason.to_owned()),
            notes: Vec::new(),
            checks: 2,
            is_carrier: false,
        };
        found.protocols.extend([absent("P", "404"), absent("Q", "404"), absent("R", "501")]);
        let text = found.text();
        assert!(text.contains("skip  2 checks: a reason\n      b, c\n"), "{text}");
        assert!(
            text.contains("\nP, Q: not offered: 4 checks skipped (404)\n\nR: not offered: 2 checks skipped (501)\n"),
            "{text}"
        );
    }

    #[test]
    fn an_exchange_is_shown_once() {
        let broken = |id| Finding {
            sent: Some("GET /x".to_owned()),
            came: Some("HTTP 200".to_owned()),
            ..finding(id, Outcome::Fail)
        };
        let text = report(vec![broken("a"), broken("b")]).text();
        assert_eq!(text.matches("GET /x").count(), 1, "{text}");
        assert!(text.contains("in the exchange that is shown at a"), "{text}");
    }
}
