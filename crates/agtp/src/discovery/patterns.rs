//! The shapes of endpoints that could be negotiated. AGTP-API 5.8.6.

use forecourt_contract::{Recipe, RecipeBook};
use serde_json::{Value, json};

/// Every recipe that answers proposals, with the shape that it matches, and whether calls of what is not there
/// lead to them.
pub(super) fn patterns(recipes: &RecipeBook, rcns_enabled: bool) -> Value {
    let patterns: Vec<Value> = recipes.iter().filter_map(|recipe| pattern(recipe)).collect();
    json!({"rcns_enabled": rcns_enabled, "patterns": patterns})
}

/// `None`: the recipe is for compositions alone. A recipe that is for more than one method has `*`.
fn pattern(recipe: &Recipe) -> Option<Value> {
    let pattern = recipe.pattern.as_ref()?;
    let mut entry = json!({
        "recipe_name": recipe.name,
        "recipe_version": recipe.version,
        "method": pattern.method().unwrap_or("*"),
    });
    match (pattern.path_exact(), pattern.path_regex()) {
        (Some(path), _) => entry["path_exact"] = path.into(),
        (None, regex) => entry["path_regex"] = regex.unwrap_or_else(|| "^/.*$".to_owned()).into(),
    }
    if !recipe.description.is_empty() {
        entry["description"] = recipe.description.as_str().into();
    }
    Some(entry)
}
