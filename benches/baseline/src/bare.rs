//! tantivy alone: the same items in an index with a name and a text, asked through its own parser.

use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use serde_json::Value;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::{Index, IndexWriter, ReloadPolicy, Searcher, TantivyDocument};

/// As much as ours takes for its writer.
const WRITER_BYTES: usize = 64 * 1024 * 1024;

/// An open index.
pub struct Bare {
    index: Index,
    searcher: Searcher,
    parser: QueryParser,
    fields: Fields,
}

#[derive(Clone, Copy)]
struct Fields {
    item: Field,
    name: Field,
    text: Field,
}

impl Bare {
    /// Opens the index in `folder`, made when missing.
    ///
    /// # Errors
    /// When it can't be read or made.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (schema, fields) = schema();
        let index = Index::open_or_create(tantivy::directory::MmapDirectory::open(folder)?, schema)?;
        let searcher = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?.searcher();
        let parser = QueryParser::for_index(&index, vec![fields.name, fields.text]);
        Ok(Self { index, searcher, parser, fields })
    }

    /// Items in it.
    pub fn count(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Loads a file of items, with one thread for words, as ours does.
    ///
    /// # Errors
    /// When the file can't be read, or the index not written.
    pub fn load(&mut self, file: &Path) -> anyhow::Result<()> {
        let mut writer: IndexWriter = self.index.writer_with_num_threads(1, WRITER_BYTES)?;
        for line in BufReader::new(std::fs::File::open(file)?).lines() {
            let line = line?;
            let item: Value = serde_json::from_str(&line)?;
            let mut document = TantivyDocument::new();
            document.add_bytes(self.fields.item, line.as_bytes());
            document.add_text(self.fields.name, item["name"].as_str().context("an item has a name")?);
            document.add_text(self.fields.text, texts(&item));
            writer.add_document(document)?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        self.searcher = self.index.reader()?.searcher();
        Ok(())
    }

    /// The ten best items for a question: the bytes of their JSON.
    ///
    /// # Errors
    /// As [`Bare::find`].
    pub fn ask(&self, question: &str) -> anyhow::Result<usize> {
        let mut bytes = 0;
        self.find(question, |_, item| {
            bytes += item.len();
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Shows the JSON of the ten best items for a question, each with its score.
    ///
    /// # Errors
    /// When the question is no query, the index can't be read, or `take` fails.
    pub fn find(&self, question: &str, mut take: impl FnMut(f32, &[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let query = self.parser.parse_query(question)?;
        let found = self.searcher.search(&query, &TopDocs::with_limit(10).order_by_score())?;
        for (score, address) in found {
            let document: TantivyDocument = self.searcher.doc(address)?;
            let item = document.get_first(self.fields.item).and_then(|item| item.as_bytes());
            take(score, item.context("an item is stored")?)?;
        }
        Ok(())
    }
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer("en_stem").set_index_option(IndexRecordOption::WithFreqs);
    let words = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        item: schema.add_bytes_field("item", STORED),
        name: schema.add_text_field("name", words.clone()),
        text: schema.add_text_field("text", words),
    };
    (schema.build(), fields)
}

/// What ours searches of these items, too: the name, the category and the ingredients.
fn texts(item: &Value) -> String {
    let lines = item["recipeIngredient"].as_array().into_iter().flatten();
    let all = [&item["name"], &item["recipeCategory"]].into_iter().chain(lines);
    all.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}
