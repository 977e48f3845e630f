//! What an operation means, as far as its document and its HTTP method tell. Section 7, and 14.1: a
//! person confirms it.

use forecourt_contract::Catalog;

use super::operation::Operation;
use super::verb::{category, is_reading};
use super::words::{sentence, words};
use crate::limits::SENTENCE_CHARS_MAX;

/// What is sure of an endpoint that nobody has looked at.
const CONFIDENCE: f64 = 0.7;

/// Descriptions of responses that say nothing.
const EMPTY_WORDS: [&str; 12] = [
    "ok",
    "success",
    "successful",
    "successful operation",
    "successful response",
    "created",
    "accepted",
    "no content",
    "default response",
    "response",
    "successfully created",
    "expected response to a valid request",
];

/// The semantic block.
#[derive(Clone, Debug)]
pub(super) struct Semantic {
    pub(super) intent: String,
    pub(super) actor: String,
    pub(super) outcome: String,
    pub(super) capability: String,
    pub(super) confidence: f64,
    pub(super) impact: String,
    pub(super) is_idempotent: bool,
    /// Whether the document states all of it, as one that was exported does.
    pub(super) is_stated: bool,
}

/// What an operation that became `verb` means.
pub(super) fn semantic(operation: &Operation<'_>, verb: &str, outcome: &str, catalog: &Catalog) -> Semantic {
    let stated = &operation.value["x-agtp-semantic"];
    let text = |key: &str| stated[key].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let is_known = |name: &String| catalog.has_category(name);
    let confidence = stated["confidence"].as_f64().filter(|value| (0.0..=1.0).contains(value));
    let impact = text("impact").filter(|word| ["informational", "reversible", "irreversible"].contains(&word.as_str()));
    let (intent, actor, idempotent) = (text("intent"), text("actor"), stated["is_idempotent"].as_bool());
    let (after, capability) = (text("outcome"), text("capability").filter(is_known));
    let is_stated =
        [intent.is_some(), actor.is_some(), after.is_some(), capability.is_some()].iter().all(|there| *there)
            && impact.is_some()
            && idempotent.is_some()
            && confidence.is_some();
    Semantic {
        intent: intent.unwrap_or_else(|| summary(operation)),
        actor: actor.unwrap_or_else(|| "agent".to_owned()),
        outcome: after.unwrap_or_else(|| said(outcome).unwrap_or_else(|| usual(operation, verb, catalog).to_owned())),
        capability: capability.or_else(|| category(verb, catalog).map(str::to_owned)).unwrap_or_default(),
        confidence: confidence.unwrap_or(CONFIDENCE),
        impact: impact.unwrap_or_else(|| effect(&operation.http, verb, catalog).to_owned()),
        is_idempotent: idempotent.unwrap_or(matches!(operation.http.as_str(), "GET" | "PUT" | "DELETE")),
        is_stated,
    }
}

/// A sentence about an operation: its summary, else the start of its description, else its id in words.
pub(super) fn summary(operation: &Operation<'_>) -> String {
    let first = operation.text("description").split("\n\n").next().unwrap_or_default();
    let id = words(operation.id).join(" ");
    let texts = [operation.text("summary"), first, id.as_str()];
    let said = texts.into_iter().find_map(|text| sentence(text, SENTENCE_CHARS_MAX));
    said.unwrap_or_else(|| format!("{} {}.", operation.http, operation.path))
}

/// A sentence for people: the start of the description, else the summary.
pub(super) fn description(operation: &Operation<'_>) -> String {
    let first = operation.text("description").split("\n\n").next().unwrap_or_default();
    sentence(first, SENTENCE_CHARS_MAX).unwrap_or_else(|| summary(operation))
}

/// The description of a response, if it says anything.
fn said(text: &str) -> Option<String> {
    let plain = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    if EMPTY_WORDS.contains(&plain.as_str()) { None } else { sentence(text, SENTENCE_CHARS_MAX) }
}

fn usual(operation: &Operation<'_>, verb: &str, catalog: &Catalog) -> &'static str {
    match operation.http.as_str() {
        "GET" => "The caller has what was asked for; nothing changed.",
        _ if is_reading(verb, catalog) => "The caller has what was asked for; nothing changed.",
        "DELETE" => "What was named is gone.",
        "PUT" => "What was named is as the caller described it.",
        "PATCH" => "What was named has the values that were sent.",
        _ => "The service has taken up what was sent.",
    }
}

fn effect(http: &str, verb: &str, catalog: &Catalog) -> &'static str {
    match http {
        "GET" => "informational",
        "PUT" | "PATCH" => "reversible",
        "DELETE" => "irreversible",
        _ if is_reading(verb, catalog) => "informational",
        _ if category(verb, catalog) == Some("transaction") => "irreversible",
        _ => "reversible",
    }
}
