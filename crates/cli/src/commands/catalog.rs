//! `forecourt catalog`: what a newer catalog of methods changes, and what it would break.

mod scan;

use std::path::Path;

use forecourt_contract::Catalog;
use forecourt_contract::catalog::{Conflicts, Diff, NewlyDeprecated, compare, conflicts};
use forecourt_contract::limits::CATALOG_BYTES_MAX;
use forecourt_settings::files;
use serde_json::{Map, Value};

use super::printable::printable;
use crate::args::{CatalogArguments, CatalogDiff, CatalogWhat};
use crate::output::{Failure, Outcome, print_json, stdout};

/// Does what was asked for.
pub(crate) fn run(catalog: &CatalogArguments) -> Outcome {
    match &catalog.what {
        CatalogWhat::Diff(diff) => run_diff(diff),
    }
}

/// Compares, and ends with 1 when something of the deployment breaks, with 2 when a file can't be read.
/// AGTP-API 4.7.
fn run_diff(arguments: &CatalogDiff) -> Outcome {
    let diff = compare(&read(&arguments.old)?, &read(&arguments.new)?);
    let found = match &arguments.against_deployment {
        Some(folder) => conflicts(&diff, &scan::deployment(folder)?),
        None => Conflicts::default(),
    };
    match arguments.json {
        true => print_json(&joined(&diff, &found)?)?,
        // Catalogs come from elsewhere: their control characters must not reach the terminal.
        false => stdout(format_args!("{}", printable(&summary(&diff, &found)))),
    }
    match found.count() {
        0 => Ok(()),
        count => Err(Failure::yours(format!("{count} {} under the new catalog", things(count)))),
    }
}

fn things(count: usize) -> &'static str {
    if count == 1 { "thing breaks" } else { "things break" }
}

fn read(file: &Path) -> Result<Catalog, Failure> {
    let wrong = |why: String| Failure::usage(format!("{}: {why}", file.display()));
    let document = files::bytes_of(file, CATALOG_BYTES_MAX).map_err(wrong)?;
    Catalog::read(&document).map_err(|error| wrong(error.to_string()))
}

/// One object with the fields of both.
fn joined(diff: &Diff, found: &Conflicts) -> Result<Value, Failure> {
    let fields = |value: serde_json::Result<Value>| match value {
        Ok(Value::Object(fields)) => Ok(fields),
        other => Err(Failure::ours(format!("the comparison can't be written: {other:?}"))),
    };
    let mut all: Map<String, Value> = fields(serde_json::to_value(diff))?;
    all.extend(fields(serde_json::to_value(found))?);
    Ok(Value::Object(all))
}

/// The comparison for people: headed lists, and how many things break.
fn summary(diff: &Diff, found: &Conflicts) -> String {
    let paths = found.path_grammar_conflicts.iter();
    let paths = paths.map(|c| format!("{}: `{}` in {} spells {}", c.file, c.segment, c.path, c.verb));
    let endpoints = found.endpoint_conflicts.iter().map(|c| format!("{}: {}", c.file, c.method));
    let recipes =
        found.recipe_conflicts.iter().map(|c| format!("{}: {} takes a step of {}", c.file, c.recipe, c.method));
    let policy = found.method_policy_conflicts.iter().map(|c| format!("{}: {} names {}", c.file, c.directive, c.verb));
    let mut text = format!("Catalog {} -> {}\n", diff.old_version, diff.new_version);
    for (heading, lines) in [
        ("Added", diff.added.clone()),
        ("Removed", diff.removed.clone()),
        ("Newly deprecated", diff.newly_deprecated.iter().map(deprecated).collect()),
        ("Paths in which a segment has become a method", paths.collect()),
        ("Endpoints whose method is gone", endpoints.collect()),
        ("Recipes with a step whose method is gone", recipes.collect()),
        ("Directives of the method policy about a method that is gone", policy.collect()),
    ] {
        push(&mut text, heading, &lines);
    }
    text.push_str(&format!("\nSummary: {} breaking changes in deployment context.\n", found.count()));
    text
}

fn push(text: &mut String, heading: &str, lines: &[String]) {
    if !lines.is_empty() {
        text.push_str(&format!("\n{heading} ({}):\n", lines.len()));
        lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
}

fn deprecated(verb: &NewlyDeprecated) -> String {
    let mut line = format!("{}, since {}", verb.name, verb.deprecated_in);
    line.extend(verb.removed_in.iter().map(|version| format!(", gone in {version}")));
    line.extend(verb.successor.iter().map(|successor| format!(": use {successor}")));
    line
}
