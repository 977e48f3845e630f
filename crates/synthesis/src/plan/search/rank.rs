//! How good plans are among those that keep every condition of a proposal.

use forecourt_contract::semantic::Impact;

use super::assembly::Assembly;
use super::term::{PlannedCall, Source};
use crate::meaning::Meaning;
use crate::nearby::{words, words_of};
use crate::wanted::WantedChange;

/// How good a plan is: the smaller, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Members that do not come by way of what they are said to be of.
    pub(super) byways: usize,
    /// Calls that are about nothing that the proposal names.
    strangers: usize,
    /// Ids that stand in a role which the proposal does not name.
    roles: usize,
    /// Values that are picked out of a list.
    picked: usize,
    /// Calls that the caller lacks a scope for.
    beyond: usize,
    calls: usize,
    impact: Impact,
    /// How sure it is not to come to its end, in ten thousandths.
    doubt: u32,
    /// Words of the proposal that its endpoints don't have.
    strange_words: usize,
}

impl Rank {
    /// What of it says whether a plan is what is meant. The rest only says which of two ways to the same is the better.
    pub(super) fn meant(&self) -> (usize, usize, usize, usize) {
        (self.byways, self.strangers, self.roles, self.picked)
    }
}

/// Ranks plans.
pub(super) struct Ranking {
    /// Words of the proposal that say what it is about.
    pub(super) words: std::collections::BTreeSet<String>,
}

impl Ranking {
    pub(super) fn of(&self, plan: &Assembly<'_>, wanted: &WantedChange<'_>) -> Rank {
        let calls = plan.calls();
        let endpoints = || calls.iter().map(|call| call.endpoint());
        let is_named = |entity: &Option<String>| entity.as_ref().is_some_and(|entity| wanted.named.contains(entity));
        let confidence: f64 = endpoints().map(|typed| typed.endpoint.semantic.confidence).product();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // A whole number, since ranks must have a total order and be equal without a rounding error in between.
        let doubt = ((1.0 - confidence).clamp(0.0, 1.0) * 10_000.0).round() as u32;
        let mut own = std::collections::BTreeSet::new();
        for typed in endpoints() {
            own.extend(words(typed.endpoint.path.as_str()));
            own.extend(words_of(&typed.endpoint.semantic));
        }
        Rank {
            byways: plan.outputs.iter().map(|output| byways(&output.source, &output.owned.chain)).sum(),
            strangers: endpoints().filter(|typed| !is_named(&typed.entity)).count(),
            roles: calls.iter().map(|call| strange_roles(call, wanted)).sum::<usize>()
                + plan.outputs.iter().filter(|output| is_strange(&output.source, wanted)).count(),
            picked: calls.iter().flat_map(|call| call.sources()).filter(|source| is_picked(source)).count()
                + plan.outputs.iter().filter(|output| is_picked(&output.source)).count(),
            beyond: endpoints().filter(|typed| typed.is_beyond).count(),
            calls: calls.len(),
            impact: endpoints().map(|typed| typed.endpoint.semantic.impact).max().unwrap_or(Impact::Informational),
            doubt,
            strange_words: self.words.difference(&own).count(),
        }
    }
}

/// How many of the things that a value is said to be of are not on the way to it: the product, of a product's
/// supplier.
fn byways(source: &Source<'_>, chain: &[String]) -> usize {
    let (Some(owner), Some(call)) = (chain.first(), source.call()) else { return 0 };
    let is_owner = |call: &PlannedCall<'_>| call.endpoint().entity.as_ref() == Some(owner);
    let from_owner = |source: &Source<'_>| match source {
        Source::Caller(_) => true,
        other => other.call().is_some_and(|call| is_owner(call)),
    };
    let is_by_way = is_owner(call) || call.sources().any(from_owner);
    usize::from(!is_by_way) + call.sources().map(|source| byways(source, &chain[1..])).min().unwrap_or(0)
}

fn is_picked(source: &Source<'_>) -> bool {
    matches!(source, Source::Result { element: Some(_), .. })
}

fn strange_roles(call: &PlannedCall<'_>, wanted: &WantedChange<'_>) -> usize {
    call.sources().filter(|source| is_strange(source, wanted)).count()
}

/// Whether a value stands in a role that the proposal does not name.
fn is_strange(source: &Source<'_>, wanted: &WantedChange<'_>) -> bool {
    let Source::Result { meaning: Some(Meaning { role: Some(role), .. }), .. } = source else { return false };
    !role.split('_').any(|word| wanted.names_role(word))
}
