//! A plan in words, for whoever is to accept it: each step, why it is there, what flows where, and what was looked at
//! and not taken.

use std::collections::BTreeMap;

use forecourt_contract::recipe::{InputSource, Recipe, Step};
use serde::{Deserialize, Serialize};

/// A plan in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The steps, in order.
    pub steps: Vec<ExplainedStep>,
    /// Each member of the result: what it is, and where it comes from.
    pub gives: Vec<String>,
    /// What each member of the result means, as `x-semantic-type` says it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meanings: BTreeMap<String, String>,
    /// Endpoints that come near and are not called, with the reason.
    pub rejected: Vec<String>,
}

/// A step in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedStep {
    /// What is called: `FETCH /orders/{order_id}`.
    pub call: String,
    /// Why it is there.
    pub why: String,
    /// What it takes, and from where.
    pub takes: Vec<String>,
}

impl Explanation {
    /// A recipe in words.
    pub fn of_recipe(recipe: &Recipe) -> Explanation {
        let source = |name: &String, source: &InputSource| match source {
            InputSource::Constant(value) => format!("`{name}`, which is always {value}"),
            InputSource::Proposal(field) => format!("`{name}` from `{field}` of the caller"),
            InputSource::PreviousStep(result) => format!("`{name}` from the result `{result}`"),
            InputSource::Element(members) if members.is_empty() => format!("`{name}` from each element"),
            InputSource::Element(members) => format!("`{name}` from `{}` of each element", members.join(".")),
        };
        let step = |step: &Step| ExplainedStep {
            call: title(step),
            why: match &step.for_each {
                None => format!("the recipe `{}` calls it", recipe.name),
                Some(list) => format!("the recipe `{}` calls it for each element of `{list}`", recipe.name),
            },
            takes: step.parameters.iter().map(|(name, from)| source(name, from)).collect(),
        };
        Explanation { steps: recipe.steps.iter().map(step).collect(), ..Explanation::default() }
    }

    /// The same in lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, ExplainedStep { call, why, takes }) in self.steps.iter().enumerate() {
            lines.push(format!("{}. {call}: {why}.", at + 1));
            lines.extend(takes.iter().map(|taken| format!("   takes {taken}")));
        }
        lines.extend(self.gives.iter().map(|given| format!("The result: {given}.")));
        lines.extend(self.rejected.iter().map(|rejected| format!("Not called: {rejected}.")));
        lines
    }
}

/// A step for people: `QUERY /facts`.
pub(crate) fn title(step: &Step) -> String {
    format!("{} {}", step.method, step.path.as_ref().map_or("/", |path| path.as_str()))
}
