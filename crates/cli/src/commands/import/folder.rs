//! The folder that an import writes into: what is there, and what is written.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use forecourt_openapi::limits::RECORD_BYTES_MAX;
use forecourt_openapi::reimport::{FileChange, Folder, ImportPlan, ImportRecord, PlannedFile};

use crate::output::{Failure, Outcome};

/// The folders on disk.
pub(super) struct Disk<'a> {
    pub(super) endpoints: &'a Path,
    pub(super) functions: Option<&'a Path>,
}

impl Folder for Disk<'_> {
    fn endpoint(&self, name: &str) -> Option<String> {
        text(&self.endpoints.join(name))
    }

    fn function(&self, name: &str) -> Option<String> {
        text(&self.functions?.join(name))
    }
}

/// A file that is there. What is no text is there too, and nobody wrote it here.
fn text(path: &Path) -> Option<String> {
    match fs::read(path) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        // There, and not readable: taken for changed by hand, so that it is not replaced.
        Err(_) => Some(String::new()),
    }
}

/// What was imported into a folder before.
pub(super) fn record(folder: &Path) -> Result<ImportRecord, Failure> {
    let path = folder.join(ImportRecord::FILE);
    let wrong = |why: String| {
        Failure::yours(format!("{} cannot be read: {why}", path.display()))
            .hint("it says what was imported; without it, an import starts again and replaces nothing")
    };
    let mut text = String::new();
    match File::open(&path) {
        Ok(file) => {
            file.take(RECORD_BYTES_MAX as u64 + 1).read_to_string(&mut text).map_err(|e| wrong(e.to_string()))?
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ImportRecord::default()),
        Err(error) => return Err(wrong(error.to_string())),
    };
    ImportRecord::read(&text).map_err(|error| wrong(error.to_string()))
}

/// Whether there is anything against writing: a first import writes every file, or none when one is there already.
pub(super) fn check(plan: &ImportPlan, out: &Path) -> Outcome {
    let is_there = |file: &&PlannedFile| matches!(file.change, FileChange::Conflict(_));
    // Before anything is written: a first import into a folder with files of those names changes none of them.
    if let Some(file) = plan.files.iter().find(is_there).filter(|_| !plan.is_again) {
        let path = out.join(&file.name);
        return Err(Failure::yours(format!("{} is there already; nothing was written", path.display()))
            .hint("choose another folder, or replace what is there with --force"));
    }
    Ok(())
}

/// Writes what is to be written.
pub(super) fn write(plan: &ImportPlan, out: &Path, functions: Option<&Path>) -> Outcome {
    let endpoints = plan.files.iter().map(|file| (out, file));
    let functions = functions.into_iter().zip(&plan.functions);
    for (folder, file) in endpoints.chain(functions) {
        if let Some(text) = &file.text {
            put(folder, &file.name, text)?;
        }
    }
    put(out, ImportRecord::FILE, &plan.record.text())?;
    // Last: what is cut off before leaves a file too many, and loses none.
    let away = plan.files.iter().filter(|file| file.is_taken_away());
    away.map(|file| out.join(&file.name)).try_for_each(|path| {
        fs::remove_file(&path)
            .map_err(|error| Failure::yours(format!("{} cannot be taken away: {error}", path.display())))
    })
}

/// Writes a file, and the folder it lies in.
pub(super) fn put(folder: &Path, name: &str, text: &str) -> Outcome {
    let path = folder.join(name);
    let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be written: {error}", path.display()));
    fs::create_dir_all(folder).map_err(wrong)?;
    fs::write(&path, text).map_err(wrong)
}
