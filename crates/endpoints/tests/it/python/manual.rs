//! What the manual shows is right.

use std::path::{Path, PathBuf};

use forecourt_contract::Failure;
use forecourt_endpoints::python::Options;
use forecourt_settings::Section;
use serde_json::json;

use crate::python::support::{call, rooms};

/// The block of the manual's page that begins with `first`.
fn block(first: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/endpoints-python.md");
    let page = std::fs::read_to_string(page).unwrap();
    let found = page.split("```").find_map(|block| block.find(first).map(|at| block[at..].to_owned()));
    found.unwrap_or_else(|| panic!("there is no {first}"))
}

#[tokio::test]
async fn the_function_of_the_manual_works() {
    let deployment = rooms(&block("# functions/rooms.py\n"));
    let book = deployment.function("rooms.book");
    let booked = || call(&book, json!({"room_id": "8"}));
    assert_eq!(booked().await, Ok(json!({"reservation_id": "r-8", "nights": 1})));
    let Err(Failure::Named { code, details, .. }) = booked().await else { panic!("the room is taken") };
    assert_eq!((code.as_str(), details), ("room_unavailable", json!({"try": "8"})));
}

#[test]
fn the_settings_of_the_manual_are_read() {
    let environment = |_: &str| Some("rooms.db".to_owned());
    let text = block("# in forecourt.toml\n[functions]");
    let mut root = Section::parse(Path::new("/srv/rooms/forecourt.toml"), &text, &environment).unwrap();
    let options = Options::read(&root.take_or_empty("functions"), None).unwrap();
    assert_eq!((options.folder, options.workers), (PathBuf::from("/srv/rooms/functions"), 2));
    assert_eq!(options.variables["DATABASE"], "rooms.db");
}
