//! A plan as a recipe, and in words: each step, why it is there and what flows where.

use std::collections::BTreeMap;

use forecourt_contract::recipe::{Aggregation, InputSource, Recipe, ResultReference, Step};

use super::assembly::Assembly;
use super::term::{PlannedCall, Source};
use crate::explanation::{ExplainedStep, Explanation};
use crate::meaning::Meaning;
use crate::wanted::OwnerSource;

/// The plan as a recipe of that name.
pub(super) fn recipe(plan: &Assembly<'_>, name: &str, is_whole: bool) -> Recipe {
    let calls = plan.calls();
    let place = |source: &Source<'_>| {
        let key = source.call().map(|call| call.key.as_str());
        calls.iter().position(|call| Some(call.key.as_str()) == key).unwrap_or_default()
    };
    let input = |source: &Source<'_>| match source {
        Source::Caller(field) => InputSource::Proposal(field.clone()),
        Source::Element(members) => InputSource::Element(members.clone()),
        Source::Result { .. } => InputSource::PreviousStep(reference(source, place(source))),
    };
    let steps = calls.iter().enumerate().map(|(at, call)| Step {
        method: call.endpoint().endpoint.method.clone(),
        path: Some(call.endpoint().endpoint.path.clone()),
        capture_as: Some(capture(at)),
        parameters: call.arguments.iter().map(|(name, source)| (name.clone(), input(source))).collect(),
        for_each: call.for_each.as_ref().map(|list| reference(list, place(list))),
    });
    let fields: BTreeMap<String, ResultReference> = plan
        .outputs
        .iter()
        .map(|output| (output.name.clone(), reference(&output.source, place(&output.source))))
        .collect();
    Recipe {
        name: name.to_owned(),
        version: "1".to_owned(),
        description: String::new(),
        pattern: None,
        steps: steps.collect(),
        aggregation: if is_whole { Aggregation::Last } else { Aggregation::Fields(fields) },
    }
}

/// The plan in words.
pub(super) fn explanation(plan: &Assembly<'_>) -> Explanation {
    let calls = plan.calls();
    let act = plan.act.as_ref().map(|act| act.key.as_str());
    let steps = calls.iter().map(|call| ExplainedStep {
        call: call.endpoint().title(),
        why: match Some(call.key.as_str()) == act {
            true => "it is the change that is proposed".to_owned(),
            false => gives(call, plan),
        },
        takes: call.arguments.iter().map(|(name, source)| takes(call, name, source)).collect(),
    });
    let gives = plan.outputs.iter().map(|output| {
        let said = match output.owned.source {
            OwnerSource::Itself => "by its own name or type",
            OwnerSource::Sentence => "as its sentences say",
            OwnerSource::Path => "as its path says",
            OwnerSource::Act => "as the act calls it",
            OwnerSource::Computed => "which only one endpoint works out",
            OwnerSource::Named => "the only one of what it names that has it",
        };
        format!("`{}` is {}, {said}: {}", output.name, output.owned.meaning, from(&output.source))
    });
    let meaning = |output: &super::assembly::AssembledOutput<'_>| {
        let Meaning { entity, property, .. } = &output.owned.meaning;
        Some((output.name.clone(), format!("{}.{property}", entity.as_deref()?)))
    };
    Explanation {
        steps: steps.collect(),
        gives: gives.collect(),
        meanings: plan.outputs.iter().filter_map(meaning).collect(),
        rejected: Vec::new(),
    }
}

/// What a read gives to others and to the result.
fn gives(call: &PlannedCall<'_>, plan: &Assembly<'_>) -> String {
    let is_it = |source: &&Source<'_>| source.call().is_some_and(|from| from.key == call.key);
    let mut given: Vec<String> = Vec::new();
    let calls = plan.calls();
    let sources = calls.iter().flat_map(|call| call.sources()).chain(plan.outputs.iter().map(|output| &output.source));
    for source in sources.filter(is_it) {
        let Source::Result { path, .. } = source else { continue };
        let name = if path.is_empty() { "all of it".to_owned() } else { format!("`{}`", path.join(".")) };
        if !given.contains(&name) {
            given.push(name);
        }
    }
    format!("it only looks, and gives {}", given.join(" and "))
}

fn takes(call: &PlannedCall<'_>, name: &str, source: &Source<'_>) -> String {
    let meaning = call.endpoint().input(name).map(|input| input.meaning.to_string()).unwrap_or_default();
    format!("`{name}` ({meaning}) from {}", from(source))
}

fn from(source: &Source<'_>) -> String {
    match source {
        Source::Caller(field) => format!("`{field}` of the caller"),
        Source::Element(path) if path.is_empty() => "each element of the list".to_owned(),
        Source::Element(path) => format!("`{}` of each element of the list", path.join(".")),
        Source::Result { call, path, element, meaning } => {
            let inside = if path.is_empty() { String::new() } else { format!("`{}` of ", path.join(".")) };
            let which = element.as_ref().map(|one| format!(", where `{}` is the caller's `{}`", one.member, one.field));
            let renamed = meaning.as_ref().filter(|meaning| meaning.role.is_some());
            let reason = renamed.map(|meaning| format!(" (the {})", meaning)).unwrap_or_default();
            format!("{inside}{}{}{reason}", call.endpoint().title(), which.unwrap_or_default())
        }
    }
}

/// The name that the result of the step at a place is captured under.
fn capture(at: usize) -> String {
    format!("step{at}")
}

fn reference(source: &Source<'_>, at: usize) -> ResultReference {
    match source {
        Source::Result { path, element, .. } => {
            ResultReference { capture: capture(at), members: path.clone(), element: element.clone() }
        }
        Source::Caller(_) | Source::Element(_) => ResultReference::whole(capture(at)),
    }
}
