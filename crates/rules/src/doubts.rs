//! Rules that nobody can ever meet: each is right by itself, and what it wants is not set up on this host.

use crate::callers::CallerRule;
use crate::identity::IdentityRule;
use crate::kinds::RuleKind;
use crate::{RuleProblem, RuleSettings};

/// What callers of a host can bring at all.
#[derive(Debug, Clone, Default)]
pub struct PossibleProofs {
    /// Who issues proofs that are believed here: issuers of tokens, where people sign in, and Connectors.
    pub issuers: Vec<String>,
    /// What the subjects of tokens and of who signs in begin with.
    pub subject_prefixes: Vec<String>,
    /// The families of payments that are checked, such as `x402`.
    pub payment_families: Vec<String>,
}

/// How the subjects begin that a token or a sign-in names.
const ISSUED: [&str; 2] = ["oauth:", "oidc:"];

/// What nobody can bring of what a rule wants, in a sentence each.
pub fn doubts(settings: &RuleSettings, possible: &PossibleProofs) -> Vec<RuleProblem> {
    match &settings.kind {
        RuleKind::RequireIdentity(rule) => of_identity(rule, possible),
        RuleKind::Allow(CallerRule { subjects, .. }) => of_subjects(subjects, possible),
        RuleKind::RequirePayment(rule) => {
            let families = rule.offered_families();
            possible.payments(&families).into_iter().chain(rule.caps_that_never_suffice()).collect()
        }
        _ => Vec::new(),
    }
}

fn of_identity(rule: &IdentityRule, possible: &PossibleProofs) -> Vec<RuleProblem> {
    let unknown = rule.issuers.iter().filter(|issuer| !possible.issues(issuer));
    let issuers = unknown.map(|issuer| {
        let text =
            format!("nobody can prove it: `{issuer}` is no issuer in [identity] (bearer, oidc, trusted_issuers)");
        RuleProblem::of("issuers", text)
    });
    issuers.chain(of_subjects(&rule.subjects, possible)).collect()
}

fn of_subjects(subjects: &[String], possible: &PossibleProofs) -> Vec<RuleProblem> {
    let unknown = subjects.iter().filter(|subject| !possible.names(subject));
    unknown
        .map(|subject| {
            let text = format!("nobody can be `{subject}`: no issuer in [identity] names such subjects");
            RuleProblem::of("subjects", text)
        })
        .collect()
}

impl PossibleProofs {
    fn issues(&self, pattern: &str) -> bool {
        let is_issuer = |issuer: &String| match pattern.strip_suffix('*') {
            Some(start) => issuer.starts_with(start),
            None => issuer == pattern,
        };
        // Any domain vouches for its own agents and its own mail; an issuer of tokens has an address.
        !pattern.contains("://") || self.issuers.iter().any(is_issuer)
    }

    fn names(&self, pattern: &str) -> bool {
        if !ISSUED.iter().any(|start| pattern.starts_with(start)) {
            return true;
        }
        self.subject_prefixes.iter().any(|prefix| match pattern.strip_suffix('*') {
            Some(start) => start.starts_with(prefix) || prefix.starts_with(start),
            None => pattern.starts_with(prefix),
        })
    }

    fn payments(&self, offered: &[String]) -> Option<RuleProblem> {
        let is_checked = |family: &String| self.payment_families.contains(family);
        if offered.is_empty() || offered.iter().any(is_checked) {
            return None;
        }
        let families = offered.join("`, `");
        let text = format!("nobody can pay: payments of `{families}` are not checked here (see [payments])");
        Some(RuleProblem::of("offers", text))
    }
}

#[cfg(test)]
mod tests;
