//! From endpoints to an OpenAPI 3.1 document, for HTTP consumers that don't speak AGTP yet. Draft
//! section 14.2.
//!
//! The document is derived and says so: what HTTP has no word for stays in `x-agtp-` fields, and what
//! is lost is listed. Reading it back with [`crate::import()`] gives the same methods, paths, semantic
//! blocks and scopes.

mod face;
mod schemas;

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::schema::Formats;
use forecourt_contract::{Catalog, Endpoint};
use serde_json::{Map, Value, json};

use crate::document::LOSSES;
use face::Face;
use schemas::{Schemas, has_lookalike, placed, with_fitting_defaults};

/// What is said of the document as a whole.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Whose endpoints they are.
    pub title: String,
    /// Their version.
    pub version: String,
    /// Where the manifest is that the document is derived from. Section 14.2.
    pub manifest: Option<String>,
}

/// An OpenAPI document and what it does not say.
#[derive(Clone, Debug)]
pub struct Export {
    /// The document.
    pub document: Value,
    /// What is lost, a sentence each. The document lists them too, under `x-agtp-losses`.
    pub losses: Vec<String>,
}

/// Exports endpoints, in the order of their paths and methods.
pub fn export<'a>(endpoints: impl IntoIterator<Item = &'a Endpoint>, about: &About, catalog: &Catalog) -> Export {
    let mut endpoints: Vec<&Endpoint> = endpoints.into_iter().collect();
    // A fixed order, so that two exports of one deployment can be compared line by line.
    endpoints.sort_by_key(|endpoint| (endpoint.path.as_str(), endpoint.method.clone()));
    let (mut paths, mut losses) = (BTreeMap::<String, Map<String, Value>>::new(), BTreeSet::new());
    let mut schemas = Schemas::default();
    for endpoint in endpoints {
        let mut face = Face::of(endpoint, catalog);
        // HTTP has one GET for a path, AGTP a method for each thing that is done there.
        if paths.get(&face.path).is_some_and(|item| item.contains_key(face.http)) {
            face.step_aside(endpoint);
        }
        losses.extend(face.losses.iter().cloned());
        if has_lookalike(endpoint.input.source()) || has_lookalike(endpoint.output.source()) {
            let what = format!("{} {}", endpoint.method, endpoint.path.as_str());
            losses.insert(format!("{what} has an example, a default or a constant with a `$ref` in it: left out"));
        }
        let ((input, is_cut_in), (output, is_cut_out)) =
            (with_fitting_defaults(endpoint.input.source()), with_fitting_defaults(endpoint.output.source()));
        if is_cut_in || is_cut_out {
            let what = format!("{} {}", endpoint.method, endpoint.path.as_str());
            losses.insert(format!("{what} has a default that its schema refuses: left out"));
        }
        let operation = operation(endpoint, &face, (&input, &output), &mut schemas);
        paths.entry(face.path).or_default().insert(face.http.to_owned(), operation);
    }
    let losses: Vec<String> = losses.into_iter().collect();
    let document = json!({
        "openapi": "3.1.0",
        "info": info(about),
        "paths": paths,
        "components": { "schemas": schemas.all },
        (LOSSES): losses,
    });
    Export { document, losses }
}

fn info(about: &About) -> Value {
    let mut info = json!({
        "title": about.title,
        "version": about.version,
        "description": "Derived from an AGTP-API manifest, which is the description that counts.",
    });
    if let Some(manifest) = &about.manifest {
        info["x-agtp-manifest"] = json!(manifest);
    }
    info
}

fn operation(endpoint: &Endpoint, face: &Face, (input, output): (&Value, &Value), schemas: &mut Schemas) -> Value {
    let name = schemas.name(endpoint);
    let input = placed(input, &format!("{name}_input"));
    let output = schemas.add(&format!("{name}_output"), placed(output, &format!("{name}_output")));
    let mut operation = json!({
        "operationId": name,
        "summary": endpoint.semantic.intent,
        "description": endpoint.description,
        "x-agtp-method": endpoint.method,
        "x-agtp-path": endpoint.path.as_str(),
        "x-agtp-semantic": endpoint.semantic,
        "x-agtp-required-scopes": endpoint.required_scopes,
        "x-agtp-errors": endpoint.errors,
        "responses": {
            "200": {
                "description": endpoint.semantic.outcome,
                "content": { "application/json": { "schema": output } },
            },
            "default": { "description": failures(endpoint) },
        },
    });
    let parameters = parameters(endpoint, face, &input);
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    let rest = without_path(endpoint, &input);
    let takes_more = rest["properties"].as_object().is_some_and(|properties| !properties.is_empty());
    // A schema that refers to itself needs its place even where the input stands as parameters.
    let is_referred_to = input.to_string().contains(&format!("#/components/schemas/{name}_input"));
    match face.has_body {
        true if takes_more => {
            let schema = schemas.add(&format!("{name}_input"), rest);
            operation["requestBody"] =
                json!({ "required": true, "content": { "application/json": { "schema": schema } } });
        }
        _ if is_referred_to => drop(schemas.add(&format!("{name}_input"), input)),
        _ => {}
    }
    if endpoint.input.formats() == Formats::Annotate {
        operation["x-agtp-format"] = json!("annotate");
    }
    if let Some(namespace) = &endpoint.namespace {
        operation["tags"] = json!([namespace]);
    }
    if let Some(deprecated) = &endpoint.deprecated {
        operation["deprecated"] = json!(true);
        operation["x-agtp-deprecated"] = json!(deprecated);
    }
    operation
}

fn failures(endpoint: &Endpoint) -> String {
    match endpoint.errors.is_empty() {
        true => "An error.".to_owned(),
        false => format!("An error, named in the answer: {}.", endpoint.errors.join(", ")),
    }
}

/// The fields that stand in the path, and with no body those of the query.
fn parameters(endpoint: &Endpoint, face: &Face, input: &Value) -> Vec<Value> {
    let required: BTreeSet<&str> =
        input["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let in_path: BTreeSet<&str> = endpoint.path.parameters().collect();
    let properties = input["properties"].as_object().into_iter().flatten();
    let shown = properties.filter(|(name, _)| in_path.contains(name.as_str()) || !face.has_body);
    shown
        .map(|(name, schema)| {
            let is_path = in_path.contains(name.as_str());
            let mut parameter = json!({
                "name": name,
                "in": if is_path { "path" } else { "query" },
                "required": is_path || required.contains(name.as_str()),
                "schema": schema,
            });
            if let Some(description) = schema["description"].as_str() {
                parameter["description"] = json!(description);
            }
            parameter
        })
        .collect()
}

/// The input without what the path says. Fields that other places refer to stay.
fn without_path(endpoint: &Endpoint, input: &Value) -> Value {
    let mut rest = input.clone();
    let text = input.to_string();
    for name in endpoint.path.parameters().filter(|name| !text.contains(&format!("/properties/{name}\""))) {
        if let Some(properties) = rest["properties"].as_object_mut() {
            properties.remove(name);
        }
        if let Some(required) = rest["required"].as_array_mut() {
            required.retain(|other| other != name);
        }
    }
    rest
}
