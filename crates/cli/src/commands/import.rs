//! `forecourt import`: what others describe, as files of a deployment.

mod definition;
mod folder;
mod hub;
mod pairs;
mod server;
mod summary;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use forecourt_openapi::limits::DOCUMENT_BYTES_MAX;
use forecourt_openapi::reimport::{ImportPlan, plan};
use forecourt_openapi::{Import as ImportedDocument, ImportFate, Options, import};

use crate::args::{Import, ImportOpenapi, ImportWhat};
use crate::output::{Failure, Outcome, print_json};
use folder::Disk;

/// Writes what was asked for.
pub(crate) async fn run(import: &Import) -> Outcome {
    match &import.what {
        ImportWhat::Openapi(openapi) => import_openapi(openapi),
        ImportWhat::Server(asked) => server::run(asked).await,
        ImportWhat::Hub(asked) => hub::run(asked).await,
    }
}

fn import_openapi(asked: &ImportOpenapi) -> Outcome {
    let text = text_of(&asked.file)?;
    let record = folder::record(&asked.out)?;
    let options =
        Options { base_url: asked.base_url.clone(), is_rehosted: asked.functions.is_some(), record: record.clone() };
    let shown = asked.file.display();
    let imported = import(&text, &options).map_err(|error| Failure::yours(format!("{shown}: {error}")))?;
    let disk = Disk { endpoints: &asked.out, functions: asked.functions.as_deref() };
    let plan = plan(&imported, record, &disk, asked.force);
    folder::check(&plan, &asked.out)?;
    if !asked.dry_run {
        folder::write(&plan, &asked.out, asked.functions.as_deref())?;
    }
    match asked.json {
        true => print_json(&summary::json(&imported, &plan, asked.dry_run))?,
        false => summary::print(&imported, &plan, asked),
    }
    ended(&imported, &plan, asked)
}

/// The bytes of the document, one more than may be at most.
fn text_of(file: &Path) -> Result<Vec<u8>, Failure> {
    let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be read: {error}", file.display()));
    let mut text = Vec::new();
    // One more than may be, so that `import` tells that it is too long, and no endless file is read.
    let limit = DOCUMENT_BYTES_MAX as u64 + 1;
    File::open(file).map_err(wrong)?.take(limit).read_to_end(&mut text).map_err(wrong)?;
    Ok(text)
}

/// What an exit code says: whether there is something left to do that was not asked for.
fn ended(imported: &ImportedDocument, plan: &ImportPlan, asked: &ImportOpenapi) -> Outcome {
    // Failures before conflicts: a script sees the worst by the exit code.
    let failed = imported.operations.iter().filter(|found| matches!(found.fate, ImportFate::Failed(_))).count();
    if failed > 0 {
        return Err(Failure::yours(format!(
            "{failed} of {} operations could not become endpoints",
            imported.operations.len()
        )));
    }
    let conflicts = plan.conflicts().count();
    if conflicts > 0 {
        return Err(Failure::yours(format!(
            "{conflicts} files need a person: the document and somebody changed the same"
        )));
    }
    match summary::reviews(imported) {
        marks if asked.strict && marks > 0 => Err(Failure::yours(format!("{marks} places are to be reviewed"))),
        _ => Ok(()),
    }
}
