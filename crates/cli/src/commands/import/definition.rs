//! A file that defines something elsewhere, as an import writes it.

use std::collections::BTreeMap;

use forecourt_core::Glob;
use forecourt_openapi::reimport::ImportPlan;
use forecourt_openapi::{EndpointFiles, File, Import, ImportChoices, ImportFate, ImportNotes, ImportedOperation};

use super::summary;
use crate::commands::changes::ListChange;
use crate::output::{Failure, stderrln};

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

/// Says what changed since the list that was kept, if one was.
pub(super) fn print_changes(changes: Option<&[ListChange]>, since: &str) {
    let Some(changes) = changes else { return };
    stderrln!("since {since}:");
    changes.iter().for_each(|change| stderrln!("    {}", change.sentence()));
    if changes.is_empty() {
        stderrln!("    nothing changed");
    }
}

/// Says what becomes of the definition and of the list beside it.
pub(super) fn print_files(definition: &ImportPlan, folder: &str, list: &str, would: &str) {
    stderrln!();
    for file in &definition.files {
        stderrln!("{would}{:<9} {folder}/{}", summary::word(&file.change), file.name);
        summary::print_details(file);
    }
    stderrln!("{would}{:<9} {folder}/{list}", "written");
}
