//! What is known of a site between two visits: a line of JSON for each page.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use forecourt_egress::Validators;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::VISIT_TIME_MAX;

/// One page as it was when it was last read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptPage {
    /// Where it was read.
    pub(crate) url: String,
    /// For asking again.
    #[serde(default)]
    pub(crate) validators: Validators,
    /// The address that it gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) canonical: Option<String>,
    /// Pages that it links to.
    #[serde(default)]
    pub(crate) links: Vec<String>,
    /// Its items, with their grounding.
    #[serde(default)]
    pub(crate) items: Vec<Value>,
}

/// The file beside `items` that pages are kept in.
pub(crate) fn beside(items: &Path) -> PathBuf {
    items.with_extension("pages")
}

/// The file of the pages that an unfinished visit had read.
fn cut_off(items: &Path) -> PathBuf {
    items.with_extension("pages-cut")
}

/// The pages of an earlier visit. They stay in their file until they are wanted; only the place of each is in memory.
#[derive(Default)]
pub(crate) struct Before {
    file: Option<BufReader<File>>,
    at: HashMap<String, u64>,
}

/// As much of a page as tells it from others.
#[derive(Deserialize)]
struct PageKey {
    url: String,
}

impl Before {
    /// Finds the pages. There are none without a visit, and none of those that cannot be read.
    pub(crate) fn open(items: &Path) -> Self {
        Self::of(&beside(items))
    }

    /// The pages of a visit that broke off within the longest time of a visit, with a daemon that was killed
    /// or stopped: they need not be read again. Puts aside what it had written, so that another one can begin.
    pub(crate) fn of_cut_off(items: &Path) -> io::Result<Self> {
        let (cut, draft) = (cut_off(items), Draft::path_of(&beside(items)));
        let age = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok()?.elapsed().ok();
        // A page that was read longer ago than a visit may last is asked for again.
        if age(&cut).is_some_and(|age| age > VISIT_TIME_MAX) {
            fs::remove_file(&cut)?;
        }
        if age(&draft).is_some_and(|age| age <= VISIT_TIME_MAX) {
            let mut whole = File::options().append(true).create(true).open(&cut)?;
            // The process may have been killed within a line: the newline ends it, and it is passed over when it is
            // read.
            whole.write_all(b"\n")?;
            io::copy(&mut File::open(&draft)?, &mut whole)?;
            whole.sync_all()?;
            fs::remove_file(&draft)?;
        }
        Ok(Self::of(&cut))
    }

    fn of(path: &Path) -> Self {
        let mut before = Self { file: File::open(path).ok().map(BufReader::new), at: HashMap::new() };
        let (mut at, mut line) = (0, Vec::new());
        while let Some(length) = before.line(&mut line) {
            if let Ok(PageKey { url }) = serde_json::from_slice(&line) {
                // Where each page begins, and not the page: a site may have half a gigabyte of them.
                before.at.insert(url, at);
            }
            at += length;
        }
        before
    }

    /// A page, once.
    pub(crate) fn take(&mut self, url: &str) -> Option<KeptPage> {
        let at = self.at.remove(url)?;
        self.read(at)
    }

    /// The pages that were not taken, by their URLs.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.at.keys().map(String::as_str)
    }

    /// The pages that were not taken, in the order in which they were kept.
    pub(crate) fn rest(&mut self) -> impl Iterator<Item = KeptPage> {
        let mut places: Vec<u64> = self.at.values().copied().collect();
        places.sort_unstable();
        places.into_iter().filter_map(move |at| self.read(at))
    }

    fn read(&mut self, at: u64) -> Option<KeptPage> {
        let mut line = Vec::new();
        self.file.as_mut()?.seek(SeekFrom::Start(at)).ok()?;
        self.line(&mut line)?;
        serde_json::from_slice(&line).ok()
    }

    /// Reads on to the end of a line, and gives its length. `None` at the end.
    fn line(&mut self, line: &mut Vec<u8>) -> Option<u64> {
        line.clear();
        let length = self.file.as_mut()?.read_until(b'\n', line).ok()?;
        (length > 0).then_some(length as u64)
    }
}

/// Writes a new state of a site. Nothing of it is seen before [`Writer::finish`].
pub(crate) struct Writer {
    items: Draft,
    pages: Draft,
    /// Bytes of pages for which there is room.
    room: usize,
}

struct Draft {
    path: PathBuf,
    file: BufWriter<File>,
    suffix: &'static str,
}

impl Writer {
    /// Begins a state of at most `bytes_max`, counted as pages are kept.
    pub(crate) fn begin(items: &Path, bytes_max: usize) -> io::Result<Self> {
        if let Some(folder) = items.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Self { items: Draft::begin(items)?, pages: Draft::begin(&beside(items))?, room: bytes_max })
    }

    /// Adds a page and its items. Says whether there was room for it.
    pub(crate) fn add(&mut self, page: &KeptPage) -> io::Result<bool> {
        let line = line(page)?;
        let Some(room) = self.room.checked_sub(line.len()) else { return Ok(false) };
        self.room = room;
        self.pages.file.write_all(&line)?;
        // Flushed for each page, so that a process that is killed loses no more than the page it was reading.
        self.pages.file.flush()?;
        for item in &page.items {
            self.items.file.write_all(&self::line(item)?)?;
        }
        Ok(true)
    }

    /// Hands on what was found so far, and behind it the items of pages that were not met yet. The visit goes on.
    pub(crate) fn publish(&mut self, rest: impl Iterator<Item = KeptPage>) -> io::Result<()> {
        self.items.file.flush()?;
        let mut part = Draft::begin_as(&self.items.path, "part")?;
        io::copy(&mut File::open(Draft::path_of(&self.items.path))?, &mut part.file)?;
        for page in rest {
            for item in &page.items {
                part.file.write_all(&line(item)?)?;
            }
        }
        part.finish()
    }

    /// Puts the new state in the place of the old one.
    pub(crate) fn finish(self) -> io::Result<()> {
        let cut = cut_off(&self.items.path);
        self.items.finish()?;
        self.pages.finish()?;
        if cut.exists() { fs::remove_file(cut) } else { Ok(()) }
    }

    /// Leaves what was written for the next visit, which goes on where this one ends.
    pub(crate) fn leave(mut self) -> io::Result<()> {
        self.pages.file.flush()
    }
}

impl Draft {
    fn begin(path: &Path) -> io::Result<Self> {
        Self::begin_as(path, "new")
    }

    fn begin_as(path: &Path, suffix: &'static str) -> io::Result<Self> {
        let file = File::create(path.with_extension(draft_extension(path, suffix)))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), suffix })
    }

    fn path_of(path: &Path) -> PathBuf {
        path.with_extension(draft_extension(path, "new"))
    }

    /// Renames only what is different, so that an unchanged site is seen to be unchanged.
    fn finish(self) -> io::Result<()> {
        // Synced before it is renamed: no crash may leave a name in front of missing bytes.
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        let draft = self.path.with_extension(draft_extension(&self.path, self.suffix));
        match is_same(&draft, &self.path) {
            true => fs::remove_file(draft),
            false => fs::rename(draft, &self.path),
        }
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn draft_extension(path: &Path, suffix: &str) -> String {
    format!("{}-{suffix}", path.extension().unwrap_or_default().to_string_lossy())
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

    fn page(name: &str) -> KeptPage {
        let validators = Validators { etag: Some(format!("\"{name}\"")), modified: None };
        let items = vec![json!({"name": name})];
        KeptPage { url: format!("https://e.org/{name}"), validators, items, ..KeptPage::default() }
    }

    /// Writes pages, and says which of them had room.
    fn write(file: &Path, pages: &[&str], bytes_max: usize) -> Vec<bool> {
        let mut writer = Writer::begin(file, bytes_max).unwrap();
        let had_room = pages.iter().map(|name| writer.add(&page(name)).unwrap()).collect();
        writer.finish().unwrap();
        had_room
    }

    #[test]
    fn pages_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sites/a.jsonl");
        assert_eq!(Before::open(&file).rest().count(), 0);
        write(&file, &["x", "y", "z"], usize::MAX);
        let mut before = Before::open(&file);
        assert_eq!((before.take("https://e.org/y"), before.take("https://e.org/y")), (Some(page("y")), None));
        assert_eq!(before.rest().collect::<Vec<_>>(), [page("x"), page("z")]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"name\":\"x\"}\n{\"name\":\"y\"}\n{\"name\":\"z\"}\n");
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        write(&file, &["x", "y", "z"], usize::MAX);
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before, "nothing has changed");
    }

    #[test]
    fn what_cannot_be_read_takes_nothing_else_away() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.jsonl");
        write(&file, &["x"], usize::MAX);
        let whole = fs::read(beside(&file)).unwrap();
        let broken: &[u8] = b"{broken\n\xFF\n{\"url\": 1}\n\n{\"url\": \"u\", \"items\": 1}\n";
        fs::write(beside(&file), [broken, &whole, &whole[..whole.len() / 2]].concat()).unwrap();
        assert_eq!(Before::open(&file).rest().collect::<Vec<_>>(), [page("x")]);
    }

    #[test]
    fn what_a_visit_had_read_is_there_for_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.jsonl");
        write(&file, &["x"], usize::MAX);
        for (name, known) in [("y", &["y"][..]), ("z", &["y", "z"][..])] {
            assert_eq!(Before::of_cut_off(&file).unwrap().rest().count(), known.len() - 1);
            let mut writer = Writer::begin(&file, usize::MAX).unwrap();
            writer.add(&page(name)).unwrap();
            writer.publish(Before::open(&file).rest()).unwrap();
            let found = fs::read_to_string(&file).unwrap();
            assert_eq!(found, format!("{{\"name\":\"{name}\"}}\n{{\"name\":\"x\"}}\n"));
            // It is killed here.
            std::mem::forget(writer);
            let mut cut = Before::of_cut_off(&file).unwrap();
            assert_eq!(cut.rest().collect::<Vec<_>>(), known.iter().map(|name| page(name)).collect::<Vec<_>>());
        }
        write(&file, &["x"], usize::MAX);
        assert_eq!(Before::of_cut_off(&file).unwrap().rest().count(), 0, "a whole visit leaves nothing behind");
    }

    #[test]
    fn a_state_ends_at_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.jsonl");
        let two = 2 * line(&page("x")).unwrap().len();
        assert_eq!(write(&file, &["x", "y"], two), [true, true]);
        assert_eq!(write(&file, &["x", "y"], two - 1), [true, false]);
        assert_eq!(Before::open(&file).rest().count(), 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"name\":\"x\"}\n");
    }
}
