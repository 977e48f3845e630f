//! This module has the operator's corrections of what members of inputs and outputs mean, in `meanings.toml`.
//!
//! What a member means is inferred from its name and its place by whoever plans with it. Here is only what an operator
//! says instead.

mod read;
mod settings;

use std::collections::BTreeMap;

use forecourt_settings::DocumentedSection;

pub use read::read;
pub use settings::{MeaningSettings, MeaningsFile};

use crate::endpoint::Endpoint;
use crate::method::Method;

/// The keys of the file, for the reference of settings.
pub const DOCUMENTED: DocumentedSection = DocumentedSection {
    section: "meanings.toml",
    about: "Corrections of what members of inputs and outputs mean, for contracts that are planned from endpoints. \
            `forecourt check --explain` shows what they mean.",
    schema: || schemars::schema_for!(MeaningsFile),
};

/// The corrections of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanings {
    members: Vec<Correction>,
    nouns: BTreeMap<String, String>,
}

/// What one member means.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Correction {
    /// The endpoint; all when none is named.
    endpoint: Option<(Method, String)>,
    /// `input` or `output`, and the members that lead to it.
    member: Vec<String>,
    meaning: String,
}

impl Meanings {
    /// What the operator says that a member means, such as `customer.email`. `side` is `input` or `output`; `path`
    /// leads to the member, with `*` for the elements of a list.
    pub fn of(&self, endpoint: &Endpoint, side: &str, path: &[String]) -> Option<&str> {
        let is_it = |correction: &&Correction| {
            let is_here = correction
                .endpoint
                .as_ref()
                .is_none_or(|(method, path)| *method == endpoint.method && path == endpoint.path.as_str());
            is_here && correction.member.split_first().is_some_and(|(of, rest)| of == side && rest == path)
        };
        // What is said of one endpoint counts before what is said of all.
        let found = self.members.iter().filter(is_it).max_by_key(|correction| correction.endpoint.is_some());
        found.map(|correction| correction.meaning.as_str())
    }

    /// Other words for entities, in the singular, with the entity that each is a word for.
    pub fn nouns(&self) -> &BTreeMap<String, String> {
        &self.nouns
    }
}
