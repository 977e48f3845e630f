//! What sources look like from outside, to see that they have changed.

use std::collections::BTreeMap;

use super::files::files;
use super::{ContentSource, SkippedItem, SourceError};
use crate::item::hash;

/// What a set of sources looks like from outside: names, sizes and times of all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

/// A set of sources as seen without reading any content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLook {
    /// What the files that are read look like. It changes when a file is added, removed, renamed or written.
    pub fingerprint: Fingerprint,
    /// The files that are left out, and why: without those in which nothing will be found.
    pub left_out: Vec<SkippedItem>,
    /// Labels of sources with documents and without a URL, to which nothing can lead, and how many documents
    /// each has.
    pub without_url: Vec<(String, usize)>,
}

/// Looks at sources. Reads no content. Fails when a source is missing.
pub fn look(sources: &[ContentSource]) -> Result<SourceLook, SourceError> {
    let files = files(sources)?;
    let mut seen = 0;
    let mut without_url: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files.read {
        // Not its path: the same deployment can be spelled in many ways.
        let origin = file.origin().to_be_bytes();
        let (bytes, modified) = (file.bytes.to_be_bytes(), file.modified_ns.to_be_bytes());
        seen = hash(&[&u64::to_be_bytes(seen), &origin, &bytes, &modified]);
        if file.url.is_none() && file.format.is_document() {
            *without_url.entry(&file.source).or_default() += 1;
        }
    }
    let without_url = without_url.into_iter().map(|(label, count)| (label.to_owned(), count)).collect();
    Ok(SourceLook { fingerprint: Fingerprint(seen), left_out: files.left_out, without_url })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn a_fingerprint_changes_with_names_sizes_and_times() {
        let dir = tempfile::tempdir().unwrap();
        let sources = [ContentSource::new(dir.path())];
        let mut seen = vec![look(&sources).unwrap().fingerprint];
        let mut check = |changed: bool| {
            let now = look(&sources).unwrap().fingerprint;
            assert_eq!(!seen.contains(&now), changed);
            seen.push(now);
        };
        let file = dir.path().join("a.jsonl");
        fs::write(&file, "x").unwrap();
        check(true);
        check(false);
        let later = UNIX_EPOCH + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(&file).unwrap().set_modified(later).unwrap();
        check(true);
        fs::rename(&file, dir.path().join("b.jsonl")).unwrap();
        check(true);
        fs::write(dir.path().join("ignored.png"), "x").unwrap();
        check(false);
    }
}
