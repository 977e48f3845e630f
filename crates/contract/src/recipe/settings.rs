//! A recipe as it stands in the recipes' file, under `[[recipe]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// One entry of `recipe`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeSettings {
    /// Its name, unique in the file.
    pub name: String,
    /// What this edition of it is called; `"1"` when left out.
    pub version: Option<Value>,
    /// A line for people.
    #[serde(default)]
    pub description: String,
    /// Which proposals it answers; leave it out for a recipe that only endpoints use.
    pub pattern: Option<PatternSettings>,
    /// The calls, in order.
    pub steps: Vec<StepSettings>,
    /// What becomes of their results.
    #[serde(default)]
    pub aggregation: AggregationTable,
}

/// The table `recipe.pattern`: everything that is there must match.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PatternSettings {
    /// The method.
    pub name_exact: Option<String>,
    /// A regular expression that the whole method matches.
    pub name_regex: Option<String>,
    /// A category of the method.
    pub category: Option<String>,
    /// Parameters that the proposal declares.
    pub has_parameters: Vec<String>,
    /// The path.
    pub path_exact: Option<String>,
    /// A regular expression that the whole path matches.
    pub path_regex: Option<String>,
}

/// One entry of `recipe.steps`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSettings {
    /// The method to call.
    pub method: String,
    /// The path to call; `{name}` is filled from the parameter of that name. The root when left out.
    pub path: Option<String>,
    /// The name under which later steps find the result.
    pub capture_as: Option<String>,
    /// A list in an earlier result, such as `order.lines`: the step is called once for each of its elements, and its
    /// result is the list of all results. At most 100 elements.
    pub for_each: Option<Value>,
    /// The input, field by field.
    #[serde(default)]
    pub parameters: BTreeMap<String, SourceSettings>,
}

/// Where a field of a step's input comes from.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceSettings {
    /// `constant`, `proposal`, `previous_step` or `element`.
    pub kind: SourceKind,
    /// The value itself, the caller's field, or an earlier result by its name: all of it (`facts`), or what lies
    /// inside it (`facts.order.id`, `facts.results.0.content`, or `{ step = "facts", pointer = "/order.id" }`
    /// where a name has dots). `facts.results.*.content` is the list of what all elements have there. The element of a
    /// list that has what the caller gave is `{ step = "facts", pointer = "/results", where = { member = "id",
    /// equals = "result_id" }, then = "/content" }`. Of the kind `element`, the member of the element that the step is
    /// called for (`id`), or nothing (`""`) for the element itself.
    pub value: Value,
}

/// The kinds of a source.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// `value` itself.
    Constant,
    /// The field of the caller's input that `value` names.
    Proposal,
    /// The result of an earlier step that `value` names, or what lies inside it.
    PreviousStep,
    /// The element that a step with `for_each` is called for, or what `value` names inside it.
    Element,
}

/// The table `recipe.aggregation`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AggregationTable {
    /// `last`, `merge`, `list` or `fields`.
    pub mode: AggregationSettings,
    /// For `fields` alone: each field of the result, and the captured result that it is taken from, written as the
    /// `value` of a `previous_step`.
    pub fields: BTreeMap<String, Value>,
}

/// What becomes of the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AggregationSettings {
    /// The last one is the result.
    #[default]
    Last,
    /// Their fields together; later ones win.
    Merge,
    /// All of them, in order.
    List,
    /// An object of `fields`.
    Fields,
}
