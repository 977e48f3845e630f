//! This module runs the checks of one wire, one after the other.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, timeout};

use crate::check::{Check, Shortfall, Verdict};
use crate::limits::{EXCHANGES_WAITED_MAX, RUN_TIME_MAX, SILENT_IN_A_ROW_MAX};
use crate::report::Finding;

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

    /// Runs those of `checks` that are selected.
    pub fn run<'a, P: Sync>(
        &'a mut self,
        peer: &'a P,
        checks: &'a [&'a [Check<P>]],
        selection: &'a Selection,
    ) -> BoxFuture<'a, Vec<Finding>> {
        Box::pin(self.run_all(peer, checks, selection))
    }

    async fn run_all<P>(&mut self, peer: &P, checks: &[&[Check<P>]], selection: &Selection) -> Vec<Finding> {
        let mut findings = Vec::new();
        for check in checks.iter().flat_map(|checks| checks.iter()).filter(|check| selection.has(check.id)) {
            let verdict = self.one(peer, check).await;
            let finding = Finding::of((check.id, check.section, check.level, check.title), verdict);
            match finding.is_silent {
                true => self.silent_in_a_row += 1,
                // What was skipped without an exchange says nothing of whether the server is there.
                false if finding.outcome != crate::report::Outcome::Skip => self.silent_in_a_row = 0,
                false => {}
            }
            findings.push(finding);
        }
        findings
    }

    async fn one<P>(&self, peer: &P, check: &Check<P>) -> Verdict {
        // A server that is gone would cost the whole patience for each check that is left.
        if self.silent_in_a_row >= SILENT_IN_A_ROW_MAX {
            return Err(Shortfall::skip(format!("the server gave no answer {SILENT_IN_A_ROW_MAX} times in a row")));
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Shortfall::skip(format!("the run took more than {} seconds", RUN_TIME_MAX.as_secs())));
        }
        // An exchange has its own bound; this one is for checks with many of them.
        let most = self.exchange.saturating_mul(EXCHANGES_WAITED_MAX).min(left);
        timeout(most, (check.run)(peer)).await.unwrap_or_else(|_| {
            let what = format!("it took more than {} seconds", most.as_secs());
            Err(Shortfall::Silent { what, sent: "several requests".to_owned() })
        })
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
