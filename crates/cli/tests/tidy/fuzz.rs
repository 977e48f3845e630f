//! What `dev/fuzz` runs: each target has inputs to begin with, few and small, and is built of what the workspace is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use regex::Regex;

use super::root;

/// Inputs that are kept of a target: what `dev/fuzz --keep` keeps.
const FILES_MAX: usize = 60;
/// Bytes that they have together.
const BYTES_MAX: u64 = 100 * 1024;
/// What the targets alone are made of.
const OWN: [&str; 3] = ["arbitrary", "forecourt-fuzz", "libfuzzer-sys"];

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// What a pattern with one group finds.
fn found(text: &str, pattern: &str) -> BTreeSet<String> {
    let pattern = Regex::new(pattern).unwrap();
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// The files of a folder, without their ending.
fn stems(folder: &str) -> BTreeSet<String> {
    let found = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    found.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

fn targets() -> BTreeSet<String> {
    found(&read("fuzz/Cargo.toml"), r#"(?m)^path = "fuzz_targets/(\w+)\.rs"$"#)
}

#[test]
fn each_target_has_a_few_small_inputs() {
    assert_eq!(targets(), stems("fuzz/fuzz_targets"), "fuzz/Cargo.toml names each file of fuzz/fuzz_targets");
    assert_eq!(targets(), stems("fuzz/corpus"), "each target has a folder in fuzz/corpus, and each folder a target");
    let strangers: Vec<String> = stems("fuzz/dictionaries").difference(&targets()).cloned().collect();
    assert!(strangers.is_empty(), "fuzz/dictionaries has words for {strangers:?}, which are no targets");
    for target in targets() {
        let files = fs::read_dir(root().join("fuzz/corpus").join(&target)).unwrap();
        let sizes: Vec<u64> = files.map(|file| file.unwrap().metadata().unwrap().len()).collect();
        let (count, bytes) = (sizes.len(), sizes.iter().sum::<u64>());
        assert!((1..=FILES_MAX).contains(&count), "fuzz/corpus/{target} has {count} files: `dev/fuzz --keep {target}`");
        assert!(bytes <= BYTES_MAX, "fuzz/corpus/{target} has {bytes} bytes: `dev/fuzz --keep {target}`");
    }
}

/// The versions of each package.
fn locked(file: &str) -> BTreeMap<String, BTreeSet<String>> {
    let pattern = Regex::new(r#"name = "([^"]+)"\nversion = "([^"]+)""#).unwrap();
    let mut versions = BTreeMap::<String, BTreeSet<String>>::new();
    for package in pattern.captures_iter(&read(file)) {
        versions.entry(package[1].to_owned()).or_default().insert(package[2].to_owned());
    }
    versions
}

#[test]
fn targets_are_built_of_what_the_workspace_is() {
    let (theirs, ours) = (locked("fuzz/Cargo.lock"), locked("Cargo.lock"));
    let others = theirs.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
    let wrong: Vec<_> = others.filter(|(name, them)| !ours.get(*name).is_some_and(|us| us.is_superset(them))).collect();
    assert!(wrong.is_empty(), "not as in Cargo.lock: {wrong:?}; copy it to fuzz and run `cargo metadata` there");
}

/// What counts its coverage must not stand where the tests look for what does not.
#[test]
fn our_crates_have_a_profile_of_their_own_for_fuzzing() {
    let apart = found(&read("fuzz/Cargo.toml"), r"(?m)^(forecourt\S*) = \{ opt-level = 1 \}$");
    let built = locked("fuzz/Cargo.lock")
        .into_keys()
        .filter(|name| name.starts_with("forecourt") && !OWN.contains(&name.as_str()));
    assert_eq!(built.collect::<BTreeSet<String>>(), apart, "[profile.dev.package] of fuzz/Cargo.toml");
}
