//! Words of food are data of the vocabulary, and not code.

use std::fs;

use regex::Regex;

/// Files in which a word of food still is, with the reason. Strict: one that has none any more fails.
const KNOWN: &[(&str, &str)] = &[
    ("crates/index/src/analysis/stop.rs", "generic words of questions, by the ranking"),
    ("crates/loaders/src/formats/csv/header.rs", "names of columns"),
    ("crates/understanding/src/measure.rs", "units of servings"),
    ("crates/understanding/src/named.rs", "names of constraints"),
    ("crates/understanding/src/paths.rs", "paths of values"),
    ("crates/understanding/src/value.rs", "kinds behind a value"),
];

#[test]
fn no_word_of_food_is_in_the_code_of_content_and_pages() {
    let food = Regex::new(r"(?i)\b(recipe|ingredient|vegan|vegetarian|gluten|dairy|peanut|meat|cook(?:ing|time)?)\w*")
        .unwrap();
    let mut found = Vec::new();
    for krate in ["loaders", "understanding", "index", "crawler", "pages"] {
        for path in super::files(&format!("crates/{krate}/src"), "rs") {
            let name = super::shown(&path);
            let text = fs::read_to_string(&path).unwrap();
            // Tests may say what they are about, and so may comments.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let is_told = |line: &&str| food.is_match(line.split("//").next().unwrap_or_default());
            if !name.contains("/tests/") && !name.ends_with("/tests.rs") && code.lines().any(|line| is_told(&line)) {
                found.push(name);
            }
        }
    }
    let known: Vec<&str> = KNOWN.iter().map(|(file, _)| *file).collect();
    let new: Vec<&String> = found.iter().filter(|file| !known.contains(&file.as_str())).collect();
    assert!(new.is_empty(), "words of food belong into crates/vocabulary/data: {new:?}");
    let gone: Vec<&&str> = known.iter().filter(|file| !found.iter().any(|other| other == **file)).collect();
    assert!(gone.is_empty(), "these have none any more, take them off the list: {gone:?}");
}
