//! The book for contributors: each page is short, is listed, has an example, and names files that are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use regex::Regex;

/// Where the pages and their patches are.
const FOLDER: &str = "docs/contributing";
/// Lines that a page may have.
const LINES_MAX: usize = 40;

/// The files of the folder that end so, without their ending.
fn named(ending: &str) -> BTreeSet<String> {
    let found = fs::read_dir(super::root().join(FOLDER)).unwrap().map(|entry| entry.unwrap().path());
    let found = found.filter(|path| path.extension().is_some_and(|it| it == ending));
    found.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

fn file(page: &str, ending: &str) -> PathBuf {
    super::root().join(FOLDER).join(format!("{page}.{ending}"))
}

#[test]
fn each_page_for_contributors_is_short_listed_and_has_its_example() {
    let pages = named("md");
    assert_eq!(pages, named("patch"), "each page of {FOLDER} has a patch of its name, and each patch a page");
    let list = fs::read_to_string(super::root().join("CONTRIBUTING.md")).unwrap();
    for page in &pages {
        let text = fs::read_to_string(file(page, "md")).unwrap();
        let lines = text.lines().count();
        assert!(lines <= LINES_MAX, "{FOLDER}/{page}.md has {lines} lines; a page has at most {LINES_MAX}");
        assert!(list.contains(&format!("({FOLDER}/{page}.md)")), "CONTRIBUTING.md does not list {FOLDER}/{page}.md");
        assert!(text.contains(&format!("({page}.patch)")), "{FOLDER}/{page}.md does not lead to its patch");
    }
}

#[test]
fn pages_for_contributors_name_files_that_are_there_and_all_that_they_change() {
    let path =
        Regex::new(r"`((?:crates|docs|dev|examples|benches|fuzz)/[^`\s]*|[A-Z][A-Za-z]+\.(?:md|toml|lock))`").unwrap();
    let mut wrong = Vec::new();
    for page in named("md") {
        let text = fs::read_to_string(file(&page, "md")).unwrap();
        let patch = fs::read_to_string(file(&page, "patch")).unwrap();
        let changed: BTreeSet<&str> = patch.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
        let told: BTreeSet<&str> = path.captures_iter(&text).map(|found| found.extract::<1>().1[0]).collect();
        let missing = told.iter().filter(|name| !changed.contains(*name) && !super::root().join(name).exists());
        wrong.extend(missing.map(|name| format!("{FOLDER}/{page}.md names {name}, which is not there")));
        let silent = changed.difference(&told);
        wrong.extend(silent.map(|name| format!("{FOLDER}/{page}.md does not name {name}, which its patch changes")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
