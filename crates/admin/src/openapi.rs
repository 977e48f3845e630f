//! The document of the API, out of its table. OpenAPI 3.1.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api_error::ApiErrorBody;
use crate::routes::{BASE, ROUTES, Route};

/// The document.
pub fn document() -> Value {
    let schemas = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut schemas = schemas.for_serialize().into_generator();
    let error_schema = schemas.subschema_for::<ApiErrorBody>().to_value();
    let mut paths = Map::new();
    for route in ROUTES {
        let operation = operation(route, &mut schemas, &error_schema);
        let path = paths.entry(format!("{BASE}{}", route.path)).or_insert_with(|| json!({}));
        path[route.verb()] = operation;
    }
    paths.insert(
        format!("{BASE}/openapi.json"),
        json!({"get": {
            "operationId": "getOpenapiJson", "summary": "This document, for which nobody is asked who they are",
            "security": [], "responses": {"200": {"description": "The document",
                "content": {"application/json": {"schema": {"type": "object"}}}}},
        }}),
    );
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Forecourt: the operator's API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What goes on in a deployment, and what may be done about it. It is on the admin listener, \
                            and the same as the console at /console and as `forecourt admin`.",
        },
        "servers": [{"url": "http://127.0.0.1:9080"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "`token` of [admin] in forecourt.toml"},
            },
        },
    })
}

fn operation(route: &Route, schemas: &mut SchemaGenerator, error_schema: &Value) -> Value {
    let refused =
        |about: &str| json!({"description": about, "content": {"application/json": {"schema": error_schema}}});
    let mut content = json!({"application/json": {"schema": (route.answer)(schemas)}});
    if route.is_followed() {
        content["text/event-stream"] = json!({"schema": {"type": "string"}});
    }
    let parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .chain(route.query.iter().map(|(name, about)| {
            let (required, schema) = (route.is_query_needed, json!({"type": "string"}));
            json!({"name": name, "in": "query", "required": required, "description": about, "schema": schema})
        }))
        .collect();
    let mut responses = json!({
        "200": {"description": "The answer", "content": content},
        "400": refused("The call makes no sense"),
        "401": refused("Nobody was proven to be asking"),
        "403": refused("Whoever asks may not"),
        "503": refused("It can't be answered at the moment"),
    });
    if route.path.contains('{') || route.acts() {
        responses["404"] = refused("There is no such thing");
    }
    if route.acts() {
        responses["409"] = refused("It can't be done any more");
    }
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.about,
        "description": format!("For the role `{}`.", route.role().name()),
        "tags": [route.path.split('/').nth(1).unwrap_or_default()],
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(body) = route.body {
        // What is sent may leave out what an answer always has.
        let mut schemas = SchemaSettings::draft2020_12()
            .with(|settings| {
                settings.inline_subschemas = true;
                settings.meta_schema = None;
            })
            .for_deserialize()
            .into_generator();
        operation["requestBody"] = json!({"content": {"application/json": {"schema": body(&mut schemas)}}});
    }
    operation
}

fn operation_id(route: &Route) -> String {
    let words = route.path.split(['/', '{', '}', '_']).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), chars.as_str()))
    };
    format!("{}{}", route.verb(), words.map(capital).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own_and_every_reference_leads_somewhere() {
        let document = document();
        let mut ids = HashSet::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for operation in operations.as_object().unwrap().values() {
                assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{path}");
            }
        }
        assert_eq!(ids.len(), ROUTES.len() + 1);
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"").skip(1) {
            let name = reference.split('"').next().unwrap().strip_prefix("#/components/schemas/").unwrap();
            assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
        }
    }
}
