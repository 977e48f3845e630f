//! Where backends are: the client of a protocol in `backend.rs` of that protocol's crate, every other in a module of
//! `backends` that is called as its kind. Each has one line in the registry.

use std::fs;

use regex::Regex;

use super::{PROTOCOLS, REGISTRY, files, root, shown};

/// The backends that the sources define: their kinds, each with its file.
fn definitions() -> Vec<(String, String)> {
    let definition = Regex::new(r#"\bBackend \{\s*kind: "(\w+)""#).unwrap();
    let mut found = Vec::new();
    for path in files("crates", "rs") {
        let file = shown(&path);
        if !file.contains("/src/") || file.contains("/test") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        found.extend(definition.captures_iter(code).map(|found| (found[1].to_owned(), file.clone())));
    }
    found
}

/// The file in which the backend of this kind belongs, and its line in the registry.
fn place(kind: &str) -> (String, String) {
    match PROTOCOLS.contains(&kind) {
        true => (format!("crates/{kind}/src/backend.rs"), format!("forecourt_{kind}::BACKEND,")),
        false => (format!("crates/backends/src/{kind}.rs"), format!("forecourt_backends::{kind}::BACKEND,")),
    }
}

#[test]
fn every_backend_is_where_backends_are() {
    let registry = fs::read_to_string(root().join(REGISTRY)).unwrap();
    let lines: Vec<&str> = registry.lines().map(str::trim).filter(|line| line.ends_with("::BACKEND,")).collect();
    let found = definitions();
    assert_eq!(found.len(), lines.len(), "a line in {REGISTRY} for each of {found:?}");
    for (kind, file) in found {
        let (wanted, line) = place(&kind);
        assert_eq!(file, wanted, "the backend `{kind}`");
        assert!(lines.contains(&line.as_str()), "{REGISTRY} has no line `{line}`");
    }
}
