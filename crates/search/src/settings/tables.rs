//! What is said of tables, checked and given to the sources that they are in.

use forecourt_loaders::{ContentSource, TableMapping};
use forecourt_settings::{Problems, Section};

use super::TableSettings;

/// Gives the settings of one table to its source. A file that does not exist yet is no problem; an entry of
/// `content` that nobody knows is one.
pub(super) fn read(
    section: &Section,
    name: &str,
    table: &TableSettings,
    sources: &mut [ContentSource],
    problems: &mut Problems,
) {
    let mut wrong = |message: String| problems.push(section.problem(Some("tables"), message));
    let single = |text: &Option<String>| {
        text.as_deref().filter(|text| text.chars().count() == 1).and_then(|text| text.chars().next())
    };
    let delimiter = single(&table.delimiter).and_then(|c| u8::try_from(c).ok());
    if table.delimiter.is_some() && delimiter.is_none_or(|byte| !byte.is_ascii() || byte == b'"') {
        wrong(format!("the `delimiter` of `{name}` is one character, such as \";\" or \"\\t\""));
    }
    let decimal = single(&table.decimal).filter(|c| matches!(c, '.' | ','));
    if table.decimal.is_some() && decimal.is_none() {
        wrong(format!("the `decimal` of `{name}` is \".\" or \",\""));
    }
    if table.dates.as_deref().is_some_and(|dates| !dates.contains('%')) {
        wrong(format!("the `dates` of `{name}` say how dates are written, such as \"%d.%m.%Y\""));
    }
    if table.lists.values().any(String::is_empty) {
        wrong(format!("the `lists` of `{name}` say what is between two values, and that is never nothing"));
    }
    let found = sources.iter_mut().find_map(|source| Some((file_in(name, &source.label)?, source)));
    let Some((file, source)) = found else {
        return wrong(format!(
            "`tables` names `{name}`, which is neither in `content` nor a file in one of its entries"
        ));
    };
    source.tables.push(TableMapping {
        file,
        kind: table.kind.clone(),
        delimiter,
        decimal,
        dates: table.dates.clone(),
        columns: table.columns.clone(),
        constants: table.constants.clone(),
        lists: table.lists.clone(),
    });
    // What is said of one file counts more than what is said of all.
    source.tables.sort_by_key(|table| std::cmp::Reverse(table.file.len()));
}

/// The path of a table under an entry of `content`; empty when it is the entry.
fn file_in(name: &str, label: &str) -> Option<String> {
    let rest = name.trim_end_matches('/').strip_prefix(label.trim_end_matches('/'))?;
    if rest.is_empty() { Some(String::new()) } else { rest.strip_prefix('/').map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_an_entry_of_content_or_lies_in_one() {
        assert_eq!(file_in("content/a.csv", "content").as_deref(), Some("a.csv"));
        assert_eq!(file_in("content", "content/").as_deref(), Some(""));
        assert_eq!(file_in("contents/a.csv", "content"), None);
    }
}
