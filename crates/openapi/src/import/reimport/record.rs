//! What was generated, so that what people edited can be told from it. Kept beside the endpoints.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::import::ImportChoices;
use crate::limits::RECORD_BYTES_MAX;

/// The version of the record's form.
const VERSION: u32 = 1;

/// What was generated into a folder, by document. Holds hashes and names of what was
/// generated, no values, and what was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRecord {
    version: u32,
    documents: BTreeMap<String, RecordedDocument>,
}

/// One document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedDocument {
    /// The document's version.
    pub(super) version: String,
    /// What of it is taken.
    #[serde(default, skip_serializing_if = "ImportChoices::is_empty")]
    pub(super) choices: ImportChoices,
    /// By HTTP method and path.
    pub(super) operations: BTreeMap<String, RecordedOperation>,
}

/// One operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedOperation {
    /// Its `operationId`, empty when it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) id: String,
    /// Whether the document had it no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_gone: bool,
    /// Its files: what each key held when it was generated, as hashes.
    pub(super) files: BTreeMap<String, BTreeMap<String, String>>,
}

/// Why a record can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Too many bytes.
    #[error("a record of imports has at most {RECORD_BYTES_MAX} bytes")]
    TooLong,
    /// Not what a record is.
    #[error("not a record of imports: {0}")]
    Syntax(String),
    /// Written by another version.
    #[error("a record of imports of version {0}, which is not known here")]
    Version(u32),
}

impl ImportRecord {
    /// The name of the file that holds it, in the folder of endpoints.
    pub const FILE: &'static str = ".import.json";

    /// Reads a record.
    ///
    /// # Errors
    /// It is none, of another version, or too long.
    pub fn read(text: &str) -> Result<ImportRecord, RecordError> {
        if text.len() > RECORD_BYTES_MAX {
            return Err(RecordError::TooLong);
        }
        let record: ImportRecord =
            serde_json::from_str(text).map_err(|fault| RecordError::Syntax(fault.to_string()))?;
        if record.version == VERSION { Ok(record) } else { Err(RecordError::Version(record.version)) }
    }

    /// The record as a file.
    pub fn text(&self) -> String {
        let record = ImportRecord { version: VERSION, documents: self.documents.clone() };
        serde_json::to_string_pretty(&record).unwrap_or_default() + "\n"
    }

    /// Whether a document was imported before.
    pub fn has(&self, name: &str) -> bool {
        self.documents.contains_key(name)
    }

    /// What was taken of a document before.
    pub(crate) fn choices(&self, name: &str) -> ImportChoices {
        self.documents.get(name).map(|recorded| recorded.choices.clone()).unwrap_or_default()
    }

    /// The name that the file of an operation of a document has, without its ending.
    pub(crate) fn file_of(&self, name: &str, http: &str, path: &str, id: &str) -> Option<&str> {
        let (_, recorded) = self.documents.get(name)?.find(&key_of(http, path), id)?;
        recorded.files.keys().find_map(|file| file.strip_suffix(".toml"))
    }

    /// The names of the files of all operations, without their endings.
    pub(crate) fn taken(&self) -> BTreeSet<String> {
        let operations = self.documents.values().flat_map(|recorded| recorded.operations.values());
        let files = operations.flat_map(|operation| operation.files.keys());
        files.filter_map(|file| file.strip_suffix(".toml")).map(str::to_owned).collect()
    }

    pub(super) fn take(&mut self, name: &str) -> Option<RecordedDocument> {
        self.documents.remove(name)
    }

    pub(super) fn put(&mut self, name: &str, document: RecordedDocument) {
        self.documents.insert(name.to_owned(), document);
    }
}

impl RecordedDocument {
    /// An operation by its method and path, else by its id, when it moved.
    pub(super) fn find(&self, key: &str, id: &str) -> Option<(&String, &RecordedOperation)> {
        let same_id = || self.operations.iter().find(|(_, recorded)| !id.is_empty() && recorded.id == id);
        self.operations.get_key_value(key).or_else(same_id)
    }
}

/// What an operation is recorded under.
pub(super) fn key_of(http: &str, path: &str) -> String {
    format!("{http} {path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back() {
        let mut record = ImportRecord::default();
        record.put("Shop", RecordedDocument { version: "1".into(), ..RecordedDocument::default() });
        let read = ImportRecord::read(&record.text()).unwrap();
        assert!(read.has("Shop") && !read.has("Other"));
        assert!(matches!(ImportRecord::read("{}"), Err(RecordError::Syntax(_))));
        assert_eq!(ImportRecord::read("{\"version\":2,\"documents\":{}}"), Err(RecordError::Version(2)));
    }

    #[test]
    fn a_record_has_at_most_so_many_bytes() {
        let text = "{\"version\":1,\"documents\":{}}";
        let of = |length: usize| text.to_owned() + &" ".repeat(length - text.len());
        assert!(ImportRecord::read(&of(RECORD_BYTES_MAX)).is_ok());
        assert_eq!(ImportRecord::read(&of(RECORD_BYTES_MAX + 1)), Err(RecordError::TooLong));
    }
}
