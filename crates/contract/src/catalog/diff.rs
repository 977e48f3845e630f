//! This module compares two catalogs, and finds what the newer one would break in a deployment. Section 4.7. It reads
//! no files.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Catalog, spelled};

/// How two catalogs differ. All lists are sorted by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// The version that is left.
    pub old_version: String,
    /// The version that is looked at.
    pub new_version: String,
    /// Verbs that only the new one has.
    pub added: Vec<String>,
    /// Verbs that only the old one has.
    pub removed: Vec<String>,
    /// Verbs that are deprecated in the new one and were not in the old one.
    pub newly_deprecated: Vec<NewlyDeprecated>,
}

/// A verb that is deprecated from now on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewlyDeprecated {
    /// The verb.
    pub name: String,
    /// The version that says so.
    pub deprecated_in: String,
    /// The version that will no longer have it.
    pub removed_in: Option<String>,
    /// The verb to use instead.
    pub successor: Option<String>,
}

/// The verbs that a deployment uses, already read from its files.
#[derive(Clone, Debug, Default)]
pub struct Deployment {
    /// The endpoints.
    pub endpoints: Vec<EndpointUse>,
    /// The steps of recipes.
    pub recipes: Vec<RecipeUse>,
    /// The verbs that the method policy names.
    pub policy: Vec<PolicyUse>,
}

/// An endpoint as its file declares it.
#[derive(Clone, Debug)]
pub struct EndpointUse {
    /// The file, for people.
    pub file: String,
    /// Its method.
    pub method: String,
    /// Its path, templates included.
    pub path: String,
}

/// A step of a recipe.
#[derive(Clone, Debug)]
pub struct RecipeUse {
    /// The file, for people.
    pub file: String,
    /// The recipe's name.
    pub recipe: String,
    /// The step's method.
    pub method: String,
}

/// A verb in the method policy.
#[derive(Clone, Debug)]
pub struct PolicyUse {
    /// The file, for people.
    pub file: String,
    /// The key that names it: `allow`, `disallow`, `redirects` and so on.
    pub directive: String,
    /// The verb.
    pub verb: String,
}

/// What stops working under the new catalog. All empty: nothing does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Conflicts {
    /// Paths in which a segment has become a verb.
    pub path_grammar_conflicts: Vec<PathConflict>,
    /// Endpoints under a verb that is gone.
    pub endpoint_conflicts: Vec<EndpointConflict>,
    /// Recipes that take a step under a verb that is gone.
    pub recipe_conflicts: Vec<RecipeConflict>,
    /// Directives of the method policy about a verb that is gone.
    pub method_policy_conflicts: Vec<PolicyConflict>,
}

/// A path that has become ungrammatical.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathConflict {
    /// The endpoint's file.
    pub file: String,
    /// The path.
    pub path: String,
    /// The segment that spells a verb now.
    pub segment: String,
    /// The verb.
    pub verb: String,
}

/// An endpoint whose method is gone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EndpointConflict {
    /// The endpoint's file.
    pub file: String,
    /// The method.
    pub method: String,
}

/// A recipe with a step whose method is gone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecipeConflict {
    /// The recipes' file.
    pub file: String,
    /// The recipe.
    pub recipe: String,
    /// The method.
    pub method: String,
}

/// A directive about a verb that is gone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyConflict {
    /// The policy's file.
    pub file: String,
    /// Where it stands.
    pub directive: String,
    /// The verb.
    pub verb: String,
}

impl Conflicts {
    /// How many things break.
    pub fn count(&self) -> usize {
        self.path_grammar_conflicts.len()
            + self.endpoint_conflicts.len()
            + self.recipe_conflicts.len()
            + self.method_policy_conflicts.len()
    }
}

/// What `new` changes against `old`.
pub fn compare(old: &Catalog, new: &Catalog) -> Diff {
    let missing_in = |catalog: &Catalog, other: &Catalog| -> Vec<String> {
        other.verbs().filter(|(name, _)| catalog.verb(name).is_none()).map(|(name, _)| name.to_owned()).collect()
    };
    let was_deprecated = |name: &str| old.verb(name).is_some_and(|verb| verb.deprecation.is_some());
    let newly = new.verbs().filter(|(name, _)| !was_deprecated(name)).filter_map(|(name, verb)| {
        let deprecation = verb.deprecation.clone()?;
        let (deprecated_in, removed_in) = (deprecation.deprecated_in, deprecation.removed_in);
        Some(NewlyDeprecated { name: name.to_owned(), deprecated_in, removed_in, successor: deprecation.successor })
    });
    Diff {
        old_version: old.version().to_owned(),
        new_version: new.version().to_owned(),
        added: missing_in(old, new),
        removed: missing_in(new, old),
        newly_deprecated: newly.collect(),
    }
}

/// What of `deployment` breaks with `diff`: paths that spell a verb that was added, and whatever
/// names a verb that was removed.
pub fn conflicts(diff: &Diff, deployment: &Deployment) -> Conflicts {
    let removed: BTreeSet<&str> = diff.removed.iter().map(String::as_str).collect();
    let added: BTreeSet<&str> = diff.added.iter().map(String::as_str).collect();
    let endpoints = &deployment.endpoints;
    let gone = |method: &str| removed.contains(method);
    Conflicts {
        // Only verbs that were added: a path that breaks the grammar under the old catalog too is no conflict of the
        // new one.
        path_grammar_conflicts: endpoints.iter().flat_map(|endpoint| path_conflicts(endpoint, &added)).collect(),
        endpoint_conflicts: endpoints
            .iter()
            .filter(|used| gone(&used.method))
            .map(|used| EndpointConflict { file: used.file.clone(), method: used.method.clone() })
            .collect(),
        recipe_conflicts: deployment.recipes.iter().filter(|used| gone(&used.method)).map(recipe_conflict).collect(),
        method_policy_conflicts: deployment
            .policy
            .iter()
            .filter(|used| gone(&used.verb))
            .map(policy_conflict)
            .collect(),
    }
}

fn path_conflicts(endpoint: &EndpointUse, added: &BTreeSet<&str>) -> Vec<PathConflict> {
    let conflict = |segment: &str| {
        let verb = spelled(segment);
        let (file, path) = (endpoint.file.clone(), endpoint.path.clone());
        added.contains(verb.as_str()).then(|| PathConflict { file, path, segment: segment.to_owned(), verb })
    };
    endpoint.path.split('/').filter_map(conflict).collect()
}

fn recipe_conflict(used: &RecipeUse) -> RecipeConflict {
    RecipeConflict { file: used.file.clone(), recipe: used.recipe.clone(), method: used.method.clone() }
}

fn policy_conflict(used: &PolicyUse) -> PolicyConflict {
    PolicyConflict { file: used.file.clone(), directive: used.directive.clone(), verb: used.verb.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(version: &str, verbs: &str) -> Catalog {
        Catalog::read(format!(r#"{{"version":"{version}","verbs":{verbs}}}"#).as_bytes()).unwrap()
    }

    fn upgrade() -> Diff {
        let old = catalog("1.0.0", r#"{"BOOK":{},"LEARN":{},"AUDIT":{"deprecated_in":"1.0.0"}}"#);
        let new = catalog(
            "2.0.0",
            r#"{"BOOK":{"deprecated_in":"2.0.0","successor":"RESERVE"},"AUDIT":{"deprecated_in":"1.0.0"},"ROOM":{}}"#,
        );
        compare(&old, &new)
    }

    #[test]
    fn s4_7_added_removed_and_newly_deprecated() {
        let diff = upgrade();
        assert_eq!((diff.old_version.as_str(), diff.new_version.as_str()), ("1.0.0", "2.0.0"));
        assert_eq!((diff.added, diff.removed), (vec!["ROOM".to_owned()], vec!["LEARN".to_owned()]));
        let names: Vec<_> = diff.newly_deprecated.iter().map(|verb| verb.name.as_str()).collect();
        assert_eq!(names, ["BOOK"], "what was deprecated before is no news");
        assert_eq!(diff.newly_deprecated[0].successor.as_deref(), Some("RESERVE"));
    }

    #[test]
    fn s4_7_every_kind_of_conflict_is_found_with_its_file() {
        let endpoint =
            |method: &str, path: &str| EndpointUse { file: "e.toml".into(), method: method.into(), path: path.into() };
        let deployment = Deployment {
            endpoints: vec![endpoint("LEARN", "/skills"), endpoint("BOOK", "/hotel/ro-om/{room}")],
            recipes: vec![RecipeUse { file: "r.toml".into(), recipe: "teach".into(), method: "LEARN".into() }],
            policy: vec![PolicyUse { file: "s.toml".into(), directive: "disallow".into(), verb: "LEARN".into() }],
        };
        let found = conflicts(&upgrade(), &deployment);
        let path = &found.path_grammar_conflicts[0];
        assert_eq!((path.segment.as_str(), path.verb.as_str()), ("ro-om", "ROOM"), "and not the parameter");
        assert_eq!(found.endpoint_conflicts[0].method, "LEARN");
        assert_eq!(found.recipe_conflicts[0].recipe, "teach");
        assert_eq!(found.method_policy_conflicts[0].directive, "disallow");
        assert_eq!(found.count(), 4);
    }

    #[test]
    fn s4_7_the_same_catalog_breaks_nothing() {
        let shipped = Catalog::shipped();
        let diff = compare(&shipped, &shipped);
        assert!(diff.added.is_empty() && diff.removed.is_empty() && diff.newly_deprecated.is_empty());
        let used = EndpointUse { file: "e".into(), method: "NEVER".into(), path: "/order".into() };
        let deployment = Deployment { endpoints: vec![used], ..Deployment::default() };
        assert_eq!(conflicts(&diff, &deployment), Conflicts::default(), "faults of before are no conflicts");
    }

    #[test]
    fn s4_7_the_diff_is_data_for_scripts() {
        let json = serde_json::to_value(upgrade()).unwrap();
        assert_eq!(json["newly_deprecated"][0]["removed_in"], serde_json::Value::Null);
        assert_eq!(json["added"][0], "ROOM");
    }
}
