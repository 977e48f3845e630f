//! Swagger 2.0 as OpenAPI 3.0: everything behind this reads one language. What the older one says is moved to where
//! the newer one says it; nothing is made up, and what neither knows stays where it is.

mod repetition;
mod schema;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::OpenApiDocumentError;
use repetition::Repetition;
use schema::schema;

/// The keys of a path item that are operations.
const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

/// Keywords that a parameter has itself and that belong to its schema.
const OF_SCHEMA: [&str; 18] = [
    "type",
    "format",
    "items",
    "default",
    "enum",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "x-nullable",
    "x-example",
];

/// The media types where a document names none.
const MEDIA: &str = "application/json";

/// A document of Swagger 2.0 as one of OpenAPI 3.0.
///
/// # Errors
/// What it shares comes to more than [`SWAGGER_REPEATED_BYTES_MAX`](crate::limits::SWAGGER_REPEATED_BYTES_MAX).
pub(super) fn upgraded(root: &Value) -> Result<Value, OpenApiDocumentError> {
    let upgrade = Upgrade { root, repetition: Repetition::default() };
    let mut paths = Map::new();
    for (path, item) in root["paths"].as_object().into_iter().flatten() {
        paths.insert(path.clone(), upgrade.item(item)?);
    }
    let schemas: Map<String, Value> = fields(root, "definitions").map(|(k, v)| (k.clone(), schema(v))).collect();
    let schemes: Map<String, Value> =
        fields(root, "securityDefinitions").map(|(k, v)| (k.clone(), scheme(v))).collect();
    let mut document = json!({
        "openapi": "3.0.3",
        "info": root["info"],
        "paths": paths,
        "components": { "schemas": schemas, "securitySchemes": schemes },
    });
    let servers = servers(root);
    if !servers.is_empty() {
        document["servers"] = json!(servers);
    }
    for key in ["security", "tags", "externalDocs"].into_iter().filter(|key| root.get(*key).is_some()) {
        document[key] = root[key].clone();
    }
    Ok(document)
}

fn fields<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value[key].as_object().into_iter().flatten()
}

/// The addresses of the service, those over https first.
fn servers(root: &Value) -> Vec<Value> {
    let base = root["basePath"].as_str().unwrap_or_default();
    let base = if base.is_empty() || base.starts_with('/') { base.to_owned() } else { format!("/{base}") };
    let Some(host) = root["host"].as_str() else {
        // The service is where the document is.
        return if base.is_empty() { Vec::new() } else { vec![json!({ "url": base })] };
    };
    let named: Vec<&str> = root["schemes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut schemes: Vec<&str> = named.into_iter().filter(|scheme| matches!(*scheme, "https" | "http")).collect();
    schemes.sort_unstable_by(|a, b| b.cmp(a));
    if schemes.is_empty() {
        schemes.push("https");
    }
    schemes
        .into_iter()
        .map(|scheme| json!({ "url": format!("{scheme}://{host}{}", base.trim_end_matches('/')) }))
        .collect()
}

struct Upgrade<'a> {
    root: &'a Value,
    repetition: Repetition,
}

/// A part of the document, or that it shares too much.
type UpgradeResult<T> = Result<T, OpenApiDocumentError>;

impl<'a> Upgrade<'a> {
    /// A parameter or a response, or what is called so for the whole document.
    fn found(&self, value: &'a Value) -> UpgradeResult<&'a Value> {
        let place = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        let Some(shared) = place.and_then(|pointer| self.root.pointer(pointer)) else { return Ok(value) };
        self.repetition.of_value(shared)?;
        Ok(shared)
    }

    fn item(&self, item: &'a Value) -> UpgradeResult<Value> {
        let item = self.found(item)?;
        let shared = self.parameters(item)?;
        let mut made = Map::new();
        for method in METHODS {
            if let Some(operation) = item.get(method).filter(|operation| operation.is_object()) {
                made.insert(method.to_owned(), self.operation(operation, &shared)?);
            }
        }
        Ok(Value::Object(made))
    }

    fn parameters(&self, owner: &'a Value) -> UpgradeResult<Vec<&'a Value>> {
        owner["parameters"].as_array().into_iter().flatten().map(|parameter| self.found(parameter)).collect()
    }

    /// The media types of an operation, else those of the document, which all operations share.
    fn media(&self, operation: &'a Value, key: &str) -> UpgradeResult<Vec<&'a str>> {
        let Some(all) = operation.get(key).or_else(|| self.root.get(key)) else { return Ok(vec![MEDIA]) };
        self.repetition.of_value(all)?;
        let named: Vec<&str> = all.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        Ok(if named.is_empty() { vec![MEDIA] } else { named })
    }

    /// A schema under each media type.
    fn content(&self, media: &[&str], own: &Value) -> UpgradeResult<Map<String, Value>> {
        let own = schema(own);
        let mut content = Map::new();
        for (at, media) in media.iter().enumerate() {
            if at > 0 {
                self.repetition.of_value(&own)?;
            }
            content.insert((*media).to_owned(), json!({ "schema": own }));
        }
        Ok(content)
    }

    fn operation(&self, operation: &'a Value, shared: &[&'a Value]) -> UpgradeResult<Value> {
        let moved = ["parameters", "responses", "consumes", "produces", "schemes"];
        let kept = fields_of(operation).filter(|(key, _)| !moved.contains(&key.as_str()));
        let mut made: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut all = self.parameters(operation)?;
        let called = |one: &'a Value| (one["name"].as_str(), one["in"].as_str());
        let own: BTreeSet<_> = all.iter().map(|one| called(one)).collect();
        for one in shared.iter().filter(|one| !own.contains(&called(one))) {
            self.repetition.of_value(one)?;
            all.push(one);
        }
        let (bodies, others): (Vec<&Value>, Vec<&Value>) =
            all.into_iter().partition(|one| matches!(one["in"].as_str(), Some("body" | "formData")));
        made.insert("parameters".to_owned(), others.into_iter().map(parameter).collect());
        if let Some(body) = self.body(operation, &bodies)? {
            made.insert("requestBody".to_owned(), body);
        }
        let mut responses = Map::new();
        for (status, response) in fields(operation, "responses") {
            responses.insert(status.clone(), self.response(operation, response)?);
        }
        made.insert("responses".to_owned(), Value::Object(responses));
        Ok(Value::Object(made))
    }

    /// What is sent: the one body, or the fields of a form.
    fn body(&self, operation: &'a Value, parameters: &[&'a Value]) -> UpgradeResult<Option<Value>> {
        if parameters.is_empty() {
            return Ok(None);
        }
        let media = self.media(operation, "consumes")?;
        if let Some(body) = parameters.iter().find(|one| one["in"] == "body") {
            let is_form = |media: &&str| media.contains("form");
            let others: Vec<&str> = media.iter().copied().filter(|media| !is_form(media)).collect();
            let content = self.content(if others.is_empty() { &[MEDIA] } else { &others }, &body["schema"])?;
            let is_required = body["required"] == true;
            let body = json!({ "description": body["description"], "required": is_required, "content": content });
            return Ok(Some(body));
        }
        Ok(form(&media, parameters))
    }

    fn response(&self, operation: &'a Value, response: &'a Value) -> UpgradeResult<Value> {
        let response = self.found(response)?;
        let mut made = json!({ "description": response["description"].as_str().unwrap_or_default() });
        if let Some(own) = response.get("schema") {
            made["content"] = json!(self.content(&self.media(operation, "produces")?, own)?);
        }
        if let Some(headers) = response.get("headers") {
            made["headers"] = headers.clone();
        }
        Ok(made)
    }
}

/// The fields of a form, under the one media type that fits them. `None`: one of them has no name.
fn form(media: &[&str], fields: &[&Value]) -> Option<Value> {
    let has_file = fields.iter().any(|one| one["type"] == "file");
    let usual = if has_file { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
    let named =
        media.iter().find(|media| media.contains("form")).filter(|media| !has_file || media.contains("multipart"));
    let (mut properties, mut required, mut encoding) = (Map::new(), Vec::new(), Map::new());
    for field in fields {
        let name = field["name"].as_str()?.to_owned();
        let mut own = of_parameter(field);
        own["description"] = field["description"].clone();
        if field["required"] == true {
            required.push(name.clone());
        }
        if let Some((style, explode)) = style(field) {
            encoding.insert(name.clone(), json!({ "style": style, "explode": explode }));
        }
        properties.insert(name, own);
    }
    let whole = json!({ "type": "object", "properties": properties, "required": required });
    let media = json!({ "schema": whole, "encoding": encoding });
    let content = Map::from_iter([(named.copied().unwrap_or(usual).to_owned(), media)]);
    Some(json!({ "required": !required.is_empty(), "content": content }))
}

fn fields_of(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn parameter(parameter: &Value) -> Value {
    let kept = fields_of(parameter).filter(|(key, _)| !OF_SCHEMA.contains(&key.as_str()) && *key != "collectionFormat");
    let mut made: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
    made.insert("schema".to_owned(), of_parameter(parameter));
    if let Some((style, explode)) = style(parameter) {
        made.insert("style".to_owned(), json!(style));
        made.insert("explode".to_owned(), json!(explode));
    }
    Value::Object(made)
}

/// The schema that a parameter says of itself.
fn of_parameter(parameter: &Value) -> Value {
    let own = fields_of(parameter).filter(|(key, _)| OF_SCHEMA.contains(&key.as_str()));
    schema(&Value::Object(own.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

/// How the items of a list are written. `None`: it is no list.
fn style(parameter: &Value) -> Option<(&'static str, bool)> {
    if parameter["type"] != "array" {
        return None;
    }
    let is_in_query = matches!(parameter["in"].as_str(), Some("query" | "formData"));
    Some(match parameter["collectionFormat"].as_str().unwrap_or("csv") {
        "multi" if is_in_query => ("form", true),
        "ssv" | "tsv" if is_in_query => ("spaceDelimited", false),
        "pipes" if is_in_query => ("pipeDelimited", false),
        _ if is_in_query => ("form", false),
        _ => ("simple", false),
    })
}

fn scheme(scheme: &Value) -> Value {
    let scopes = || scheme.get("scopes").cloned().unwrap_or_else(|| json!({}));
    let address = |key: &str| scheme[key].as_str().unwrap_or("https://example.com/").to_owned();
    match scheme["type"].as_str() {
        Some("basic") => json!({ "type": "http", "scheme": "basic" }),
        Some("oauth2") => {
            let (name, places): (&str, &[&str]) = match scheme["flow"].as_str() {
                Some("implicit") => ("implicit", &["authorizationUrl"]),
                Some("password") => ("password", &["tokenUrl"]),
                Some("application") => ("clientCredentials", &["tokenUrl"]),
                _ => ("authorizationCode", &["authorizationUrl", "tokenUrl"]),
            };
            let mut flow = json!({ "scopes": scopes() });
            places.iter().for_each(|place| flow[*place] = json!(address(place)));
            json!({ "type": "oauth2", "flows": { name: flow } })
        }
        _ => scheme.clone(),
    }
}

#[cfg(test)]
mod tests;
