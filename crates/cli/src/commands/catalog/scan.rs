//! What the files of a deployment use of a catalog: methods of endpoints, of the steps of recipes and of
//! the method policy. AGTP-API 4.7.
//!
//! Files are read for what they name and nothing else, so that an endpoint which is refused today is
//! looked at too. Those of other servers' making have the same shape under other names.

use std::path::Path;

use forecourt_contract::catalog::{Deployment, EndpointUse, PolicyUse, RecipeUse};
use forecourt_contract::policy::MethodPolicySettings;
use forecourt_settings::{Problem, files};
use serde::Deserialize;
use toml::{Table, Value};

use crate::output::Failure;
use forecourt::deployment::FILE;

/// The files of recipes, under either name.
const RECIPES: [&str; 2] = ["recipes.toml", "agtp-recipes.toml"];
/// The files that may hold a method policy, and the tables that lead to it.
const POLICIES: [(&str, &[&str]); 3] = [
    (FILE, &["endpoints", "methods"]),
    // Where the release before had it.
    (FILE, &["agtp", "policies", "methods"]),
    ("agtp-server.toml", &["policies", "methods"]),
];
/// Files of endpoints in one deployment.
const FILES_MAX: usize = 10_000;

/// Reads the deployment in `folder`.
///
/// # Errors
/// When the folder, or a file of it, can't be read: what was not looked at may break.
pub(super) fn deployment(folder: &Path) -> Result<Deployment, Failure> {
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is no folder", folder.display())));
    }
    let mut found = Deployment::default();
    for file in files::files_in(&folder.join("endpoints"), FILES_MAX).map_err(unread)? {
        let table = table(&file)?;
        found.endpoints.extend(endpoint(&table, relative_name(&file, folder)));
    }
    for file in RECIPES.map(|name| folder.join(name)).into_iter().filter(|file| file.exists()) {
        found.recipes.extend(recipes(&table(&file)?, &relative_name(&file, folder)));
    }
    for (name, path) in POLICIES.into_iter().filter(|(name, _)| folder.join(name).exists()) {
        found.policy.extend(policy(&table(&folder.join(name))?, path, name)?);
    }
    Ok(found)
}

/// A file that can't be read ends the comparison with 2.
fn unread(problem: Problem) -> Failure {
    Failure::usage(problem.to_string())
}

fn table(file: &Path) -> Result<Table, Failure> {
    let text = files::text_of(file).map_err(unread)?;
    text.parse().map_err(|error: toml::de::Error| unread(Problem::of_file(file, error.to_string().trim_end())))
}

fn relative_name(file: &Path, folder: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}

fn endpoint(table: &Table, file: String) -> Option<EndpointUse> {
    let endpoint = table.get("endpoint")?;
    let text = |key: &str| endpoint.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(EndpointUse { file, method: text("method"), path: text("path") })
}

fn recipes(table: &Table, file: &str) -> Vec<RecipeUse> {
    let recipes = table.get("recipe").and_then(Value::as_array).into_iter().flatten();
    recipes.flat_map(|recipe| steps(recipe, file)).collect()
}

fn steps(recipe: &Value, file: &str) -> Vec<RecipeUse> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let steps = recipe.get("steps").and_then(Value::as_array).into_iter().flatten();
    let step = |step| RecipeUse { file: file.to_owned(), recipe: text(recipe, "name"), method: text(step, "method") };
    steps.map(step).collect()
}

fn policy(table: &Table, path: &[&str], file: &str) -> Result<Vec<PolicyUse>, Failure> {
    let Some((first, rest)) = path.split_first() else { return Ok(Vec::new()) };
    let found = rest.iter().try_fold(table.get(*first), |found, key| Some(found?.get(key))).flatten();
    let Some(methods) = found else { return Ok(Vec::new()) };
    let settings = MethodPolicySettings::deserialize(methods.clone());
    let settings = settings.map_err(|error| Failure::usage(format!("{file}: [{}]: {error}", path.join("."))))?;
    Ok(settings.uses(file))
}
