//! A folder that looks as a deployment's would after a change, so that the change can be checked before it is made.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use forecourt_admin::editor::{EditError, Texts, changed_files};
use tempfile::TempDir;

use super::limits::NEIGHBOURS_MAX;

/// The folder of drafts in the data folder.
const DRAFTS: &str = "drafts";
/// What a deployment's folder is called where it has no name, such as `/`.
const UNNAMED: &str = "deployment";

/// A draft on disk, which goes with this value.
pub(super) struct Draft {
    folder: PathBuf,
    _place: TempDir,
}

impl Draft {
    /// Makes one of `folder` with the files that differ between the two states as they are in the second. All other files
    /// are links to those of the deployment. Blocks.
    pub(super) fn make(folder: &Path, data: &Path, before: &Texts, now: &Texts) -> Result<Self, EditError> {
        Self::try_make(folder, data, before, now)
            .map_err(|error| EditError::Unavailable(format!("a draft can't be made in the data folder: {error}")))
    }

    fn try_make(folder: &Path, data: &Path, before: &Texts, now: &Texts) -> std::io::Result<Self> {
        let drafts = data.join(DRAFTS);
        fs::create_dir_all(&drafts)?;
        let place = tempfile::Builder::new().prefix("draft-").tempdir_in(&drafts)?;
        let folder = folder.canonicalize()?;
        let name = folder.file_name().map_or_else(|| UNNAMED.into(), ToOwned::to_owned);
        // Settings may name files beside the folder, as `../content`.
        if let Some(beside) = folder.parent() {
            let neighbours = fs::read_dir(beside)?.flatten().filter(|entry| entry.file_name() != name);
            for entry in neighbours.take(NEIGHBOURS_MAX) {
                symlink(entry.path(), place.path().join(entry.file_name()))?;
            }
        }
        let draft = place.path().join(name);
        let changed = changed_files(before, now);
        let changed: Vec<&Path> = changed.iter().map(Path::new).collect();
        mirror(&folder, &draft, Path::new(""), &changed, &data.canonicalize()?)?;
        for name in changed {
            let Some(text) = name.to_str().and_then(|name| now.get(name)) else { continue };
            let path = draft.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&draft))?;
            fs::write(path, text)?;
        }
        Ok(Self { folder: draft, _place: place })
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Links everything in a folder but what is changed; folders with a change in them are folders again.
fn mirror(from: &Path, to: &Path, inside: &Path, changed: &[&Path], data: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten() {
        let (path, inside) = (entry.path(), inside.join(entry.file_name()));
        let to = to.join(entry.file_name());
        // The data folder holds this very draft.
        if path == data || changed.contains(&inside.as_path()) {
            continue;
        }
        let has_changed = changed.iter().any(|name| name.starts_with(&inside));
        match has_changed && path.is_dir() {
            true => mirror(&path, &to, &inside, changed, data)?,
            false => symlink(&path, &to)?,
        }
    }
    Ok(())
}
