//! The file of functions, when the service is rehosted. It belongs to people once it is there.

use super::renaming::Renaming;
use super::{FileChange, PlannedFile, Planning};
use crate::import::File;

/// What becomes of it: functions follow the names of their endpoints, and what it lacks is added at its end.
pub(super) fn planned(planning: &Planning<'_>, stubs: &File) -> PlannedFile {
    let own = planning.folder.function(&stubs.name);
    let (change, text) = match own {
        None => (FileChange::Added, Some(stubs.text.clone())),
        Some(own) if own == stubs.text => (FileChange::Same, None),
        Some(_) if planning.is_forced => (FileChange::Rewritten, Some(stubs.text.clone())),
        Some(own) => merged(&own, &stubs.text, planning),
    };
    PlannedFile { name: stubs.name.clone(), operation: String::new(), change, text }
}

fn merged(own: &str, stubs: &str, planning: &Planning<'_>) -> (FileChange, Option<String>) {
    let (mut text, mut changed, mut conflicts) = (own.to_owned(), Vec::new(), Vec::new());
    for Renaming { old, new } in &planning.renamed {
        match renamed(&text, old, new) {
            Some(Ok(done)) => {
                text = done;
                changed.push(format!("{new}, which was {old}"));
            }
            Some(Err(why)) => conflicts.push(why),
            None => {}
        }
    }
    // Python's style has two empty lines between functions, and the stubs are written so.
    let all = stubs.split("\n\n\n").filter(|block| block.starts_with("def "));
    let name = |block: &str| block.split('(').next().unwrap_or_default().replace("def ", "");
    let is_lacking = |name: &str| !has(&text, name) && !planning.held.iter().any(|held| held.new == name);
    let lacking: Vec<&str> = all.filter(|block| is_lacking(&name(block))).collect();
    changed.extend(lacking.iter().map(|block| name(block)));
    if !lacking.is_empty() {
        text = format!("{}\n\n\n{}\n", text.trim_end(), lacking.join("\n\n\n").trim_end());
    }
    let text = (text != own).then_some(text);
    (FileChange::Merged { changed, kept: Vec::new(), conflicts }, text)
}

fn has(text: &str, name: &str) -> bool {
    text.contains(&format!("def {name}("))
}

/// A file in which a function is called otherwise. `None`: it has none of the old name.
///
/// # Errors
/// Somebody uses the function elsewhere in the file, or has one of the new name.
fn renamed(text: &str, old: &str, new: &str) -> Option<Result<String, String>> {
    if !has(text, old) {
        return None;
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let uses = text.split(|c: char| !is_name(c)).filter(|word| *word == old).count();
    if uses > 1 || has(text, new) {
        return Some(Err(format!("{old}: it is {new} now, and used elsewhere or there already; rename it yourself")));
    }
    Some(Ok(text.replacen(&format!("def {old}("), &format!("def {new}("), 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_renamed_where_nothing_else_uses_it() {
        let text = "def make(ctx):\n    return remake(1)\n\n\ndef remake(n):\n    return n\n";
        let done = renamed(text, "make", "open").unwrap().unwrap();
        assert_eq!(done, text.replacen("def make(", "def open(", 1));
        assert!(renamed(text, "remake", "again").unwrap().unwrap_err().contains("rename it yourself"));
        assert!(renamed(text, "make", "remake").unwrap().is_err());
        assert!(renamed(text, "other", "open").is_none());
    }
}
