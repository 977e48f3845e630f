//! A report for people: a line for each check, and what was seen beneath those that are not kept. What is skipped for one
//! reason is one line.

use forecourt_client::printable::{line, printable};

use super::{Finding, OfferStatus, Outcome, ProtocolReport, Report, Summary};
use crate::limits::REASON_CHARS_MAX;

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", line(&self.target, REASON_CHARS_MAX));
        for protocol in &self.protocols {
            text.push('\n');
            match protocol.status {
                OfferStatus::Offered => self.write_protocol(&mut text, protocol),
                _ => text.push_str(&absence(protocol)),
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

/// `MCP: not offered: 15 checks skipped (POST /mcp answers 404)`.
fn absence(protocol: &ProtocolReport) -> String {
    let reason = line(protocol.reason.as_deref().unwrap_or_default(), REASON_CHARS_MAX);
    format!("{}: {}: {} skipped ({reason})\n", protocol.name, protocol.status.words(), checks(protocol.checks))
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
