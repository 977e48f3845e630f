//! What a backup keeps: the files of the deployment, and of the data folder what can't be made again.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::manifest::{DATA, DEPLOYMENT, LeftOut};
use super::open;
use crate::output::Failure;
use forecourt_admin::LAST_BACKUP_FILE;

/// Files of one backup.
const FILES_MAX: usize = 1_000_000;
/// What a SQLite database begins with.
const SQLITE: &[u8; 16] = b"SQLite format 3\0";
/// What of a data folder is made again by whoever serves it.
const MADE_AGAIN: [(&str, &str); 6] = [
    ("index", "made from content"),
    ("manual", "the program carries it"),
    ("sites", "read from the web again"),
    ("serving.json", "written by who serves"),
    ("serving.lock", "written by who serves"),
    (LAST_BACKUP_FILE, "written by backups"),
];
/// What SQLite keeps beside a database: a copy of the database holds what is in them.
const BESIDE_DATABASES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What is kept, and what is not.
#[derive(Default)]
pub(super) struct BackupContents {
    pub(super) files: Vec<ChosenFile>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A file that is kept.
pub(super) struct ChosenFile {
    /// Where it is.
    pub(super) from: PathBuf,
    /// Its path in the archive.
    pub(super) path: String,
    /// Whether it is a database, which others may write to meanwhile.
    pub(super) is_database: bool,
}

impl BackupContents {
    /// Looks at both folders. The data folder may be within that of the deployment.
    pub(super) fn find(deployment: &Path, data: &Path) -> Result<Self, Failure> {
        let mut chosen = Self::default();
        let data = data.canonicalize().ok();
        chosen.walk(deployment, Path::new(""), &mut |place, path| match data.as_deref() == Some(path) {
            true => Choice::Skip,
            false if place.ends_with("__pycache__") => Choice::Skip,
            false => Choice::Keep(DEPLOYMENT),
        })?;
        if let Some(data) = &data {
            chosen.walk(data, Path::new(""), &mut |place, _| of_data(place))?;
        }
        Ok(chosen)
    }

    fn walk(
        &mut self,
        folder: &Path,
        place: &Path,
        choose: &mut dyn FnMut(&Path, &Path) -> Choice,
    ) -> Result<(), Failure> {
        let wrong = |error: std::io::Error| Failure::yours(format!("{}: {error}", folder.display()));
        let mut entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(wrong)?;
        // Two backups of the same files have them in the same order.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, place) = (entry.path(), place.join(entry.file_name()));
            let kind = entry.file_type().map_err(wrong)?;
            // The same path as the data folder's, which was followed too.
            let named = path.canonicalize().unwrap_or_else(|_| path.clone());
            let root = match choose(&place, &named) {
                Choice::Keep(root) => root,
                Choice::Skip => continue,
                Choice::LeaveOut(why) => {
                    self.leave_out(&place, why);
                    continue;
                }
            };
            if kind.is_dir() {
                self.walk(&path, &place, choose)?;
            } else if named.is_file() {
                self.keep(root, path, &place)?;
            } else {
                self.leave_out(&place, "it is no file");
            }
        }
        Ok(())
    }

    fn keep(&mut self, root: &str, from: PathBuf, place: &Path) -> Result<(), Failure> {
        if self.files.len() >= FILES_MAX {
            return Err(Failure::yours(format!("a backup holds at most {FILES_MAX} files")));
        }
        let Some(text) = place.to_str() else {
            self.leave_out(place, "its name is no text");
            return Ok(());
        };
        let is_database = is_database(&from);
        self.files.push(ChosenFile { path: format!("{root}/{text}"), from, is_database });
        Ok(())
    }

    fn leave_out(&mut self, place: &Path, why: &str) {
        self.left_out.push(LeftOut { path: place.display().to_string(), why: why.to_owned() });
    }
}

/// What becomes of a file or a folder.
enum Choice {
    Keep(&'static str),
    /// Nothing to say about.
    Skip,
    LeaveOut(&'static str),
}

fn of_data(place: &Path) -> Choice {
    let name = place.to_string_lossy();
    if let Some((_, why)) = MADE_AGAIN.iter().find(|(made, _)| *made == name) {
        return Choice::LeaveOut(why);
    }
    if BESIDE_DATABASES.iter().any(|ending| name.ends_with(ending)) || name.ends_with(".lock") {
        return Choice::Skip;
    }
    Choice::Keep(DATA)
}

fn is_database(path: &Path) -> bool {
    let mut begins = [0; SQLITE.len()];
    open(path).is_ok_and(|mut file| file.read_exact(&mut begins).is_ok() && begins == *SQLITE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_truth_is_kept_and_what_can_be_made_again_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        for name in ["forecourt.toml", "agents/chef.toml", ".forecourt/store.key", ".forecourt/records/segment-1.log"] {
            write(name, b"x");
        }
        for name in [".forecourt/manual/a.md", ".forecourt/serving.json", ".forecourt/index/chef/words/a.term"] {
            write(name, b"x");
        }
        write(".forecourt/forecourt.db", b"SQLite format 3\0...");
        write(".forecourt/forecourt.db-wal", b"x");
        write(".forecourt/pushed/chef.db", b"SQLite format 3\0...");
        std::os::unix::fs::symlink("/nowhere", folder.path().join("agents/gone.toml")).unwrap();
        let chosen = BackupContents::find(folder.path(), &folder.path().join(".forecourt")).unwrap();
        let kept: Vec<(&str, bool)> = chosen.files.iter().map(|file| (file.path.as_str(), file.is_database)).collect();
        let mut kept: Vec<_> = kept;
        kept.sort_unstable();
        assert_eq!(
            kept,
            [
                ("data/forecourt.db", true),
                ("data/pushed/chef.db", true),
                ("data/records/segment-1.log", false),
                ("data/store.key", false),
                ("deployment/agents/chef.toml", false),
                ("deployment/forecourt.toml", false),
            ]
        );
        let left: Vec<&str> = chosen.left_out.iter().map(|left| left.path.as_str()).collect();
        assert_eq!(left, ["agents/gone.toml", "index", "manual", "serving.json"]);
    }
}
