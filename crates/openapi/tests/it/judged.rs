//! What the importer makes of operations that people judged by reading. Documents that are at hand are read whole;
//! of the others, each operation is what the list says of it.

use std::collections::BTreeMap;

use forecourt_openapi::import;
use serde_json::{Value, json};

use crate::support::{at, document, folder, registered};

/// The judged operations, a line each, parted by tabs.
const LIST: &str = include_str!("judged/operations.tsv");

/// How many have the impact that people gave them, at least. Raise it when more have.
const SAME_MIN: usize = 279;

/// How many that change nothing are found to change nothing, at least.
const INFORMATIONAL_MIN: usize = 57;

/// An operation and what it is by the judgement of people.
struct Judged<'a> {
    document: &'a str,
    http: &'a str,
    path: &'a str,
    id: &'a str,
    summary: &'a str,
    impact: &'a str,
    is_idempotent: bool,
}

fn judged() -> Vec<Judged<'static>> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [document, http, path, id, summary, impact, again] => {
                Judged { document, http, path, id, summary, impact, is_idempotent: again == "yes" }
            }
            _ => panic!("{line}"),
        })
        .collect()
}

/// A document that says no more than the list does.
fn sketched(all: &[&Judged<'_>]) -> Value {
    let mut paths = json!({});
    for one in all {
        paths[one.path][one.http.to_lowercase()] =
            json!({ "operationId": one.id, "summary": one.summary, "responses": { "200": { "description": "OK" } } });
    }
    document(paths)
}

/// What became of each operation of a document: its impact, and whether it is idempotent.
fn effects(document: &Value) -> BTreeMap<(String, String), (String, bool)> {
    let options = at("https://api.example.com");
    let import = import(document.to_string().as_bytes(), &options).unwrap();
    let written = import.operations.iter().filter_map(|found| Some((found, found.fate.written()?)));
    let effect = |files| {
        let semantic = serde_json::to_value(&registered(files).semantic).unwrap();
        (semantic["impact"].as_str().unwrap().to_owned(), semantic["is_idempotent"] == true)
    };
    written.map(|(found, files)| ((found.http.clone(), found.path.clone()), effect(files))).collect()
}

#[test]
fn s7_1_nothing_that_changes_something_is_called_informational_or_idempotent() {
    let judged = judged();
    let mut documents: BTreeMap<&str, Vec<&Judged<'_>>> = BTreeMap::new();
    judged.iter().for_each(|one| documents.entry(one.document).or_default().push(one));
    let (mut wrong, mut absent, mut counts) = (Vec::new(), Vec::new(), BTreeMap::<_, usize>::new());
    for (name, all) in documents {
        let whole = folder().and_then(|folder| std::fs::read(folder.join(format!("{name}.json"))).ok());
        let whole = whole.map(|text| serde_json::from_slice(&text).unwrap());
        let effects = effects(&whole.unwrap_or_else(|| sketched(&all)));
        for one in all {
            let Some((impact, is_idempotent)) = effects.get(&(one.http.to_owned(), one.path.to_owned())) else {
                absent.push(format!("{name}: {} {}", one.http, one.path));
                continue;
            };
            let said = format!("{name}: {} {} ({}) is {}", one.http, one.path, one.summary, one.impact);
            *counts.entry((one.impact, impact.clone())).or_insert(0) += 1;
            if one.impact != impact {
                eprintln!("{said}, not {impact}");
            }
            if impact == "informational" && one.impact != "informational" || *is_idempotent && !one.is_idempotent {
                wrong.push(format!("{said}, not {impact}; idempotent: {is_idempotent}"));
            }
        }
    }
    let same: usize = counts.iter().filter(|((judged, found), _)| judged == found).map(|(_, count)| count).sum();
    let informational = counts.get(&("informational", "informational".to_owned())).copied().unwrap_or_default();
    eprintln!("{same} of {} as judged: {counts:#?}", judged.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(absent.is_empty(), "nothing became of these: {absent:#?}");
    assert!(same >= SAME_MIN, "{same} are as judged, and {SAME_MIN} were");
    assert!(informational >= INFORMATIONAL_MIN, "{informational} are informational, and {INFORMATIONAL_MIN} were");
}
