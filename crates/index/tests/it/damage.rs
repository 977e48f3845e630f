//! Index files that a crash left behind, or that are not as they were written: the index repairs itself, and
//! everything is found again.

use std::fs;
use std::path::{Path, PathBuf};

use forecourt_core::Timestamp;
use forecourt_index::{Library, LoadProgress, Options, Query};
use forecourt_loaders::ContentSource;
use proptest::prelude::*;

use crate::common::Shelf;

const LINES: &str = "application/x-ndjson";

fn options(dir: &Path) -> Options {
    Options { pushed: Some(dir.join("pushed/a.db")), ..Options::default() }
}

fn open(dir: &Path) -> Library {
    Library::open(&dir.join("index"), options(dir)).unwrap()
}

fn index(library: &Library, dir: &Path) {
    library.index(&[ContentSource::new(dir.join("content"))], &mut (), &|| false).unwrap();
}

fn item(id: &str, name: &str) -> String {
    format!("{{\"@id\":\"urn:{id}\",\"name\":\"{name}\"}}\n")
}

fn put(library: &Library, lines: &str) -> bool {
    library.put(lines.as_bytes(), LINES, Timestamp::UNIX_EPOCH).unwrap().is_searchable
}

fn names(library: &Library, text: &str) -> Vec<String> {
    library.search(&Query::new(text)).unwrap().into_iter().map(|hit| hit.name).collect()
}

/// A file with one item, and two that were pushed, one of them twice.
fn shelf() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("content")).unwrap();
    fs::write(dir.path().join("content/a.jsonl"), item("soup", "pea soup")).unwrap();
    let library = open(dir.path());
    index(&library, dir.path());
    assert!(put(&library, &(item("stew", "bean stew") + &item("cake", "plum cake"))));
    assert!(put(&library, &item("cake", "apple cake")));
    dir
}

fn words(dir: &Path) -> PathBuf {
    dir.join("index/words")
}

/// The files of the index by name, but for locks.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(words(dir)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_none_or(|kind| kind != "lock")).collect();
    files.sort();
    files
}

/// Everything is there, with no more to do than to index when the library is opened.
fn is_repaired(dir: &Path) -> Result<(), String> {
    let library = open(dir);
    index(&library, dir);
    let found = [names(&library, "soup"), names(&library, "stew"), names(&library, "cake")].concat();
    let all = found == ["pea soup", "bean stew", "apple cake"] && library.has_what_was_pushed().unwrap();
    let goes_on = put(&library, &item("pie", "cherry pie")) && names(&library, "pie") == ["cherry pie"];
    if all && goes_on { Ok(()) } else { Err(format!("{found:?}, goes on: {goes_on}")) }
}

/// What a process leaves that is killed between the deletions of a commit and the commit.
fn leave_deletions(dir: &Path) {
    let meta: serde_json::Value = serde_json::from_slice(&fs::read(words(dir).join("meta.json")).unwrap()).unwrap();
    let last = meta["opstamp"].as_u64().unwrap();
    for segment in meta["segments"].as_array().unwrap() {
        let id = segment["segment_id"].as_str().unwrap().replace('-', "");
        for opstamp in last..last + 20 {
            let file = words(dir).join(format!("{id}.{opstamp}.del"));
            if !file.exists() {
                fs::write(file, b"half of it").unwrap();
            }
        }
    }
}

#[test]
fn deletions_that_a_killed_commit_left_are_in_nobodys_way() {
    let dir = shelf();
    leave_deletions(dir.path());
    fs::write(words(dir.path()).join(".tmpAbc123"), "{").unwrap();
    let library = open(dir.path());
    assert!(put(&library, &(item("cake", "pear cake") + &item("stew", "pea stew"))), "it is found at once");
    assert_eq!([names(&library, "cake"), names(&library, "stew")].concat(), ["pear cake", "pea stew"]);
    let left: Vec<PathBuf> = files(dir.path()).into_iter().filter(|file| !file.ends_with("meta.json")).collect();
    assert!(!left.iter().any(|file| file.ends_with(".tmpAbc123")), "{left:?}");
}

#[test]
fn deletions_that_a_failed_run_left_are_in_nobodys_way() {
    let dir = shelf();
    let library = open(dir.path());
    leave_deletions(dir.path());
    assert!(put(&library, &item("cake", "pear cake")), "it is found at once");
    leave_deletions(dir.path());
    fs::write(dir.path().join("content/a.jsonl"), item("soup", "leek soup")).unwrap();
    index(&library, dir.path());
    assert_eq!([names(&library, "cake"), names(&library, "soup")].concat(), ["pear cake", "leek soup"]);
}

#[test]
fn a_file_that_is_cut_off_emptied_or_gone_is_made_again() {
    let whole = shelf();
    let names = files(whole.path()).into_iter().map(|file| file.file_name().unwrap().to_owned()).collect::<Vec<_>>();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        for left in [None, Some(0), Some(7), Some(30)] {
            let dir = copy_of(whole.path());
            let file = words(dir.path()).join(&name);
            match left {
                None => fs::remove_file(&file).unwrap(),
                Some(bytes) => fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(bytes).unwrap(),
            }
            is_repaired(dir.path()).unwrap_or_else(|found| panic!("{} cut to {left:?}: {found}", file.display()));
        }
    }
}

/// The same files in another folder. Quicker than to index them again.
fn copy_of(dir: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in walkdir::WalkDir::new(dir).min_depth(1).into_iter().map(Result::unwrap) {
        let target = copy.path().join(entry.path().strip_prefix(dir).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir(target).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
    copy
}

#[test]
fn a_damaged_index_says_so_and_loses_its_items_until_it_is_filled_again() {
    let dir = shelf();
    let file = files(dir.path()).into_iter().find(|file| file.extension().is_some_and(|kind| kind == "store")).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    bytes[3] ^= 1;
    fs::write(&file, bytes).unwrap();
    let library = open(dir.path());
    assert_eq!(library.len(), 0);
    assert!(!library.has_what_was_pushed().unwrap(), "what was acknowledged is not searchable yet, and it is known");
    drop(library);
    is_repaired(dir.path()).unwrap();
}

#[test]
fn files_that_are_damaged_under_a_running_library_are_made_again_by_its_next_run() {
    let dir = shelf();
    let library = open(dir.path());
    let meta = words(dir.path()).join("meta.json");
    fs::write(&meta, "{}").unwrap();
    assert!(!put(&library, &item("pie", "cherry pie")), "it is kept, and not found yet");
    assert_eq!(names(&library, "stew"), ["bean stew"], "the old state is seen meanwhile");
    assert!(!library.has_what_was_pushed().unwrap());
    let mut seen = Vec::new();
    let mut listen = |_: &LoadProgress| seen = names(&library, "stew");
    library.index(&[ContentSource::new(dir.path().join("content"))], &mut listen, &|| false).unwrap();
    assert_eq!(seen, ["bean stew"], "and while it is built");
    assert!(library.has_what_was_pushed().unwrap());
    let found = ["soup", "stew", "cake", "pie"].map(|text| names(&library, text).concat());
    assert_eq!(found, ["pea soup", "bean stew", "apple cake", "cherry pie"]);
}

#[test]
fn damaged_vectors_are_made_again() {
    let Some(model) = crate::common::model() else { return };
    let options = || Options { model: Some(model.clone()), ..Options::default() };
    let shelf = Shelf::with(options());
    shelf.put("a.jsonl", &(item("dog", "a puppy") + &item("car", "repairing engines")));
    shelf.index();
    let Shelf { library, dir } = shelf;
    assert_eq!(library.embedded(), 2);
    drop(library);
    let folder = fs::read_dir(dir.path().join("index/vectors")).unwrap().next().unwrap().unwrap().path();
    let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&file).unwrap();
    bytes[40] ^= 1;
    fs::write(&file, bytes).unwrap();
    let library = Library::open(&dir.path().join("index"), options()).unwrap();
    assert_eq!(library.embedded(), 0, "a vector that is another one is worse than none");
    index(&library, dir.path());
    assert_eq!(library.embedded(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn bits_that_turn_anywhere_are_repaired(file in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let dir = shelf();
        let files = files(dir.path());
        let file = file.get(&files);
        let mut bytes = fs::read(file).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        fs::write(file, bytes).unwrap();
        let repaired = is_repaired(dir.path());
        prop_assert!(repaired.is_ok(), "{} byte {at} bit {bit}: {repaired:?}", file.display());
    }
}
