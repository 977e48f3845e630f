//! Pieces of TOML, as commands write them into files that people own.

use std::collections::BTreeMap;

use forecourt_core::Glob;

/// A key with patterns; as an example in a comment where there are none.
pub(super) fn key(name: &str, globs: &[Glob], example: &str) -> String {
    match globs {
        [] => format!("# {name} = [{}]", quoted(example)),
        globs => format!("{name} = {}", list(&globs.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>())),
    }
}

/// A list of texts.
pub(super) fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

/// A key with a table of texts on one line. `None`: it would be empty.
pub(super) fn table(name: &str, values: &BTreeMap<String, String>) -> Option<String> {
    let pairs: Vec<String> = values.iter().map(|(key, value)| format!("{} = {}", quoted(key), quoted(value))).collect();
    (!pairs.is_empty()).then(|| format!("{name} = {{ {} }}", pairs.join(", ")))
}

/// A text of TOML on one line.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
