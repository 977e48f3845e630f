//! Documents, and what a host makes of the files that they become.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use forecourt_contract::endpoint::{RegistrationContext, read};
use forecourt_contract::{Catalog, Endpoint, MethodPolicy, RecipeBook};
use forecourt_openapi::{EndpointFiles, Import, ImportChoices, ImportFate, ImportedOperation, Options, import};
use forecourt_settings::Section;
use forecourt_testkit::data;
use serde_json::{Value, json};

/// The workshop of the examples: more than thirty operations.
pub(crate) const WORKSHOP: &str = include_str!("../../../../examples/migration/1-wrap-and-expose/openapi.yaml");

/// Where documents that others publish are: a folder named by `OPENAPI_DOCUMENTS`, else `openapi` of the test data.
pub(crate) fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("OPENAPI_DOCUMENTS").map(PathBuf::from);
    given.or_else(|| data("openapi"))
}

pub(crate) fn imported(document: &Value) -> Import {
    import(document.to_string().as_bytes(), &Options::default()).unwrap()
}

/// Options by which the service is at this URL.
pub(crate) fn at(url: &str) -> Options {
    Options {
        choices: ImportChoices { base_url: Some(url.to_owned()), ..ImportChoices::default() },
        ..Options::default()
    }
}

/// A document with the paths that are given, of version 3.1.
pub(crate) fn document(paths: Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Test", "version": "1" },
        "servers": [{ "url": "https://api.example.com/v1/" }],
        "security": [],
        "paths": paths,
    })
}

/// A document with one operation.
pub(crate) fn one(http: &str, path: &str, operation: Value) -> Value {
    document(json!({ path: { http: operation } }))
}

/// An operation that answers with that schema.
pub(crate) fn answering(schema: Value) -> Value {
    json!({ "responses": { "200": { "description": "OK", "content": { "application/json": { "schema": schema } } } } })
}

/// An operation that takes a body of that schema.
pub(crate) fn taking(schema: Value) -> Value {
    json!({
        "requestBody": { "required": true, "content": { "application/json": { "schema": schema } } },
        "responses": { "204": { "description": "Done" } },
    })
}

pub(crate) fn written(operation: &ImportedOperation) -> &EndpointFiles {
    match &operation.fate {
        ImportFate::Written(written) => written,
        other => panic!("{} {}: {other:?}", operation.http, operation.path),
    }
}

/// The one operation of a document, as an endpoint of a host.
pub(crate) fn endpoint(document: &Value) -> Endpoint {
    registered(written(&imported(document).operations[0]))
}

pub(crate) fn reason(document: &Value) -> String {
    match &imported(document).operations[0].fate {
        ImportFate::Failed(reason) => reason.clone(),
        other => panic!("{other:?}"),
    }
}

/// What a host makes of the files, with every variable set.
pub(crate) fn registered(written: &EndpointFiles) -> Endpoint {
    let own = &written.files[0];
    let section = Section::parse(Path::new(&own.name), &own.text, &|_: &str| Some("s3cret".to_owned())).unwrap();
    let (catalog, policy, recipes) = (Catalog::shipped(), MethodPolicy::default(), RecipeBook::default());
    let around = RegistrationContext {
        catalog: &catalog,
        policy: &policy,
        recipes: &recipes,
        overrides: &BTreeSet::new(),
        is_output_strict: false,
        is_http_open: true,
    };
    let beside = |path: &Path| {
        let file = written.files.iter().find(|file| path.ends_with(&file.name)).ok_or("it is not there")?;
        Ok(file.text.clone().into_bytes())
    };
    read(section, &around, &beside).unwrap_or_else(|problems| panic!("{problems}\n{}", own.text))
}
