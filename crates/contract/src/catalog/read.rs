//! This module reads a catalog document, in both spellings that are in use. Sections 3.1 and 4.2.

use std::collections::BTreeMap;

use forecourt_core::json;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Catalog, Deprecation, LegacyVerb, Verb};
use crate::deprecation::is_plain;
use crate::limits::{CATALOG_BYTES_MAX, CATALOG_VERBS_MAX};

/// Why a document is no catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// It is too long to be one.
    #[error("a catalog has at most {CATALOG_BYTES_MAX} bytes")]
    TooLong,
    /// It is not JSON, or has a key twice.
    #[error("the catalog is not well-formed JSON: {0}")]
    Json(String),
    /// It has another shape.
    #[error("the catalog is not shaped like one: {0}")]
    Shape(String),
    /// It lists no verbs.
    #[error("the catalog needs its verbs under `verbs` (or `methods`)")]
    NoVerbs,
    /// It lists too many verbs.
    #[error("a catalog has at most {CATALOG_VERBS_MAX} verbs")]
    TooManyVerbs,
    /// A verb is there twice or without a name.
    #[error("the verb `{0}` is listed twice, or has no name")]
    Name(String),
    /// What would not fit into a notice of deprecation.
    #[error("`{field}` of `{verb}` must be a short word without spaces")]
    Deprecation {
        /// The verb it is about.
        verb: String,
        /// The field to change.
        field: &'static str,
    },
}

#[derive(Deserialize)]
struct Document {
    version: String,
    #[serde(default)]
    embedded: Vec<String>,
    #[serde(default)]
    legacy: BTreeMap<String, LegacyEntry>,
    #[serde(default)]
    categories: BTreeMap<String, Value>,
    verbs: Option<Entries>,
    methods: Option<Entries>,
}

#[derive(Deserialize)]
struct LegacyEntry {
    preferred: String,
    #[serde(default)]
    description: String,
}

/// Verbs by name, or a list of verbs with a name each.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entries {
    Named(BTreeMap<String, Entry>),
    Listed(Vec<Entry>),
}

#[derive(Deserialize)]
struct Entry {
    name: Option<String>,
    #[serde(default)]
    categories: Vec<String>,
    category: Option<String>,
    #[serde(default)]
    description: String,
    deprecated_in: Option<String>,
    removed_in: Option<String>,
    successor: Option<String>,
}

impl Catalog {
    /// Reads a document: verbs under `verbs` or `methods`, by name or as a list, each with
    /// `categories` or one `category`. Other keys are left alone. A name that no method can have
    /// (as in the sample of section 4.2) is kept, and never matches.
    ///
    /// # Errors
    /// The first thing that is wrong, in words for whoever wrote the document.
    pub fn read(document: &[u8]) -> Result<Catalog, CatalogError> {
        // Before parsing, whose memory is a multiple of the text.
        if document.len() > CATALOG_BYTES_MAX {
            return Err(CatalogError::TooLong);
        }
        let value = json::parse(document).map_err(CatalogError::Json)?;
        let document: Document = serde_json::from_value(value).map_err(|e| CatalogError::Shape(e.to_string()))?;
        let verbs = named(document.verbs.or(document.methods).ok_or(CatalogError::NoVerbs)?)?;
        let legacy = document.legacy.into_iter().map(|(name, entry)| (name, legacy_verb(entry))).collect();
        let categories = categories(document.categories, &verbs);
        Ok(Catalog { version: document.version, embedded: document.embedded, legacy, categories, verbs })
    }

    /// The document that [`Catalog::read`] reads, in the spelling of section 3.1.
    pub fn to_json(&self) -> Value {
        let fields = [
            ("version", Value::from(self.version.as_str())),
            ("embedded", Value::from(self.embedded.clone())),
            ("legacy", serde_json::to_value(&self.legacy).unwrap_or_default()),
            ("categories", serde_json::to_value(&self.categories).unwrap_or_default()),
            ("verbs", serde_json::to_value(&self.verbs).unwrap_or_default()),
        ];
        Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
    }
}

fn named(entries: Entries) -> Result<BTreeMap<String, Verb>, CatalogError> {
    let pairs: Vec<(String, Entry)> = match entries {
        Entries::Named(entries) => entries.into_iter().collect(),
        Entries::Listed(entries) => {
            entries.into_iter().map(|entry| (entry.name.clone().unwrap_or_default(), entry)).collect()
        }
    };
    if pairs.len() > CATALOG_VERBS_MAX {
        return Err(CatalogError::TooManyVerbs);
    }
    let mut verbs = BTreeMap::new();
    for (name, entry) in pairs {
        let verb = verb(&name, entry)?;
        if name.is_empty() || verbs.insert(name.clone(), verb).is_some() {
            return Err(CatalogError::Name(name));
        }
    }
    Ok(verbs)
}

fn verb(name: &str, entry: Entry) -> Result<Verb, CatalogError> {
    let Entry { mut categories, category, description, deprecated_in, removed_in, successor, .. } = entry;
    let pieces = [("deprecated_in", &deprecated_in), ("removed_in", &removed_in), ("successor", &successor)];
    // These go into the notice of each answer: a successor `X; removed_in=now` would forge a piece of it.
    if let Some((field, _)) = pieces.iter().find(|(_, piece)| piece.as_ref().is_some_and(|text| !is_plain(text))) {
        return Err(CatalogError::Deprecation { verb: name.to_owned(), field });
    }
    // Section 3.1 has `categories`, the sample of 4.2 one `category`; the list counts where a document has both.
    categories.extend(category.filter(|_| categories.is_empty()));
    let deprecation = deprecated_in.map(|deprecated_in| Deprecation { deprecated_in, removed_in, successor });
    Ok(Verb { categories, description, deprecation })
}

fn legacy_verb(entry: LegacyEntry) -> LegacyVerb {
    LegacyVerb { preferred: entry.preferred, description: entry.description }
}

/// The categories that are described, and those that verbs name without a description.
fn categories(described: BTreeMap<String, Value>, verbs: &BTreeMap<String, Verb>) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other["description"].as_str().unwrap_or_default().to_owned(),
    };
    let mut all: BTreeMap<String, String> = described.into_iter().map(|(name, value)| (name, text(value))).collect();
    for name in verbs.values().flat_map(|verb| &verb.categories) {
        all.entry(name.clone()).or_default();
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault(text: &str) -> CatalogError {
        Catalog::read(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn s3_1_what_is_no_catalog_is_refused() {
        assert!(matches!(fault("{"), CatalogError::Json(_)));
        assert!(matches!(fault("[]"), CatalogError::Shape(_)));
        assert!(matches!(fault(r#"{"verbs":{}}"#), CatalogError::Shape(_)));
        assert_eq!(fault(r#"{"version":"1"}"#), CatalogError::NoVerbs);
        assert!(matches!(fault(r#"{"version":"1","verbs":{"A":3}}"#), CatalogError::Shape(_)));
        assert!(matches!(fault(r#"{"version":"1","verbs":{"A":{},"A":{}}}"#), CatalogError::Json(_)));
        assert_eq!(fault(r#"{"version":"1","verbs":[{"category":"x"}]}"#), CatalogError::Name(String::new()));
        assert_eq!(fault(r#"{"version":"1","verbs":[{"name":"A"},{"name":"A"}]}"#), CatalogError::Name("A".into()));
    }

    #[test]
    fn s4_2_what_would_forge_a_notice_is_refused() {
        let text = r#"{"version":"1","verbs":{"OLD":{"deprecated_in":"1","successor":"X; removed_in=now"}}}"#;
        assert_eq!(fault(text), CatalogError::Deprecation { verb: "OLD".into(), field: "successor" });
    }

    #[test]
    fn s4_2_both_spellings_give_the_same_verb() {
        let entry = r#""category":"analysis","deprecated_in":"1.2.0","removed_in":"2.0.0","successor":"AUDIT"}"#;
        let listed =
            Catalog::read(format!(r#"{{"version":"1","methods":[{{"name":"AUDIT_LEGACY",{entry}]}}"#).as_bytes());
        let named = Catalog::read(format!(r#"{{"version":"1","verbs":{{"AUDIT_LEGACY":{{{entry}}}}}"#).as_bytes());
        assert_eq!(listed, named);
        let catalog = named.unwrap();
        assert_eq!(catalog.verb("AUDIT_LEGACY").unwrap().categories, ["analysis"]);
        assert!(catalog.has_category("analysis"));
    }

    #[test]
    fn the_bounds_hold_at_n_and_n_plus_one() {
        let of = |count: usize| {
            let verbs: Vec<String> = (0..count).map(|at| format!(r#""V{at}":{{}}"#)).collect();
            Catalog::read(format!(r#"{{"version":"1","verbs":{{{}}}}}"#, verbs.join(",")).as_bytes())
        };
        assert!(of(CATALOG_VERBS_MAX).is_ok());
        assert_eq!(of(CATALOG_VERBS_MAX + 1), Err(CatalogError::TooManyVerbs));
        let text = r#"{"version":"1","verbs":{}}"#;
        let padded = |bytes: usize| Catalog::read((text.to_owned() + &" ".repeat(bytes - text.len())).as_bytes());
        assert!(padded(CATALOG_BYTES_MAX).is_ok());
        assert_eq!(padded(CATALOG_BYTES_MAX + 1), Err(CatalogError::TooLong));
    }

    #[test]
    fn a_catalog_that_was_written_reads_the_same() {
        let shipped = Catalog::shipped();
        let again = Catalog::read(shipped.to_json().to_string().as_bytes()).unwrap();
        assert_eq!(*shipped, again);
    }

    proptest! {
        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Catalog::read(&bytes);
        }
    }
}
