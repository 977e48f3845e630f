//! From a recipe, or from what is registered, to a synthesis. Sections 10.5 and 10.7.
//!
//! | file | holds |
//! |---|---|
//! | `recipes.rs` | the operator's recipe that answers, held against what is asked |
//! | `search.rs` | plans out of registered endpoints, by their schemas |
//! | `declared.rs` | results cut down to what a contract declares |
//! | `steps.rs` | what answers the steps of a plan, and what they do together |
//! | `outcome.rs` | what the results of a plan come to |
//! | `describe.rs` | an endpoint described from a plan |
//! | `fit.rs`, `copy.rs` | whether one schema fits another, and parts of them alone |

mod copy;
mod declared;
mod describe;
mod fit;
mod outcome;
mod recipes;
mod search;
mod steps;

use std::sync::Arc;

use forecourt_contract::negotiation::RecipeLineage;
use forecourt_contract::refusal::Refusal;
use forecourt_contract::registry::CallerNeeds;
use forecourt_contract::reserved::shadowed;
use forecourt_contract::{Caller, Dispatcher, Method, Recipe, RequestPath, Schema, Semantic, Template};
use serde_json::{Map, Value};

use crate::Synthesis;
use crate::explanation::{Explanation, title};
use crate::nearby::counter_proposal;
use crate::refusal::{ProposalRefusal, RejectionReason};
use crate::settings::{PlanSource, SynthesisSettings};

pub(crate) use declared::declared_only;
pub(crate) use describe::binding;
pub(crate) use steps::{Effect, Steps};

/// What a plan is looked for: a pair, and what is known of what it shall take and give.
pub(crate) struct PlanRequest<'a> {
    pub(crate) method: &'a Method,
    /// As it is compared with the patterns of recipes.
    pub(crate) path: &'a str,
    /// The names of what it is given.
    pub(crate) parameters: Vec<String>,
    pub(crate) input: Option<&'a Schema>,
    pub(crate) output: Option<&'a Schema>,
    pub(crate) semantic: Option<&'a Semantic>,
    /// The path as a template, where it is proposed.
    pub(crate) template: Option<&'a Template>,
    /// What is written of it, the most telling first.
    pub(crate) sentences: Vec<&'a str>,
}

/// A plan, and how it was found.
pub(crate) struct FoundPlan {
    pub(crate) plan: Arc<Recipe>,
    pub(crate) lineage: Option<RecipeLineage>,
    pub(crate) log: Vec<String>,
    pub(crate) explanation: Explanation,
}

/// Why there is no plan.
#[derive(Debug)]
pub(crate) struct NoPlan {
    pub(crate) reason: RejectionReason,
    pub(crate) explanation: String,
    /// The readings of the proposal that fit equally well, where there is more than one.
    pub(crate) readings: Vec<Explanation>,
}

impl NoPlan {
    /// Nothing here comes to it.
    pub(crate) fn impossible(explanation: String) -> NoPlan {
        NoPlan::because(RejectionReason::CompositionImpossible, explanation)
    }

    /// For a reason of one word.
    pub(crate) fn because(reason: RejectionReason, explanation: String) -> NoPlan {
        NoPlan { reason, explanation, readings: Vec::new() }
    }
}

/// What could serve a call of what is not there, of which nothing is known but the call itself. The endpoint is
/// described from its steps.
///
/// # Errors
/// As [`crate::proposal::Proposal::evaluate`].
pub fn for_request(
    dispatcher: &Dispatcher,
    settings: &SynthesisSettings,
    steps_max: usize,
    pair: (&Method, &RequestPath),
    input: &Map<String, Value>,
    caller: &Caller,
) -> Result<Synthesis, ProposalRefusal> {
    let (method, path) = pair;
    let rejected = |NoPlan { reason, explanation, .. }: NoPlan| ProposalRefusal::Rejected {
        reason,
        explanation,
        counter_proposal: counter_proposal(dispatcher, method.as_str(), path.as_str(), None),
    };
    let impossible = |why: String| rejected(NoPlan::impossible(why));
    // What endpoints can't be registered under, no contract is for either.
    // A call names one path, so its contract is for that path; braces in it must not become parameters.
    let literal = Template::parse(path.as_str(), &dispatcher.catalog).ok().filter(Template::is_literal);
    let template = literal.ok_or_else(|| impossible("no endpoint can have such a path".to_owned()))?;
    if let Some(taken) = shadowed(method, &template) {
        let why = format!("{method} {path} is not to be made: {taken} belongs to the host", path = path.as_str());
        return Err(rejected(NoPlan::because(RejectionReason::PolicyRefused, why)));
    }
    let asked = PlanRequest {
        method,
        path: path.as_str(),
        parameters: input.keys().cloned().collect(),
        input: None,
        output: None,
        semantic: None,
        template: None,
        sentences: Vec::new(),
    };
    let FoundPlan { plan, lineage, mut log, explanation } =
        find(dispatcher, settings, steps_max, &asked, caller).map_err(rejected)?;
    let needs = authorised(dispatcher, &plan, caller)?;
    let steps = Steps::of(&plan, dispatcher);
    let described = describe::endpoint((method, &template), &steps, &needs.scopes, &dispatcher.catalog);
    let endpoint = described.ok_or_else(|| impossible("what its steps take can't be described".to_owned()))?;
    log.push(calls(&plan));
    Ok(Synthesis { endpoint: Arc::new(endpoint), plan, lineage, needs, log, explanation })
}

/// The first plan of the sources that the operator has opened, in their order. Section 10.6, 6.
pub(crate) fn find(
    dispatcher: &Dispatcher,
    settings: &SynthesisSettings,
    steps_max: usize,
    asked: &PlanRequest<'_>,
    caller: &Caller,
) -> Result<FoundPlan, NoPlan> {
    let mut why: Option<NoPlan> = None;
    for source in &settings.policies {
        let found = match source {
            PlanSource::Recipes => {
                recipes::find(dispatcher, steps_max, asked).map_err(|why| why.map(NoPlan::impossible))
            }
            PlanSource::Schemas => search::find(dispatcher, steps_max, asked, caller),
        };
        match found {
            Ok(found) => return Ok(found),
            // The first source that has something to say says it.
            Err(told) => why = why.or(told),
        }
    }
    let nothing = || format!("nothing here can be put together to {} {}", asked.method, asked.path);
    Err(why.unwrap_or_else(|| NoPlan::impossible(nothing())))
}

/// What a plan needs of whoever calls it, held against `caller` before anything is made. Sections 10.6, 5, and 10.7.
pub(crate) fn authorised(
    dispatcher: &Dispatcher,
    plan: &Recipe,
    caller: &Caller,
) -> Result<CallerNeeds, ProposalRefusal> {
    dispatcher
        .proven_for_plan(plan, caller)
        .map_err(|why| ProposalRefusal::Grammar(Box::new(Refusal::Identity(why))))?;
    let needs = dispatcher.needs_of_plan(plan);
    let missing = caller.authority().in_use().missing(needs.scopes.iter());
    if missing.is_empty() { Ok(needs) } else { Err(ProposalRefusal::Scope { missing }) }
}

/// The calls of a plan, in a sentence.
pub(crate) fn calls(plan: &Recipe) -> String {
    let titles: Vec<String> = plan.steps.iter().map(title).collect();
    format!("It calls {}.", titles.join(", then "))
}

/// The input that a plan takes, and the output that it comes to, where nobody said what they shall be.
pub(crate) fn described(steps: &Steps<'_>) -> Option<(Schema, Schema)> {
    Some((describe::input(steps)?, describe::output(steps)?))
}
