//! The settings that can't change while a deployment is served.

use std::path::{Path, PathBuf};

use forecourt_settings::{Problem, Problems, Section, files};
use toml::{Table, Value};

use crate::domains_file::SHARED;
use crate::settings::FILE;

/// Keys and tables of `forecourt.toml` that are read at the start only, and why. A table stands for all of its keys.
/// In the manual: "Change the configuration without a restart".
const FIXED: &[(&str, &str)] = &[
    ("domain", "everything that is kept belongs to the domain"),
    ("store", "what is kept stays where it is"),
    ("bus", "the nodes of a deployment find each other there"),
    ("telemetry", "what is measured is told in one way from the start on"),
    ("log.format", "a log has one form from its beginning to its end"),
    ("log.access", "a log has one form from its beginning to its end"),
    ("log.access_file", "a log is written to one place from its beginning to its end"),
    ("log.access_size_max", "a log is written to one place from its beginning to its end"),
    ("log.access_files_kept", "a log is written to one place from its beginning to its end"),
    ("limits.replies_running_max", "what is under way is counted against it"),
    ("limits.replies_per_caller_max", "what is under way is counted against it"),
    ("limits.tasks_running_max", "what is under way is counted against it"),
    ("limits.tasks_per_caller_max", "what is under way is counted against it"),
    ("limits.queue_seconds", "what waits in line waits by it"),
    ("limits.stored_bytes_per_caller", "what is kept is counted against it"),
    ("limits.answer_bytes_reserved", "what is kept is counted against it"),
    ("limits.strangers_percent", "what is kept and under way is counted against it"),
    ("limits.audit_days", "what is kept is removed by it"),
];

/// The settings of a deployment that stay as they were when it was begun to be served.
#[derive(Debug, Clone)]
pub(crate) struct FixedSettings {
    settings: Table,
    /// The file that says what is shared with other domains, if there is one.
    shared_file: Option<PathBuf>,
}

impl FixedSettings {
    /// As they are in the folder now, and in the file of what is shared. What can't be read has none.
    pub(crate) fn of(folder: &Path, shared_file: Option<&Path>) -> Self {
        let table = |file: &Path| -> Table { files::text_of(file).unwrap_or_default().parse().unwrap_or_default() };
        let mut settings = table(&folder.join(FILE));
        if let Some(mut shared) = shared_file.map(table) {
            settings.extend(SHARED.iter().filter_map(|name| shared.remove_entry(*name)));
        }
        Self { settings, shared_file: shared_file.map(Path::to_path_buf) }
    }

    /// Everything that is another than it was.
    pub(crate) fn changes(&self, now: &Self, folder: &Path) -> Problems {
        let file = folder.join(FILE);
        let mut problems = Problems::new();
        for (key, why) in FIXED {
            let path: Vec<&str> = key.split('.').collect();
            let is_shared = path.first().is_some_and(|first| SHARED.contains(first));
            let at = self.shared_file.as_ref().filter(|_| is_shared).unwrap_or(&file);
            for changed in changed(find(&self.settings, &path), find(&now.settings, &path), key) {
                problems.extend(problem(at, &changed, why));
            }
        }
        problems
    }
}

/// What is told of a key of a file; `None` where that can't be read any more.
fn problem(file: &Path, key: &str, why: &str) -> Option<Problem> {
    // Only places are asked of it.
    let environment = |_: &str| Some(String::new());
    let mut section = Section::parse(file, &files::text_of(file).ok()?, &environment).ok()?;
    let (tables, name) =
        key.rsplit_once('.').map_or((Vec::new(), key), |(tables, name)| (tables.split('.').collect(), name));
    for table in tables {
        section = section.take_or_empty(table);
    }
    let text = format!("`{key}` can't change while it is served: {why}");
    Some(section.problem(Some(name), text).hint("restart the server to change it, or put it back"))
}

fn find<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let found = table.get(*first)?;
    if rest.is_empty() { Some(found) } else { find(found.as_table()?, rest) }
}

/// The keys within `key` whose values are not the same.
fn changed(before: Option<&Value>, now: Option<&Value>, key: &str) -> Vec<String> {
    let empty = Table::new();
    match (before, now) {
        (before, now) if before == now => Vec::new(),
        (Some(Value::Table(_)) | None, Some(Value::Table(_)) | None) => {
            let table = |value: Option<&'_ Value>| value.and_then(Value::as_table).cloned().unwrap_or(empty.clone());
            let (before, now) = (table(before), table(now));
            let mut keys: Vec<&String> = before.keys().chain(now.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter()
                .flat_map(|name| changed(before.get(name), now.get(name), &format!("{key}.{name}")))
                .collect()
        }
        _ => vec![key.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(before: &str, now: &str) -> Vec<(String, Option<usize>)> {
        let folder = tempfile::tempdir().unwrap();
        let settings = |text: &str| {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            FixedSettings::of(folder.path(), None)
        };
        let (before, now) = (settings(before), settings(now));
        let problems = before.changes(&now, folder.path());
        problems.iter().map(|problem| (problem.message().to_owned(), problem.line())).collect()
    }

    #[test]
    fn what_stays_the_same_is_no_change_however_it_is_written() {
        let same =
            changes("domain = 'a.example'\n[store]\nsize_max = 1", "store = { size_max = 1 }\ndomain = \"a.example\"");
        assert_eq!(same, []);
        assert_eq!(changes("name = 'a'\n[limits]\naudit_days = 3", "name = 'b'\n[limits]\naudit_days = 3"), []);
    }

    #[test]
    fn what_domains_share_is_looked_for_in_the_file_that_says_it() {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("shared.toml");
        std::fs::write(folder.path().join(FILE), "domain = 'a.example'").unwrap();
        let settings = |text: &str| {
            std::fs::write(&shared, text).unwrap();
            FixedSettings::of(folder.path(), Some(&shared))
        };
        let (before, now) = (settings("[log]\nformat = 'text'"), settings("[http]\n[log]\nformat = 'json'"));
        let problems = before.changes(&now, folder.path());
        let problem = problems.iter().next().unwrap();
        assert_eq!((problem.file(), problem.line(), problems.len()), (&*shared, Some(3), 1), "{problems}");
    }

    #[test]
    fn each_key_that_needs_a_restart_is_named_with_its_line() {
        let found =
            changes("domain = 'a.example'\n[store]\nkind = 'sqlite'", "domain = 'b.example'\n[store]\nkind = 'memory'");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].0.starts_with("`domain` can't change") && found[0].1 == Some(1), "{found:?}");
        assert!(found[1].0.starts_with("`store.kind` can't change") && found[1].1 == Some(3), "{found:?}");
        let removed = changes("[store]\nsize_max = 1\nkind = 'sqlite'", "[store]\nkind = 'sqlite'");
        assert_eq!(removed.len(), 1, "{removed:?}");
        assert_eq!(changes("", "[store]\nsize_max = 1").len(), 1, "one that was not there before");
    }
}
