//! A file that defines something elsewhere, as an import writes it.

use std::collections::BTreeMap;

use forecourt_core::Glob;
use forecourt_openapi::{EndpointFiles, File, Import, ImportChoices, ImportFate, ImportNotes, ImportedOperation};

use crate::output::Failure;

/// A definition as an import of one file, so that what people edit in it stays. `what` says what it defines.
pub(super) fn as_import(what: &str, name: &str, version: &str, file: File) -> Import {
    let files =
        EndpointFiles { method: String::new(), path: String::new(), files: vec![file], notes: ImportNotes::default() };
    let operation = ImportedOperation {
        http: what.to_owned(),
        path: name.to_owned(),
        id: String::new(),
        fate: ImportFate::Written(files),
    };
    Import {
        title: name.to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
        operations: vec![operation],
        choices: ImportChoices::default(),
        causes: Vec::new(),
        variables: BTreeMap::new(),
        losses: Vec::new(),
        stubs: None,
    }
}

/// The patterns of a flag.
pub(super) fn globs(texts: &[String], flag: &str) -> Result<Vec<Glob>, Failure> {
    let glob = |text: &String| text.parse().map_err(|error| Failure::usage(format!("{flag} `{text}`: {error}")));
    texts.iter().map(glob).collect()
}
