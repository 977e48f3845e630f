//! An endpoint described from a plan, for a call of which nothing is known but its pair: what it takes is what its
//! steps take of the caller, what it gives is what they come to. Section 10.7.

use std::collections::BTreeMap;

use forecourt_contract::endpoint::{Binding, COMPOSITION_ERROR};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::recipe::{InputSource, Step};
use forecourt_contract::reserved::effect;
use forecourt_contract::scope::Scope;
use forecourt_contract::{Catalog, Endpoint, Method, Schema, Semantic, Template};
use serde_json::{Value, json};

use super::copy::{both, standalone};
use super::outcome::result_schema;
use super::steps::Steps;
use crate::explanation::title;
use crate::shape::{Member, Shape};

/// The endpoint that a plan makes of a pair, with `needs` as its scopes. `None`: its schemas are beyond the bounds
/// of schemas.
pub(super) fn endpoint(
    pair: (&Method, &Template),
    steps: &Steps<'_>,
    needs: &[Scope],
    catalog: &Catalog,
) -> Option<Endpoint> {
    let (method, path) = pair;
    let intent = intent(method, path, steps);
    Some(Endpoint {
        method: method.clone(),
        path: path.clone(),
        description: intent.clone(),
        namespace: None,
        semantic: semantic(method, intent, steps, catalog),
        input: input(steps)?,
        output: output(steps)?,
        errors: vec![COMPOSITION_ERROR.to_owned()],
        required_scopes: needs.to_vec(),
        deprecated: None,
        offers: Vec::new(),
        binding: binding(&steps.plan.name),
    })
}

/// What answers an endpoint that is made of a plan.
pub(crate) fn binding(recipe: &str) -> Binding {
    Binding::Composition { recipe: recipe.to_owned(), timeout: HANDLER_TIME_DEFAULT }
}

/// What the caller gives: the fields that steps take of it, with what each of those steps takes.
pub(super) fn input(steps: &Steps<'_>) -> Option<Schema> {
    let mut fields: BTreeMap<&str, (Value, bool)> = BTreeMap::new();
    for (step, endpoint) in steps.iter() {
        for (name, field) in proposed(step) {
            let (schema, is_needed) = field_of(step, endpoint, name);
            let (all, needed) = fields.entry(field).or_insert_with(|| (json!({}), false));
            *all = both(std::mem::take(all), schema);
            // One field may go to several steps: it must satisfy all of them, and one that needs it makes it required.
            *needed |= is_needed;
        }
    }
    let compiled = |is_typed: bool| {
        let types = fields
            .iter()
            .map(|(name, (schema, _))| ((*name).to_owned(), if is_typed { schema.clone() } else { json!({}) }));
        let required: Vec<&str> = fields.iter().filter(|(_, (_, needed))| *needed).map(|(name, _)| *name).collect();
        let properties: serde_json::Map<String, Value> = types.collect();
        Schema::input(json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }))
    };
    // The steps check what they take themselves; what can't be said of it beforehand is left to them.
    compiled(true).or_else(|_| compiled(false)).ok()
}

/// What it comes to.
pub(super) fn output(steps: &Steps<'_>) -> Option<Schema> {
    result_schema(steps.plan, &steps.answerers())
}

/// The parameters of a step that are fields of the caller's input, with those fields.
pub(super) fn proposed(step: &Step) -> impl Iterator<Item = (&str, &str)> {
    step.parameters.iter().filter_map(|(name, source)| match source {
        InputSource::Proposal(field) => Some((name.as_str(), field.as_str())),
        InputSource::Constant(_) | InputSource::PreviousStep(_) | InputSource::Element(_) => None,
    })
}

/// Whether the path of a step takes a parameter.
pub(super) fn is_in_path(step: &Step, name: &str) -> bool {
    step.path.iter().flat_map(Template::parameters).any(|parameter| parameter == name)
}

/// What a step takes as one of its parameters, and whether it can't be called without it.
fn field_of(step: &Step, endpoint: Option<&Endpoint>, name: &str) -> (Value, bool) {
    let Some(endpoint) = endpoint else {
        let is_required = effect(&step.method).is_some_and(|effect| effect.required.contains(&name));
        return (json!({}), is_required || is_in_path(step, name));
    };
    let shape = Shape::of(&endpoint.input);
    // What a path takes is named by the path of the step, which may differ from the endpoint's.
    let declared = match shape.member(name) {
        Member::Known(given, _) => given.iter().map(|given| standalone(*given)).reduce(both),
        Member::Open | Member::Never => None,
    };
    let in_path = is_in_path(step, name);
    let word = in_path.then(|| json!({ "type": ["string", "number", "boolean"] }));
    (declared.or(word).unwrap_or_else(|| json!({})), in_path || shape.requires(name))
}

/// The sentence of the recipe, else one that names the steps.
fn intent(method: &Method, path: &Template, steps: &Steps<'_>) -> String {
    let description = steps.plan.description.trim();
    if !description.is_empty() {
        return description.to_owned();
    }
    let titles: Vec<String> = steps.plan.steps.iter().map(title).collect();
    let mut verb = method.as_str().to_ascii_lowercase();
    verb[..1].make_ascii_uppercase();
    format!("{verb} {path} by way of {}.", titles.join(", then "))
}

/// What is true afterwards, in the words of the steps.
fn outcome(steps: &Steps<'_>) -> String {
    let told: Vec<&str> =
        steps.answerers().into_iter().flatten().map(|endpoint| endpoint.semantic.outcome.as_str()).collect();
    match told.is_empty() {
        true => "The results of its steps are returned.".to_owned(),
        false => told.join(" "),
    }
}

fn semantic(method: &Method, intent: String, steps: &Steps<'_>, catalog: &Catalog) -> Semantic {
    let effect = steps.effect();
    let category = catalog.verb(method.as_str()).and_then(|verb| verb.categories.first().cloned());
    Semantic {
        intent,
        actor: "agent".to_owned(),
        outcome: outcome(steps),
        capability: category.unwrap_or_else(|| "mechanics".to_owned()),
        confidence: effect.confidence,
        impact: effect.impact,
        is_idempotent: effect.is_idempotent,
    }
}
