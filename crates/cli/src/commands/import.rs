//! `forecourt import`: what others describe, as files of a deployment.

mod summary;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use forecourt_openapi::limits::DOCUMENT_BYTES_MAX;
use forecourt_openapi::{File as EndpointFiles, Import as ImportedOperation, ImportFate, Options, import};

use crate::args::{Import, ImportOpenapi, ImportWhat};
use crate::output::{Failure, Outcome, print_json};

/// Writes what was asked for.
pub(crate) fn run(import: &Import) -> Outcome {
    match &import.what {
        ImportWhat::Openapi(openapi) => import_openapi(openapi),
    }
}

fn import_openapi(asked: &ImportOpenapi) -> Outcome {
    let text = text_of(&asked.file)?;
    let options = Options { base_url: asked.base_url.clone(), is_rehosted: asked.functions.is_some() };
    let shown = asked.file.display();
    let imported = import(&text, &options).map_err(|fault| Failure::yours(format!("{shown}: {fault}")))?;
    write(&imported, asked)?;
    match asked.json {
        true => print_json(&summary::json(&imported))?,
        false => summary::print(&imported, &asked.out),
    }
    ended(&imported, asked)
}

/// The bytes of the document, one more than may be at most.
fn text_of(file: &Path) -> Result<Vec<u8>, Failure> {
    let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be read: {error}", file.display()));
    let mut text = Vec::new();
    let limit = DOCUMENT_BYTES_MAX as u64 + 1;
    File::open(file).map_err(wrong)?.take(limit).read_to_end(&mut text).map_err(wrong)?;
    Ok(text)
}

/// Writes every file, or none when one is there already.
fn write(imported: &ImportedOperation, asked: &ImportOpenapi) -> Outcome {
    let endpoints = imported.operations.iter().filter_map(|found| found.fate.written()).flat_map(|found| &found.files);
    let functions = asked.functions.iter().zip(&imported.stubs);
    let files: Vec<(&PathBuf, &EndpointFiles)> = endpoints.map(|file| (&asked.out, file)).chain(functions).collect();
    let there = files.iter().map(|(folder, file)| folder.join(&file.name)).find(|path| path.symlink_metadata().is_ok());
    if let Some(path) = there.filter(|_| !asked.force) {
        return Err(Failure::yours(format!("{} is there already; nothing was written", path.display()))
            .hint("choose another folder, or replace what is there with --force"));
    }
    for (folder, file) in files {
        let path = folder.join(&file.name);
        let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be written: {error}", path.display()));
        fs::create_dir_all(folder).map_err(wrong)?;
        fs::write(&path, &file.text).map_err(wrong)?;
    }
    Ok(())
}

/// What an exit code says: whether there is something left to do that was not asked for.
fn ended(imported: &ImportedOperation, asked: &ImportOpenapi) -> Outcome {
    let failed = imported.operations.iter().filter(|found| matches!(found.fate, ImportFate::Failed(_))).count();
    if failed > 0 {
        return Err(Failure::yours(format!(
            "{failed} of {} operations could not become endpoints",
            imported.operations.len()
        )));
    }
    match summary::reviews(imported) {
        marks if asked.strict && marks > 0 => Err(Failure::yours(format!("{marks} places are to be reviewed"))),
        _ => Ok(()),
    }
}
