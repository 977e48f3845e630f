//! This module has the catalog of verbs that methods are picked from. Sections 3 and 4.
//!
//! A catalog is a document; the one that ships with the program is [`Catalog::shipped`], and an
//! operator may bring another (section 4.9). It only says which words exist: what a host accepts of
//! them is the [`crate::MethodPolicy`]'s matter.

mod diff;
mod read;
mod suggest;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Serialize;

pub use diff::{
    Conflicts, Deployment, Diff, EndpointConflict, EndpointUse, NewlyDeprecated, PathConflict, PolicyConflict,
    PolicyUse, RecipeConflict, RecipeUse, compare, conflicts,
};
pub use read::CatalogError;

use crate::deprecation::notice;

/// The eighteen verbs that every host answers, in the order of section 3.1.
pub const EMBEDDED: [&str; 18] = [
    "QUERY",
    "DISCOVER",
    "DESCRIBE",
    "INSPECT",
    "SUMMARIZE",
    "PLAN",
    "PROPOSE",
    "EXECUTE",
    "DELEGATE",
    "ESCALATE",
    "CONFIRM",
    "SUSPEND",
    "NOTIFY",
    "ACTIVATE",
    "DEACTIVATE",
    "REINSTATE",
    "REVOKE",
    "DEPRECATE",
];

/// The five verbs of HTTP, which are no verbs of a catalog. Section 3.6.
pub const LEGACY: [&str; 5] = ["GET", "POST", "PUT", "DELETE", "PATCH"];

/// A versioned list of verbs and what is known about each. Section 3.1.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    version: String,
    embedded: Vec<String>,
    legacy: BTreeMap<String, LegacyVerb>,
    categories: BTreeMap<String, String>,
    verbs: BTreeMap<String, Verb>,
}

/// One verb of a catalog.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verb {
    /// What kind of effect it has, the main one first.
    pub categories: Vec<String>,
    /// One line about it.
    pub description: String,
    /// Set when callers should move to another verb. Section 4.2.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub deprecation: Option<Deprecation>,
}

/// The deprecation of a verb. Section 4.2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deprecation {
    /// The version of the catalog that said so first.
    pub deprecated_in: String,
    /// The version that will no longer have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_in: Option<String>,
    /// The verb to use instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
}

/// A verb of HTTP and the verb that says the same here. Section 3.1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LegacyVerb {
    /// The verb to use instead.
    pub preferred: String,
    /// One line about it.
    pub description: String,
}

impl Catalog {
    /// The catalog that ships with the program: 425 verbs, 18 of them embedded.
    pub fn shipped() -> Arc<Catalog> {
        static SHIPPED: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
            let document = include_bytes!("../data/catalog-1.0.0.json");
            // Read once for the process: the document is 425 verbs, and every host without a catalog of its own shares
            // it.
            Arc::new(Catalog::read(document).expect("the catalog in the program is well formed; a test reads it"))
        });
        Arc::clone(&SHIPPED)
    }

    /// This catalog with the embedded verbs, the legacy verbs and the categories of the shipped one, where it lacks
    /// them: every host must answer these (section 3.1), whatever catalog its operator brings.
    #[must_use]
    pub fn with_floor(mut self) -> Catalog {
        let shipped = Catalog::shipped();
        self.embedded.clone_from(&shipped.embedded);
        for name in EMBEDDED {
            if let Some(verb) = shipped.verb(name) {
                self.verbs.entry(name.to_owned()).or_insert_with(|| verb.clone());
            }
        }
        for (name, verb) in &shipped.legacy {
            self.legacy.entry(name.clone()).or_insert_with(|| verb.clone());
        }
        for (name, about) in &shipped.categories {
            self.categories.entry(name.clone()).or_insert_with(|| about.clone());
        }
        self
    }

    /// Its version, as the manifest declares it. Section 3.5.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A verb by its name. `None`: it is not in the catalog, which legacy verbs never are.
    pub fn verb(&self, name: &str) -> Option<&Verb> {
        self.verbs.get(name)
    }

    /// All verbs by name.
    pub fn verbs(&self) -> impl Iterator<Item = (&str, &Verb)> {
        self.verbs.iter().map(|(name, verb)| (name.as_str(), verb))
    }

    /// The verbs that every host answers.
    pub fn embedded(&self) -> impl Iterator<Item = &str> {
        self.embedded.iter().map(String::as_str)
    }

    /// A legacy verb by its name.
    pub fn legacy(&self, name: &str) -> Option<&LegacyVerb> {
        self.legacy.get(name)
    }

    /// The categories and what each is for.
    pub fn categories(&self) -> impl Iterator<Item = (&str, &str)> {
        self.categories.iter().map(|(name, about)| (name.as_str(), about.as_str()))
    }

    /// Whether a verb may be put into such a category, and an endpoint claim such a capability.
    pub fn has_category(&self, name: &str) -> bool {
        self.categories.contains_key(name)
    }

    /// The verb that a path segment spells: itself in capitals without `-` and `_`. Verbs of HTTP
    /// count, since what leaks into paths is mostly theirs. Section 5.1.
    pub fn verb_in(&self, segment: &str) -> Option<String> {
        let name = spelled(segment);
        (self.verbs.contains_key(&name) || LEGACY.contains(&name.as_str())).then_some(name)
    }

    /// The notice that goes with every answer to a deprecated verb. Section 4.4.
    pub fn notice(&self, name: &str) -> Option<String> {
        let deprecation = self.verb(name)?.deprecation.as_ref()?;
        Some(notice(deprecation.successor.as_deref(), deprecation.removed_in.as_deref()))
    }
}

/// A path segment in the spelling of verbs: in capitals, without `-` and `_`.
fn spelled(segment: &str) -> String {
    segment.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_uppercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_1_the_shipped_catalog_is_the_one_that_was_published() {
        let catalog = Catalog::shipped();
        assert_eq!(catalog.version(), "1.0.0");
        assert_eq!(catalog.verbs().count(), 425);
        assert_eq!(catalog.embedded().collect::<Vec<_>>(), EMBEDDED);
        assert_eq!(catalog.categories().count(), 9);
        assert!(EMBEDDED.iter().all(|name| catalog.verb(name).is_some()));
        assert!(LEGACY.iter().all(|name| catalog.verb(name).is_none()));
        assert!(catalog.verbs().all(|(name, _)| crate::Method::parse(name).is_ok()));
        let counted =
            |category: &str| catalog.verbs().filter(|(_, v)| v.categories.iter().any(|c| c == category)).count();
        let counts = ["discovery", "retrieval", "analysis", "transaction", "modification", "creation", "notification"];
        assert_eq!(counts.map(counted), [45, 34, 84, 70, 83, 36, 36]);
        assert_eq!((counted("mechanics"), counted("domain_spanning")), (55, 78));
        assert_eq!(catalog.verbs().filter(|(_, verb)| verb.categories.len() > 1).count(), 93);
    }

    #[test]
    fn s3_1_every_verb_has_a_line_of_its_own() {
        let catalog = Catalog::shipped();
        let lines: std::collections::BTreeSet<_> = catalog.verbs().map(|(_, verb)| &verb.description).collect();
        assert_eq!(lines.len(), 425);
        assert!(lines.iter().all(|line| line.len() > 10 && line.len() < 100 && line.ends_with('.')));
    }

    #[test]
    fn s3_1_legacy_verbs_name_what_to_use_instead() {
        let catalog = Catalog::shipped();
        let preferred = LEGACY.map(|name| catalog.legacy(name).unwrap().preferred.clone());
        assert_eq!(preferred, ["FETCH", "CREATE", "REPLACE", "REMOVE", "MODIFY"]);
    }

    #[test]
    fn s5_1_a_verb_is_known_in_any_spelling() {
        let catalog = Catalog::shipped();
        for segment in ["order", "ORDER", "Or-der", "check_in", "C-h-e-c-k-I-n", "get", "p_a_t_c_h"] {
            assert!(catalog.verb_in(segment).is_some(), "{segment}");
        }
        for segment in ["orders", "reservation", "", "-", "learn", "collaborate", "send"] {
            assert_eq!(catalog.verb_in(segment), None, "{segment}");
        }
    }

    #[test]
    fn s4_4_only_deprecated_verbs_have_a_notice() {
        let text = br#"{"version":"1.2.0","verbs":{"OLD":{"deprecated_in":"1.2.0","successor":"AUDIT"},"AUDIT":{}}}"#;
        let catalog = Catalog::read(text).unwrap();
        assert_eq!(catalog.notice("OLD").as_deref(), Some("deprecated; successor=AUDIT"));
        assert_eq!(catalog.notice("AUDIT"), None);
        assert_eq!(catalog.notice("NONE"), None);
    }

    #[test]
    fn s3_1_a_catalog_of_ones_own_keeps_the_floor() {
        let bare = Catalog::read(br#"{"version":"7","verbs":{"FROB":{"category":"mechanics"}}}"#).unwrap();
        assert!(bare.verb("QUERY").is_none());
        let served = bare.with_floor();
        assert!(EMBEDDED.iter().all(|name| served.verb(name).is_some()));
        assert!(served.verb("FROB").is_some() && served.verb("BOOK").is_none());
        assert!(served.legacy("GET").is_some() && served.has_category("transaction"));
        assert_eq!(served.version(), "7");
    }
}
