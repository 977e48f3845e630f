//! What is known of a site between two visits: a line of JSON for each page.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One page as it was when it was last read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Where it was read.
    pub(super) url: String,
    /// The condition for asking again, word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    /// The other condition, word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) modified: Option<String>,
    /// Pages that it links to.
    #[serde(default)]
    pub(super) links: Vec<String>,
    /// Its items, with their grounding.
    #[serde(default)]
    pub(super) items: Vec<Value>,
}

/// The file beside `items` that pages are kept in.
pub(super) fn beside(items: &Path) -> PathBuf {
    items.with_extension("pages")
}

/// Pages of earlier visits by URL. None when there was no visit, and without those that cannot be read.
pub(super) fn read(items: &Path) -> HashMap<String, Kept> {
    let Ok(file) = File::open(beside(items)) else { return HashMap::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    let pages = lines.filter_map(|line| serde_json::from_str::<Kept>(&line).ok());
    pages.map(|page| (page.url.clone(), page)).collect()
}

/// Writes a new state of a site. Nothing of it is seen before [`Writer::finish`].
pub(super) struct Writer {
    items: Draft,
    pages: Draft,
    /// Bytes of items so far.
    pub(super) bytes: usize,
}

struct Draft {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Writer {
    pub(super) fn begin(items: &Path) -> io::Result<Self> {
        if let Some(folder) = items.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Self { items: Draft::begin(items)?, pages: Draft::begin(&beside(items))?, bytes: 0 })
    }

    /// Adds a page and its items.
    pub(super) fn add(&mut self, page: &Kept) -> io::Result<()> {
        for item in &page.items {
            self.bytes += self.items.line(item)?;
        }
        self.pages.line(page)?;
        Ok(())
    }

    /// Puts the new state in the place of the old one.
    pub(super) fn finish(self) -> io::Result<()> {
        self.items.finish()?;
        self.pages.finish()
    }
}

impl Draft {
    fn begin(path: &Path) -> io::Result<Self> {
        let file = File::create(path.with_extension(draft_extension(path)))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<usize> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        Ok(line.len())
    }

    /// Renames only what is different, so that an unchanged site is seen to be unchanged.
    fn finish(self) -> io::Result<()> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        let draft = self.path.with_extension(draft_extension(&self.path));
        match is_same(&draft, &self.path) {
            true => fs::remove_file(draft),
            false => fs::rename(draft, &self.path),
        }
    }
}

fn draft_extension(path: &Path) -> String {
    format!("{}-new", path.extension().unwrap_or_default().to_string_lossy())
}

fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (File::open(one), File::open(other)) else { return false };
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    loop {
        let (Ok(a), Ok(b)) = (one.fill_buf(), other.fill_buf()) else { return false };
        let length = a.len().min(b.len());
        if a[..length] != b[..length] || (length == 0 && a.len() != b.len()) {
            return false;
        }
        if length == 0 {
            return true;
        }
        one.consume(length);
        other.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sites/a.jsonl");
        let page = Kept { url: "https://e.org/".to_owned(), items: vec![json!({"name": "x"})], ..Kept::default() };
        let write = || {
            let mut writer = Writer::begin(&file).unwrap();
            writer.add(&page).unwrap();
            writer.finish().unwrap();
        };
        assert!(read(&file).is_empty());
        write();
        assert_eq!(read(&file)["https://e.org/"], page);
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"name\":\"x\"}\n");
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        write();
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before, "nothing has changed");
        fs::write(beside(&file), "{broken\n").unwrap();
        assert!(read(&file).is_empty());
    }
}
