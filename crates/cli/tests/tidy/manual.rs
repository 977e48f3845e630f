//! The docs are readable: a page of the manual is short and says at its beginning whom it is for, and every link leads
//! to a file and a heading that are there, also those that code tells of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::{files, root, shown};

/// Words that a page of the manual may have, those of its code included.
const WORDS_MAX: usize = 1_500;
/// Kinds of files that name pages: code, settings, units and scripts.
const NAMING: &[&str] = &["rs", "toml", "py", "ts", "mjs", "service", "yml", "yaml"];

/// The anchors of files that links lead into, each file read once.
#[derive(Default)]
struct Anchors(BTreeMap<PathBuf, BTreeSet<String>>);

impl Anchors {
    /// Whether a link to `anchor` of this file, or to the file as a whole, leads somewhere.
    fn lead(&mut self, file: &Path, anchor: Option<&str>) -> bool {
        let is_page = file.extension().is_some_and(|kind| kind == "md");
        match anchor.filter(|_| is_page) {
            None => file.exists(),
            Some(anchor) => {
                let read = || anchors(&fs::read_to_string(file).unwrap_or_default());
                self.0.entry(file.to_owned()).or_insert_with(read).contains(anchor)
            }
        }
    }
}

/// The anchors that a page has, as GitHub and the pages of the manual make them of its headings.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for heading in headings(markdown) {
        let name = anchor(heading);
        let before = found.entry(name.clone()).or_default();
        anchors.insert(if *before == 0 { name } else { format!("{name}-{before}") });
        *before += 1;
    }
    anchors
}

/// The headings of a page, without those that are comments in its code.
fn headings(markdown: &str) -> Vec<&str> {
    let (mut headings, mut in_code) = (Vec::new(), false);
    for line in markdown.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if !in_code && heading.starts_with(' ') && heading.len() < line.len() {
            headings.push(heading.trim());
        }
    }
    headings
}

fn anchor(heading: &str) -> String {
    static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\([^)]*\)").unwrap());
    let text = LINK.replace_all(heading, "$1").to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Markdown without its code blocks and code spans, where brackets mean nothing.
fn without_code(text: &str) -> String {
    let blocks = Regex::new(r"(?s)```.*?```").unwrap();
    let spans = Regex::new(r"`[^`\n]*`").unwrap();
    spans.replace_all(&blocks.replace_all(text, ""), "").into_owned()
}

/// The first line of a page behind its title.
fn first_words(text: &str) -> &str {
    let mut lines = text.lines().skip(1).map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

#[test]
fn a_page_of_the_manual_does_one_job_and_says_whom_it_is_for() {
    let list = fs::read_to_string(root().join("crates/forecourt/src/manual.rs")).unwrap();
    let mut wrong = Vec::new();
    for path in files("docs/manual", "md") {
        let (page, text) = (shown(&path), fs::read_to_string(&path).unwrap());
        let words = text.split_whitespace().count();
        if words > WORDS_MAX {
            wrong.push(format!(
                "{page} has {words} words; a page has at most {WORDS_MAX}: split it by what a reader wants to do"
            ));
        }
        let begins = first_words(&text);
        if !text.starts_with("# ") || begins.starts_with(['#', '|', '<', '-']) || begins.starts_with("```") {
            wrong.push(format!("{page} does not begin with a title and a sentence that says what it is for, and whom"));
        }
        let name = path.file_stem().unwrap().to_string_lossy();
        if !list.contains(&format!("\"{name}\"")) {
            wrong.push(format!("{page} is not listed in crates/forecourt/src/manual.rs, so that the program lacks it"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn links_in_the_docs_lead_to_files_and_headings() {
    let link = Regex::new(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)").unwrap();
    let (mut anchors, mut broken) = (Anchors::default(), Vec::new());
    for path in files("", "md") {
        let text = fs::read_to_string(&path).unwrap();
        for found in link.captures_iter(&without_code(&text)) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") || target.starts_with('?') {
                continue;
            }
            let file = if target.is_empty() { path.clone() } else { path.parent().unwrap().join(target) };
            let anchor = found.get(2).map(|anchor| anchor.as_str());
            if !anchors.lead(&file, anchor) {
                broken.push(format!("{}: {target}#{}", shown(&path), anchor.unwrap_or_default()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn pages_that_code_names_are_there() {
    let page =
        Regex::new(r"\b(?:docs|doc/forecourt)/((?:manual|reference)/[a-z0-9-]+\.md)(?:#([a-z0-9_-]+))?").unwrap();
    let (mut anchors, mut broken, mut named) = (Anchors::default(), Vec::new(), 0);
    for path in NAMING.iter().flat_map(|kind| files("", kind)) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for found in page.captures_iter(&text) {
            named += 1;
            let file = root().join("docs").join(&found[1]);
            if !anchors.lead(&file, found.get(2).map(|anchor| anchor.as_str())) {
                broken.push(format!("{}: {}", shown(&path), &found[0]));
            }
        }
    }
    assert!(named > 10, "nothing names a page any more: {named}");
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn anchors_are_those_that_the_manual_makes() {
    let page = "# A `b`_c [d](e.md)!\n\n```sh\n# no heading\n```\n## Twice\n## Twice\n#hash\n";
    let expected = ["a-b_c-d", "twice", "twice-1"].map(str::to_owned);
    assert_eq!(anchors(page), BTreeSet::from(expected));
    assert_eq!(anchor("Behind a reverse proxy (nginx, Caddy)"), "behind-a-reverse-proxy-nginx-caddy");
    assert_eq!(anchor("Let's Encrypt: what becomes of …?"), "lets-encrypt-what-becomes-of-");
}
