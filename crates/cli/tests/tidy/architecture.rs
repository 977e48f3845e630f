//! ARCHITECTURE stays two pages, and knows every room.

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;

use super::{LAYERS, files, floors, root};

/// Bytes of two pages.
const BYTES_MAX: usize = 10_000;

fn architecture() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

#[test]
fn architecture_is_two_pages() {
    let bytes = architecture().len();
    assert!(
        bytes <= BYTES_MAX,
        "{bytes} bytes, of {BYTES_MAX}: a reason for one choice belongs into docs/decisions.md"
    );
}

#[test]
fn every_room_stands_on_its_floor() {
    let text = architecture();
    let room = Regex::new(r"(?:^| · |\| )`([a-z0-9-]+)`(?::| \()").unwrap();
    for (layer, about) in LAYERS.iter().zip(floors::ABOUT) {
        let line = text.lines().find(|line| line.starts_with(&format!("| {about} |")));
        let line = line.unwrap_or_else(|| panic!("ARCHITECTURE has no floor `{about}`"));
        let named: BTreeSet<&str> = room.captures_iter(line).map(|found| found.get(1).unwrap().as_str()).collect();
        assert_eq!(named, layer.iter().copied().collect(), "the floor `{about}`");
    }
}

#[test]
fn every_room_begins_at_a_file_that_is_there() {
    let rust: BTreeSet<String> = files("crates", "rs").iter().map(|path| super::shown(path)).collect();
    let entry = Regex::new(r"`([a-z0-9-]+)`[^·|]*?\(((?:`[a-z_/]+\.rs`(?:, )?)+)\)").unwrap();
    let file = Regex::new(r"`([a-z_/]+\.rs)`").unwrap();
    let text = architecture();
    let gone: Vec<String> = entry
        .captures_iter(&text)
        .flat_map(|found| {
            let name = found[1].to_owned();
            file.captures_iter(found.get(2).unwrap().as_str())
                .map(move |file| format!("crates/{name}/src/{}", &file[1]))
                .collect::<Vec<_>>()
        })
        .filter(|path| !rust.contains(path))
        .collect();
    assert!(gone.is_empty(), "ARCHITECTURE begins at files that are not there: {gone:?}");
}
