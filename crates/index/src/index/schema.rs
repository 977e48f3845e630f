//! The fields of the index.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, JsonObjectOptions, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;

use crate::analysis::{endings_tokenizer, facts_tokenizer, pairs_tokenizer, spelled_tokenizer, words_tokenizer};
use crate::columns::{HASH, KEY, ORIGIN, VARIANTS};

/// Raised whenever fields, tokenizing or facts change: an index of another version is built anew.
pub(crate) const VERSION: u32 = 15;

const NUMBERS: &str = "numbers";

/// Handles of the fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// Hash of the id: looked up, deleted by, and the last word in ties.
    pub(crate) key: Field,
    /// Hash of everything that the document is made from.
    pub(crate) hash: Field,
    /// Hash of the file that the item came from.
    pub(crate) origin: Field,
    /// The id, stored.
    pub(crate) id: Field,
    /// The name and the link, stored, so that neither is looked for in the JSON.
    pub(crate) title: Field,
    pub(crate) link: Field,
    /// The item's JSON as callers get it, stored as text: bytes would be read one by one.
    pub(crate) item: Field,
    /// Neighbouring words of the name, and a short name as a whole.
    pub(crate) pairs: Field,
    /// Words of everything, those of the name twice.
    pub(crate) text: Field,
    /// Words of everything as they are written, each once.
    pub(crate) spelled: Field,
    /// Words of names and categories that may be German compounds, backwards.
    pub(crate) endings: Field,
    /// Texts of all properties: whole values and their words.
    pub(crate) facts: Field,
    /// Quantities of all properties, a column each.
    pub(crate) numbers: Field,
    /// Which variant of an item states what.
    pub(crate) variants: Field,
}

/// The schema and its handles.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let fields = Fields {
        key: schema.add_u64_field(KEY, INDEXED | FAST),
        hash: schema.add_u64_field(HASH, FAST),
        origin: schema.add_u64_field(ORIGIN, FAST),
        id: schema.add_text_field("id", STORED),
        title: schema.add_text_field("title", STORED),
        link: schema.add_text_field("link", STORED),
        item: schema.add_text_field("item", STORED),
        pairs: schema.add_text_field("pairs", ranked("pairs")),
        text: schema.add_text_field("text", ranked("words")),
        spelled: schema.add_text_field("spelled", listed("spelled", IndexRecordOption::Basic)),
        endings: schema.add_text_field("endings", listed("endings", IndexRecordOption::Basic)),
        facts: schema.add_text_field("facts", listed("facts", IndexRecordOption::WithFreqs)),
        numbers: schema.add_json_field(NUMBERS, JsonObjectOptions::default().set_fast("raw")),
        variants: schema.add_u64_field(VARIANTS, FAST),
    };
    (schema.build(), fields)
}

/// Frequencies and lengths, but no positions: nothing asks for them.
fn ranked(tokenizer: &str) -> TextOptions {
    let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(IndexRecordOption::WithFreqs);
    TextOptions::default().set_indexing_options(indexing)
}

/// Which documents have a term. With frequencies, which are nearly all 1 and take no room, it can be ranked by
/// without a look at every document.
fn listed(tokenizer: &str, option: IndexRecordOption) -> TextOptions {
    let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(option).set_fieldnorms(false);
    TextOptions::default().set_indexing_options(indexing)
}

/// The tokenizers of the fields.
pub(crate) fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register("words", words_tokenizer());
    tokenizers.register("pairs", pairs_tokenizer());
    tokenizers.register("spelled", spelled_tokenizer());
    tokenizers.register("endings", endings_tokenizer());
    tokenizers.register("facts", facts_tokenizer());
    tokenizers
}

/// The name of a fact's column.
pub(crate) fn number_column(path: &str) -> String {
    format!("{NUMBERS}.{}", number_key(path))
}

/// The key of a fact's column inside of `numbers`: dots and backslashes mean something there.
pub(crate) fn number_key(path: &str) -> String {
    path.replace(['.', '\\'], "/")
}
