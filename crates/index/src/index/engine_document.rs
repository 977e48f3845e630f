//! A document of the index as an engine outside keeps it: its terms, as the tokenizers here make them.

use std::collections::BTreeSet;

use forecourt_retrieval::{EngineDocument, Numbers};
use tantivy::TantivyDocument;
use tantivy::schema::document::Value as _;
use tantivy::schema::{Field, OwnedValue};
use tantivy::tokenizer::{TextAnalyzer, TokenStream as _};

use super::document::Hashes;
use super::schema::{Fields, schema};
use crate::analysis::{facts_tokenizer, pairs_tokenizer, spelled_tokenizer, words_tokenizer};

/// Makes documents for engines.
pub(crate) struct Converter {
    fields: Fields,
    words: TextAnalyzer,
    pairs: TextAnalyzer,
    spelled: TextAnalyzer,
    facts: TextAnalyzer,
}

impl Converter {
    pub(crate) fn new() -> Self {
        let (words, pairs) = (words_tokenizer(), pairs_tokenizer());
        let (spelled, facts) = (spelled_tokenizer(), facts_tokenizer());
        Self { fields: schema().1, words, pairs, spelled, facts }
    }

    /// The document of an item with this id.
    pub(crate) fn convert(&mut self, id: &str, hashes: &Hashes, document: &TantivyDocument) -> EngineDocument {
        let fields = self.fields;
        let facts: BTreeSet<String> = terms(&mut self.facts, document, fields.facts).into_iter().collect();
        EngineDocument {
            key: hashes.key,
            hash: hashes.content,
            origin: hashes.origin,
            id: id.to_owned(),
            words: terms(&mut self.words, document, fields.text),
            pairs: terms(&mut self.pairs, document, fields.pairs),
            spelled: terms(&mut self.spelled, document, fields.spelled),
            facts: facts.into_iter().collect(),
            numbers: numbers(document, fields.numbers),
            item: document.get_first(fields.item).and_then(|item| item.as_str()).unwrap_or_default().to_owned(),
        }
    }
}

fn terms(analyzer: &mut TextAnalyzer, document: &TantivyDocument, field: Field) -> Vec<String> {
    let mut all = Vec::new();
    for text in document.get_all(field).filter_map(|value| value.as_str()) {
        let mut tokens = analyzer.token_stream(text);
        while tokens.advance() {
            all.push(tokens.token().text.clone());
        }
    }
    all
}

fn numbers(document: &TantivyDocument, field: Field) -> Numbers {
    let mut numbers = Numbers::new();
    for value in document.get_all(field) {
        let OwnedValue::Object(columns) = OwnedValue::from(value) else { continue };
        for (column, values) in columns {
            let OwnedValue::Array(values) = values else { continue };
            let values = values
                .into_iter()
                .filter_map(|value| if let OwnedValue::F64(value) = value { Some(value) } else { None });
            numbers.entry(column).or_default().extend(values);
        }
    }
    numbers
}
