//! This module has recipes: sequences of calls of other endpoints. Sections 10.5 and 12.1.
//!
//! A recipe is data. [`Run`] steps through one without calling anything: whoever drives it makes the
//! calls, so that every step goes through the same checks as a call from outside.

mod pattern;
mod read;
mod reference;
mod run;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_settings::DocumentedSection;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use pattern::{Candidate, Pattern};
pub use read::read;
pub use reference::{EACH, ElementMatch, ResultReference};
pub use run::{BadReference, Run, StepCall};
pub use settings::{
    AggregationSettings, AggregationTable, PatternSettings, RecipeSettings, SourceKind, SourceSettings, StepSettings,
};

use crate::method::Method;
use crate::path::{Template, segment};

/// Stands for a value of a path that is not known yet. A tilde keeps the grammar, and is not the name of an endpoint.
const ANY_WORD: &str = "~";

/// The keys of a recipe, for the reference of settings.
pub const DOCUMENTED: DocumentedSection = DocumentedSection {
    section: "recipes.toml [[recipe]]",
    about: "A named sequence of calls of endpoints, for endpoints of type `composition` and for proposals.",
    schema: || schemars::schema_for!(RecipeSettings),
};

/// A named sequence of calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Its name, unique in its book.
    pub name: String,
    /// What the operator calls this edition of it. Opaque. Section 10.5.
    pub version: String,
    /// A line for people.
    pub description: String,
    /// Which proposals it answers; none when it is for compositions alone, and in what was written down: a plan
    /// that is bound to a contract answers no more proposals.
    #[serde(skip)]
    pub pattern: Option<Pattern>,
    /// The calls, in order. At least one.
    pub steps: Vec<Step>,
    /// What becomes of their results.
    pub aggregation: Aggregation,
}

/// One call of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What is called.
    pub method: Method,
    /// Where; the root when left out. Its parameters are filled from `parameters`.
    pub path: Option<Template>,
    /// The name under which later steps find the result.
    pub capture_as: Option<String>,
    /// The input, field by field.
    pub parameters: BTreeMap<String, InputSource>,
    /// The list that it is called for, once for each element: at most [`crate::limits::ELEMENTS_MAX`]. Its result is
    /// then the list of all results, in the same order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ResultReference>,
}

/// Where a field of a step's input comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputSource {
    /// It stands in the recipe.
    Constant(Value),
    /// It is a field of what the caller sent; left out when the caller did not send it.
    Proposal(String),
    /// It is the result of an earlier step, or what lies inside it; left out where nothing does.
    PreviousStep(ResultReference),
    /// It is the element that the step is called for, or what the members lead to inside it.
    Element(Vec<String>),
}

/// How the results of the steps become the result of the recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The last one is the result.
    #[default]
    Last,
    /// Their fields together; later ones win.
    Merge,
    /// All of them, in order.
    List,
    /// An object of these fields, each out of a captured result; left out where nothing is there.
    Fields(BTreeMap<String, ResultReference>),
}

/// All recipes of a host, in the order in which they were declared.
#[derive(Clone, Debug, Default)]
pub struct RecipeBook {
    recipes: Vec<Arc<Recipe>>,
}

impl RecipeBook {
    /// A book of recipes whose names are unique.
    pub(crate) fn new(recipes: Vec<Arc<Recipe>>) -> RecipeBook {
        RecipeBook { recipes }
    }

    /// A recipe by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<Recipe>> {
        self.recipes.iter().find(|recipe| recipe.name == name)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Recipe>> {
        self.recipes.iter()
    }

    /// The first recipe that answers a proposal.
    pub fn matching(&self, candidate: &Candidate<'_>) -> Option<&Arc<Recipe>> {
        self.recipes.iter().find(|recipe| recipe.pattern.as_ref().is_some_and(|pattern| pattern.matches(candidate)))
    }
}

impl Step {
    /// A path that a call of this step could go to: what the recipe knows stands in it, and for all else a word
    /// that no endpoint is named by. What answers there answers every call of the step that no endpoint of a more
    /// literal path takes from it. `None`: what the recipe knows can't be part of a path.
    pub(crate) fn typical_path(&self) -> Option<String> {
        let word = |name: &str| match self.parameters.get(name) {
            Some(InputSource::Constant(value)) => segment(value),
            _ => Some(ANY_WORD.to_owned()),
        };
        self.path.as_ref().map_or_else(|| Some("/".to_owned()), |path| path.fill(word))
    }

    /// The path that every call of this step goes to, where that is known beforehand.
    pub fn static_path(&self) -> Option<&str> {
        match &self.path {
            None => Some("/"),
            Some(path) => path.is_literal().then(|| path.as_str()),
        }
    }
}
