//! What types are called: by a noun of the thing, not by what happened to it, and an error is an error.

use std::fs;

use regex::Regex;

/// Endings of participles that do not end in `ed`.
const PARTICIPLES: &[&str] = &[
    "Begun",
    "Bound",
    "Broken",
    "Brought",
    "Built",
    "Caught",
    "Chosen",
    "Done",
    "Drawn",
    "Found",
    "Given",
    "Heard",
    "Held",
    "Hidden",
    "Kept",
    "Known",
    "Left",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Paid",
    "Read",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Spent",
    "Spoken",
    "Stuck",
    "Taken",
    "Told",
    "Understood",
    "Written",
];

/// Words that end in `ed` and are nouns.
const NOUNS: &[&str] = &["Embed", "Feed", "Need", "Seed", "Speed"];

/// Bare participles that are terms of their own: the gate's proof that a message passed, which every agent is handed.
const TERMS: &[&str] = &["Admitted"];

/// The types that are defined in the sources of a crate, outside tests, each with its file.
fn types() -> Vec<(String, String)> {
    let definition =
        Regex::new(r"(?m)^\s*(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|type) ([A-Z][A-Za-z0-9]*)\b").unwrap();
    let mut found = Vec::new();
    for path in super::files("crates", "rs") {
        let name = super::shown(&path);
        if !name.contains("/src/") || name.contains("/tests/") || name.ends_with("/tests.rs") || name.contains("/test")
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let named = definition.captures_iter(code).map(|found| (found[1].to_owned(), name.clone()));
        found.extend(named);
    }
    found
}

#[test]
fn no_type_is_called_by_a_bare_participle() {
    let is_one = |name: &str| {
        let is_one_word = name.chars().skip(1).all(char::is_lowercase);
        let is_regular = name.ends_with("ed") && !NOUNS.contains(&name);
        is_one_word && (is_regular || PARTICIPLES.contains(&name)) && !TERMS.contains(&name)
    };
    let found: Vec<_> = types().into_iter().filter(|(name, _)| is_one(name)).collect();
    assert!(found.is_empty(), "name the thing, not what happened to it: {found:?}");
}

#[test]
fn what_goes_wrong_is_an_error_and_no_fault() {
    let found: Vec<_> = types().into_iter().filter(|(name, _)| name.ends_with("Fault")).collect();
    assert!(found.is_empty(), "call it an error: {found:?}");
}
