//! Where the index of one agent lies: usually in one folder, and beside it while another one is made for other
//! settings.
//!
//! Two houses after one another answer from one index, if they want the same of it. Where the language, the model or
//! the vocabulary is another one, the index is made aside while the old one is still asked, and the old one goes once
//! nobody asks it. A start goes on with the one that was made last.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use forecourt_core::Handle;
use forecourt_index::{Error, Library, Options};

/// Indexes of one agent at once: the one that is asked, and those that earlier questions still look at.
pub(crate) const SLOTS_MAX: usize = 8;

/// The file that says from what the index in a folder was made.
pub(crate) fn mark_file(folder: &Path) -> PathBuf {
    folder.with_extension("made-from")
}

/// The hash of the settings in what such a file says.
pub(crate) fn settings_in(mark: &str) -> Option<u64> {
    u64::from_str_radix(mark.split_whitespace().nth(1)?, 16).ok()
}

/// The folders in which the index of one agent may lie.
pub(crate) struct IndexSlots(Vec<PathBuf>);

impl IndexSlots {
    /// The slots of an agent: its usual folder, then the folders aside.
    pub(crate) fn new(indexes: &Path, handle: &Handle) -> Self {
        // No agent has a handle that begins with a dot.
        let aside = |number: usize| indexes.join(format!(".aside-{number}")).join(handle.as_str());
        Self(std::iter::once(indexes.join(handle.as_str())).chain((1..SLOTS_MAX).map(aside)).collect())
    }

    /// The usual one.
    pub(crate) fn first(&self) -> &PathBuf {
        &self.0[0]
    }

    /// Opens the index that suits these options: the one that is open already, else the one that was made for them, else
    /// an empty one aside if another one is asked.
    ///
    /// # Errors
    /// It can't be opened, another process has it, or every slot is in use.
    pub(crate) fn open(&self, options: &Options, settings_hash: u64) -> Result<(PathBuf, Arc<Library>), Error> {
        for folder in &self.0 {
            if let Some(library) = Library::opened(folder, options) {
                return Ok((folder.clone(), library));
            }
        }
        let free: Vec<&PathBuf> = self.0.iter().filter(|folder| !Library::is_open(folder)).collect();
        let is_asked = free.len() < self.0.len();
        let Some(folder) = chosen(&free, settings_hash, is_asked) else {
            return Err(Error::InUse(self.first().clone()));
        };
        if is_asked && made_for(folder) != Some(settings_hash) {
            // What is in it was made for other settings, and nobody would wait until it is right.
            clear(folder);
        }
        // Opened before the others are removed: when it fails, they are still there.
        let library = Library::shared(folder, options)?;
        for other in free.iter().filter(|other| **other != folder && other.exists()) {
            clear(other);
        }
        Ok((folder.clone(), library))
    }
}

/// The folder to open: made for these settings, else the usual one, or while that is asked any other; at a start the
/// one that was made last.
fn chosen<'a>(free: &[&'a PathBuf], settings_hash: u64, is_asked: bool) -> Option<&'a PathBuf> {
    let fitting = free.iter().find(|folder| made_for(folder) == Some(settings_hash));
    // From behind, since `max_by_key` takes the last of equals: where none was ever made, the usual folder.
    let last = || free.iter().rev().max_by_key(|folder| made_at(folder));
    let other = || if is_asked { free.first() } else { last() };
    fitting.or_else(other).copied()
}

fn made_for(folder: &Path) -> Option<u64> {
    settings_in(&fs::read_to_string(mark_file(folder)).ok()?)
}

/// When it was made; `None` before everything: it never was.
fn made_at(folder: &Path) -> Option<SystemTime> {
    fs::metadata(mark_file(folder)).and_then(|mark| mark.modified()).ok()
}

/// Removes what is there. An index is worth nothing by itself.
fn clear(folder: &Path) {
    let _ = fs::remove_file(mark_file(folder));
    if let Err(error) = fs::remove_dir_all(folder)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, index = %folder.display(), "an index that nobody uses any more can't be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forecourt_core::Language;

    fn options(language: &str) -> Options {
        Options { language: Some(Language::parse(language).unwrap()), ..Options::default() }
    }

    fn slots(folder: &Path) -> IndexSlots {
        IndexSlots::new(folder, &Handle::parse("chef").unwrap())
    }

    #[test]
    fn other_settings_get_an_index_of_their_own_while_the_old_one_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let slots = slots(folder.path());
        let (at, english) = slots.open(&options("en"), 1).unwrap();
        assert_eq!(at, folder.path().join("chef"));
        let (same, again) = slots.open(&options("en"), 7).unwrap();
        assert!(same == at && Arc::ptr_eq(&english, &again), "other content is no other index");
        let (aside, german) = slots.open(&options("de"), 2).unwrap();
        assert_ne!(aside, at);
        fs::write(mark_file(&aside), format!("0 {:016x} 0\n", 2)).unwrap();
        assert!(at.exists(), "it is asked");
        drop((english, again));
        // The same house again, now that nobody asks the old one.
        assert_eq!(slots.open(&options("de"), 2).unwrap().0, aside);
        drop(german);
        assert_eq!(slots.open(&options("de"), 2).unwrap().0, aside, "a start goes on with the one that was made last");
        assert!(!at.exists(), "and the old one is gone");
    }

    #[test]
    fn every_slot_may_be_in_use_and_not_one_more() {
        let folder = tempfile::tempdir().unwrap();
        let slots = slots(folder.path());
        let languages = ["en", "de", "fr", "es", "it", "nl", "pt", "sv"];
        let open: Vec<_> = (0_u64..).zip(languages).map(|(at, language)| slots.open(&options(language), at)).collect();
        assert!(open.len() == SLOTS_MAX && open.iter().all(Result::is_ok));
        assert!(matches!(slots.open(&options("da"), 9), Err(Error::InUse(_))));
        drop(open);
        slots.open(&options("da"), 9).unwrap();
    }
}
