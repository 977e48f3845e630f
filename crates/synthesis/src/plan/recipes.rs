//! A plan from the operator's recipes: the first one, in the order of their file, that answers the pair and whose
//! steps all lead somewhere. Sections 10.5 and 10.6, 6.

use std::sync::Arc;

use forecourt_contract::negotiation::RecipeLineage;
use forecourt_contract::recipe::{Candidate, InputSource, Recipe, Step};
use forecourt_contract::{Dispatcher, Endpoint};
use serde_json::Value;

use super::describe::is_in_path;
use super::fit::contradicts;
use super::outcome::{result_schema, taken};
use super::steps::Steps;
use super::{FoundPlan, PlanRequest};
use crate::explanation::{Explanation, title};
use crate::shape::{Kinds, Member, Shape};

/// The plan of the recipe that answers.
///
/// # Errors
/// Why the one that answers can't be used, or those that would answer are passed over; nothing where there is none.
pub(super) fn find(
    dispatcher: &Dispatcher,
    steps_max: usize,
    asked: &PlanRequest<'_>,
) -> Result<FoundPlan, Option<String>> {
    let candidate = Candidate {
        method: asked.method,
        path: asked.path,
        parameters: &asked.parameters,
        catalog: &dispatcher.catalog,
    };
    let mut passed_over: Option<String> = None;
    let matching = dispatcher
        .recipes
        .iter()
        .filter(|recipe| recipe.pattern.as_ref().is_some_and(|pattern| pattern.matches(&candidate)));
    for recipe in matching {
        if let Some(why) = unusable(recipe, dispatcher, steps_max) {
            passed_over.get_or_insert(why);
            continue;
        }
        let steps = Steps::of(recipe, dispatcher);
        // A misfit ends the search, where an unusable recipe is passed over: the operator meant this recipe for the
        // pair, and the next would guess.
        return match misfit(&steps, asked) {
            Some(why) => Err(Some(format!("the recipe `{}` does not fit: {why}", recipe.name))),
            None => Ok(found(recipe)),
        };
    }
    Err(passed_over)
}

/// The plan by value: no later edition of the recipe changes it. Section 10.5.
fn found(recipe: &Recipe) -> FoundPlan {
    let lineage = RecipeLineage { recipe_name: recipe.name.clone(), recipe_version: recipe.version.clone() };
    let log = format!("The recipe `{}`, version {}, answers it.", recipe.name, recipe.version);
    // Without its pattern, which says which calls the recipe answers and is no part of what was promised.
    let plan = Recipe { pattern: None, ..recipe.clone() };
    let explanation = Explanation::of_recipe(&plan);
    FoundPlan { plan: Arc::new(plan), lineage: Some(lineage), log: vec![log], explanation }
}

/// Why a recipe is passed over whatever is asked.
fn unusable(recipe: &Recipe, dispatcher: &Dispatcher, steps_max: usize) -> Option<String> {
    let name = &recipe.name;
    let count = recipe.steps.len();
    if count > steps_max {
        return Some(format!("the recipe `{name}` has {count} steps, and at most {steps_max} are made"));
    }
    if dispatcher.is_circular(name) {
        return Some(format!("the steps of the recipe `{name}` lead back to it"));
    }
    let at = dispatcher.dangling_steps_of_plan(recipe).into_iter().next()?;
    let step = recipe.steps.get(at)?;
    Some(format!("step {at} of the recipe `{name}` calls {}, which nothing answers", title(step)))
}

/// Why the steps can't be given what they need, or don't give what is asked, as far as schemas tell.
fn misfit(steps: &Steps<'_>, asked: &PlanRequest<'_>) -> Option<String> {
    for (at, (step, endpoint)) in steps.iter().enumerate() {
        let place = format!("step {at} ({})", title(step));
        let missing = endpoint.and_then(|endpoint| missing(step, endpoint));
        if let Some(name) = missing {
            return Some(format!("{place} needs `{name}`, which the recipe does not give it"));
        }
        for (name, source) in &step.parameters {
            let slot = Slot { step, endpoint, name };
            if let Some(why) = slot.misfit(source, steps, asked) {
                return Some(format!("{place} {why}"));
            }
        }
    }
    let wanted = asked.output?;
    let given = result_schema(steps.plan, &steps.answerers())?;
    let is_other = contradicts(Shape::of(&given), Shape::of(wanted));
    is_other.then(|| "what its steps come to is not what the proposed output declares".to_owned())
}

/// What an endpoint can't be called without and a step does not give it.
fn missing<'a>(step: &Step, endpoint: &'a Endpoint) -> Option<&'a str> {
    let given = |name: &str| {
        let from_path = endpoint.path.parameters().any(|parameter| parameter == name);
        from_path || (step.parameters.contains_key(name) && !is_in_path(step, name))
    };
    Shape::of(&endpoint.input).required().into_iter().find(|name| !given(name))
}

/// A parameter of a step.
struct Slot<'a> {
    step: &'a Step,
    endpoint: Option<&'a Endpoint>,
    name: &'a str,
}

impl Slot<'_> {
    /// Why it can't be filled from its source.
    fn misfit(&self, source: &InputSource, steps: &Steps<'_>, asked: &PlanRequest<'_>) -> Option<String> {
        let name = self.name;
        let in_path = is_in_path(self.step, name);
        let taken_as = self.endpoint.map(|endpoint| Shape::of(&endpoint.input).member(name));
        if matches!(taken_as, Some(Member::Never)) && !in_path {
            return Some(format!("takes no `{name}`, which the recipe gives it"));
        }
        let is_needed = in_path || self.endpoint.is_some_and(|endpoint| Shape::of(&endpoint.input).requires(name));
        let (given, from) = match source {
            InputSource::Constant(value) => {
                let why = || format!("takes no {} as `{name}`, which the recipe gives it", kind(value));
                return (!in_path && !self.takes(Kinds::of(value))).then(why);
            }
            InputSource::Proposal(field) => {
                (Shape::of(asked.input?).member(field), format!("`{field}` of the proposed input"))
            }
            // What a list holds is not looked at beforehand.
            InputSource::Element(_) => return None,
            InputSource::PreviousStep(reference) => {
                (taken(reference, steps.plan, &steps.answerers())?.0, format!("the result `{reference}`"))
            }
        };
        match given {
            Member::Never if is_needed => {
                Some(format!("needs `{name}`, which comes from {from}, and that is not declared"))
            }
            Member::Known(given, _) => {
                let fits = given.iter().all(|given| self.fits(*given, in_path));
                (!fits).then(|| format!("takes `{name}` of another type than {from} has"))
            }
            Member::Never | Member::Open => None,
        }
    }

    fn takes(&self, kinds: Kinds) -> bool {
        let Some(endpoint) = self.endpoint else { return true };
        match Shape::of(&endpoint.input).member(self.name) {
            Member::Known(taken, _) => taken.iter().all(|taken| taken.kinds().meets(kinds)),
            Member::Open | Member::Never => true,
        }
    }

    fn fits(&self, given: Shape<'_>, in_path: bool) -> bool {
        if in_path {
            return given.kinds().meets(Kinds::WORDS);
        }
        let Some(endpoint) = self.endpoint else { return true };
        match Shape::of(&endpoint.input).member(self.name) {
            Member::Known(taken, _) => !taken.iter().any(|taken| contradicts(given, *taken)),
            Member::Open | Member::Never => true,
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}
