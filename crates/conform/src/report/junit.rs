//! A report as JUnit XML, which continuous integration shows: a suite for each protocol, a case for each check.

use std::fmt::Write as _;

use forecourt_pages::escape::{xml_attribute, xml_text};

use super::{Finding, Outcome, Report};

impl Report {
    /// The report as JUnit XML. A warning is no failure: its words are the output of its case.
    pub fn junit(&self) -> String {
        let count = self.checks.len();
        let (failed, skipped) = (self.summary.fail, self.summary.skip);
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let name = xml_attribute(&format!("conformance of {}", self.target));
        // Writing to a text can't fail.
        let _ = writeln!(
            xml,
            "<testsuites name=\"{name}\" tests=\"{count}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\">"
        );
        for protocol in &self.protocols {
            let all: Vec<&Finding> = self.of_protocol(protocol.name).collect();
            let count = |outcome| all.iter().filter(|finding| finding.outcome == outcome).count();
            let (name, failed, skipped) = (xml_attribute(protocol.name), count(Outcome::Fail), count(Outcome::Skip));
            let _ = writeln!(
                xml,
                "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\">",
                all.len()
            );
            for finding in all {
                write_case(&mut xml, finding);
            }
            xml.push_str("  </testsuite>\n");
        }
        xml.push_str("</testsuites>\n");
        xml
    }
}

fn write_case(xml: &mut String, finding: &Finding) {
    let Finding { id, protocol, level, title, .. } = finding;
    let reason = xml_attribute(finding.reason.as_deref().unwrap_or_default());
    let name = xml_attribute(&format!("{id}: {title}"));
    let _ = write!(xml, "    <testcase classname=\"{}\" name=\"{name}\"", xml_attribute(protocol));
    let body = body(finding);
    let _ = match finding.outcome {
        Outcome::Pass => writeln!(xml, "/>"),
        Outcome::Skip => writeln!(xml, "><skipped message=\"{reason}\"/></testcase>"),
        Outcome::Fail => {
            writeln!(xml, "><failure type=\"{level}\" message=\"{reason}\">{body}</failure></testcase>")
        }
        Outcome::Warn => writeln!(xml, "><system-out>warning: {body}</system-out></testcase>"),
    };
}

/// All that a finding says, as the content of an element.
fn body(finding: &Finding) -> String {
    let mut text = format!("{} ({}, {})\n", finding.title, finding.level, finding.section);
    for (name, words) in [("", &finding.reason), ("sent:\n", &finding.sent), ("came:\n", &finding.came)] {
        if let Some(words) = words {
            text.push_str(&format!("{name}{words}\n"));
        }
    }
    xml_text(&text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, report};
    use super::*;

    #[test]
    fn a_stranger_writes_no_markup_and_no_character_that_xml_has_not() {
        let strange = Finding {
            reason: Some("a<b>&\"\u{1}\u{ffff}\nc".to_owned()),
            came: Some("]]></failure><x/>\u{8}".to_owned()),
            ..finding("a", Outcome::Fail)
        };
        let xml = report(vec![strange, finding("b", Outcome::Skip), finding("c", Outcome::Warn)]).junit();
        assert!(xml.contains("message=\"a&lt;b&gt;&amp;&quot; c\""), "{xml}");
        assert!(!xml.contains("<x/>") && xml.chars().all(|c| c == '\n' || c >= ' '), "{xml}");
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{xml}");
    }
}
