//! What became of each operation, for people and for programs.

use std::collections::BTreeMap;
use std::path::Path;

use forecourt_openapi::reimport::{FileChange, ImportPlan, PlannedFile};
use forecourt_openapi::{Import, ImportFate, ImportedOperation, ReviewCause};
use serde_json::{Value, json};

use crate::args::ImportOpenapi;
use crate::commands::printable::line;
use crate::output::stderrln;

/// Characters of a path or a reason on one line.
const SHOWN_CHARS_MAX: usize = 120;

/// How many causes for review there are: those that are marked, and the scopes that were made up, as one.
pub(super) fn reviews(import: &Import) -> usize {
    import.causes.len() + usize::from(!made_up(import).is_empty())
}

/// The scopes that were made up, and of how many endpoints each.
fn made_up(import: &Import) -> BTreeMap<&str, usize> {
    let written = import.operations.iter().filter_map(|found| found.fate.written());
    let mut counts = BTreeMap::new();
    written
        .filter_map(|found| found.notes.made_up_scope.as_deref())
        .for_each(|scope| *counts.entry(scope).or_default() += 1);
    counts
}

/// Says it on standard error, where it is in nobody's way.
pub(super) fn print(import: &Import, plan: &ImportPlan, asked: &ImportOpenapi) {
    let out = &asked.out;
    match plan.is_again {
        true => changes(plan),
        false => operations(import),
    }
    import.losses.iter().for_each(|loss| stderrln!("without {}", line(loss, SHOWN_CHARS_MAX)));
    let written = import.operations.iter().filter(|found| found.fate.written().is_some()).count();
    let are = if asked.dry_run { "would be" } else { "are" };
    stderrln!("\n{}: {written} of {} operations {are} in {}", import.title, import.operations.len(), out.display());
    let others = import.operations.iter().filter(|found| !is_chosen(found)).count();
    if others > 0 {
        stderrln!("{others} operations were not chosen; --forget-choices takes all");
    }
    needs(import, out);
}

/// What became of each operation, the first time.
fn operations(import: &Import) {
    let left: Vec<String> = import.operations.iter().map(operation).collect();
    let width = left.iter().map(|text| text.chars().count()).max().unwrap_or_default().min(60);
    for (found, left) in import.operations.iter().zip(&left).filter(|(found, _)| is_chosen(found)) {
        stderrln!("{left:<width$}  {}", became(found));
        let losses = found.fate.written().map(|written| written.notes.losses.as_slice()).unwrap_or_default();
        losses.iter().for_each(|loss| stderrln!("{:<width$}    without {}", "", line(loss, SHOWN_CHARS_MAX)));
    }
}

/// What changes in the files, when the document had been imported before.
fn changes(plan: &ImportPlan) {
    let all = || plan.files.iter().chain(&plan.functions);
    for file in all().filter(|file| file.change != FileChange::Same) {
        stderrln!("{:<9} {}", word(&file.change), file.name);
        print_details(file);
    }
    let same = all().filter(|file| file.change == FileChange::Same).count();
    stderrln!("{same} files are as they were");
}

/// What becomes of the keys of a file.
pub(super) fn print_details(file: &PlannedFile) {
    for (what, keys) in details(&file.change) {
        keys.iter().for_each(|key| stderrln!("          {what} {}", line(key, SHOWN_CHARS_MAX)));
    }
}

/// What becomes of a file, in a word.
pub(super) fn word(change: &FileChange) -> &'static str {
    match change {
        FileChange::Added => "added",
        FileChange::Same => "same",
        FileChange::Rewritten => "changed",
        FileChange::Merged { conflicts, .. } if !conflicts.is_empty() => "CONFLICT",
        FileChange::Merged { changed, .. } if changed.is_empty() => "kept",
        FileChange::Merged { .. } => "merged",
        FileChange::Gone => "gone",
        FileChange::Renamed { .. } => "renamed",
        FileChange::Removed => "removed",
        FileChange::Unused => "unused",
        FileChange::Conflict(_) => "CONFLICT",
    }
}

fn details(change: &FileChange) -> Vec<(&'static str, Vec<String>)> {
    match change {
        FileChange::Merged { changed, kept, conflicts } => vec![
            ("both changed, yours stays:", conflicts.clone()),
            ("yours stays:", kept.clone()),
            ("from the document:", changed.clone()),
        ],
        FileChange::Conflict(why) => vec![("", vec![why.clone()])],
        FileChange::Gone => vec![("", vec!["not in the document any more: marked as deprecated".to_owned()])],
        FileChange::Renamed { to } => vec![("to", vec![to.clone()])],
        FileChange::Removed => {
            vec![("", vec!["somebody took it away: it stays away (--force brings it back)".to_owned()])]
        }
        FileChange::Unused => vec![("", vec!["not used any more; take it away when you like".to_owned()])],
        FileChange::Added | FileChange::Same | FileChange::Rewritten => Vec::new(),
    }
}

fn is_chosen(found: &ImportedOperation) -> bool {
    !matches!(found.fate, ImportFate::NotChosen)
}

/// What is left to do.
pub(super) fn needs(import: &Import, out: &Path) {
    if let Some(stubs) = &import.stubs {
        stderrln!("what answers them is to be written in {}", stubs.name);
    }
    if !import.causes.is_empty() {
        let marks = import.causes.len();
        let are = if marks == 1 { "mark" } else { "marks" };
        stderrln!("{marks} {are} of REVIEW, each for one cause; see them with: grep -rn REVIEW {}", out.display());
    }
    for ReviewCause { part, cause, count, file } in &import.causes {
        let name = part.name();
        stderrln!("  {count:>5} {name:<15} {}, as in {file}", line(cause, SHOWN_CHARS_MAX));
    }
    let scopes = made_up(import);
    if !scopes.is_empty() {
        let shown: Vec<String> = scopes.iter().map(|(scope, count)| format!("{scope} ({count})")).collect();
        stderrln!("scopes were made up, so that nothing is open: {}", line(&shown.join(", "), 4 * SHOWN_CHARS_MAX));
    }
    for (variable, about) in &import.variables {
        stderrln!("set {variable} in the environment of the host: {}", line(about, SHOWN_CHARS_MAX));
    }
}

fn operation(found: &ImportedOperation) -> String {
    format!("{:<6} {}", found.http, line(&found.path, SHOWN_CHARS_MAX))
}

fn became(found: &ImportedOperation) -> String {
    match &found.fate {
        ImportFate::Written(written) => match written.notes.reviews.len() {
            0 => format!("{} {}", written.method, written.path),
            marks => format!("{} {}  ({marks} to review)", written.method, written.path),
        },
        ImportFate::NotChosen => "not chosen".to_owned(),
        ImportFate::Skipped(reason) => format!("left out: {}", line(reason, SHOWN_CHARS_MAX)),
        ImportFate::Failed(reason) => format!("FAILED: {}", line(reason, 2 * SHOWN_CHARS_MAX)),
    }
}

/// The same as JSON.
pub(super) fn json(import: &Import, plan: &ImportPlan, is_dry_run: bool) -> Value {
    let changes: Vec<Value> = plan.files.iter().chain(&plan.functions).map(change).collect();
    let operations: Vec<Value> = import.operations.iter().map(of_operation).collect();
    json!({
        "title": import.title,
        "operations": operations,
        "variables": import.variables,
        "losses": import.losses,
        "functions": import.stubs.as_ref().map(|file| &file.name),
        "reviews": reviews(import),
        "causes": import.causes.iter().map(cause).collect::<Vec<_>>(),
        "changes": changes,
        "is_dry_run": is_dry_run,
        "made_up_scopes": made_up(import),
    })
}

fn cause(cause: &ReviewCause) -> Value {
    json!({ "about": cause.part.name(), "cause": cause.cause, "count": cause.count, "file": cause.file })
}

pub(super) fn change(file: &PlannedFile) -> Value {
    let mut said =
        json!({ "file": file.name, "operation": file.operation, "change": word(&file.change).to_lowercase() });
    match &file.change {
        FileChange::Merged { changed, kept, conflicts } => {
            said["changed"] = json!(changed);
            said["kept"] = json!(kept);
            said["conflicts"] = json!(conflicts);
        }
        FileChange::Conflict(why) => said["reason"] = json!(why),
        FileChange::Renamed { to } => said["to"] = json!(to),
        _ => {}
    }
    said
}

fn of_operation(found: &ImportedOperation) -> Value {
    let from = json!({ "method": found.http, "path": found.path });
    match &found.fate {
        ImportFate::NotChosen => json!({ "from": from, "skipped": "not chosen" }),
        ImportFate::Skipped(reason) => json!({ "from": from, "skipped": reason }),
        ImportFate::Failed(reason) => json!({ "from": from, "failed": reason }),
        ImportFate::Written(written) => {
            let reviews = written.notes.reviews.iter();
            let reviews: Vec<Value> =
                reviews.map(|review| json!({ "about": review.part.name(), "note": review.text() })).collect();
            json!({
                "from": from,
                "method": written.method,
                "path": written.path,
                "files": written.files.iter().map(|file| &file.name).collect::<Vec<_>>(),
                "reviews": reviews,
                "losses": written.notes.losses,
            })
        }
    }
}
