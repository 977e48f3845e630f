//! Plans out of registered endpoints alone, by what they take and give. Section 10.7; off unless the operator lists
//! `schemas`.
//!
//! A plan begins with what the caller gives and ends where everything is there that the proposed output always has.
//! Members line up by name, and by type so surely that no step can be given what it does not take: what schemas
//! leave open is not used. The search is bounded, looks at shorter plans first, and goes in the order of the
//! registry, so that it finds the same plan every time; where two are equally good it says so instead of choosing.
//!
//! | file | holds |
//! |---|---|
//! | `candidates.rs` | the endpoints that may be called, and those of them that lead to what is wanted |
//! | `draft.rs` | calls in an order, and where each takes its input from |

mod candidates;
mod draft;

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::recipe::Recipe;
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Caller, Dispatcher, Endpoint, Schema, Semantic};

use super::shape::{Kinds, Shape};
use super::steps::{Steps, title};
use super::{FoundPlan, NoPlan, PlanRequest};
use crate::limits::{SEARCH_NODES_MAX, SEARCH_STEPS_MAX};
use crate::nearby::{words, words_of};
use crate::refusal::RejectionReason;
use candidates::PlanCandidate;
use draft::Draft;

/// What a plan made of schemas is called where recipes have their names.
const NAME: &str = "schemas";

/// What is proposed, as far as a plan is held to it.
struct Goal<'a> {
    input: Shape<'a>,
    output: Shape<'a>,
    semantic: &'a Semantic,
}

/// How good a plan is among those that are as long: the smaller, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    impact: Impact,
    is_repeatable_at_risk: bool,
    /// How sure it is not to come to its end, in ten thousandths.
    doubt: u32,
    /// Words of the proposal that its endpoints don't have.
    strange_words: usize,
}

/// The plan that keeps the promise best.
///
/// # Errors
/// Why there is none, or more than one; nothing when nothing was proposed that a plan could be held to.
pub(super) fn find(
    dispatcher: &Dispatcher,
    steps_max: usize,
    asked: &PlanRequest<'_>,
    caller: &Caller,
) -> Result<FoundPlan, Option<NoPlan>> {
    let (Some(input), Some(output), Some(semantic)) = (asked.input, asked.output, asked.semantic) else {
        return Err(None);
    };
    let impossible = |why: &str| Some((RejectionReason::CompositionImpossible, why.to_owned()));
    let goal = Goal { input: Shape::of(input), output: Shape::of(output), semantic };
    // Every endpoint's result would satisfy it, and one that is picked by chance is a guess.
    if goal.is_empty() {
        let why = "the proposed output requires nothing, so that nothing tells which endpoints would give it";
        return Err(impossible(why));
    }
    let candidates = candidates::leading_to(&goal, dispatcher, caller);
    let (drafts, is_cut_short) = shortest(&goal, &candidates, steps_max.min(SEARCH_STEPS_MAX));
    let mut ranked: Vec<(Rank, Recipe, Vec<String>)> = drafts
        .iter()
        .filter_map(|draft| {
            let (plan, log) = draft.plan(&goal, NAME)?;
            is_kept(&plan, output, dispatcher).then(|| (rank(&plan, asked, dispatcher), plan, log))
        })
        .collect();
    ranked.sort_by_key(|(rank, ..)| *rank);
    let mut ranked = ranked.into_iter();
    let Some((best, plan, log)) = ranked.next() else {
        let why = match is_cut_short {
            true => "too many registered endpoints could lead to the proposed output to look at all of their plans",
            false => "no registered endpoints lead from the proposed input to the proposed output",
        };
        return Err(impossible(why));
    };
    match ranked.next().filter(|(rank, ..)| *rank == best) {
        Some((_, other, _)) => {
            let why = format!(
                "two plans fit equally well: {}; or {}: propose what tells them apart",
                sentence(&plan),
                sentence(&other)
            );
            Err(Some((RejectionReason::Ambiguous, why)))
        }
        None => Ok(FoundPlan { plan: Arc::new(plan), lineage: None, log }),
    }
}

impl<'a> Goal<'a> {
    /// The members that the result always has.
    fn wanted(&self) -> Vec<&'a str> {
        self.output.required()
    }

    /// Whether any result would do.
    fn is_empty(&self) -> bool {
        self.output.kinds().meets(Kinds::OBJECT) && self.wanted().is_empty()
    }
}

/// All plans of the least number of steps, and whether some were not looked at.
fn shortest<'c>(goal: &Goal<'_>, candidates: &'c [PlanCandidate], steps_max: usize) -> (Vec<Draft<'c>>, bool) {
    let mut level: Vec<Draft<'c>> = vec![Draft::default()];
    let mut seen: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut nodes = 0;
    for _ in 0..steps_max {
        let mut next: Vec<Draft<'c>> = Vec::new();
        for draft in &level {
            for at in 0..candidates.len() {
                let Some(longer) = draft.with(at, candidates) else { continue };
                // One set of calls is one plan: in another order it would be a second one that is as good, and neither
                // would be chosen.
                if !seen.insert(longer.calls()) {
                    continue;
                }
                nodes += 1;
                if nodes > SEARCH_NODES_MAX {
                    // Nothing rather than what was found so far: a better plan may lie in what was not looked at.
                    return (Vec::new(), true);
                }
                next.push(longer);
            }
        }
        let whole: Vec<Draft<'c>> = next.iter().filter(|draft| draft.is_whole(goal)).cloned().collect();
        if !whole.is_empty() {
            return (whole, false);
        }
        level = next;
    }
    (Vec::new(), false)
}

/// Whether a plan is sure to come to what is proposed: the last word on what the search has put together.
fn is_kept(plan: &Recipe, output: &Schema, dispatcher: &Dispatcher) -> bool {
    let steps = Steps::of(plan, dispatcher);
    let given = super::outcome::result(plan, &steps.answerers());
    super::fit::satisfies(Shape::whole(&given), Shape::of(output), false)
}

fn rank(plan: &Recipe, asked: &PlanRequest<'_>, dispatcher: &Dispatcher) -> Rank {
    let steps = Steps::of(plan, dispatcher);
    let effect = steps.effect();
    let mut wanted = words(asked.path);
    wanted.extend(asked.semantic.into_iter().flat_map(words_of));
    let of_endpoint = |endpoint: &Endpoint| {
        let mut own = words(endpoint.path.as_str());
        own.extend(words_of(&endpoint.semantic));
        own
    };
    let own: BTreeSet<String> = steps.answerers().into_iter().flatten().flat_map(of_endpoint).collect();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    // A whole number, since ranks must have a total order and be equal without a rounding error in between.
    let doubt = ((1.0 - effect.confidence).clamp(0.0, 1.0) * 10_000.0).round() as u32;
    Rank {
        impact: effect.impact,
        is_repeatable_at_risk: !effect.is_idempotent,
        doubt,
        strange_words: wanted.difference(&own).count(),
    }
}

fn sentence(plan: &Recipe) -> String {
    plan.steps.iter().map(title).collect::<Vec<_>>().join(", then ")
}
