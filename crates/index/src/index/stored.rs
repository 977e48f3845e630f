//! What the index keeps of an item to give it back, read without looking into its JSON.

use std::sync::LazyLock;

use forecourt_core::LazyJson;
use tantivy::schema::document::{DeserializeError, DocumentDeserialize, DocumentDeserializer};

use super::schema::{Fields, schema};

static FIELDS: LazyLock<Fields> = LazyLock::new(|| schema().1);

/// An item as it was stored.
#[derive(Debug, Default)]
pub(crate) struct StoredItem {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Its link, if it has one.
    pub(crate) url: Option<String>,
    /// Its JSON, where it is from included: what callers get.
    pub(crate) item: LazyJson,
}

impl DocumentDeserialize for StoredItem {
    fn deserialize<'de, D: DocumentDeserializer<'de>>(mut document: D) -> Result<Self, DeserializeError> {
        // A deserializer is handed no schema; the fields of every index of this version have the same numbers.
        let fields = &*FIELDS;
        let mut stored = Self::default();
        while let Some((field, text)) = document.next_field::<String>()? {
            if field == fields.item {
                stored.item = LazyJson::from_text(text).map_err(DeserializeError::custom)?;
            } else if field == fields.id {
                stored.id = text;
            } else if field == fields.title {
                stored.name = text;
            } else if field == fields.link {
                stored.url = Some(text);
            }
        }
        Ok(stored)
    }
}
