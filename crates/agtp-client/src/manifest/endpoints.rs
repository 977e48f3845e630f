//! What can be called, and that nothing is told of how it is answered. AGTP-API 8.4, 8.9 and 6.4.

use std::collections::BTreeSet;

use forecourt_contract::catalog::EMBEDDED;
use forecourt_contract::{Catalog, Method, Schema, Scope, Semantic, Template};
use serde_json::Value;

use super::FindingList;
use super::fields::Fields;

/// The kinds of binding. AGTP-API 12.
const KINDS: [&str; 3] = ["composition", "registered_function", "external_service"];
/// What belongs to a binding, wherever it is written. AGTP-API 8.9.
const BINDING_FIELDS: [&str; 3] = ["function", "recipe", "url"];

/// The inventory of methods. AGTP-API 8.4.
pub(super) fn methods(fields: &Fields<'_>, found: &mut FindingList) {
    let Some(embedded) = fields.list("embedded_methods", "8.4", found) else { return };
    let names: BTreeSet<&str> = embedded.iter().filter_map(name).collect();
    let missing: Vec<&str> = EMBEDDED.into_iter().filter(|method| !names.contains(method)).collect();
    if !missing.is_empty() {
        let message = format!("every server answers {} too", missing.join(", "));
        found.wrong("8.4", &fields.at("embedded_methods"), message);
    }
    for (at, method) in fields.optional_list("custom_methods", "8.4", found).iter().enumerate() {
        if name(method).is_none_or(|name| Method::parse(name).is_err()) {
            let pointer = format!("{}/{at}", fields.at("custom_methods"));
            found.wrong("3.2", &pointer, "a method is 3 to 32 capital letters");
        }
    }
}

/// The name of a method, which is written alone or with what is known of it.
fn name(method: &Value) -> Option<&str> {
    method.as_str().or_else(|| method.get("name")?.as_str())
}

/// The endpoints. Without a `catalog`, neither methods nor what paths may hold are judged by one.
pub(super) fn judge(fields: &Fields<'_>, catalog: Option<&Catalog>, found: &mut FindingList) {
    let custom: BTreeSet<&str> =
        fields.get("custom_methods").and_then(Value::as_array).into_iter().flatten().filter_map(name).collect();
    let mut pairs = BTreeSet::new();
    for (at, endpoint) in fields.optional_list("endpoints", "8.9", found).iter().enumerate() {
        let endpoint = Fields::new(endpoint, format!("{}/{at}", fields.at("endpoints")));
        let method = method(&endpoint, catalog, &custom, found);
        let path = path(&endpoint, catalog, found);
        if let (Some(method), Some(path)) = (method, path)
            && !pairs.insert((method, path))
        {
            found.wrong("5.4", &endpoint.at("path"), format!("`{method} {path}` is there twice"));
        }
        meaning(&endpoint, catalog, found);
        schemas(&endpoint, found);
        endpoint.texts("errors", "6.4", found);
        scopes(&endpoint, found);
        handler(&endpoint, found);
    }
}

fn method<'a>(
    endpoint: &Fields<'a>,
    catalog: Option<&Catalog>,
    custom: &BTreeSet<&str>,
    found: &mut FindingList,
) -> Option<&'a str> {
    let name = endpoint.text("method", "6.4", found)?;
    if Method::parse(name).is_err() {
        found.wrong("3.2", &endpoint.at("method"), "a method is 3 to 32 capital letters");
    } else if catalog.is_some_and(|catalog| catalog.verb(name).is_none()) && !custom.contains(name) {
        found.wrong("3.3", &endpoint.at("method"), format!("`{name}` is neither in the catalog nor a custom method"));
    }
    Some(name)
}

fn path<'a>(endpoint: &Fields<'a>, catalog: Option<&Catalog>, found: &mut FindingList) -> Option<&'a str> {
    let path = endpoint.text("path", "6.4", found)?;
    if let Some(Err(error)) = catalog.map(|catalog| Template::parse(path, catalog)) {
        found.wrong("5.1", &endpoint.at("path"), error.to_string());
    }
    Some(path)
}

fn meaning(endpoint: &Fields<'_>, catalog: Option<&Catalog>, found: &mut FindingList) {
    endpoint.text("description", "6.4", found);
    let shipped = Catalog::shipped();
    let block = endpoint.get("semantic").unwrap_or(&Value::Null);
    for error in Semantic::read(block, catalog.unwrap_or(&shipped)).err().into_iter().flatten() {
        found.wrong("7.1", &endpoint.at("semantic"), error.message);
    }
}

/// An input is closed; an output need not be.
fn schemas(endpoint: &Fields<'_>, found: &mut FindingList) {
    let input = endpoint.object("input_schema", "6.4", found).and_then(|_| endpoint.get("input_schema"));
    if let Some(Err(error)) = input.cloned().map(Schema::input) {
        found.wrong("6.4", &endpoint.at("input_schema"), error.to_string());
    }
    let output = endpoint.object("output_schema", "6.4", found).and_then(|_| endpoint.get("output_schema"));
    if let Some(Err(error)) = output.cloned().map(Schema::compile) {
        found.wrong("6.4", &endpoint.at("output_schema"), error.to_string());
    }
}

fn scopes(endpoint: &Fields<'_>, found: &mut FindingList) {
    for token in endpoint.texts("required_scopes", "6.4", found) {
        if let Err(error) = Scope::parse_required(token) {
            found.wrong("6.4", &endpoint.at("required_scopes"), error.to_string());
        }
    }
}

/// The kind of binding is told, and nothing else of it.
fn handler(endpoint: &Fields<'_>, found: &mut FindingList) {
    for name in BINDING_FIELDS.into_iter().filter(|name| endpoint.get(name).is_some()) {
        found.wrong("8.9", &endpoint.at(name), "what binds an endpoint must not be told");
    }
    let Some(handler) = endpoint.object("handler", "8.9", found) else { return };
    if handler.text("type", "8.9", found).is_some_and(|kind| !KINDS.contains(&kind)) {
        found.wrong("12", &handler.at("type"), format!("the kinds are {}", KINDS.join(", ")));
    }
    for (name, _) in handler.members().filter(|(name, _)| *name != "type") {
        found.wrong("8.9", &handler.at(name), "nothing but the `type` of a handler may be told");
    }
}
