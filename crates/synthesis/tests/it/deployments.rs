//! The deployments on which proposals are judged: two folders in `tests/judged`, and documents that are imported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_contract::endpoint::{self, RegistrationContext};
use forecourt_contract::{
    Catalog, Dispatcher, Endpoint, Failure, Handler, Invocation, MethodPolicy, RecipeBook, Registry, Rules, Scope,
};
use forecourt_openapi::{ImportChoices, Options, import};
use forecourt_settings::Section;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

/// Where the folders and the cases are.
pub(crate) fn judged() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judged")
}

/// A deployment by its name. `None`, where its document is none of ours and is not at hand.
pub(crate) fn deployment(name: &str) -> Option<Dispatcher> {
    match name {
        "shop" | "clinic" => Some(folder(&judged().join(name))),
        "workshop" => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            Some(imported(&root.join("examples/migration/1-wrap-and-expose/openapi.yaml")))
        }
        "verify" => forecourt_testkit::data("openapi/twilio_verify_v2.json").map(|file| imported(&file)),
        "twilio" => forecourt_testkit::data("openapi/twilio_api_v2010.json").map(|file| imported(&file)),
        other => panic!("no deployment is named {other}"),
    }
}

/// All scopes that any endpoint requires.
pub(crate) fn all_scopes(host: &Dispatcher) -> String {
    let endpoints = host.registry.iter().map(|registered| &registered.endpoint);
    let scopes: BTreeSet<&str> = endpoints.flat_map(|endpoint| &endpoint.required_scopes).map(Scope::as_str).collect();
    scopes.into_iter().collect::<Vec<_>>().join(",")
}

fn folder(folder: &Path) -> Dispatcher {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("endpoints")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let beside = |_: &Path| Err("no endpoint here has a schema beside it".to_owned());
    host(files.iter().map(|file| read(file, &std::fs::read_to_string(file).unwrap(), &beside)))
}

fn imported(document: &Path) -> Dispatcher {
    let base_url = Some("https://service.example".to_owned());
    let options = Options { choices: ImportChoices { base_url, ..ImportChoices::default() }, ..Options::default() };
    let imported = import(&std::fs::read(document).unwrap(), &options).unwrap();
    host(imported.operations.iter().filter_map(|operation| {
        let files = &operation.fate.written()?.files;
        let beside: BTreeMap<&str, &str> = files.iter().map(|file| (file.name.as_str(), file.text.as_str())).collect();
        let schema = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            beside.get(name).map(|text| text.as_bytes().to_vec()).ok_or_else(|| name.to_owned())
        };
        Some(read(Path::new(&files[0].name), &files[0].text, &schema))
    }))
}

fn read(name: &Path, text: &str, beside: &dyn Fn(&Path) -> Result<Vec<u8>, String>) -> Endpoint {
    let (catalog, policy, recipes) = (Catalog::shipped(), MethodPolicy::default(), RecipeBook::default());
    let section = Section::parse(name, text, &|_: &str| Some("value".to_owned())).unwrap();
    let read = endpoint::read(section, &RegistrationContext::new(&catalog, &policy, &recipes), beside);
    read.unwrap_or_else(|problems| {
        let told: Vec<&str> = problems.iter().map(|problem| problem.message()).collect();
        panic!("{}: {told:?}", name.display())
    })
}

fn host(endpoints: impl Iterator<Item = Endpoint>) -> Dispatcher {
    let mut registry = Registry::default();
    for endpoint in endpoints {
        registry.insert(Arc::new(endpoint), Arc::new(Nobody)).unwrap();
    }
    let rules = Rules { scope_required: false, ..Rules::default() };
    Dispatcher { catalog: Catalog::shipped(), registry, rules, ..Dispatcher::default() }.sealed()
}

/// Answers nothing: what is judged here are plans.
struct Nobody;

impl Handler for Nobody {
    fn call(&self, _: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        async { Ok(Value::Null) }.boxed()
    }
}
