//! An answer as results, each with how sure it is and where it is from. Base 3.1, QUERY.

use std::borrow::Cow;

use forecourt_core::part::Data;
use forecourt_core::{CollectedReply, Findings, Part};
use serde::Serialize;
use serde_json::Value;

/// How results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Items as they are.
    Structured,
    /// The whole answer as text.
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

/// One result.
#[derive(Serialize)]
pub(super) struct SearchResult<'a> {
    id: Cow<'a, str>,
    content: Content<'a>,
    confidence: f64,
    provenance: Provenance<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Item(&'a Value),
    Words(String),
    Parts(&'a [Part]),
}

/// The source of a result: the agent, and where it has it from.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Provenance<'a> {
    /// The canonical name of the agent that answered.
    pub agent_id: &'a str,
    /// Its address.
    pub agent: &'a str,
    /// Where the agent has it from, when that can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'a str>,
}

/// The results of a QUERY, with what a search tells about them.
pub(super) struct Results<'a> {
    /// The results, the best first.
    pub results: Vec<SearchResult<'a>>,
    /// What a search tells about its answer.
    pub findings: Option<Findings>,
    /// The meaning of `confidence`: `unmeasured`, or `relative-to-best`.
    pub basis: &'static str,
}

/// The results in an answer: the items that were found, each as well as it fits beside the best; else
/// what was said, which nobody measured.
pub(super) fn results<'a>(
    answer: &'a CollectedReply,
    format: Format,
    threshold: f64,
    by: Provenance<'a>,
) -> Results<'a> {
    let findings = answer.findings.as_deref().cloned();
    let is_search = findings.is_some() && format == Format::Structured;
    if !is_search {
        let content = match format {
            Format::Raw => Content::Parts(&answer.parts),
            Format::Structured | Format::Natural => Content::Words(answer.text()),
        };
        let one = SearchResult { id: "res-1".into(), content, confidence: 1.0, provenance: by };
        let results = if answer.parts.is_empty() { Vec::new() } else { vec![one] };
        return Results { results, findings, basis: "unmeasured" };
    }
    let measured = findings.as_ref().map(|findings| findings.items.as_slice()).unwrap_or_default();
    // Each is told beside the best of the same answer, as `confidence_basis` says.
    let best = measured.iter().map(|item| item.score).fold(0.0_f32, f32::max);
    let confidence = |at: usize| match measured.get(at) {
        Some(item) if best > 0.0 => relative(item.score, best),
        _ => 1.0,
    };
    let items = answer.parts.iter().filter_map(item).enumerate();
    let found = items.map(|(at, item)| SearchResult {
        id: id(item, at),
        content: Content::Item(item),
        confidence: confidence(at),
        provenance: Provenance { source: source(item), ..by },
    });
    let results = found.filter(|found| found.confidence >= threshold).collect();
    Results { results, findings, basis: "relative-to-best" }
}

/// In hundredths, as exact as it is.
fn relative(score: f32, best: f32) -> f64 {
    (f64::from(score / best).clamp(0.0, 1.0) * 100.0).round() / 100.0
}

fn item(part: &Part) -> Option<&Value> {
    match part {
        Part::Data(Data { data, .. }) => Some(&**data),
        _ => None,
    }
}

/// What the item calls itself.
fn id(item: &Value, at: usize) -> Cow<'_, str> {
    let own = ["@id", "url", "identifier"].iter().find_map(|name| item.get(*name)?.as_str());
    own.map_or_else(|| format!("res-{}", at + 1).into(), Cow::from)
}

/// Where the item is from.
fn source(item: &Value) -> Option<&str> {
    item.get("url").or_else(|| item.get("@id"))?.as_str()
}
