//! What the steps of a plan are, as far as it is known before any is called: what answers them, what they do, and
//! what they need of whoever calls.

use std::sync::Arc;

use forecourt_contract::recipe::{Recipe, Step};
use forecourt_contract::reserved::effect;
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Dispatcher, Endpoint};

use super::outcome::Answerer;

/// The steps of a plan with what answers each: an endpoint, or what the host answers itself.
pub(crate) struct Steps<'a> {
    pub(crate) plan: &'a Recipe,
    answered_by: Vec<Option<Arc<Endpoint>>>,
}

/// What all steps of a plan do together. Sections 7.1 and 16.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effect {
    /// The strongest of theirs.
    pub(crate) impact: Impact,
    /// Whether all of them may be repeated.
    pub(crate) is_idempotent: bool,
    /// How sure it is that all of them come to what they promise.
    pub(crate) confidence: f64,
}

impl<'a> Steps<'a> {
    pub(crate) fn of(plan: &'a Recipe, dispatcher: &Dispatcher) -> Steps<'a> {
        Steps { plan, answered_by: dispatcher.endpoints_of_plan(plan) }
    }

    /// Each step with the endpoint that answers it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a Step, Option<&Endpoint>)> {
        self.plan.steps.iter().zip(&self.answered_by).map(|(step, endpoint)| (step, endpoint.as_deref()))
    }

    /// What describes the result of each step: what answers it, but for one that is called for each element of a list.
    pub(super) fn answerers(&self) -> Vec<Answerer<'_>> {
        self.iter().map(|(step, endpoint)| endpoint.filter(|_| step.for_each.is_none())).collect()
    }

    /// What they do together. Of a step that nothing is known of, the worst is said.
    pub(crate) fn effect(&self) -> Effect {
        let none = Effect { impact: Impact::Informational, is_idempotent: true, confidence: 1.0 };
        self.iter().map(effect_of).fold(none, |all, one| Effect {
            impact: all.impact.max(one.impact),
            is_idempotent: all.is_idempotent && one.is_idempotent,
            confidence: hundredths(all.confidence * one.confidence),
        })
    }
}

fn effect_of((step, endpoint): (&Step, Option<&Endpoint>)) -> Effect {
    if let Some(Endpoint { semantic, .. }) = endpoint {
        let (impact, is_idempotent) = (semantic.impact, semantic.is_idempotent);
        return Effect { impact, is_idempotent, confidence: semantic.confidence };
    }
    // A step without an endpoint is one of the host's own methods, whose effects are known by name.
    let native = effect(&step.method).map(|effect| (effect.impact, effect.is_idempotent));
    let (impact, is_idempotent) = native.unwrap_or((Impact::Irreversible, false));
    Effect { impact, is_idempotent, confidence: 1.0 }
}

/// As exact as it is, never more than it is.
fn hundredths(confidence: f64) -> f64 {
    // A product such as 0.9 * 0.9 is written 0.81 and not 0.81000…1.
    ((confidence * 10_000.0) + 1e-6).floor() / 10_000.0
}
