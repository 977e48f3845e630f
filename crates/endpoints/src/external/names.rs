//! Fields under the names that the service has for them. Only the outermost ones are renamed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::unfit::HandlerProblem;

/// From one name to another; what is not named keeps its own.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// The names that go to the service, of those `fields` that go together.
    ///
    /// # Errors
    /// Two of the input's fields would go under one name.
    pub(super) fn outward(map: &BTreeMap<String, String>, fields: &[&str]) -> Result<Names, HandlerProblem> {
        let named = |field: &&str| map.get(*field).map_or(*field, String::as_str).to_owned();
        // Renamed fields as well as those that keep their names: `a` renamed to `b` would swallow a field that is
        // called `b`.
        let all: BTreeSet<&str> = map.keys().map(String::as_str).chain(fields.iter().copied()).collect();
        unique(all.iter().map(named), "input_transform")?;
        Ok(Names(map.clone()))
    }

    /// The names that come from the service: the map is turned around.
    ///
    /// # Errors
    /// One of the service's fields would go under two names.
    pub(super) fn inward(map: &BTreeMap<String, String>) -> Result<Names, HandlerProblem> {
        unique(map.values().cloned(), "output_transform")?;
        Ok(Names(map.iter().map(|(ours, theirs)| (theirs.clone(), ours.clone())).collect()))
    }

    /// The same fields under their other names. A field that was renamed is stronger than one that had
    /// the name before.
    pub(super) fn rename(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let (renamed, kept): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(name, _)| self.0.contains_key(name));
        let renamed = renamed.into_iter().map(|(name, value)| (self.0.get(&name).cloned().unwrap_or(name), value));
        kept.into_iter().chain(renamed).collect()
    }
}

/// Whether each name is there once. `key` is the setting that gives them.
///
/// # Errors
/// The name that is there twice.
pub(super) fn unique(names: impl Iterator<Item = String>, key: &str) -> Result<(), HandlerProblem> {
    let mut seen = BTreeSet::new();
    for name in names {
        if seen.contains(&name) {
            let message = format!("`{key}` gives two fields the one name `{name}`");
            return Err(HandlerProblem::new("external-service-bad-transform", message));
        }
        seen.insert(name);
    }
    Ok(())
}
