//! What of a document is taken, and that a newer version of it is taken the same way.

use forecourt_openapi::limits::CHOICES_MAX;
use forecourt_openapi::reimport::FileChange;
use forecourt_openapi::{Import, ImportChoices, ImportError, ImportFate, Options, import};
use serde_json::{Value, json};

use crate::again::Memory;
use crate::support::{document, registered};

fn hotel() -> Value {
    let operation = |id: &str, summary: &str, tag: &str| {
        json!({ "operationId": id, "summary": summary, "tags": [tag],
            "responses": { "204": { "description": "Done" } } })
    };
    document(json!({
        "/rooms": { "get": operation("listRooms", "List rooms", "Rooms"),
            "post": operation("createRoom", "Create a room", "Rooms") },
        "/rooms/{id}": { "delete": operation("deleteRoom", "Delete a room", "Rooms") },
        "/bills": { "post": operation("createBill", "Create a bill", "Money") },
    }))
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn chosen(choices: ImportChoices) -> Result<Import, ImportError> {
    import(hotel().to_string().as_bytes(), &Options { choices, ..Options::default() })
}

fn taken(import: &Import) -> Vec<&str> {
    let written = import.operations.iter().filter(|found| found.fate.written().is_some());
    written.map(|found| found.id.as_str()).collect()
}

#[test]
fn operations_are_taken_by_tag_name_and_path() {
    let all = |choices| taken(&chosen(choices).unwrap()).join(" ");
    assert_eq!(all(ImportChoices { tags: texts(&["rooms"]), ..Default::default() }), "listRooms createRoom deleteRoom");
    assert_eq!(
        all(ImportChoices { only: texts(&["/rooms*"]), ..Default::default() }),
        "listRooms createRoom deleteRoom"
    );
    assert_eq!(
        all(ImportChoices { only: texts(&["DELETE *", "list*"]), ..Default::default() }),
        "listRooms deleteRoom"
    );
    let both = ImportChoices { tags: texts(&["Rooms"]), except: texts(&["delete*"]), ..Default::default() };
    assert_eq!(all(both), "listRooms createRoom");
}

#[test]
fn names_and_impacts_are_the_operators() {
    let choices = ImportChoices {
        rename: [("createRoom".to_owned(), "open_room".to_owned())].into(),
        impact: [("deleteRoom".to_owned(), "reversible".to_owned())].into(),
        ..ImportChoices::default()
    };
    let import = chosen(choices).unwrap();
    let of = |id: &str| import.operations.iter().find(|found| found.id == id).unwrap().fate.written().unwrap();
    assert_eq!(of("createRoom").files[0].name, "open_room.toml");
    let gone = of("deleteRoom");
    assert_eq!(json!(registered(gone).semantic.impact), "reversible");
    assert!(gone.notes.reviews.is_empty(), "who says so has looked: {:?}", gone.notes.reviews);
}

#[test]
fn what_means_nothing_is_said() {
    let fault = |choices| chosen(choices).unwrap_err().to_string();
    let impact = [("createRoom".to_owned(), "harmless".to_owned())].into();
    assert!(fault(ImportChoices { impact, ..Default::default() }).contains("informational, reversible, irreversible"));
    for name in ["Open Room", "../x", ""] {
        let rename = [("createRoom".to_owned(), name.to_owned())].into();
        assert!(fault(ImportChoices { rename, ..Default::default() }).contains("small letters"), "{name}");
    }
    assert!(fault(ImportChoices { only: texts(&["nothing"]), ..Default::default() }).contains("--only"));
    let import = chosen(ImportChoices { except: texts(&["createRom"]), ..Default::default() }).unwrap();
    assert_eq!(import.losses, ["the choice `createRom`: nothing is called so"]);
    let many = |count| ImportChoices { except: vec!["x".to_owned(); count], ..Default::default() };
    assert!(chosen(many(CHOICES_MAX)).is_ok());
    assert!(fault(many(CHOICES_MAX + 1)).contains(&CHOICES_MAX.to_string()));
}

#[test]
fn choices_are_kept_for_the_next_import() {
    let mut folder = Memory::default();
    let take = |folder: &mut Memory, choices: ImportChoices, forgets_choices: bool| {
        folder.take(&hotel(), Options { choices, forgets_choices, ..Options::default() }, false)
    };
    let first = ImportChoices { tags: texts(&["Rooms"]), except: texts(&["delete*"]), ..Default::default() };
    assert_eq!(taken(&take(&mut folder, first, false).0), ["listRooms", "createRoom"]);
    let (again, plan) = take(&mut folder, ImportChoices::default(), false);
    assert_eq!(taken(&again), ["listRooms", "createRoom"], "as before");
    assert!(plan.files.iter().all(|file| file.change == FileChange::Same), "{:?}", plan.files);
    let more = ImportChoices { except: texts(&["list*"]), ..Default::default() };
    let (other, plan) = take(&mut folder, more, false);
    assert_eq!(taken(&other), ["createRoom", "deleteRoom"], "one kind is said anew, the tags stay");
    assert!(!plan.files.iter().any(|file| file.change == FileChange::Gone), "what was not chosen is not gone");
    let base_url = Some("http://127.0.0.1:9/v2".to_owned());
    take(&mut folder, ImportChoices { base_url, ..Default::default() }, false);
    let more = ImportChoices { except: texts(&["delete*"]), ..Default::default() };
    take(&mut folder, more, false);
    assert!(folder.files["create_room.toml"].contains("url = \"http://127.0.0.1:9/v2/rooms\""), "{:?}", folder.files);
    let (all, _) = take(&mut folder, ImportChoices::default(), true);
    assert!(!folder.files["create_room.toml"].contains("127.0.0.1"), "the document's servers again");
    assert!(all.operations.iter().all(|found| !matches!(found.fate, ImportFate::NotChosen)), "forgotten");
}
