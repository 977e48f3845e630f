//! Test programs: each costs a link and gigabytes, so a crate has one.

use std::fs;

use super::{files, root, shown};

/// The one program that may stand beside a crate's own: this one, which reads files and little else.
const BESIDE: &str = "crates/cli/tests/tidy.rs";

#[test]
fn a_crate_has_one_program_of_integration_tests() {
    let mut wrong = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("tests")) {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let is_program = path.extension().is_some_and(|found| found == "rs") || path.join("main.rs").exists();
            if is_program && !path.ends_with("it") && shown(&path) != BESIDE {
                wrong.push(shown(&path));
            }
        }
    }
    assert!(wrong.is_empty(), "a module of `tests/it` instead: {wrong:?}");
}

/// A test that looks for public test data by itself passes where it finds none, and nobody hears of it.
#[test]
fn public_test_data_is_found_in_one_place() {
    let wrong: Vec<String> = files("crates", "rs")
        .into_iter()
        .filter(|path| !path.starts_with(root().join("crates/cli/tests/tidy")))
        .map(|path| (shown(&path), fs::read_to_string(&path).unwrap()))
        .filter(|(name, _)| name != "crates/testkit/src/vectors.rs")
        .filter(|(_, text)| ["AGENT_VECTORS", "shared/vectors", "shared/data"].iter().any(|word| text.contains(word)))
        .map(|(name, _)| name)
        .collect();
    assert!(wrong.is_empty(), "by `forecourt_testkit::vectors` or `data` instead: {wrong:?}");
}
