//! A report for people: a line for each test, and beneath those that failed what was expected, what came and where.

use forecourt_client::printable::{counted, line};

use super::{Report, Summary, TestResult, Verdict};
use crate::answer::units_of_money;
use crate::limits::SHOWN_CHARS_MAX;

impl TestResult {
    /// The lines of one test. With `styles` a terminal shows what failed in red and what passed in green.
    pub fn text(&self, styles: bool) -> String {
        let (word, colour) = match self.verdict {
            Verdict::Passed => ("pass", 32),
            Verdict::Failed(_) => ("FAIL", 31),
        };
        let word = if styles { format!("\u{1b}[{colour}m{word}\u{1b}[0m") } else { word.to_owned() };
        let mut text = format!("{word}  {}  {}\n", line(&self.title(), SHOWN_CHARS_MAX), milliseconds(self));
        for shortfall in self.shortfalls() {
            text.push_str(&format!("      {}:{}\n", self.file.display(), shortfall.line));
            if let Some(said) = &shortfall.said {
                text.push_str(&format!("      said:     {}\n", line(said, SHOWN_CHARS_MAX)));
            }
            text.push_str(&format!("      expected: {}\n", line(&shortfall.mismatch.expected, SHOWN_CHARS_MAX)));
            // Twice as much: a list of names is cut already.
            text.push_str(&format!("      came:     {}\n", line(&shortfall.mismatch.came, 2 * SHOWN_CHARS_MAX)));
        }
        text
    }
}

fn milliseconds(result: &TestResult) -> String {
    format!("{} ms", result.elapsed.as_millis())
}

impl Report {
    /// The last line.
    pub fn totals(&self) -> String {
        let Summary { passed, failed, unjudged } = self.summary();
        let mut text = format!("{passed} passed, {failed} failed");
        if unjudged > 0 {
            let what = counted(unjudged as u64, "expectation");
            text.push_str(&format!(", {what} skipped that a model would judge (--judge AGENT)"));
        }
        let cost: u64 = self.results.iter().map(|result| result.cost_micros).sum();
        if cost > 0 {
            text.push_str(&format!(", at the prices of models {}", units_of_money(cost)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::result;
    use super::*;

    #[test]
    fn a_failure_says_what_was_expected_what_came_and_where() {
        let failed = result("soups\u{1b}[2J", &[("text with “leek”", "no\nwords")]);
        assert_eq!(
            failed.text(false),
            "FAIL  soups[2J (rest)  1234 ms\n      site/tests/first.toml:7\n      expected: text with “leek”\n      came:     no words\n"
        );
        assert!(failed.text(true).starts_with("\u{1b}[31mFAIL\u{1b}[0m"));
        let judged = TestResult { unjudged: 2, cost_micros: 1_500, ..result("b", &[]) };
        let report = Report { results: vec![failed, judged] };
        let totals = report.totals();
        assert!(
            totals.starts_with("1 passed, 1 failed, 2 expectations skipped") && totals.ends_with("0.0015"),
            "{totals}"
        );
    }
}
