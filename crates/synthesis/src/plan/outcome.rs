//! What the results of a plan come to, by its aggregation: the schema that they keep together.

use std::collections::BTreeMap;

use forecourt_contract::recipe::{Aggregation, EACH, Recipe, ResultReference};
use forecourt_contract::{Endpoint, Schema};
use serde_json::{Map, Value, json};

use super::copy::{document, standalone};
use crate::shape::{Kinds, Member, Shape};

/// Something that a step is answered by: an endpoint, or what is not described.
pub(super) type Answerer<'a> = Option<&'a Endpoint>;

/// What every result of a plan keeps, as a schema that stands alone: never more than is sure.
pub(super) fn result(plan: &Recipe, steps: &[Answerer<'_>]) -> Value {
    match &plan.aggregation {
        Aggregation::Last => steps.last().copied().flatten().map_or_else(|| json!({}), |last| document(&last.output)),
        Aggregation::List => json!({
            "type": "array",
            "minItems": steps.len(),
            "maxItems": steps.len(),
            "prefixItems": steps.iter().map(|step| step.map_or_else(|| json!({}), whole)).collect::<Vec<_>>(),
        }),
        Aggregation::Merge => merged(steps),
        Aggregation::Fields(fields) => selected(fields, plan, steps),
    }
}

/// The same as a schema that compiles: of a document that does not, nothing is known.
pub(super) fn result_schema(plan: &Recipe, steps: &[Answerer<'_>]) -> Option<Schema> {
    let compile = |source| Schema::output(source, false).ok();
    compile(result(plan, steps)).or_else(|| compile(json!({})))
}

/// What a reference to a captured result leads to, with whether it is always there. `None`: nobody knows.
pub(super) fn taken<'a>(
    reference: &ResultReference,
    plan: &Recipe,
    steps: &[Answerer<'a>],
) -> Option<(Member<'a>, bool)> {
    // Which element of a list it is, or what all of them have, is not looked at beforehand.
    if reference.element.is_some() || reference.members.iter().any(|member| member == EACH) {
        return None;
    }
    let at = plan.steps.iter().position(|step| step.capture_as.as_ref() == Some(&reference.capture))?;
    let whole = Shape::of(&steps.get(at).copied().flatten()?.output);
    let mut found = (Member::Known(vec![whole], true), true);
    for member in &reference.members {
        let (Member::Known(shapes, _), is_sure) = &found else { break };
        // Of several schemas that all hold, the one that tells most about the member is asked.
        let inside = shapes.iter().map(|shape| (shape.inside(member), shape.kinds() == Kinds::OBJECT));
        let told = inside.max_by_key(|(member, _)| match member {
            Member::Never => 3,
            Member::Known(_, true) => 2,
            Member::Known(_, false) => 1,
            Member::Open => 0,
        });
        let (inside, is_object) = told?;
        let is_there = *is_sure && is_object && matches!(inside, Member::Known(_, true));
        found = (inside, is_there);
    }
    Some(found)
}

/// An object of fields out of results.
fn selected(fields: &BTreeMap<String, ResultReference>, plan: &Recipe, steps: &[Answerer<'_>]) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for (name, reference) in fields {
        let (schema, is_there) = match taken(reference, plan, steps) {
            Some((Member::Known(given, _), is_there)) => {
                (given.iter().map(|given| standalone(*given)).reduce(super::copy::both), is_there)
            }
            _ => (None, false),
        };
        if is_there {
            required.push(name);
        }
        properties.insert(name.clone(), schema.unwrap_or_else(|| json!({})));
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn whole(endpoint: &Endpoint) -> Value {
    standalone(Shape::of(&endpoint.output))
}

/// Of each member the last step that has it says what it is; where a later step may have it undeclared, nobody
/// does. Results that are no objects are left out of a merge, so that what they need not be is not required.
fn merged(steps: &[Answerer<'_>]) -> Value {
    let shapes: Vec<Option<Shape<'_>>> = steps.iter().map(|step| step.map(|step| Shape::of(&step.output))).collect();
    let mut names: Vec<&str> = Vec::new();
    for name in shapes.iter().flatten().flat_map(|shape| shape.declared()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_object = |shape: &Shape<'_>| shape.kinds() == Kinds::OBJECT;
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for name in names {
        let mut may_be: Vec<Value> = Vec::new();
        let mut is_there = false;
        for shape in &shapes {
            match shape.map(|shape| (shape.member(name), is_object(&shape))) {
                Some((Member::Never, _)) => {}
                Some((Member::Known(given, always), is_object)) => {
                    let schema = given.iter().map(|given| standalone(*given)).reduce(super::copy::both);
                    // A later result that surely has the member replaces what earlier ones said of it, as merging does.
                    if always && is_object {
                        may_be.clear();
                        is_there = true;
                    }
                    may_be.push(schema.unwrap_or_else(|| json!({})));
                }
                Some((Member::Open, _)) | None => may_be.push(json!({})),
            }
        }
        if is_there {
            required.push(name);
        }
        properties.insert(name.to_owned(), one_of(may_be));
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

fn one_of(mut may_be: Vec<Value>) -> Value {
    may_be.dedup();
    match may_be.len() {
        0 => json!({}),
        1 => may_be.remove(0),
        _ if may_be.contains(&json!({})) => json!({}),
        _ => json!({ "anyOf": may_be }),
    }
}
