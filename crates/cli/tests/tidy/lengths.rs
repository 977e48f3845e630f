//! Functions fit a glance.

use std::fs;
use std::sync::LazyLock;

use regex::Regex;

/// Lines that a function may have.
const LINES_MAX: usize = 60;

/// The functions of a file with their lines: from the line of their name to the brace that closes them, which stands
/// under its beginning in formatted code.
fn functions(text: &str) -> Vec<(String, usize)> {
    static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(\s*)(?:pub(?:\([a-z: ]+\))? )?(?:const )?(?:async )?(?:unsafe )?fn (\w+)").unwrap()
    });
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(begun) = Some(*line).filter(|line| line.contains("fn ")).and_then(|line| BEGIN.captures(line)) else {
            continue;
        };
        let has_body =
            lines[at..].iter().find(|line| line.ends_with(['{', ';', '}'])).is_some_and(|it| it.ends_with('{'));
        let close = format!("{}}}", &begun[1]);
        let length = lines[at..].iter().position(|line| *line == close).filter(|_| has_body);
        found.extend(length.map(|length| (begun[2].to_owned(), length + 1)));
    }
    found
}

#[test]
fn functions_fit_a_glance() {
    let mut longer = Vec::new();
    for path in super::files("crates", "rs") {
        let name = super::shown(&path);
        if !name.contains("/src/") || name.contains("/test") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let long = functions(&text).into_iter().filter(|(_, lines)| *lines > LINES_MAX);
        longer.extend(long.map(|(function, lines)| format!("{name}: `{function}` has {lines}")));
    }
    assert!(longer.is_empty(), "more than {LINES_MAX} lines:\n{}", longer.join("\n"));
}

#[test]
fn the_length_of_a_function_is_found() {
    let text = "fn one() {\n    two();\n}\n\nimpl A {\n    pub(crate) async fn three(\n        a: u8,\n    ) {\n    }\n}\n\ntrait B {\n    fn none(&self);\n}\n";
    assert_eq!(functions(text), [("one".to_owned(), 3), ("three".to_owned(), 4)]);
}
