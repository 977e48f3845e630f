//! This module looks for each protocol that is known, and runs the checks of those that are there.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::check::{Rule, Shortfall};
use crate::offer::{Absence, OfferedProtocol};
use crate::report::{Finding, OfferStatus, ProtocolReport};
use crate::run::{Pace, Selection};

/// What one protocol came to: of all of its checks, and of each.
pub type SuiteOutcome = (ProtocolReport, Vec<Finding>);

/// A protocol that can be looked for at servers of one kind.
pub struct Suite<S: 'static> {
    /// The protocol's name.
    pub name: &'static str,
    /// Its rules.
    pub rules: fn() -> Vec<Rule>,
    is_carrier: bool,
    run: for<'a> fn(&'a mut Pace, Arc<S>, &'a Selection) -> BoxFuture<'a, Option<SuiteOutcome>>,
}

impl<S: Send + Sync + 'static> Suite<S> {
    /// The checks of what is found by `F`.
    pub const fn of<F: OfferedProtocol<Target = S>>() -> Self {
        Self {
            name: F::NAME,
            rules: rules::<F>,
            is_carrier: F::IS_CARRIER,
            run: |pace, server, selection| Box::pin(run::<F>(pace, server, selection)),
        }
    }

    /// All that is selected of a protocol that was not looked for, and why.
    pub fn untold(&self, why: &str, selection: &Selection) -> Option<SuiteOutcome> {
        let rules = selected((self.rules)(), selection)?;
        Some(absent((self.name, self.is_carrier), &rules, OfferStatus::Untold, why))
    }

    /// Looks for the protocol and runs the checks of it that are selected. `None` when none is.
    pub fn run<'a>(
        &'a self,
        pace: &'a mut Pace,
        server: Arc<S>,
        selection: &'a Selection,
    ) -> BoxFuture<'a, Option<SuiteOutcome>> {
        (self.run)(pace, server, selection)
    }
}

fn rules<F: OfferedProtocol>() -> Vec<Rule> {
    F::CHECKS.iter().flat_map(|checks| checks.iter()).map(|check| check.rule).collect()
}

async fn run<F: OfferedProtocol>(
    pace: &mut Pace,
    server: Arc<F::Target>,
    selection: &Selection,
) -> Option<SuiteOutcome> {
    let rules = selected(rules::<F>(), selection)?;
    let (status, why) = match pace.find::<F>(server).await {
        Ok(found) => {
            let findings = pace.run(&found, F::NAME, F::CHECKS, selection).await;
            let protocol = ProtocolReport {
                name: F::NAME,
                status: OfferStatus::Offered,
                reason: None,
                notes: found.notes(),
                checks: rules.len(),
                is_carrier: F::IS_CARRIER,
            };
            return Some((protocol, findings));
        }
        Err(Absence::NotOffered(why)) => (OfferStatus::NotOffered, why),
        Err(Absence::Untold(why) | Absence::Silent(why)) => (OfferStatus::Untold, why),
    };
    Some(absent((F::NAME, F::IS_CARRIER), &rules, status, &why))
}

/// Those that are selected. `None`: none is.
fn selected(mut rules: Vec<Rule>, selection: &Selection) -> Option<Vec<Rule>> {
    rules.retain(|rule| selection.has(rule.id));
    (!rules.is_empty()).then_some(rules)
}

/// What a protocol comes to that is not judged.
fn absent(protocol: (&'static str, bool), rules: &[Rule], status: OfferStatus, why: &str) -> SuiteOutcome {
    let (name, is_carrier) = protocol;
    let skipped = |rule: &Rule| Finding::of(name, rule, Err(Shortfall::skip(format!("{}: {why}", status.words()))));
    let findings = rules.iter().map(skipped).collect();
    let (reason, notes, checks) = (Some(why.to_owned()), Vec::new(), rules.len());
    (ProtocolReport { name, status, reason, notes, checks, is_carrier }, findings)
}
