//! What a run writes beside its commit.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::schema::VERSION;
use crate::analysis::LanguageAnalyzer;

/// The payload of a commit, as JSON: what the next run and questions need to know of the whole index.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Summary {
    version: u32,
    /// Codes of the languages that items are in.
    tongues: BTreeSet<String>,
    /// Up to which change it has what was pushed.
    #[serde(default)]
    pub(crate) pushed: u64,
    /// The revision of the vocabulary by which items were judged.
    #[serde(default)]
    pub(crate) vocabulary: u64,
    /// Whether an item with variants was written.
    #[serde(default)]
    pub(crate) has_variants: bool,
    /// When the next offer has another price, in seconds since 1970.
    #[serde(default)]
    pub(crate) next_price: Option<i64>,
    /// Terms of all items' texts and of their names' pairs together, where an engine has them; an index here counts them
    /// itself.
    #[serde(default)]
    pub(crate) words: u64,
    #[serde(default)]
    pub(crate) pairs: u64,
    /// Paths of facts that are quantities.
    pub(crate) numbers: BTreeSet<String>,
}

impl Summary {
    pub(crate) fn is_current(payload: &str) -> bool {
        serde_json::from_str::<Self>(payload).is_ok_and(|summary| summary.version == VERSION)
    }

    /// The JSON text of the commit's payload, with the current version.
    pub(crate) fn payload(&mut self) -> String {
        self.version = VERSION;
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn note_tongue(&mut self, tongue: LanguageAnalyzer) {
        if !self.tongues.contains(tongue.code()) {
            self.tongues.insert(tongue.code().to_owned());
        }
    }

    pub(crate) fn tongues(&self) -> impl Iterator<Item = LanguageAnalyzer> {
        self.tongues.iter().map(|code| LanguageAnalyzer::of(code))
    }
}
