//! Documents as they are used: imported, loaded as `check` and `serve` load them, and every operation called with
//! a valid input against a service that holds what arrives against the document.
//!
//! The service reads the document by itself and shares nothing with the importer. Three shares are counted: of
//! the operations, how many are imported; of these, how many are served; of these, how many calls arrive valid and
//! with everything that was given, and bring an answer of the document's back.

mod answer;
mod body;
mod given;
mod modern;
mod parameters;
mod published;
mod service;
mod tree;
mod typed;

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_contract::call::{Identity, LifecycleState};
use forecourt_contract::{Call, Caller, Catalog, Endpoint, HostHandle, Refusal, Rules, ScopeSet};
use forecourt_core::{Authority, Sender};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_endpoints::{Functions, Kinds, LoadReport, RegistrationTerms, load};
use forecourt_openapi::{EndpointFiles, ImportFate, import};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::support::at;
use given::{Texts, valid_inputs};
use service::MockService;

/// What became of a document.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Operations that are no HEAD, OPTIONS or TRACE.
    pub(crate) operations: usize,
    pub(crate) imported: usize,
    /// Files that a host takes.
    pub(crate) served: usize,
    /// Calls that arrive valid and whole and bring an answer back.
    pub(crate) whole: usize,
    /// What is wrong with the others.
    pub(crate) faults: Vec<String>,
}

impl Figures {
    /// The three shares in percent, in a line.
    pub(crate) fn said(&self) -> String {
        let percent = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        format!(
            "{} operations: {:.1} % imported, {:.1} % of these served, {:.1} % of their calls valid and whole",
            self.operations,
            percent(self.imported, self.operations),
            percent(self.served, self.imported),
            percent(self.whole, self.served),
        )
    }
}

/// Imports a document, loads what was written, and calls each endpoint.
pub(crate) async fn measured(document: &Value) -> Figures {
    let service = MockService::new(document).await;
    let options = at(&service.url());
    let import = import(document.to_string().as_bytes(), &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let endpoints = folder.path().join("endpoints");
    std::fs::create_dir(&endpoints).unwrap();
    let mut figures = Figures::default();
    let mut written: Vec<(String, String, EndpointFiles)> = Vec::new();
    for operation in import.operations {
        match operation.fate {
            ImportFate::Skipped(_) | ImportFate::NotChosen => continue,
            ImportFate::Failed(why) => figures.faults.push(format!("{} {}: {why}", operation.http, operation.path)),
            ImportFate::Written(files) => {
                files.files.iter().for_each(|file| std::fs::write(endpoints.join(&file.name), &file.text).unwrap());
                written.push((operation.http, operation.path, files));
            }
        }
        figures.operations += 1;
    }
    figures.imported = written.len();
    let loaded = loaded(folder.path());
    figures.faults.extend(loaded.refused.iter().map(|problem| format!("{problem}")));
    for (http, path, files) in &written {
        let mut all = loaded.dispatcher.registry.iter().map(|registered| &*registered.endpoint);
        let found = all.find(|e| e.method.as_str() == files.method && e.path.as_str() == files.path);
        let Some(endpoint) = found else { continue };
        figures.served += 1;
        service.expect(http, path);
        let mut came = called(&loaded, &service, endpoint, Texts::Any).await;
        // A pattern with what only other languages have is not carried over, so that no caller can see it.
        if came.as_ref().is_err_and(|why| why.contains("does not match")) {
            service.expect(http, path);
            came = called(&loaded, &service, endpoint, Texts::Plain).await;
        }
        match came {
            Ok(()) => figures.whole += 1,
            Err(why) => figures.faults.push(format!("{http} {path} as {} {}: {why}", files.method, files.path)),
        }
    }
    figures
}

/// Calls an endpoint with a valid input, and says what is wrong with what came of it.
async fn called(loaded: &LoadReport, service: &MockService, endpoint: &Endpoint, texts: Texts) -> Result<(), String> {
    let inputs = valid_inputs(endpoint.input.source(), texts, &|input| endpoint.input.check(input).is_ok());
    let Some(input) = inputs else { return Err("no input is valid".to_owned()) };
    let answer = loaded.dispatcher.dispatch(call(endpoint, &input)).await.answer;
    let seen = service.seen();
    match answer {
        Err(refusal) if seen.is_none() => Err(format!("refused before it was sent: {} for {input}", said(&refusal))),
        Err(refusal) => Err(format!("{}; {:?} for {input}", said(&refusal), seen.and_then(Result::err))),
        Ok(_) => {
            let arrived = seen.ok_or("it never arrived")?.map_err(|why| format!("{why} for {input}"))?;
            tree::is_within(&input, &arrived).map_err(|lost| format!("lost {lost} of {input}; {arrived}"))
        }
    }
}

fn said(refusal: &Refusal) -> String {
    format!("{refusal:?}").chars().take(600).collect()
}

/// A call with the fields of the path in it and the others in its body.
fn call(endpoint: &Endpoint, input: &Value) -> Call {
    let mut body: Map<String, Value> = input.as_object().unwrap().clone();
    let mut path = endpoint.path.as_str().to_owned();
    for name in endpoint.path.parameters() {
        let value = body.remove(name).unwrap_or_default();
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        path = path.replace(&format!("{{{name}}}"), &utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string());
    }
    Call { method: endpoint.method.to_string(), path, body, caller: caller(endpoint), ..Call::default() }
}

/// A caller who holds what an endpoint wants.
fn caller(endpoint: &Endpoint) -> Caller {
    let scopes: Vec<&str> = endpoint.required_scopes.iter().map(|scope| scope.as_str()).collect();
    let held = if scopes.is_empty() { ScopeSet::default() } else { ScopeSet::parse_list(&scopes.join(",")).unwrap() };
    Caller {
        agent_id: Some("agent-one".into()),
        identity: Identity::Recognised,
        standing: LifecycleState::Active,
        sender: Arc::new(Sender { authority: Authority::granted(held), ..Sender::anonymous() }),
        ..Caller::default()
    }
}

fn loaded(folder: &std::path::Path) -> LoadReport {
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    let config = EgressConfig { allow, allow_http: true, ..EgressConfig::default() };
    let egress = Egress::builder(config).build().unwrap();
    let rules = Rules { scope_required: false, wildcards_accepted: false, ..Rules::default() };
    let terms = RegistrationTerms::new(&Default::default(), Catalog::shipped()).unwrap();
    let environment = |_: &str| Some("s3cret".to_owned());
    let kinds = Kinds { egress, functions: Functions::new(), host: HostHandle::default() };
    let loaded = load(folder, RegistrationTerms { rules, ..terms }, &environment, &kinds);
    loaded.dispatcher.host.bind(&loaded.dispatcher);
    loaded
}

/// The documents of the folder beside this file, and what each stands for.
const OWN: [(&str, &str); 4] = [
    ("billing: forms with brackets, expandable answers", include_str!("documents/billing.yaml")),
    ("forge: alternatives, circles, nullable", include_str!("documents/forge.yaml")),
    ("droplets: what is read-only, enums, files, texts", include_str!("documents/droplets.yaml")),
    ("pager: discriminators, header fields, styles", include_str!("documents/pager.yaml")),
];

#[tokio::test]
async fn s14_1_every_operation_of_our_own_documents_arrives_whole() {
    let mut all = BTreeMap::new();
    for (name, text) in OWN {
        let bounds = forecourt_core::yaml::YamlBounds { nodes_max: 100_000, repeated_max: 0 };
        let document = forecourt_core::yaml::parse(text.as_bytes(), bounds).unwrap();
        let figures = measured(&document).await;
        eprintln!("{name}: {}", figures.said());
        all.insert(name, figures);
    }
    let faults: Vec<&String> = all.values().flat_map(|figures| &figures.faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(all.values().all(|figures| figures.whole == figures.operations && figures.operations > 5), "{all:?}");
}

/// A body that is written in place, with long texts, so that it is far beyond the bound of schemas.
fn nested(levels: usize) -> Value {
    let about = "What it is for, at some length, as such documents say it. ".repeat(4);
    let word = json!({ "type": "string", "description": about, "maxLength": 5000 });
    let members = (0..4).map(|n| match (levels, n) {
        (0, _) | (_, 0) => (format!("word_{n}"), word.clone()),
        _ => (
            format!("part_{n}"),
            json!({ "description": about, "anyOf": [nested(levels - 1), { "type": "string", "enum": [""] }] }),
        ),
    });
    json!({ "type": "object", "description": about, "required": ["word_0"], "properties": Value::Object(members.collect()) })
}

/// Schemas that all refer to many others.
fn graph(count: usize) -> Value {
    let other =
        |at: usize, step: usize| json!({ "$ref": format!("#/components/schemas/s{}", (at * 7 + step) % count) });
    let schema = |at: usize| {
        let members =
            (1..9).map(|step| (format!("to_{step}"), json!({ "anyOf": [{ "type": "string" }, other(at, step)] })));
        let mut schema =
            json!({ "type": "object", "properties": Value::Object(members.collect()), "required": ["id"] });
        schema["properties"]["id"] = json!({ "type": "string", "description": "Which one it is. ".repeat(10) });
        schema
    };
    Value::Object((0..count).map(|at| (format!("s{at}"), schema(at))).collect())
}

#[tokio::test]
async fn s14_1_what_is_beyond_the_bounds_of_schemas_is_served_all_the_same() {
    let codes: Vec<String> = (0..2_500).map(|n| format!("value_number_{n}")).collect();
    let answer = |name: &str| {
        json!({ "200": { "description": "Fine.", "content": { "application/json":
        { "schema": { "$ref": format!("#/components/schemas/{name}") } } } } })
    };
    let taking = |media: &str, schema: Value, deep: Value| {
        json!({ "responses": answer("s0"),
        "requestBody": { "required": true, "content": { media: { "schema": schema, "encoding": deep } } } })
    };
    let form = "application/x-www-form-urlencoded";
    let deep: Map<String, Value> =
        (1..4).map(|n| (format!("part_{n}"), json!({ "style": "deepObject", "explode": true }))).collect();
    let document = json!({
        "openapi": "3.0.0", "info": { "title": "Large", "version": "1" },
        "servers": [{ "url": "https://large.example" }],
        "components": { "schemas": graph(400) },
        "paths": {
            "/graph/{id}": { "get": { "responses": answer("s1"), "parameters":
                [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }] } },
            "/json": { "post": taking("application/json", nested(5), json!({})) },
            "/form": { "post": taking(form, nested(4), json!(deep)) },
            "/codes": { "put": taking("application/json", json!({ "type": "object", "required": ["code"],
                "properties": { "code": { "type": "string", "enum": codes } } }), json!({})) },
            "/given": { "post": taking("application/json", json!({ "$ref": "#/components/schemas/s3" }), json!({})) },
        },
    });
    let figures = measured(&document).await;
    eprintln!("large: {}", figures.said());
    assert_eq!((figures.operations, figures.whole), (5, 5), "{:#?}", figures.faults);
}
