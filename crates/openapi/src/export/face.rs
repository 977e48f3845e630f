//! What an endpoint looks like over HTTP: mappings are imperfect, and each one says so.

use forecourt_contract::semantic::Impact;
use forecourt_contract::{Catalog, Endpoint};
use serde_json::Value;

/// Method, path and what they give up.
#[derive(Debug)]
pub(super) struct Face {
    /// A key of a path item, such as `get`.
    pub(super) http: &'static str,
    pub(super) path: String,
    /// Whether fields go into a body; otherwise they go into the query.
    pub(super) has_body: bool,
    pub(super) losses: Vec<String>,
}

impl Face {
    /// The HTTP method that says most of what the verb says.
    pub(super) fn of(endpoint: &Endpoint, catalog: &Catalog) -> Face {
        let (method, path) = (&endpoint.method, endpoint.path.as_str());
        let http = http(endpoint, catalog);
        let mut losses = Vec::new();
        let said = catalog.legacy(&http.to_ascii_uppercase()).map(|legacy| legacy.preferred.as_str());
        if said != Some(method.as_str()) {
            losses.push(format!("{method} {path} is {} here; HTTP has no word for it", http.to_ascii_uppercase()));
        }
        if !endpoint.required_scopes.is_empty() {
            let scopes: Vec<String> = endpoint.required_scopes.iter().map(ToString::to_string).collect();
            losses.push(format!("{method} {path} needs {}: HTTP callers have no Authority-Scope", scopes.join(", ")));
        }
        Face { http, path: path.to_owned(), has_body: matches!(http, "post" | "put" | "patch"), losses }
    }

    /// Another path, since an endpoint of another verb has this one.
    pub(super) fn step_aside(&mut self, endpoint: &Endpoint) {
        let (method, path) = (&endpoint.method, endpoint.path.as_str());
        self.http = "post";
        self.has_body = true;
        self.path = format!("{}/{}", path.trim_end_matches('/'), method.as_str().to_ascii_lowercase());
        self.losses.push(format!("{method} {path} is at {} here: another method has its place", self.path));
    }
}

fn http(endpoint: &Endpoint, catalog: &Catalog) -> &'static str {
    let is_for = |http: &str| catalog.legacy(http).is_some_and(|legacy| legacy.preferred == endpoint.method.as_str());
    let is_plain = is_plain(endpoint);
    match () {
        () if is_for("PUT") => "put",
        () if is_for("PATCH") => "patch",
        // Only without a body: one has no meaning there, and some servers refuse it (RFC 9110 9.3.5).
        () if is_for("DELETE") && is_plain => "delete",
        () if endpoint.semantic.impact == Impact::Informational && is_plain => "get",
        () => "post",
    }
}

/// Whether a query can hold what the path does not: fields that are words or lists of them.
fn is_plain(endpoint: &Endpoint) -> bool {
    let in_path: Vec<&str> = endpoint.path.parameters().collect();
    let is_word = |schema: &Value| {
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            Value::String(kind) => vec![kind.as_str()],
            _ => return false,
        };
        !kinds.iter().any(|kind| matches!(*kind, "object" | "array"))
    };
    let is_flat = |schema: &Value| is_word(schema) || (schema["type"] == "array" && is_word(&schema["items"]));
    let properties = endpoint.input.properties().into_iter().flatten();
    properties.filter(|(name, _)| !in_path.contains(&name.as_str())).all(|(_, schema)| is_flat(schema))
}
