//! A newer version of a document into a folder that has an older one.

use std::collections::BTreeMap;

use forecourt_openapi::reimport::{FileChange, Folder, ImportPlan, ImportRecord, plan};
use forecourt_openapi::{Import, ImportChoices, Options, import};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::document;

/// A folder in memory.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) functions: BTreeMap<String, String>,
    pub(crate) record: ImportRecord,
}

impl Folder for Memory {
    fn endpoint(&self, name: &str) -> Option<String> {
        self.files.get(name).cloned()
    }

    fn function(&self, name: &str) -> Option<String> {
        self.functions.get(name).cloned()
    }
}

impl Memory {
    /// Imports a document, and writes what is to be written.
    fn import(&mut self, document: &Value) -> ImportPlan {
        self.take(document, Options::default(), false).1
    }

    /// Imports it with other options than the usual.
    pub(crate) fn take(&mut self, document: &Value, options: Options, is_forced: bool) -> (Import, ImportPlan) {
        let options = Options { record: self.record.clone(), ..options };
        let imported = import(document.to_string().as_bytes(), &options).unwrap();
        let plan = plan(&imported, self.record.clone(), self, is_forced);
        for file in &plan.files {
            self.files.extend(file.text.clone().map(|text| (file.name.clone(), text)));
        }
        plan.files.iter().filter(|file| file.is_taken_away()).for_each(|file| drop(self.files.remove(&file.name)));
        let functions = plan.functions.iter().filter_map(|file| Some((file.name.clone(), file.text.clone()?)));
        self.functions.extend(functions);
        self.record = ImportRecord::read(&plan.record.text()).unwrap();
        (imported, plan)
    }

    fn names(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    fn edit(&mut self, name: &str, from: &str, to: &str) {
        let text = self.files.get_mut(name).unwrap();
        assert!(text.contains(from), "{text}");
        *text = text.replacen(from, to, 1);
    }
}

fn shop(summary: &str, more: Value) -> Value {
    let mut operation = json!({"summary": summary, "responses": {"204": {"description": "Done"}}});
    operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document(json!({"/rooms": {"post": operation}}))
}

fn change(plan: &ImportPlan) -> &FileChange {
    &plan.files[0].change
}

const FILE: &str = "create_room.toml";

#[test]
fn s14_1_what_nobody_edited_follows_the_document() {
    let mut folder = Memory::default();
    assert!(matches!(change(&folder.import(&shop("Create a room", json!({})))), FileChange::Added));
    assert!(matches!(change(&folder.import(&shop("Create a room", json!({})))), FileChange::Same));
    assert!(matches!(change(&folder.import(&shop("Create one room", json!({})))), FileChange::Rewritten));
    assert!(folder.files[FILE].contains("Create one room."));
}

#[test]
fn s14_1_each_side_keeps_what_it_alone_changed() {
    let mut folder = Memory::default();
    folder.import(&shop("Create a room", json!({})));
    folder.edit(FILE, "required_scopes = [\"rooms:write\"]", "required_scopes = [\"desk:rooms\"] # ours");
    let query = json!({"parameters": [{"name": "floor", "in": "query", "schema": {"type": "integer"}}]});
    let plan = folder.import(&shop("Create a room", query));
    let FileChange::Merged { changed, kept, conflicts } = change(&plan) else { panic!("{:?}", plan.files) };
    assert_eq!((kept, conflicts), (&vec!["endpoint.required_scopes".to_owned()], &Vec::new()));
    assert!(changed.iter().any(|key| key == "endpoint.input_schema.properties.floor"), "{changed:?}");
    let text = &folder.files[FILE];
    assert!(text.contains("required_scopes = [\"desk:rooms\"] # ours") && text.contains("floor"), "{text}");
    assert!(text.parse::<toml_edit::DocumentMut>().is_ok());
}

#[test]
fn s14_1_what_both_changed_is_the_persons_and_said_once() {
    let mut folder = Memory::default();
    folder.import(&shop("Create a room", json!({})));
    folder.edit(FILE, "intent = \"Create a room.\"", "intent = \"Add a room to the house.\"");
    let plan = folder.import(&shop("Create one room", json!({})));
    assert_eq!(plan.conflicts().count(), 1);
    assert!(folder.files[FILE].contains("Add a room to the house."));
    let plan = folder.import(&shop("Create one room", json!({})));
    assert_eq!(plan.conflicts().count(), 0);
}

#[test]
fn s14_1_what_is_gone_upstream_is_marked_and_comes_back() {
    let mut folder = Memory::default();
    folder.import(&shop("Create a room", json!({})));
    let other =
        document(json!({"/halls": {"post": {"summary": "Create a hall", "responses": {"204": {"description": ""}}}}}));
    let plan = folder.import(&other);
    assert!(plan.files.iter().any(|file| file.name == FILE && file.change == FileChange::Gone));
    assert!(folder.files[FILE].contains("[endpoint.deprecated]"), "{}", folder.files[FILE]);
    assert!(folder.import(&other).files.iter().all(|file| file.name != FILE), "said once");
    let plan = folder.import(&shop("Create a room", json!({})));
    assert!(
        plan.files.iter().any(|file| file.name == FILE && file.change == FileChange::Rewritten),
        "{:?}",
        plan.files
    );
    assert!(!folder.files[FILE].contains("deprecated"));
}

#[test]
fn s14_1_what_a_person_took_away_stays_away() {
    let mut folder = Memory::default();
    folder.import(&shop("Create a room", json!({})));
    folder.files.clear();
    assert!(matches!(change(&folder.import(&shop("Create one room", json!({})))), FileChange::Removed));
    assert!(folder.files.is_empty());
}

#[test]
fn an_operation_that_moved_keeps_its_file() {
    let mut folder = Memory::default();
    let id = json!({"operationId": "createRoom"});
    folder.import(&shop("Create a room", id.clone()));
    folder.edit(FILE, "\"rooms:write\"", "\"desk:rooms\"");
    let mut moved = shop("Create a room", id);
    let item = moved["paths"].as_object_mut().unwrap().remove("/rooms").unwrap();
    moved["paths"]["/house/rooms"] = item;
    let plan = folder.import(&moved);
    assert_eq!(plan.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), [FILE]);
    let text = &folder.files[FILE];
    assert!(text.contains("path = \"/house/rooms\"") && text.contains("desk:rooms"), "{text}");
}

#[test]
fn names_stay_when_others_come_before_them() {
    let of = |paths: &[&str]| {
        let get = json!({"get": {"summary": "Fetch it", "responses": {"204": {"description": ""}}}});
        document(paths.iter().map(|path| ((*path).to_owned(), get.clone())).collect::<serde_json::Map<_, _>>().into())
    };
    let mut folder = Memory::default();
    folder.import(&of(&["/rooms/{b}/key"]));
    let first = folder.files.clone();
    assert_eq!(first.keys().collect::<Vec<_>>(), ["fetch_room_key.toml"]);
    folder.import(&of(&["/rooms/{b}/key", "/room/key"]));
    assert_eq!(folder.files["fetch_room_key.toml"], first["fetch_room_key.toml"]);
    assert_eq!(folder.files.len(), 2);
}

#[test]
fn two_documents_share_a_folder() {
    let mut folder = Memory::default();
    folder.import(&shop("Create a room", json!({})));
    let mut other = shop("Create a room", json!({}));
    other["info"]["title"] = json!("Other");
    let plan = folder.import(&other);
    assert!(plan.files.iter().all(|file| file.name != FILE), "{:?}", plan.files);
    assert_eq!(folder.files.len(), 2);
}

/// The options that call operations otherwise.
fn renaming(all: &[(&str, &str)]) -> Options {
    let rename = all.iter().map(|(operation, name)| ((*operation).to_owned(), (*name).to_owned())).collect();
    Options { choices: ImportChoices { rename, ..ImportChoices::default() }, ..Options::default() }
}

#[test]
fn a_file_that_is_called_otherwise_takes_its_edits_along() {
    // So large that its schema is a file of its own.
    let fields: serde_json::Map<_, _> = (0..60).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
    let body = json!({"requestBody": {"content": {"application/json": {"schema": {"properties": fields}}}}});
    let mut folder = Memory::default();
    folder.import(&shop("Create a room", body.clone()));
    assert_eq!(folder.names(), ["create_room.input.json", FILE]);
    folder.edit(FILE, "\"rooms:write\"", "\"desk:rooms\"");
    folder.edit("create_room.input.json", "\"f59\"", "\"ours\"");
    let plan = folder.take(&shop("Create one room", body.clone()), renaming(&[("POST *", "open_room")]), false).1;
    assert_eq!(plan.conflicts().count(), 0, "{:?}", plan.files);
    let gone = plan.files.iter().find(|file| file.name == FILE).unwrap();
    assert_eq!(gone.change, FileChange::Renamed { to: "open_room.toml".to_owned() });
    assert_eq!(folder.names(), ["open_room.input.json", "open_room.toml"], "one pair, one file");
    let text = &folder.files["open_room.toml"];
    for both in ["desk:rooms", "Create one room.", "input_schema = \"open_room.input.json\""] {
        assert!(text.contains(both), "{both}: {text}");
    }
    assert!(folder.files["open_room.input.json"].contains("\"ours\""));
    let before = folder.files.clone();
    let plan = folder.import(&shop("Create one room", body));
    assert!(plan.conflicts().count() == 0 && folder.files == before, "{:?}", plan.files);
}

fn two() -> Value {
    let create = |summary: &str| json!({"post": {"summary": summary, "responses": {"204": {"description": "Done"}}}});
    document(json!({"/halls": create("Create a hall"), "/rooms": create("Create a room")}))
}

#[test]
fn a_name_that_another_file_has_is_left_to_it() {
    let mut folder = Memory::default();
    folder.import(&two());
    folder.files.insert("ours.toml".to_owned(), "# ours".to_owned());
    folder.edit(FILE, "\"rooms:write\"", "\"desk:rooms\"");
    let before = folder.files.clone();
    for name in ["ours", "create_hall"] {
        let plan = folder.take(&two(), renaming(&[("POST /rooms", name)]), false).1;
        assert_eq!((&folder.files, plan.conflicts().count()), (&before, usize::from(name == "ours")), "{name}");
    }
    // Names that are exchanged are free one after the other.
    let turned = || renaming(&[("POST /rooms", "create_hall"), ("POST /halls", "hall")]);
    folder.take(&two(), turned(), false);
    folder.take(&two(), turned(), false);
    assert_eq!(folder.names(), ["create_hall.toml", "hall.toml", "ours.toml"]);
    assert!(folder.files["create_hall.toml"].contains("desk:rooms"));
    let back = renaming(&[("POST /rooms", "hall"), ("POST /halls", "create_hall")]);
    folder.take(&two(), back, true);
    assert_eq!(folder.names(), ["create_hall.toml", "hall.toml", "ours.toml"], "what is forced loses no file");
}

#[test]
fn a_function_goes_with_the_name_of_its_file() {
    let mut folder = Memory::default();
    let rehosted = |all: &[(&str, &str)]| Options { is_rehosted: true, ..renaming(all) };
    folder.take(&two(), rehosted(&[]), false);
    let module = folder.functions.keys().next().unwrap().clone();
    let own = folder.functions[&module].replacen("raise NotImplementedError", "return {'hall': 7}", 1);
    folder.functions.insert(module.clone(), own);
    folder.take(&two(), rehosted(&[("POST /halls", "open_hall")]), false);
    let text = &folder.functions[&module];
    assert!(text.contains("def open_hall(ctx)") && !text.contains("create_hall"), "{text}");
    assert_eq!((text.matches("return {'hall': 7}").count(), text.matches("def ").count()), (1, 2));
}

/// Edits of a person, each on a key of its own.
fn edits() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    prop::sample::subsequence(
        vec![
            ("outcome = \"A room exists.\"", "outcome = \"There is one more room.\""),
            ("confidence = 0.7", "confidence = 0.99"),
            ("impact = \"reversible\"", "impact = \"irreversible\""),
            ("timeout_seconds = 30", "timeout_seconds = 7"),
            ("actor = \"agent\"", "actor = \"concierge\""),
        ],
        0..=5,
    )
}

proptest! {
    #[test]
    fn no_edit_of_a_person_is_ever_lost(edits in edits(), summary in "[A-Za-z ]{0,20}", tag in "[a-z]{0,6}", deprecated: bool) {
        let mut folder = Memory::default();
        folder.import(&shop("Create a room", json!({"operationId": "makeRoom"})));
        let mut text = folder.files[FILE].clone();
        for (from, to) in &edits {
            text = text.replacen(from, to, 1);
        }
        let mine: Vec<&str> = edits.iter().map(|(_, to)| *to).filter(|to| text.contains(to)).collect();
        folder.files.insert(FILE.to_owned(), text.clone());
        folder.import(&shop(&summary, json!({"operationId": "makeRoom", "tags": [tag], "deprecated": deprecated})));
        if !mine.is_empty() {
            for line in mine {
                prop_assert!(folder.files[FILE].contains(line), "{line}\n{}", folder.files[FILE]);
            }
            prop_assert!(folder.files[FILE].parse::<toml_edit::DocumentMut>().is_ok());
        }
    }
}
