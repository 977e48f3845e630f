//! Which files make a deployment, and how they look at a moment: without reading what did not change, and by nothing
//! that a network file system would not tell.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use forecourt_settings::files;
use toml::Value;

/// Folders within that of a deployment whose files are watched, however deep.
const FOLDERS: [&str; 8] =
    ["agents", "connectors", "endpoints", "functions", "hubs", "public", "servers", "vocabulary"];
/// How deep.
const DEPTH_MAX: usize = 6;
/// Files that are watched, at most. What is over that is taken up on `SIGHUP` and `POST /reload` alone.
pub(crate) const FILES_MAX: usize = 50_000;
/// Bytes of a value that may be the path of a file.
const PATH_BYTES_MAX: usize = 1024;
/// What Python leaves behind.
const CACHE: &str = "__pycache__";
/// Endings of code, by language: what a program of one language is made of.
const CODE: [&[&str]; 2] = [&["py"], &["js", "mjs", "cjs", "ts", "mts", "cts"]];
/// Folders with code of others, which nobody edits.
const FOREIGN: [&str; 4] = ["node_modules", "site-packages", "venv", "dist"];
/// How deep code is looked for, from the folder of a file on that a program is named with.
const CODE_DEPTH_MAX: usize = 3;
/// Files and folders that are looked through for it.
const CODE_ENTRIES_MAX: usize = 5_000;

/// The files of a deployment: those of its folder, and those that its settings name.
pub(crate) struct WatchedFiles {
    folder: PathBuf,
    /// Files elsewhere, or of other kinds, that settings name.
    named: BTreeSet<PathBuf>,
    /// Files and folders that are not watched.
    others: Vec<PathBuf>,
    /// Where code is watched beside a file that settings name, and its endings; `None` where only that file is.
    code: Option<BTreeSet<(PathBuf, &'static [&'static str])>>,
}

/// How files look: enough to tell whether one was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileLook(BTreeMap<PathBuf, Option<FileStamp>>);

/// How one file looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    written: (i64, i64),
    changed: (i64, i64),
    bytes: u64,
    file: (u64, u64),
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            // `ctime` and the inode too: `cp -p`, `git checkout` and a rename into place may keep the time and the
            // size.
            written: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            bytes: metadata.len(),
            file: (metadata.dev(), metadata.ino()),
        }
    }
}

impl WatchedFiles {
    /// Those of the deployment in `folder`, but for what is one of `others` or within it: what the daemon writes, and
    /// content, which has a watch of its own.
    pub(crate) fn of(folder: &Path, others: &[PathBuf]) -> Self {
        Self::named_by_settings(Self { others: others.to_vec(), ..Self::empty(folder) })
    }

    /// The same, and the code beside each file of code that settings name: the modules that it is made of.
    pub(crate) fn with_code(folder: &Path, others: &[PathBuf]) -> Self {
        let code = Some(BTreeSet::new());
        Self::named_by_settings(Self { others: others.to_vec(), code, ..Self::empty(folder) })
    }

    fn empty(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), named: BTreeSet::new(), others: Vec::new(), code: None }
    }

    fn named_by_settings(mut watched: Self) -> Self {
        let folder = watched.folder.clone();
        let settings: Vec<PathBuf> = watched.found().into_iter().filter(|file| is_settings(file)).collect();
        for file in settings {
            // A file that can't be read names nothing; that it changes is seen all the same.
            let text = files::text_of(&file).unwrap_or_default();
            let Ok(table) = text.parse::<toml::Table>() else { continue };
            let beside = file.parent().unwrap_or(&folder);
            each_text(&Value::Table(table), &mut |text| match secret_file(text) {
                Some(file) => watched.name(file, beside),
                None => watched.name(text, beside),
            });
        }
        watched
    }

    /// Takes in what a value of the settings names, if it is the path of a file.
    fn name(&mut self, text: &str, beside: &Path) {
        let is_path =
            (1..=PATH_BYTES_MAX).contains(&text.len()) && !text.contains(['\n', '\0']) && !text.contains("://");
        if !is_path || self.named.len() >= FILES_MAX {
            return;
        }
        // Some settings name files from their own file on, some from the deployment's folder.
        for path in [beside.join(text), self.folder.join(text)] {
            let is_file = match fs::metadata(&path) {
                Ok(metadata) => metadata.is_file(),
                // One that is missing is what may be wrong, and may come.
                Err(_) => looks_like_a_file(text),
            };
            if is_file && !self.is_left_out(&path) {
                // What looks like a missing file elsewhere may be no file at all: beside `/widget.js` is the whole machine.
                let has_modules = path.starts_with(&self.folder) || path.is_file();
                if let (true, Some(code), Some(endings), Some(folder)) =
                    (has_modules, &mut self.code, endings_beside(&path), path.parent())
                {
                    code.insert((folder.to_path_buf(), endings));
                }
                self.named.insert(path);
            }
        }
    }

    /// How all of them look now.
    pub(crate) fn look(&self) -> FileLook {
        let stamp = |path: PathBuf| {
            let found = fs::metadata(&path).ok().filter(Metadata::is_file);
            (path, found.as_ref().map(FileStamp::of))
        };
        let all = self.found().into_iter().chain(self.named.iter().cloned()).chain(self.modules(CODE_ENTRIES_MAX));
        FileLook(all.map(stamp).collect())
    }

    /// The code beside the files that settings name; `entries_max` files and folders are looked through for it.
    fn modules(&self, entries_max: usize) -> Vec<PathBuf> {
        let (mut found, mut left) = (Vec::new(), entries_max);
        let mut folders: Vec<_> = self.code.iter().flatten().collect();
        // A large folder elsewhere must not take the place of what is worked on.
        folders.sort_by_key(|(folder, _)| !folder.starts_with(&self.folder));
        for (folder, endings) in folders {
            self.collect_code(folder, endings, CODE_DEPTH_MAX, &mut left, &mut found);
        }
        found
    }

    fn collect_code(&self, folder: &Path, endings: &[&str], deeper: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if *left == 0 {
                return;
            }
            *left -= 1;
            let path = entry.path();
            let is_foreign =
                path.file_name().is_some_and(|name| name == CACHE || FOREIGN.iter().any(|one| name == *one));
            if is_foreign || is_hidden(&path) || self.is_left_out(&path) {
                continue;
            }
            let is_code =
                path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending));
            match path.is_dir() {
                true if deeper > 0 => self.collect_code(&path, endings, deeper - 1, left, found),
                false if is_code => found.push(path),
                _ => {}
            }
        }
    }

    /// The files of the folder.
    fn found(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            // Right in the folder only settings count: it may hold a repository, logs or data besides.
            if !is_hidden(&path) && is_settings(&path) {
                found.push(path);
            }
        }
        for folder in FOLDERS {
            collect(&self.folder.join(folder), DEPTH_MAX, &mut found);
        }
        found.retain(|path| !self.is_left_out(path));
        found
    }

    fn is_left_out(&self, path: &Path) -> bool {
        self.others.iter().any(|other| path.starts_with(other))
    }
}

impl FileLook {
    /// How one file looks now.
    pub(crate) fn of(file: &Path) -> Self {
        let found = fs::metadata(file).ok().filter(Metadata::is_file);
        Self(BTreeMap::from([(file.to_path_buf(), found.as_ref().map(FileStamp::of))]))
    }

    /// The files that are new, gone or written since `before`.
    pub(crate) fn changed_since(&self, before: &Self) -> Vec<PathBuf> {
        let is_same = |path: &PathBuf, stamp: &Option<FileStamp>| before.0.get(path).copied().flatten() == *stamp;
        let changed = self.0.iter().filter(|(path, stamp)| !is_same(path, stamp)).map(|(path, _)| path.clone());
        let gone = before.0.iter().filter(|(path, stamp)| stamp.is_some() && !self.0.contains_key(*path));
        changed.chain(gone.map(|(path, _)| path.clone())).collect()
    }

    /// The same without files that are watched no more, which a later look has not though they are there. Those that
    /// went in between stay, so that it is seen that they did.
    pub(crate) fn still_watched(mut self, later: &Self) -> Self {
        self.0.retain(|path, stamp| later.0.contains_key(path) || (stamp.is_some() && !path.exists()));
        self
    }
}

fn collect(folder: &Path, deeper: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if found.len() >= FILES_MAX {
            return;
        }
        // Python writes its cache when functions run: watched, each start would cause a reload.
        if is_hidden(&path) || path.file_name().is_some_and(|name| name == CACHE) {
            continue;
        }
        // Links are followed, as they are by whoever reads the files.
        match path.is_dir() {
            true if deeper > 0 => collect(&path, deeper - 1, found),
            true => {}
            false => found.push(path),
        }
    }
}

/// The endings of what a file of code is made of, if it is one.
fn endings_beside(path: &Path) -> Option<&'static [&'static str]> {
    let ending = path.extension()?.to_str()?;
    CODE.into_iter().find(|endings| endings.contains(&ending))
}

fn is_settings(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Hidden files, and those that editors leave behind.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_none_or(|name| name.starts_with('.') || name.ends_with('~') || name.ends_with(".swp"))
}

fn looks_like_a_file(text: &str) -> bool {
    let has_extension = Path::new(text).extension().and_then(|extension| extension.to_str()).is_some_and(|extension| {
        (1..=5).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    has_extension && !text.contains(char::is_whitespace) && !text.contains("${")
}

/// The file that a value is read from.
fn secret_file(text: &str) -> Option<&str> {
    Some(text.split_once("${file:")?.1.split_once('}')?.0)
}

fn each_text(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Table(table) => table.values().for_each(|value| each_text(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            let log = "[log]\naccess_file = './access.log'";
            folder.write("forecourt.toml", &format!("domain = 'a.example'\n[tls]\ncert = 'keys/cert.pem'\n{log}"));
            folder.write("agents/a.toml", "[backend]\nsystem_file = 'prompt.md'\ncontent = ['content/items.jsonl']");
            folder.write("prompt.md", "be kind");
            folder.write("content/items.jsonl", "{}");
            folder.write(".forecourt/serving.json", "{}");
            folder
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn look(&self) -> FileLook {
            let others =
                [".forecourt", "content", "access.log", "public/access.log"].map(|name| self.0.path().join(name));
            WatchedFiles::of(self.0.path(), &others).look()
        }

        fn changed(&self, change: impl FnOnce()) -> Vec<String> {
            let before = self.look();
            change();
            let changed = self.look().changed_since(&before);
            changed.iter().map(|path| path.strip_prefix(self.0.path()).unwrap().display().to_string()).collect()
        }
    }

    #[test]
    fn a_file_that_goes_while_it_is_read_is_seen_to_have_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, gone) = (folder.path().join("kept.toml"), folder.path().join("gone.toml"));
        [&kept, &gone].iter().for_each(|file| fs::write(file, "").unwrap());
        let found = WatchedFiles::of(folder.path(), &[]).look();
        fs::remove_file(&gone).unwrap();
        let later = WatchedFiles::of(folder.path(), &[]).look();
        assert_ne!(found.clone().still_watched(&later), later);
        let elsewhere = FileLook::default();
        assert!(found.still_watched(&elsewhere).0.keys().eq([&gone]), "what is there is watched no more");
    }

    #[test]
    fn what_settings_name_is_watched_and_content_is_not() {
        let folder = Folder::new();
        assert_eq!(folder.changed(|| ()), [""; 0]);
        assert_eq!(folder.changed(|| folder.write("prompt.md", "be kinder")), ["prompt.md"]);
        assert_eq!(folder.changed(|| folder.write("content/items.jsonl", "{} {}")), [""; 0]);
        assert_eq!(folder.changed(|| folder.write(".forecourt/serving.json", "{ }")), [""; 0]);
        for log in ["access.log", "public/access.log"] {
            assert_eq!(folder.changed(|| folder.write(log, "a line")), [""; 0], "the daemon writes it");
        }
        assert_eq!(folder.changed(|| folder.write("notes.txt", "nobody names it")), [""; 0]);
        assert_eq!(folder.changed(|| folder.write("keys/cert.pem", "one that was missing")), ["keys/cert.pem"]);
        folder.write("agents/b.toml", "token = 'Bearer ${file:secrets/token.txt}'");
        assert_eq!(folder.changed(|| folder.write("secrets/token.txt", "x")), ["secrets/token.txt"]);
    }

    #[test]
    fn the_modules_of_a_program_are_watched_where_that_is_wanted() {
        let folder = Folder::new();
        folder.write("agents/b.toml", "[backend]\ncommand = ['python3', 'worker/agent.py']");
        for name in
            ["worker/agent.py", "worker/shop/prices.py", "worker/.venv/a.py", "worker/venv/b.py", "content/c.py"]
        {
            folder.write(name, "x = 1");
        }
        let others = [".forecourt", "content"].map(|name| folder.0.path().join(name));
        let look = || WatchedFiles::with_code(folder.0.path(), &others).look();
        let changed = |name: &str| {
            let before = look();
            folder.write(name, "x = 22");
            look().changed_since(&before).len()
        };
        assert_eq!([changed("worker/agent.py"), changed("worker/shop/prices.py"), changed("worker/new.py")], [1, 1, 1]);
        for other in ["worker/.venv/a.py", "worker/venv/b.py", "worker/notes.txt", "content/c.py", "elsewhere.py"] {
            assert_eq!(changed(other), 0, "{other}");
        }
        assert_eq!(folder.changed(|| folder.write("worker/shop/prices.py", "x = 3")), [""; 0], "serving watches none");
    }

    #[test]
    fn code_is_looked_for_up_to_a_bound() {
        let folder = Folder::new();
        folder.write("agents/b.toml", "[backend]\ncommand = ['python3', 'worker/agent.py']");
        (0..9).for_each(|n| folder.write(&format!("worker/m{n}.py"), ""));
        folder.write("worker/agent.py", "");
        let modules = |entries_max| WatchedFiles::with_code(folder.0.path(), &[]).modules(entries_max).len();
        assert_eq!([modules(9), modules(10), modules(11)], [9, 10, 10]);
    }

    #[test]
    fn code_elsewhere_takes_no_place_of_that_of_the_deployment() {
        let (folder, elsewhere) = (Folder::new(), tempfile::tempdir().unwrap());
        for name in ["tool.py", "other.py"] {
            fs::write(elsewhere.path().join(name), "").unwrap();
        }
        folder.write("worker/agent.py", "");
        let modules = |named: &str, entries_max| {
            let named = elsewhere.path().join(named);
            folder.write("agents/b.toml", &format!("x = ['{}', 'worker/agent.py']", named.display()));
            let found = WatchedFiles::with_code(folder.0.path(), &[]).modules(entries_max);
            (found.len(), found.iter().any(|path| path.ends_with("worker/agent.py")))
        };
        assert_eq!(modules("tool.py", 9), (3, true));
        assert_eq!(modules("tool.py", 1), (1, true), "its own comes first");
        assert_eq!(modules("missing.py", 9), (1, true), "nothing is looked for beside what is not there");
    }

    #[test]
    fn files_that_come_and_go_and_are_put_in_the_place_of_others_are_seen() {
        let folder = Folder::new();
        assert_eq!(folder.changed(|| folder.write("agents/b.toml", "x = 1")), ["agents/b.toml"]);
        assert_eq!(folder.changed(|| folder.write("endpoints/deep/in/it.json", "{}")), ["endpoints/deep/in/it.json"]);
        let path = |name: &str| folder.0.path().join(name);
        let swap = || {
            folder.write(".fresh", "x = 2");
            fs::rename(path(".fresh"), path("agents/b.toml")).unwrap();
        };
        assert_eq!(folder.changed(swap), ["agents/b.toml"]);
        assert_eq!(folder.changed(|| fs::remove_file(path("agents/b.toml")).unwrap()), ["agents/b.toml"]);
        assert_eq!(folder.changed(|| folder.write("agents/.b.toml.swp", "x")), [""; 0]);
    }
}
