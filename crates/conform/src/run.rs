//! This module runs the checks of one protocol, one after the other, within bounds of time.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::check::{Check, Shortfall, Verdict};
use crate::limits::{EXCHANGES_WAITED_MAX, RUN_TIME_MAX, SILENT_IN_A_ROW_MAX};
use crate::offer::{Absence, OfferedProtocol};
use crate::report::{Finding, Outcome};

/// Which checks are run, by their names.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    patterns: Vec<String>,
}

impl Selection {
    /// All that fit one of `patterns`, in which `*` stands for anything; without a pattern, all. A pattern without
    /// `*` also stands for all names that begin like it.
    pub fn of(patterns: Vec<String>) -> Self {
        Self { patterns }
    }

    /// Whether a check is one of them.
    pub fn has(&self, id: &str) -> bool {
        let fits = |pattern: &String| match pattern.contains('*') {
            true => is_like(id, pattern),
            false => id.starts_with(pattern.as_str()),
        };
        self.patterns.is_empty() || self.patterns.iter().any(fits)
    }
}

/// Whether `text` is `pattern`, in which `*` stands for anything.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(text) = text.strip_prefix(before) else { return false };
    // The parts between stars are found one after the other; the last one ends the text.
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    let mut text = text;
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

/// How long a run has, and how long it takes a server at most to answer.
#[derive(Debug)]
pub struct Pace {
    exchange: Duration,
    until: Instant,
    silent_in_a_row: usize,
}

impl Pace {
    /// A run that begins now.
    pub fn new(exchange: Duration) -> Self {
        Self { exchange, until: Instant::now() + RUN_TIME_MAX, silent_in_a_row: 0 }
    }

    /// Looks for a protocol, unless there is no sense in asking any more.
    pub(crate) async fn find<F: OfferedProtocol>(&mut self, server: Arc<F::Target>) -> Result<F, Absence> {
        let most = self.time_left().map_err(Absence::Untold)?;
        let late = || Absence::Silent(format!("no answer within {} seconds", most.as_secs_f32()));
        let found = timeout(most, F::find(server)).await.unwrap_or_else(|_| Err(late()));
        match &found {
            Err(Absence::Silent(_)) => self.silent_in_a_row += 1,
            _ => self.silent_in_a_row = 0,
        }
        found
    }

    /// Runs those of `checks` that are selected.
    pub(crate) async fn run<F>(
        &mut self,
        found: &F,
        protocol: &'static str,
        checks: &[&[Check<F>]],
        selection: &Selection,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        for check in checks.iter().flat_map(|checks| checks.iter()).filter(|check| selection.has(check.rule.id)) {
            let verdict = self.one(found, check).await;
            let finding = Finding::of(protocol, &check.rule, verdict);
            match finding.is_silent {
                true => self.silent_in_a_row += 1,
                // What was skipped without an exchange says nothing of whether the server is there.
                false if finding.outcome != Outcome::Skip => self.silent_in_a_row = 0,
                false => {}
            }
            findings.push(finding);
        }
        findings
    }

    async fn one<F>(&self, found: &F, check: &Check<F>) -> Verdict {
        let most = self.time_left().map_err(Shortfall::Skipped)?;
        timeout(most, (check.run)(found)).await.unwrap_or_else(|_| {
            let what = format!("it took more than {} seconds", most.as_secs());
            Err(Shortfall::Silent { what, sent: "several requests".to_owned() })
        })
    }

    /// How long the next step may take, or why there is none.
    fn time_left(&self) -> Result<Duration, String> {
        // A server that is gone would cost the whole patience for each check that is left.
        if self.silent_in_a_row >= SILENT_IN_A_ROW_MAX {
            return Err(format!("the server gave no answer {SILENT_IN_A_ROW_MAX} times in a row"));
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("the run took more than {} seconds", RUN_TIME_MAX.as_secs()));
        }
        // An exchange has its own bound; this one is for steps with many of them.
        Ok(self.exchange.saturating_mul(EXCHANGES_WAITED_MAX).min(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_chosen_by_pattern_or_by_their_beginning() {
        let has = |pattern: &str, id: &str| Selection::of(vec![pattern.to_owned()]).has(id);
        assert!(Selection::default().has("anything"));
        assert!(has("agtp-13.1", "agtp-13.1-6a") && !has("agtp-13.1", "agtp-8.1"));
        assert!(has("agtp-*-6a", "agtp-13.1-6a") && !has("agtp-*-6a", "agtp-13.1-6b"));
        assert!(has("*", "x") && has("*x*", "axb") && !has("*x*", "ab"));
        assert!(has("a*b*c", "a1b2c") && !has("a*b*c", "acb") && !has("ab*b", "ab"));
    }
}
