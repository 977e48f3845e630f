//! The manual as static pages, which `dev/site` takes from the program: every page is there, every link in the folder
//! leads to a file and a heading, and the search knows all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::Ran;

/// What the index is in, so that pages can load it without a server.
const INDEX: (&str, &str) = ("manualIndex(", ");\n");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn site(arguments: &[&str]) -> Ran {
    dev("site", arguments)
}

fn dev(script: &str, arguments: &[&str]) -> Ran {
    let mut command = Command::new(root().join("dev").join(script));
    Ran::of(command.args(arguments).env("FORECOURT", env!("CARGO_BIN_EXE_forecourt")))
}

/// The values of an attribute in a page.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    page.split(begin.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Each file of a folder with its text.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let named = |entry: fs::DirEntry| {
        (entry.file_name().to_str().unwrap().to_owned(), fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(named).collect()
}

#[test]
fn the_manual_is_written_whole_and_every_link_leads_somewhere() {
    let out = tempfile::tempdir().unwrap();
    let to = out.path().to_str().unwrap();
    site(&[to, "--base", "https://docs.example/f", "--edit-base", "https://code.example/edit/main"]).fine();
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let version = format!("{major}.{minor}");
    let written = files(&out.path().join(&version));
    assert!(written == files(&out.path().join("latest")), "the newest version is the latest");
    for page in fs::read_dir(root().join("docs/manual")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = page.file_stem().unwrap().to_str().unwrap();
        match page.extension().and_then(|ending| ending.to_str()) {
            Some("md") => {
                let html = written.get(&format!("{name}.html")).unwrap_or_else(|| panic!("{name} is missing"));
                assert!(html.contains(&format!("https://code.example/edit/main/docs/manual/{name}.md\"")), "{name}");
                assert!(html.contains("<main") && html.contains("manual.css") && html.contains("search.js"), "{name}");
            }
            _ => assert!(written.contains_key(page.file_name().unwrap().to_str().unwrap()), "{name}"),
        }
    }
    assert_links(&written);
    assert_searched(&written);
    assert_surroundings(out.path(), &version, &written);
}

/// Links stay in the folder, or lead to other sites by their whole address.
#[track_caller]
fn assert_links(written: &BTreeMap<String, String>) {
    for (name, html) in written.iter().filter(|(name, _)| name.ends_with(".html")) {
        for target in values(html, "href").into_iter().chain(values(html, "src")) {
            if ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { name.as_str() } else { file };
            let Some(there) = written.get(file) else { panic!("{name} links to {target}: no such file") };
            let has_anchor = anchor.is_empty() || values(there, "id").contains(&anchor);
            assert!(has_anchor, "{name} links to {target}: no such heading");
        }
        assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onclick="), "{name}");
    }
}

#[track_caller]
fn assert_searched(written: &BTreeMap<String, String>) {
    let script = &written["search-index.js"];
    let json = script.strip_prefix(INDEX.0).and_then(|rest| rest.strip_suffix(INDEX.1)).unwrap();
    let index: Value = serde_json::from_str(json).unwrap();
    let listed: Vec<&str> = index["pages"].as_array().unwrap().iter().filter_map(|page| page[0].as_str()).collect();
    let pages = written.keys().filter(|name| name.ends_with(".html") && *name != "index.html");
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), pages.map(String::as_str).collect());
    let is_about = |section: &Value| section[3].as_str().is_some_and(|text| text.len() > 40);
    let searched: BTreeSet<u64> =
        index["sections"].as_array().unwrap().iter().filter(|s| is_about(s)).filter_map(|s| s[0].as_u64()).collect();
    assert_eq!(searched.len(), listed.len(), "each page has words that are searched");
}

/// What lies above the versions.
#[track_caller]
fn assert_surroundings(out: &Path, version: &str, written: &BTreeMap<String, String>) {
    let above = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let versions: Value = serde_json::from_str(&above("versions.json")).unwrap();
    assert_eq!((&versions["latest"], &versions["versions"][0]["name"]), (&version.into(), &version.into()));
    let (sitemap, pages) = (above("sitemap.xml"), written.keys().filter(|name| name.ends_with(".html")));
    for page in pages.clone() {
        assert!(sitemap.contains(&format!("<loc>https://docs.example/f/latest/{page}</loc>")), "{page}");
    }
    assert_eq!(sitemap.matches("<url>").count(), pages.count());
    assert!(above("robots.txt").contains("Sitemap: https://docs.example/f/sitemap.xml\n"));
    assert!(above("index.html").contains("href=\"latest/index.html\""));
    assert!(above("404.html").contains("href=\"https://docs.example/f/latest/index.html\""));
}

#[test]
fn the_parts_of_the_scripts_do_what_they_say() {
    for script in ["site", "cast"] {
        let ran = dev(script, &["--self-test"]);
        assert!(ran.code == Some(0) && ran.stderr.contains("OK"), "{script}: {ran:?}");
    }
}
