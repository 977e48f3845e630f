//! An item as a document of the index.

use std::collections::BTreeMap;

use serde_json::Value;
use tantivy::TantivyDocument;
use tantivy::schema::OwnedValue;

use super::schema::{Fields, number_key};
use super::snapshot::Summary;
use crate::analysis::{FACT_END, LanguageAnalyzer};
use crate::facts;
use crate::item::Item;
use crate::limits::NUMBER_PATHS_MAX;

/// Hashes that a document carries.
pub(crate) struct Hashes {
    pub(crate) key: u64,
    pub(crate) content: u64,
    pub(crate) origin: u64,
}

/// Makes documents, reusing its buffers.
pub(crate) struct Maker {
    fields: Fields,
    text: String,
    numbers: BTreeMap<String, Vec<f64>>,
}

impl Maker {
    pub(crate) fn new(fields: Fields) -> Self {
        Self { fields, text: String::new(), numbers: BTreeMap::new() }
    }

    /// The document of an item whose JSON is `bytes`. Notes in `summary` which facts are numbers.
    pub(crate) fn document(
        &mut self,
        item: &Item<'_>,
        json: &Value,
        bytes: &[u8],
        tongue: LanguageAnalyzer,
        hashes: &Hashes,
        summary: &mut Summary,
    ) -> TantivyDocument {
        let fields = self.fields;
        let mut document = TantivyDocument::with_capacity(2 * bytes.len() + 256);
        document.add_u64(fields.key, hashes.key);
        document.add_u64(fields.hash, hashes.content);
        document.add_u64(fields.origin, hashes.origin);
        document.add_text(fields.id, &item.id);
        document.add_bytes(fields.item, bytes);
        self.add_words(&mut document, item, tongue);
        self.add_facts(&mut document, json, tongue, summary);
        document
    }

    fn add_words(&mut self, document: &mut TantivyDocument, item: &Item<'_>, tongue: LanguageAnalyzer) {
        self.text.clear();
        self.text.push(tongue.mark());
        self.text.push_str(item.name);
        document.add_text(self.fields.name, &self.text);
        document.add_text(self.fields.pairs, &self.text);
        self.text.truncate(tongue.mark().len_utf8());
        item.searchable(&mut self.text);
        document.add_text(self.fields.text, &self.text);
        document.add_text(self.fields.spelled, &self.text);
    }

    fn add_facts(
        &mut self,
        document: &mut TantivyDocument,
        json: &Value,
        tongue: LanguageAnalyzer,
        summary: &mut Summary,
    ) {
        let Self { fields, text: buffer, numbers } = self;
        facts::visit(json, |fact| {
            if let Some(text) = fact.text {
                buffer.clear();
                buffer.push(tongue.mark());
                buffer.push_str(fact.path);
                buffer.push(FACT_END);
                buffer.push_str(text);
                document.add_text(fields.facts, &buffer);
            }
            if let Some(number) = fact.number.filter(|_| may_have_column(fact.path, summary)) {
                numbers.entry(number_key(fact.path)).or_default().push(number);
            }
        });
        if numbers.is_empty() {
            return;
        }
        let values = std::mem::take(numbers)
            .into_iter()
            .map(|(path, values)| (path, OwnedValue::Array(values.into_iter().map(OwnedValue::F64).collect())));
        document.add_object(fields.numbers, values.collect());
    }
}

/// Whether a path has a column or can still be given one.
fn may_have_column(path: &str, summary: &mut Summary) -> bool {
    summary.numbers.contains(path)
        || (summary.numbers.len() < NUMBER_PATHS_MAX && summary.numbers.insert(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_end_at_the_bound() {
        let mut summary = Summary::default();
        assert!((0..NUMBER_PATHS_MAX).all(|n| may_have_column(&n.to_string(), &mut summary)));
        assert!(!may_have_column("one more", &mut summary));
        assert!(may_have_column("0", &mut summary));
    }
}
