//! A report as JUnit XML, which continuous integration shows: a suite for each file, a case for each test and protocol.

use std::fmt::Write as _;

use forecourt_pages::escape::{xml_attribute, xml_text};

use super::{Report, TestResult, Verdict};

impl Report {
    /// The report as JUnit XML.
    pub fn junit(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let counts = |results: &[TestResult]| {
            let failed = results.iter().filter(|result| result.verdict != Verdict::Passed).count();
            let seconds: f64 = results.iter().map(|result| result.elapsed.as_secs_f64()).sum();
            format!(
                "tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\" time=\"{seconds:.3}\"",
                results.len()
            )
        };
        // Writing to a text can't fail.
        let _ = writeln!(xml, "<testsuites name=\"forecourt test\" {}>", counts(&self.results));
        for of_file in self.results.chunk_by(|one, next| one.file == next.file) {
            let name =
                of_file.first().map(|result| xml_attribute(&result.file.display().to_string())).unwrap_or_default();
            let _ = writeln!(xml, "  <testsuite name=\"{name}\" {}>", counts(of_file));
            of_file.iter().for_each(|result| write_case(&mut xml, result));
            xml.push_str("  </testsuite>\n");
        }
        xml.push_str("</testsuites>\n");
        xml
    }
}

fn write_case(xml: &mut String, result: &TestResult) {
    let (file, name) = (xml_attribute(&result.file.display().to_string()), xml_attribute(&result.title()));
    let seconds = result.elapsed.as_secs_f64();
    let line = result.line;
    let head = format!(
        "    <testcase classname=\"{file}\" name=\"{name}\" file=\"{file}\" line=\"{line}\" time=\"{seconds:.3}\""
    );
    xml.push_str(&head);
    if result.shortfalls().is_empty() && result.unjudged == 0 {
        xml.push_str("/>\n");
        return;
    }
    xml.push_str(">\n");
    for shortfall in result.shortfalls() {
        let (expected, came) = (&shortfall.mismatch.expected, &shortfall.mismatch.came);
        let said = shortfall.said.as_ref().map(|said| format!("said: {said}\n")).unwrap_or_default();
        let body = xml_text(&format!(
            "{}:{}\n{said}expected: {expected}\ncame: {came}",
            result.file.display(),
            shortfall.line
        ));
        let _ = writeln!(xml, "      <failure message=\"expected {}\">{body}</failure>", xml_attribute(expected));
    }
    if result.unjudged > 0 {
        let _ = writeln!(xml, "      <system-out>{} expectations were not judged</system-out>", result.unjudged);
    }
    xml.push_str("    </testcase>\n");
}

#[cfg(test)]
mod tests {
    use super::super::tests::result;
    use super::*;

    #[test]
    fn an_agent_writes_no_markup_and_no_character_that_xml_has_not() {
        let strange = result("a<b>&\"\u{1}", &[("text with \"x\"", "]]></failure><x/>\u{8}\u{ffff}")]);
        let report = Report { results: vec![strange, result("fine", &[])] };
        let xml = report.junit();
        assert!(
            xml.contains("name=\"a&lt;b&gt;&amp;&quot; (rest)\" file=\"site/tests/first.toml\" line=\"3\""),
            "{xml}"
        );
        assert!(!xml.contains("<x/>") && xml.chars().all(|c| c == '\n' || c >= ' '), "{xml}");
        assert!(xml.contains("tests=\"2\" failures=\"1\"") && xml.contains("time=\"1.234\"/>"), "{xml}");
    }
}
