//! An answer as results, each with how sure it is and where it is from. Base 3.1, QUERY.

use forecourt_core::part::Data;
use forecourt_core::{Collected, Findings, Part};
use serde_json::{Map, Value, json};

/// How results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Items as they are.
    Structured,
    /// Everything in words.
    Natural,
    /// The parts of the answer as the agent gave them.
    Raw,
}

impl Format {
    /// The words of the parameter.
    pub(super) const WORDS: [&'static str; 3] = ["structured", "natural", "raw"];

    /// Reads one of [`Format::WORDS`].
    pub(super) fn of(word: Option<&str>) -> Self {
        match word {
            Some("natural") => Self::Natural,
            Some("raw") => Self::Raw,
            _ => Self::Structured,
        }
    }

    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Structured => Self::WORDS[0],
            Self::Natural => Self::WORDS[1],
            Self::Raw => Self::WORDS[2],
        }
    }
}

/// What an agent found or said.
pub(super) struct Results {
    /// The results, the best first.
    pub results: Vec<Value>,
    /// What a search tells about its answer.
    pub findings: Option<Findings>,
    /// What the numbers of confidence mean.
    pub basis: &'static str,
}

/// The results in an answer: the items that were found, each as well as it fits beside the best; else
/// what was said, which nobody measured.
pub(super) fn results(answer: &Collected, format: Format, threshold: f64, source: &Value) -> Results {
    let findings = answer.parts.iter().rev().find_map(Findings::from_part);
    let items: Vec<&Value> = answer.parts.iter().filter_map(item).collect();
    let is_search = findings.is_some() && format == Format::Structured;
    if !is_search {
        let content = match format {
            Format::Raw => json!(answer.parts),
            Format::Structured | Format::Natural => answer.text().into(),
        };
        let is_empty = answer.parts.is_empty();
        let one = result("res-1".to_owned(), content, 1.0, source.clone());
        let results = if is_empty { Vec::new() } else { vec![one] };
        return Results { results, findings, basis: "unmeasured" };
    }
    let scores = findings.as_ref().map(|findings| findings.scores.as_slice()).unwrap_or_default();
    let best = scores.iter().copied().fold(0.0_f32, f32::max);
    let confidence = |at: usize| match scores.get(at) {
        Some(score) if best > 0.0 => relative(*score, best),
        _ => 1.0,
    };
    let sure = items.into_iter().enumerate().map(|(at, item)| (at, item, confidence(at)));
    let results = sure
        .filter(|(_, _, confidence)| *confidence >= threshold)
        .map(|(at, item, confidence)| result(id(item, at), item.clone(), confidence, provenance(item, source)))
        .collect();
    Results { results, findings, basis: "relative-to-best" }
}

fn result(id: String, content: Value, confidence: f64, provenance: Value) -> Value {
    json!({"id": id, "content": content, "confidence": confidence, "provenance": provenance})
}

/// In hundredths, as exact as it is.
fn relative(score: f32, best: f32) -> f64 {
    (f64::from(score / best).clamp(0.0, 1.0) * 100.0).round() / 100.0
}

fn item(part: &Part) -> Option<&Value> {
    match part {
        Part::Data(Data { data, .. }) if Findings::from_part(part).is_none() => Some(data),
        _ => None,
    }
}

/// What the item calls itself.
fn id(item: &Value, at: usize) -> String {
    let own = ["@id", "url", "identifier"].iter().find_map(|name| item.get(*name)?.as_str());
    own.map_or_else(|| format!("res-{}", at + 1), str::to_owned)
}

/// Where the item is from, beside who found it.
fn provenance(item: &Value, source: &Value) -> Value {
    let mut provenance = source.as_object().cloned().unwrap_or_else(Map::new);
    let url = item.get("url").or_else(|| item.get("@id")).filter(|url| url.is_string());
    provenance.extend(url.map(|url| ("source".to_owned(), url.clone())));
    Value::Object(provenance)
}
