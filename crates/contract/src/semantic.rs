//! This module reads the semantic block of an endpoint, by which agents decide whether to call it. Section 7.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::definition_problem::DefinitionProblem;

/// The seven fields, all of them required. Section 7.1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Semantic {
    /// What it sets out to do, in one imperative sentence.
    pub intent: String,
    /// Who should call it. Any word.
    pub actor: String,
    /// What is true afterwards.
    pub outcome: String,
    /// The kind of effect: a category of the catalog.
    pub capability: String,
    /// How sure the host is of the outcome, from 0 to 1.
    pub confidence: f64,
    /// Whether the effect can be undone.
    pub impact: Impact,
    /// Whether calling it again changes nothing more.
    pub is_idempotent: bool,
}

/// How far an effect can be undone, the weakest effect first. Section 7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Impact {
    /// Nothing changes.
    Informational,
    /// A call of another method undoes it.
    Reversible,
    /// Nothing undoes it.
    Irreversible,
}

impl Semantic {
    /// Reads the block of a definition. Fields that are not among the seven are left alone.
    ///
    /// # Errors
    /// Every field that is missing, empty or not of its kind.
    pub fn read(block: &Value, catalog: &Catalog) -> Result<Semantic, Vec<DefinitionProblem>> {
        if !block.is_object() {
            let message = "an endpoint needs its semantic block: intent, actor, outcome, capability, confidence, \
                           impact and is_idempotent";
            return Err(vec![DefinitionProblem::new("semantic", "semantic-missing", message)]);
        }
        let mut faults = Vec::new();
        let intent = sentence(block, "intent", &mut faults);
        let actor = sentence(block, "actor", &mut faults);
        let outcome = sentence(block, "outcome", &mut faults);
        let capability = sentence(block, "capability", &mut faults).filter(|name| known(name, catalog, &mut faults));
        let confidence = field(block, "confidence", &mut faults).and_then(|value| scalar(value, &mut faults));
        let impact = field(block, "impact", &mut faults).and_then(|value| impact(value, &mut faults));
        let is_idempotent = field(block, "is_idempotent", &mut faults).and_then(|value| truth(value, &mut faults));
        let read = || {
            let (intent, actor, outcome) = (intent?, actor?, outcome?);
            let (capability, confidence) = (capability?, confidence?);
            let (impact, is_idempotent) = (impact?, is_idempotent?);
            Some(Semantic { intent, actor, outcome, capability, confidence, impact, is_idempotent })
        };
        read().ok_or(faults)
    }
}

/// A field of the block that is there.
fn field<'a>(block: &'a Value, name: &str, faults: &mut Vec<DefinitionProblem>) -> Option<&'a Value> {
    // `null` counts as missing, so that its author is told to add the field, and not to change its kind.
    let found = block.get(name).filter(|value| !value.is_null());
    if found.is_none() {
        let message = format!("the semantic block needs `{name}`");
        faults.push(DefinitionProblem::new("semantic", format!("semantic-missing-field:{name}"), message));
    }
    found
}

fn sentence(block: &Value, name: &str, faults: &mut Vec<DefinitionProblem>) -> Option<String> {
    let text = field(block, name, faults)?.as_str().map(str::trim).filter(|text| !text.is_empty());
    if text.is_none() {
        let message = format!("`{name}` of the semantic block must be a text that says something");
        faults.push(DefinitionProblem::new("semantic", format!("semantic-bad-field:{name}"), message));
    }
    text.map(str::to_owned)
}

fn known(capability: &str, catalog: &Catalog, faults: &mut Vec<DefinitionProblem>) -> bool {
    let is_known = catalog.has_category(capability);
    if !is_known {
        let names: Vec<&str> = catalog.categories().map(|(name, _)| name).collect();
        let message = format!("`capability` must be one of {}", names.join(", "));
        faults.push(DefinitionProblem::new("semantic", "semantic-bad-capability", message));
    }
    is_known
}

fn scalar(value: &Value, faults: &mut Vec<DefinitionProblem>) -> Option<f64> {
    let within = value.as_f64().filter(|confidence| (0.0..=1.0).contains(confidence));
    if within.is_none() {
        faults.push(DefinitionProblem::new(
            "semantic",
            "semantic-bad-confidence",
            "`confidence` must be a number from 0.0 to 1.0",
        ));
    }
    within
}

fn impact(value: &Value, faults: &mut Vec<DefinitionProblem>) -> Option<Impact> {
    match value.as_str() {
        Some("informational") => return Some(Impact::Informational),
        Some("reversible") => return Some(Impact::Reversible),
        Some("irreversible") => return Some(Impact::Irreversible),
        _ => {}
    }
    let message = "`impact` must be informational, reversible or irreversible";
    faults.push(DefinitionProblem::new("semantic", "semantic-bad-impact", message));
    None
}

fn truth(value: &Value, faults: &mut Vec<DefinitionProblem>) -> Option<bool> {
    if !value.is_boolean() {
        let message = "`is_idempotent` must be true or false";
        faults.push(DefinitionProblem::new("semantic", "semantic-bad-field:is_idempotent", message));
    }
    value.as_bool()
}
