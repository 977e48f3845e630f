//! `forecourt import`: what others describe, as files of a deployment.

mod definition;
mod document;
mod folder;
mod hub;
mod pairs;
mod server;
mod summary;

use forecourt_openapi::reimport::{ImportPlan, plan};
use forecourt_openapi::{Import as ImportedDocument, ImportChoices, ImportFate, Options, import};

use crate::args::{Import, ImportOpenapi, ImportWhat};
use crate::commands::printable::line;
use crate::output::{Failure, Outcome, print_json};
use folder::Disk;

/// Characters of an address on a line.
const SHOWN_CHARS_MAX: usize = 120;

/// Writes what was asked for.
pub(crate) async fn run(import: &Import) -> Outcome {
    match &import.what {
        ImportWhat::Openapi(openapi) => import_openapi(openapi).await,
        ImportWhat::Server(asked) => server::run(asked).await,
        ImportWhat::Hub(asked) => hub::run(asked).await,
    }
}

async fn import_openapi(asked: &ImportOpenapi) -> Outcome {
    let text = document::text(&asked.document).await?;
    let record = folder::record(&asked.out)?;
    let options = Options {
        address: document::address(&asked.document),
        is_rehosted: asked.functions.is_some(),
        choices: choices(asked),
        forgets_choices: asked.forget_choices,
        record: record.clone(),
    };
    let shown = line(&asked.document, SHOWN_CHARS_MAX);
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

/// What of the document is to be taken.
fn choices(asked: &ImportOpenapi) -> ImportChoices {
    ImportChoices {
        base_url: asked.base_url.clone(),
        tags: asked.tags.clone(),
        only: asked.only.clone(),
        except: asked.except.clone(),
        rename: asked.rename.iter().cloned().collect(),
        impact: asked.impact.iter().cloned().collect(),
    }
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
        marks if asked.strict && marks > 0 => Err(Failure::yours(format!("causes for review: {marks}"))),
        _ => Ok(()),
    }
}
