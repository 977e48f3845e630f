//! An item as a document of the index.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_vocabulary::Vocabulary;
use serde_json::Value;
use tantivy::TantivyDocument;
use tantivy::schema::OwnedValue;

use super::commit::Summary;
use super::schema::{Fields, number_key};
use crate::analysis::{FACT_END, LanguageAnalyzer};
use crate::classes::Classifier;
use crate::facts;
use crate::item_texts;
use crate::limits::NUMBER_PATHS_MAX;
use crate::variants::{VARIANT_MARK, VariantEncoder};
use forecourt_loaders::grounding::GroundedItem;
use forecourt_loaders::item::{Item, first_text};

/// Hashes that a document carries.
pub(crate) struct Hashes {
    pub(crate) key: u64,
    pub(crate) content: u64,
    pub(crate) origin: u64,
}

/// Makes documents, reusing its buffers.
pub(crate) struct Maker {
    fields: Fields,
    vocabulary: Arc<Vocabulary>,
    classifier: Classifier,
    text: String,
    numbers: BTreeMap<String, Vec<f64>>,
    variants: VariantEncoder,
}

impl Maker {
    /// Makes documents with these fields, their classes judged by this vocabulary.
    pub(crate) fn new(fields: Fields, vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            fields,
            vocabulary,
            classifier: Classifier::new(),
            text: String::new(),
            numbers: BTreeMap::new(),
            variants: VariantEncoder::new(),
        }
    }

    /// The document of an item, given as callers get it. Notes in `summary` which facts are numbers.
    pub(crate) fn document(
        &mut self,
        item: &Item<'_>,
        grounded: GroundedItem<'_>,
        tongue: LanguageAnalyzer,
        hashes: &Hashes,
        summary: &mut Summary,
    ) -> TantivyDocument {
        let (fields, json) = (self.fields, grounded.item);
        let text = grounded.text();
        let mut document = TantivyDocument::with_capacity(3 * text.len() + 256);
        document.add_u64(fields.key, hashes.key);
        document.add_u64(fields.hash, hashes.content);
        document.add_u64(fields.origin, hashes.origin);
        document.add_text(fields.id, &item.id);
        document.add_text(fields.title, item.name);
        if let Some(link) = first_text(json, &["url"]) {
            document.add_text(fields.link, link);
        }
        document.add_text(fields.item, &text);
        self.add_words(&mut document, item, tongue);
        self.add_facts(&mut document, grounded, tongue, summary);
        self.add_classes(&mut document, json, tongue);
        if facts::is_sold_out(json) {
            self.add_mark(&mut document, facts::SOLD_OUT, "yes");
        }
        if !facts::variants_of(json).is_empty() {
            summary.has_variants = true;
            self.add_variants(&mut document, json, tongue);
        }
        document
    }

    fn add_variants(&mut self, document: &mut TantivyDocument, json: &Value, tongue: LanguageAnalyzer) {
        let Self { fields, vocabulary, classifier, variants, .. } = self;
        let column = variants.column(json, tongue, |one| classifier.classes(vocabulary, one, tongue.code()));
        column.into_iter().for_each(|number| document.add_u64(fields.variants, number));
        self.add_mark(document, VARIANT_MARK, "yes");
    }

    fn add_classes(&mut self, document: &mut TantivyDocument, json: &Value, tongue: LanguageAnalyzer) {
        let Self { fields, vocabulary, classifier, text: buffer, .. } = self;
        classifier.visit(vocabulary, json, tongue.code(), |path, id| mark(document, *fields, buffer, path, id));
    }

    /// Adds what no property of an item says by itself.
    fn add_mark(&mut self, document: &mut TantivyDocument, path: &str, id: &str) {
        mark(document, self.fields, &mut self.text, path, id);
    }

    fn add_words(&mut self, document: &mut TantivyDocument, item: &Item<'_>, tongue: LanguageAnalyzer) {
        self.text.clear();
        self.text.push(tongue.mark());
        self.text.push_str(item.name);
        document.add_text(self.fields.pairs, &self.text);
        // What it is, and not what its text speaks of.
        if let Some(category) = first_text(item.json, &["category"]) {
            self.text.push(' ');
            self.text.push_str(category);
        }
        document.add_text(self.fields.endings, &self.text);
        self.text.truncate(tongue.mark().len_utf8());
        item_texts::searchable(item, &mut self.text);
        // Once more: what an item is called says more of it than what its text mentions.
        self.text.push_str(item.name);
        document.add_text(self.fields.text, &self.text);
        document.add_text(self.fields.spelled, &self.text);
    }

    fn add_facts(
        &mut self,
        document: &mut TantivyDocument,
        grounded: GroundedItem<'_>,
        tongue: LanguageAnalyzer,
        summary: &mut Summary,
    ) {
        let Self { fields, text: buffer, numbers, .. } = self;
        facts::visit_grounded(grounded, |fact| {
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

/// Adds a fact whose value is an id. Ids are no words of a language and get no stems.
fn mark(document: &mut TantivyDocument, fields: Fields, buffer: &mut String, path: &str, id: &str) {
    buffer.clear();
    buffer.push(LanguageAnalyzer::OTHER.mark());
    buffer.push_str(path);
    buffer.push(FACT_END);
    buffer.push_str(id);
    document.add_text(fields.facts, buffer);
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
