//! This module reads the file of recipes, and gives every problem its line. Recipes without problems are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_settings::{Problem, Problems, Section};
use serde::Deserialize;
use serde_json::Value;

use super::settings::{
    AggregationSettings, AggregationTable, RecipeSettings, SourceKind, SourceSettings, StepSettings,
};
use super::{Aggregation, InputSource, Pattern, Recipe, RecipeBook, ResultReference, Step};
use crate::catalog::Catalog;
use crate::limits::{RECIPES_MAX, STEPS_MAX};
use crate::method::Method;
use crate::path::{Template, segment};
use crate::policy::MethodPolicy;

/// The keys of the file beside `[[recipe]]`: none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Reads a file of recipes: those that are fine, and every problem of the others. Of two with one name
/// the first is kept. A file with too many has none.
pub fn read(mut file: Section, catalog: &Catalog, policy: &MethodPolicy) -> (RecipeBook, Problems) {
    let mut problems = Problems::new();
    let sections = file.take_list("recipe");
    problems.absorb(file.read::<Nothing>());
    if sections.len() > RECIPES_MAX {
        problems.push(file.problem(None, format!("a host has at most {RECIPES_MAX} recipes")));
        return (RecipeBook::default(), problems);
    }
    let mut recipes: Vec<Arc<Recipe>> = Vec::new();
    for section in &sections {
        let Some(settings) = problems.absorb(section.read::<RecipeSettings>()) else { continue };
        let problem = |(key, message): Wrong| section.problem(Some(key), message);
        let recipe = recipe(settings, catalog, policy).map_err(problem);
        let Some(recipe) = problems.absorb::<Recipe>(recipe) else { continue };
        if recipes.iter().any(|other| other.name == recipe.name) {
            problems.push(twice(section, &recipe.name));
        } else {
            recipes.push(Arc::new(recipe));
        }
    }
    (RecipeBook::new(recipes), problems)
}

/// The key at fault and what is wrong with it.
type Wrong = (&'static str, String);

fn twice(section: &Section, name: &str) -> Problem {
    section.problem(Some("name"), format!("recipe-duplicate: there is another recipe named `{name}`"))
}

fn recipe(settings: RecipeSettings, catalog: &Catalog, policy: &MethodPolicy) -> Result<Recipe, Wrong> {
    if settings.name.trim().is_empty() {
        return Err(("name", "recipe-name-missing: a recipe needs a name".to_owned()));
    }
    let version = match settings.version {
        None => "1".to_owned(),
        Some(Value::String(text)) if !text.is_empty() => text,
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => return Err(("version", "recipe-bad-version: `version` is a text or a number".to_owned())),
    };
    let named = settings.pattern.as_ref().and_then(|pattern| pattern.name_exact.as_deref());
    if let Some(name) = named.filter(|name| known_method(name, catalog, policy).is_none()) {
        return Err((
            "pattern",
            format!("recipe-bad-pattern: `{name}` is not in the catalog, so nobody can ask for it"),
        ));
    }
    let pattern = settings.pattern.map(|pattern| Pattern::new(&pattern, catalog)).transpose();
    let pattern = pattern.map_err(|why| ("pattern", format!("recipe-bad-pattern: {why}")))?;
    if settings.steps.is_empty() || settings.steps.len() > STEPS_MAX {
        return Err(("steps", format!("recipe-bad-steps: a recipe has 1 to {STEPS_MAX} steps")));
    }
    let mut steps: Vec<Step> = Vec::with_capacity(settings.steps.len());
    for settings in settings.steps {
        let step = step(settings, &steps, catalog, policy).map_err(|why| ("steps", why))?;
        steps.push(step);
    }
    let aggregation = aggregation(settings.aggregation, &steps).map_err(|why| ("aggregation", why))?;
    Ok(Recipe { name: settings.name, version, description: settings.description, pattern, steps, aggregation })
}

/// A step that comes after `earlier` ones. Each result is captured under a name of its own, and used after it is
/// there.
fn step(settings: StepSettings, earlier: &[Step], catalog: &Catalog, policy: &MethodPolicy) -> Result<Step, String> {
    let StepSettings { method: name, path, capture_as, for_each, parameters } = settings;
    let for_each = for_each.map(|list| reference(&list, earlier)).transpose()?;
    let method = known_method(&name, catalog, policy)
        .ok_or_else(|| format!("recipe-step-method-missing: `{name}` is not in the catalog"))?;
    let path = path.map(|path| Template::parse(&path, catalog)).transpose();
    let path = path.map_err(|fault| format!("recipe-step-path:{}: {fault}", fault.tag()))?;
    let parameters =
        parameters.into_iter().map(|(name, settings)| source(settings, earlier).map(|source| (name, source)));
    let parameters: BTreeMap<String, InputSource> = parameters.collect::<Result<_, _>>()?;
    let takes_element = parameters.values().any(|source| matches!(source, InputSource::Element(_)));
    if takes_element != for_each.is_some() {
        let why = "`for_each` and parameters of the kind `element` belong together";
        return Err(format!("recipe-bad-reference: {why}"));
    }
    // Found when the file is read, since at run time it would fail only after the steps before it were done.
    let unfilled = path.iter().flat_map(Template::parameters).find(|name| !parameters.contains_key(*name));
    if let Some(name) = unfilled {
        return Err(format!(
            "recipe-bad-reference: the path of a step takes `{name}`, which must be among its parameters"
        ));
    }
    let is_no_word =
        |name: &&str| matches!(parameters.get(*name), Some(InputSource::Constant(value)) if segment(value).is_none());
    if let Some(name) = path.iter().flat_map(Template::parameters).find(is_no_word) {
        return Err(format!("recipe-bad-reference: the path of a step takes `{name}`, which no segment takes"));
    }
    if let Some(name) = capture_as.as_ref().filter(|name| is_captured(name, earlier)) {
        return Err(format!("recipe-bad-reference: two steps capture their result as `{name}`"));
    }
    Ok(Step { method, path, capture_as, parameters, for_each })
}

fn known_method(name: &str, catalog: &Catalog, policy: &MethodPolicy) -> Option<Method> {
    Method::parse(name).ok().filter(|method| policy.knows(method, catalog))
}

fn aggregation(settings: AggregationTable, steps: &[Step]) -> Result<Aggregation, String> {
    let AggregationTable { mode, fields } = settings;
    if (mode == AggregationSettings::Fields) == fields.is_empty() {
        return Err("recipe-bad-aggregation: `fields` belongs to `mode = \"fields\"`, which needs some".to_owned());
    }
    match mode {
        AggregationSettings::Last => Ok(Aggregation::Last),
        AggregationSettings::Merge => Ok(Aggregation::Merge),
        AggregationSettings::List => Ok(Aggregation::List),
        AggregationSettings::Fields => {
            let read = |(name, value): (String, Value)| reference(&value, steps).map(|reference| (name, reference));
            fields.into_iter().map(read).collect::<Result<_, _>>().map(Aggregation::Fields)
        }
    }
}

fn source(SourceSettings { kind, value }: SourceSettings, earlier: &[Step]) -> Result<InputSource, String> {
    match (kind, value) {
        (SourceKind::Constant, value) => Ok(InputSource::Constant(value)),
        (SourceKind::Proposal, Value::String(name)) => Ok(InputSource::Proposal(name)),
        (SourceKind::PreviousStep, value) => reference(&value, earlier).map(InputSource::PreviousStep),
        (SourceKind::Element, Value::String(text)) => {
            let members = text.split('.').filter(|_| !text.is_empty()).map(str::to_owned);
            Ok(InputSource::Element(members.collect()))
        }
        _ => Err("recipe-bad-reference: `value` of this kind is a name".to_owned()),
    }
}

/// Reads a reference to the result of one of `earlier` steps.
fn reference(value: &Value, earlier: &[Step]) -> Result<ResultReference, String> {
    let captured = |name: &str| is_captured(name, earlier);
    let reference = match (value, value.get("step"), value.get("pointer")) {
        (Value::String(text), ..) => ResultReference::read(text, captured),
        // No further keys: a misspelled one would else be ignored in silence.
        (Value::Object(table), Some(Value::String(step)), Some(Value::String(pointer))) if table.len() == 2 => {
            ResultReference::pointed(step, pointer, captured)
        }
        (Value::Object(table), Some(Value::String(step)), Some(Value::String(pointer))) => {
            ResultReference::pointed(step, pointer, captured).and_then(|list| list.element_of(table))
        }
        _ => Err("`value` is the name of a result, or a table with `step` and `pointer`".to_owned()),
    };
    reference.map_err(|why| format!("recipe-bad-reference: {why}"))
}

fn is_captured(name: &str, earlier: &[Step]) -> bool {
    earlier.iter().any(|step| step.capture_as.as_deref() == Some(name))
}
