//! Names as operators write them in lists.

/// Whether one of `patterns` fits: the text itself, or with a trailing `*` what it begins with. `*` fits anything.
pub(crate) fn any_matches(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => text.starts_with(prefix),
        None => pattern == text,
    })
}
