//! `forecourt export`: what a deployment publishes, as files.

mod openapi;

use std::fs;
use std::path::{Path, PathBuf};

use forecourt::{Running, Storage, data_folder};
use forecourt_surface::PublishedDocument;
use tokio_util::sync::CancellationToken;

use crate::args::{Export, ExportFiles, ExportWhat, Place};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// The port that URLs need not name: exported documents speak of the domain, not of a listener.
const HTTPS_PORT: u16 = 443;

/// Writes what was asked for.
pub(crate) async fn run(export: Export) -> Outcome {
    match export.what {
        ExportWhat::Cards(cards) => export_cards(&cards).await,
        ExportWhat::Registry(registry) => export_registry(&registry).await,
        ExportWhat::Openapi(asked) => openapi::run(&asked),
    }
}

/// Writes every document that is the same for every caller, if `serve` would publish all of them.
async fn export_cards(export: &ExportFiles) -> Outcome {
    let documents = started(&export.place).await?.documents()?;
    let written = write_all(&export.out, &documents)?;
    match export.json {
        true => print_json(&written),
        false => {
            written.iter().for_each(|file| stdoutln!("{}", file.display()));
            Ok(())
        }
    }
}

/// Writes what registries are told, and says what to do with it.
async fn export_registry(export: &ExportFiles) -> Outcome {
    let running = started(&export.place).await?;
    let domain = running.host().site().domain.clone();
    let entries = running.registry_entries()?;
    let documents: Vec<PublishedDocument> = entries.iter().map(|entry| entry.document.clone()).collect();
    let written = write_all(&export.out, &documents)?;
    if domain.is_local() {
        stderrln!(
            "note: {domain} is this machine's own name: no registry takes it. Set `domain` to one of yours first"
        );
    }
    if export.json {
        return print_json(&written);
    }
    let mut said = "";
    for (file, entry) in written.iter().zip(&entries) {
        if said != entry.hint {
            said = entry.hint;
            stdoutln!("{said}:");
        }
        stdoutln!("  {}", file.display());
    }
    Ok(())
}

/// Builds the deployment without its store, which may be another process's, so that its protocols can be asked.
async fn started(place: &Place) -> Result<Running, Failure> {
    let mut deployment = super::load(place)?;
    // The files go onto another web server, which is at the usual port.
    deployment.publish_https_port(HTTPS_PORT);
    let data = data_folder::make(deployment.data_folder())?;
    let house = deployment.with_data_folder(&data).build()?;
    let stop = CancellationToken::new();
    let started = Running::start(house, Storage::Signing(data), stop.clone()).await;
    // Only what it publishes is wanted: nothing is to run on.
    stop.cancel();
    Ok(started?)
}

/// Writes documents below a folder, and says into which files.
fn write_all(out: &Path, documents: &[PublishedDocument]) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::with_capacity(documents.len());
    for document in documents {
        let file = file_of(out, document)?;
        write(&file, document)?;
        written.push(file);
    }
    Ok(written)
}

/// The file of a document: its path below `out`, never above or beside it.
fn file_of(out: &Path, document: &PublishedDocument) -> Result<PathBuf, Failure> {
    let segments = document.path.strip_prefix('/').unwrap_or(&document.path).split('/');
    let mut file = out.to_path_buf();
    for segment in segments {
        // Paths come from protocols and handles: none may lead out of the folder.
        if segment.is_empty() || segment.starts_with("..") || segment.contains(['\\', '\0']) {
            return Err(Failure::ours(format!("{} can't be the name of a file", document.path)));
        }
        file.push(segment);
    }
    Ok(file)
}

fn write(file: &Path, document: &PublishedDocument) -> Outcome {
    let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be written: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    fs::write(file, &document.body).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(path: &str) -> Option<PathBuf> {
        file_of(Path::new("out"), &PublishedDocument { path: path.to_owned(), body: Vec::new().into() }).ok()
    }

    #[test]
    fn documents_stay_below_the_folder() {
        assert_eq!(placed("/.well-known/x.json"), Some(Path::new("out/.well-known/x.json").to_path_buf()));
        for path in ["/../x", "/a/../../x", "//x", "/", "/a\\..", "/a\0"] {
            assert_eq!(placed(path), None, "{path}");
        }
    }
}
