//! The examples: each says in its README how it is run, what to ask and what comes back, which is run as a page is.
//! A tutorial ends with the files of its example.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::block::Block;
use super::{PAGES, of_page, root};
use crate::support::Deployment;

/// How many words the README of an example may have, so that it is read to its end.
const README_WORDS_MAX: usize = 300;
/// How many files an example may have, so that all of them are read.
const FILES_MAX: usize = 15;
/// How many questions a README has at least, each with what comes back.
const QUESTIONS_MIN: usize = 3;
/// The examples that tutorials end with: `docs/manual/tutorial-NAME.md` makes `examples/NAME`.
const TUTORIALS: [&str; 5] = ["crm-api", "docs-chat", "expert", "mcp-gateway", "shop"];

/// The example that a README is of, such as `shop`. None for those of `examples/migration`, which are read in their
/// own folders.
pub(super) fn example_of(file: &str) -> Option<&str> {
    file.strip_prefix("examples/")?
        .strip_suffix("/README.md")
        .filter(|name| !name.contains('/') && *name != "migration")
}

/// The example that a page of the manual ends with.
pub(super) fn made_by(file: &str) -> Option<&str> {
    file.strip_prefix("docs/manual/tutorial-")?.strip_suffix(".md")
}

/// The folders of the gallery: those that are served. `embed` is a program with tests of its own.
fn examples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> = entries
        .filter(|path| path.is_dir() && !path.ends_with("migration") && !path.join("Cargo.toml").exists())
        .collect();
    assert!(found.len() > 10, "{found:?}");
    found
}

/// The files of a deployment by their names in it, without what a daemon or an import keeps for itself (`.NAME`) and
/// without the README.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let is_shown = |name: &str| !name.starts_with('.') && name != "README.md" && name != "__pycache__";
    let walk = walkdir::WalkDir::new(folder).min_depth(1).into_iter();
    walk.filter_entry(|entry| is_shown(entry.file_name().to_str().unwrap()))
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let name = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

/// The lines of a file that do something: comments differ between a tutorial and its example, such as the line that
/// names the file.
fn lines(name: &str, text: &str) -> Vec<String> {
    let has_comments = [".toml", ".py"].iter().any(|ending| name.ends_with(ending));
    let says_nothing = |line: &str| line.is_empty() || (has_comments && line.starts_with('#'));
    text.lines().map(str::trim_end).filter(|line| !says_nothing(line)).map(str::to_owned).collect()
}

/// Holds what a tutorial made against its example, file by file. Ports are those of the run: a host that is served
/// again has others, so those behind a colon are not compared.
#[track_caller]
pub(super) fn compare(made: &Path, example: &str, with_ports: impl Fn(&str) -> String) {
    let port = Regex::new(r":\d{2,5}\b").unwrap();
    let made = files(made);
    let wanted = files(&root().join("examples").join(example));
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&made), names(&wanted), "the files of examples/{example}");
    for (name, text) in &wanted {
        let lines = |text: &str| lines(name, &port.replace_all(&with_ports(text), ":PORT"));
        assert_eq!(lines(&made[name]), lines(text), "examples/{example}/{name}");
    }
}

#[test]
fn each_tutorial_has_its_example() {
    let tutorials: Vec<&str> = PAGES.iter().filter_map(|file| made_by(file)).collect();
    assert_eq!(tutorials, TUTORIALS);
    for name in TUTORIALS {
        let readme = std::fs::read_to_string(root().join("examples").join(name).join("README.md")).unwrap();
        assert!(readme.contains(&format!("/tutorial-{name}.md")), "examples/{name} does not name its tutorial");
    }
}

#[test]
fn coding_agents_are_led_to_pages_that_are_there() {
    let folder = Deployment::empty();
    folder.run("init", ["."]).fine();
    let guide = folder.read("AGENTS.md");
    let rows = guide.lines().filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 2);
    // The last column of the table of patterns, without its head.
    let named: Vec<&str> = rows.filter_map(|row| row.rsplit('`').nth(1).filter(|_| row.ends_with("` |"))).collect();
    for page in &named {
        assert!(PAGES.contains(&format!("docs/manual/{page}.md").as_str()), "AGENTS.md names {page}");
    }
    for name in TUTORIALS {
        assert!(named.contains(&format!("tutorial-{name}").as_str()), "AGENTS.md does not name tutorial-{name}");
    }
    let skill = folder.read(".agents/skills/forecourt/SKILL.md");
    assert!(skill.starts_with("---\nname: forecourt\ndescription: ") && skill.contains("`AGENTS.md`"), "{skill}");
    folder.run("check", ["."]).fine();
}

#[test]
fn each_example_says_what_to_ask_and_what_comes_back() {
    for folder in examples() {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let file = format!("examples/{name}/README.md");
        assert!(PAGES.contains(&file.as_str()), "{file} is not run: it needs a line in pages!");
        let words = std::fs::read_to_string(root().join(&file)).unwrap().split_whitespace().count();
        assert!(words <= README_WORDS_MAX, "{file} has {words} words");
        let count = files(&folder).len() + 1;
        assert!(count <= FILES_MAX, "examples/{name} has {count} files");
        let blocks = of_page(&file);
        assert!(blocks.iter().all(|block| block.not_run.is_none()), "{file} leaves blocks out");
        let is_question = |block: &Block| ["curl ", "forecourt "].iter().any(|word| block.text.contains(word));
        let asked = blocks.windows(2).filter(|pair| {
            pair[0].language == "sh" && is_question(&pair[0]) && pair[1].language == "text" && !pair[1].text.is_empty()
        });
        let asked = asked.count();
        assert!(asked >= QUESTIONS_MIN, "{file} has {asked} questions with what comes back");
    }
}

#[test]
fn files_are_compared_without_comments() {
    assert_eq!(lines("a.toml", "# a.toml\n\nx = 1\n"), lines("a.toml", "# Says x.\nx = 1"));
    assert_ne!(lines("a.toml", "x = 1"), lines("a.toml", "x = 2"));
    assert_ne!(lines("a.md", "# One\n"), lines("a.md", "# Two\n"));
}
