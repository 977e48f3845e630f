//! What is written is what a host would take: each file is read back the way a deployment reads it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use forecourt_contract::endpoint::{RegistrationContext, read};
use forecourt_contract::limits::SCHEMA_BYTES_MAX;
use forecourt_contract::{Catalog, Endpoint, Failure, Handler, Invocation, MethodPolicy, RecipeBook, Registry};
use forecourt_settings::files::FILE_BYTES_MAX;
use forecourt_settings::{Problem, Problems, Section};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::Value;

use super::File;

/// A host that has the endpoints written so far.
#[derive(Default)]
pub(super) struct Trial {
    registry: Registry,
}

/// Answers nothing: nobody calls.
struct Nobody;

impl Handler for Nobody {
    fn call(&self, _: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        ready(Err(Failure::Crashed("nobody answers on trial".to_owned()))).boxed()
    }
}

impl Trial {
    /// Registers an endpoint out of its files.
    ///
    /// # Errors
    /// Why a host would not take it.
    pub(super) fn register(
        &mut self,
        files: &[File],
        variables: &BTreeMap<String, String>,
        catalog: &Catalog,
    ) -> Result<(), String> {
        let endpoint = endpoint(files, variables, catalog).map_err(|problems| said(&problems))?;
        self.registry.insert(Arc::new(endpoint), Arc::new(Nobody)).map_err(|fault| fault.to_string())
    }
}

fn said(problems: &Problems) -> String {
    problems.iter().map(|problem| problem.message().to_owned()).collect::<Vec<_>>().join("; ")
}

fn endpoint(files: &[File], variables: &BTreeMap<String, String>, catalog: &Catalog) -> Result<Endpoint, Problems> {
    if let Some(file) = files.first().filter(|file| file.text.len() > FILE_BYTES_MAX) {
        return Err(Problem::of_file(Path::new(&file.name), "it is too large").into());
    }
    let own = files.first().map(|file| (Path::new(&file.name), file.text.as_str())).unwrap_or((Path::new(""), ""));
    // Only the variables that the import asked for have a value: any other `${…}` in a document must fail here.
    let environment = |name: &str| variables.contains_key(name).then(|| "value".to_owned());
    let section = Section::parse(own.0, own.1, &environment)?;
    let (policy, recipes) = (MethodPolicy::default(), RecipeBook::default());
    let around = RegistrationContext {
        // Marked where it is used; a deployment says whether it is.
        is_http_open: true,
        ..RegistrationContext::new(catalog, &policy, &recipes)
    };
    let beside = |path: &Path| {
        let file = files.iter().find(|file| path.ends_with(&file.name));
        let text = file.map(|file| file.text.clone().into_bytes()).ok_or_else(|| "it is not there".to_owned())?;
        (text.len() <= SCHEMA_BYTES_MAX).then_some(text).ok_or_else(|| "it is too large".to_owned())
    };
    read(section, &around, &beside)
}
