//! What came of the tests.

mod junit;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use crate::expectation::Mismatch;
use crate::wire::Wire;

/// All that was run.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// In the order in which they were run.
    pub results: Vec<TestResult>,
}

/// One test over one protocol.
#[derive(Debug, Clone)]
pub struct TestResult {
    /// The test.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// The line at which it begins.
    pub line: usize,
    /// The protocol.
    pub wire: Wire,
    /// Whether all held.
    pub verdict: Verdict,
    /// How long it took.
    pub elapsed: Duration,
    /// Expectations that wanted a judge, and had none.
    pub unjudged: usize,
    /// What models cost for it, in millionths of a unit of money.
    pub cost_micros: u64,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All that was expected holds.
    Passed,
    /// Something does not, one thing at least.
    Failed(Vec<Shortfall>),
}

/// One thing that does not hold, and where it was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The line of its expectations.
    pub line: usize,
    /// What was said, where a test has several turns.
    pub said: Option<String>,
    /// What was expected, and what came.
    pub mismatch: Mismatch,
}

/// How many tests came to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// All that was expected holds.
    pub passed: usize,
    /// Something does not.
    pub failed: usize,
    /// Expectations that nobody judged.
    pub unjudged: usize,
}

impl Shortfall {
    pub(crate) fn at(line: usize, mismatch: Mismatch) -> Self {
        Self { line, said: None, mismatch }
    }
}

impl Report {
    /// The counts.
    pub fn summary(&self) -> Summary {
        let passed = self.results.iter().filter(|result| result.verdict == Verdict::Passed).count();
        let unjudged = self.results.iter().map(|result| result.unjudged).sum();
        Summary { passed, failed: self.results.len() - passed, unjudged }
    }
}

impl TestResult {
    /// What does not hold.
    pub fn shortfalls(&self) -> &[Shortfall] {
        match &self.verdict {
            Verdict::Passed => &[],
            Verdict::Failed(all) => all,
        }
    }

    /// `the chef finds soups (a2a)`.
    pub fn title(&self) -> String {
        format!("{} ({})", self.name, self.wire)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn result(name: &str, shortfalls: &[(&str, &str)]) -> TestResult {
        let all = shortfalls.iter().map(|(expected, came)| Shortfall::at(7, Mismatch::new(*expected, *came)));
        let all: Vec<Shortfall> = all.collect();
        TestResult {
            name: name.to_owned(),
            file: PathBuf::from("site/tests/first.toml"),
            line: 3,
            wire: Wire::Rest,
            verdict: if all.is_empty() { Verdict::Passed } else { Verdict::Failed(all) },
            elapsed: Duration::from_millis(1234),
            unjudged: 0,
            cost_micros: 0,
        }
    }
}
