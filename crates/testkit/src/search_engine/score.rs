//! Documents as they are found, and BM25 as Lucene reckons it.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The fields of terms.
const FIELDS: [&str; 4] = ["words", "pairs", "spelled", "facts"];

/// A document and its terms by field, each with how often it is there.
pub(super) struct FoundDocument {
    pub(super) source: Value,
    terms: HashMap<&'static str, HashMap<String, f64>>,
    words: f64,
}

/// All documents of an index as of its last refresh, and what is counted over them.
#[derive(Default)]
pub(super) struct Corpus {
    pub(super) documents: Vec<FoundDocument>,
    /// Documents that have a field at all: of the others its statistics know nothing.
    holding: HashMap<&'static str, f64>,
    average: f64,
    frequencies: HashMap<(&'static str, String), f64>,
}

impl FoundDocument {
    fn of(source: &Value) -> Self {
        let counted = |field: &'static str| {
            let mut counts: HashMap<String, f64> = HashMap::new();
            terms(source, field).into_iter().for_each(|term| *counts.entry(term.to_owned()).or_default() += 1.0);
            (field, counts)
        };
        let words = terms(source, "words").len() as f64;
        Self { source: source.clone(), terms: FIELDS.into_iter().map(counted).collect(), words }
    }
}

impl Corpus {
    pub(super) fn of(documents: &BTreeMap<String, Value>) -> Self {
        let documents: Vec<FoundDocument> = documents.values().map(FoundDocument::of).collect();
        let mut frequencies: HashMap<(&'static str, String), f64> = HashMap::new();
        for (field, counts) in documents.iter().flat_map(|document| &document.terms) {
            counts.keys().for_each(|term| *frequencies.entry((field, term.clone())).or_default() += 1.0);
        }
        let has = |field: &'static str| documents.iter().filter(|document| !document.terms[field].is_empty()).count();
        let holding: HashMap<&'static str, f64> = FIELDS.into_iter().map(|field| (field, has(field) as f64)).collect();
        let words: f64 = documents.iter().map(|document| document.words).sum();
        let average = (words / holding["words"].max(1.0)).max(1.0);
        Self { documents, holding, average, frequencies }
    }

    /// What a document scores by one term. `None`: it has none.
    pub(super) fn term(&self, field: &str, term: &str, document: &FoundDocument) -> Option<f64> {
        if field == "key" {
            return (document.source["key"] == term).then_some(1.0);
        }
        let (known, counts) = document.terms.get_key_value(field)?;
        let count = counts.get(term)?;
        let (all, with) = (self.holding[known], self.frequencies.get(&(*known, term.to_owned())).copied()?);
        let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        // Keywords have no length.
        let length = if field == "words" { document.words / self.average } else { 1.0 };
        Some(rarity * count / (count + K1 * (1.0 - B + B * length)))
    }

    /// Whether some term of a document is one of these.
    pub(super) fn any(&self, field: &str, document: &FoundDocument, is: impl Fn(&str) -> bool) -> Option<f64> {
        document.terms.get(field)?.keys().any(|term| is(term)).then_some(1.0)
    }
}

/// The terms of a field: those of a text between its spaces.
fn terms<'a>(document: &'a Value, field: &str) -> Vec<&'a str> {
    match &document[field] {
        Value::String(text) => text.split_whitespace().collect(),
        Value::Array(terms) => terms.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The numbers of a field `numbers.NAME`.
pub(super) fn numbers(document: &Value, field: &str) -> Vec<f64> {
    let name = field.strip_prefix("numbers.").unwrap_or_default();
    document["numbers"][name].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}
