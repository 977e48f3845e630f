//! `import openapi` and `export openapi` from the outside: files, exit codes, and which stream says what.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn workshop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/migration/1-wrap-and-expose")
}

fn forecourt(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forecourt"));
    command.args(arguments).env("UPSTREAM_SPOKE_WORKSHOP_WORKSHOP_KEY", "spanner").output().unwrap()
}

fn import(file: &Path, out: &Path, more: &[&str]) -> Output {
    let paths = ["import", "openapi", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    forecourt(&paths.into_iter().chain(more.iter().copied()).collect::<Vec<_>>())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A document of one operation that leaves nothing to guess.
const CERTAIN: &str = r#"
openapi: 3.1.0
info: {title: Rooms, version: 1.0.0}
servers: [{url: https://rooms.example}]
paths:
  /rooms/{id}:
    get:
      x-agtp-method: FETCH
      x-agtp-required-scopes: []
      x-agtp-semantic: {intent: Show a room., actor: agent, outcome: The caller knows the room., capability: retrieval, confidence: 1.0, impact: informational, is_idempotent: true}
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {200: {description: The room., content: {application/json: {schema: {type: object}}}}}
"#;

#[test]
fn a_3_everything_is_written_and_what_is_not_is_said() {
    let out = tempfile::tempdir().unwrap();
    let output = import(&workshop().join("openapi.yaml"), out.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(output.stdout.is_empty(), "data goes to stdout, and none was asked for");
    let text = said(&output);
    for line in [
        "BOOK /appointments",
        "DOWNLOAD /invoices/{number}/pdf",
        "left out: HEAD",
        "36 of 37",
        "set UPSTREAM_SPOKE_WORKSHOP_WORKSHOP_KEY",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 37, "an endpoint each, and the record of the import");
}

#[test]
fn the_exit_code_says_whether_something_is_left_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rooms.yaml"), folder.path().join("endpoints"));
    fs::write(&file, CERTAIN).unwrap();
    let strict = import(&file, &out, &["--strict"]);
    assert_eq!(strict.status.code(), Some(0), "{}", said(&strict));
    fs::write(&file, CERTAIN.replace("      x-agtp-required-scopes: []\n", "")).unwrap();
    assert_eq!(import(&file, &out, &["--force"]).status.code(), Some(0));
    let strict = import(&file, &out, &["--force", "--strict"]);
    assert_eq!(strict.status.code(), Some(1));
    assert!(said(&strict).contains("causes for review: 1"), "{}", said(&strict));
}

#[test]
fn what_is_there_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rooms.yaml"), folder.path().join("endpoints"));
    fs::write(&file, CERTAIN).unwrap();
    fs::create_dir(&out).unwrap();
    let own = out.join("fetch_room.toml");
    fs::write(&own, "mine").unwrap();
    let again = import(&file, &out, &[]);
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("nothing was written") && said(&again).contains("--force"), "{}", said(&again));
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
    assert!(import(&file, &out, &["--force"]).status.success());
    assert_ne!(fs::read_to_string(&own).unwrap(), "mine");
}

#[test]
fn s14_1_what_a_person_edited_outlives_a_newer_document() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rooms.yaml"), folder.path().join("endpoints"));
    fs::write(&file, CERTAIN).unwrap();
    assert!(import(&file, &out, &[]).status.success());
    let own = out.join("fetch_room.toml");
    let text = fs::read_to_string(&own).unwrap();
    let edited = text.replace("intent = \"Show a room.\"", "# Confirmed.\nintent = \"Show one room.\"");
    assert_ne!(text, edited);
    fs::write(&own, &edited).unwrap();

    let newer = CERTAIN.replace("The caller knows the room.", "The caller has the room.");
    fs::write(&file, &newer).unwrap();
    let dry = import(&file, &out, &["--dry-run"]);
    assert!(dry.status.success() && said(&dry).contains("yours stays: endpoint.semantic.intent"), "{}", said(&dry));
    assert_eq!(fs::read_to_string(&own).unwrap(), edited, "nothing was written");
    assert!(import(&file, &out, &[]).status.success());
    let merged = fs::read_to_string(&own).unwrap();
    assert!(merged.contains("# Confirmed.\nintent = \"Show one room.\""), "{merged}");
    assert!(merged.contains("outcome = \"The caller has the room.\""), "{merged}");

    fs::write(&file, newer.replace("Show a room.", "Show the room.")).unwrap();
    let conflict = import(&file, &out, &["--json"]);
    assert_eq!(conflict.status.code(), Some(1), "both changed the intent");
    let report: Value = serde_json::from_slice(&conflict.stdout).unwrap();
    assert_eq!(report["changes"][0]["conflicts"], serde_json::json!(["endpoint.semantic.intent"]));
    assert!(fs::read_to_string(&own).unwrap().contains("Show one room."));
    assert!(import(&file, &out, &[]).status.success(), "it was said once, and the person's word stands");

    fs::write(&file, newer.replace("/rooms/{id}:", "/halls/{id}:")).unwrap();
    let gone = import(&file, &out, &[]);
    assert!(gone.status.success() && said(&gone).contains("gone      fetch_room.toml"), "{}", said(&gone));
    assert!(fs::read_to_string(&own).unwrap().contains("deprecated_in = \"1.0.0\""));
    assert!(out.join("fetch_hall.toml").exists());
    let again = import(&file, &out, &[]);
    assert!(!said(&again).contains("gone "), "{}", said(&again));
}

#[test]
fn a_file_that_is_called_otherwise_leaves_none_of_its_old_name() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rooms.yaml"), folder.path().join("endpoints"));
    fs::write(&file, CERTAIN).unwrap();
    assert!(import(&file, &out, &[]).status.success());
    let own = out.join("fetch_room.toml");
    let edited = fs::read_to_string(&own).unwrap().replace("Show a room.", "Show one room.");
    fs::write(&own, &edited).unwrap();
    let rename = ["--rename", "GET /rooms/{id}=show_room"];
    let dry = import(&file, &out, &[&rename[..], &["--dry-run"]].concat());
    assert!(dry.status.success() && said(&dry).contains("renamed   fetch_room.toml"), "{}", said(&dry));
    assert_eq!(fs::read_to_string(&own).unwrap(), edited, "nothing was written");

    let done = import(&file, &out, &[&rename[..], &["--json"]].concat());
    assert!(done.status.success(), "{}", said(&done));
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let changes = report["changes"].as_array().unwrap();
    let gone = changes.iter().find(|change| change["file"] == "fetch_room.toml").unwrap();
    assert_eq!((&gone["change"], &gone["to"]), (&"renamed".into(), &"show_room.toml".into()));
    assert!(!own.exists(), "two files of one pair are no deployment");
    assert_eq!(fs::read_to_string(out.join("show_room.toml")).unwrap(), edited);
}

#[test]
fn what_can_not_be_read_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let missing = import(&folder.path().join("none.yaml"), folder.path(), &[]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(said(&missing).contains("cannot be read"));
    let file = folder.path().join("old.yaml");
    fs::write(&file, "swagger: '1.2'").unwrap();
    assert!(said(&import(&file, folder.path(), &[])).contains("OpenAPI 1.2 is not known here"));
    let private = std::path::Path::new("http://127.0.0.1:9/openapi.json");
    assert!(said(&import(private, folder.path(), &[])).contains("cannot be fetched"));
}

#[test]
fn json_says_what_became_of_each() {
    let out = tempfile::tempdir().unwrap();
    let output = import(&workshop().join("openapi.yaml"), out.path(), &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let operations = report["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 37);
    let book = operations.iter().find(|found| found["method"] == "BOOK").unwrap();
    assert_eq!(book["files"][0], "book_appointment.toml");
    assert!(operations.iter().all(|found| found["failed"].is_null()));
}

#[test]
fn b_1_what_was_imported_is_served_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["forecourt.toml", "agents/desk.toml"] {
        let to = folder.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(workshop().join(file), to).unwrap();
    }
    import(&workshop().join("openapi.yaml"), &folder.path().join("endpoints"), &[]);
    let check = forecourt(&["check", folder.path().to_str().unwrap()]);
    assert!(check.status.success(), "{}", said(&check));
    let export = forecourt(&["export", "openapi", folder.path().to_str().unwrap()]);
    assert!(export.status.success(), "{}", said(&export));
    let document: Value = serde_json::from_slice(&export.stdout).unwrap();
    assert_eq!(document["paths"]["/appointments"]["post"]["x-agtp-method"], "BOOK");
    assert_eq!(document["info"]["x-agtp-manifest"], "agtp://workshop.localhost/");
    assert!(said(&export).contains("lost: BOOK /appointments is POST here"));
}

#[test]
fn b_2_functions_are_written_where_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let functions = folder.path().join("functions");
    let file = folder.path().join("rooms.yaml");
    fs::write(&file, CERTAIN).unwrap();
    let output = import(&file, &folder.path().join("endpoints"), &["--functions", functions.to_str().unwrap()]);
    assert!(output.status.success(), "{}", said(&output));
    let stubs = fs::read_to_string(functions.join("rooms_endpoints.py")).unwrap();
    assert!(stubs.contains("def fetch_room(ctx):"), "{stubs}");
}

/// A document whose properties are called like keywords.
const KEYWORDS: &str = r##"
openapi: 3.1.0
info: {title: Keywords, version: "1"}
servers: [{url: https://keywords.example}]
paths:
  /things:
    post:
      summary: Create a thing
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
      responses: {200: {description: The thing is made., content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}}
components:
  schemas:
    Thing:
      type: object
      required: [type, $ref]
      properties:
        type: {type: string, enum: [a, b]}
        $ref: {type: string}
        $id: {type: string}
        default: {$ref: "#/components/schemas/Inner"}
        enum: {type: array, items: {$ref: "#/components/schemas/Inner"}}
        const: {$ref: "#/components/schemas/Thing"}
        properties: {type: object, properties: {properties: {type: string}}}
        format: {type: object, default: {$ref: "#/nowhere"}}
    Inner: {type: object, properties: {again: {$ref: "#/components/schemas/Thing"}, examples: {type: integer}}}
"##;

/// The documents that are held to validators: of the examples, and of properties called like keywords.
fn exported(folder: &Path) -> Vec<PathBuf> {
    let site = folder.join("keywords");
    let file = folder.join("keywords.yaml");
    fs::write(&file, KEYWORDS).unwrap();
    import(&file, &site.join("endpoints"), &[]);
    fs::write(site.join("forecourt.toml"), "domain = \"keywords.localhost\"\nname = \"Keywords\"\n").unwrap();
    let examples = workshop().join("..");
    let folders = [workshop(), examples.join("2-translate-and-rehost"), examples.join("3-coexist-permanently"), site];
    let export = |(at, site): (usize, &PathBuf)| {
        let output = forecourt(&["export", "openapi", site.to_str().unwrap()]);
        assert!(output.status.success(), "{}", said(&output));
        let to = folder.join(format!("{at}.json"));
        fs::write(&to, output.stdout).unwrap();
        to
    };
    folders.iter().enumerate().map(export).collect()
}

/// Runs a program of `tests/sdk` over exported documents, unless its library is not there.
fn validated(library: &str, program: &str, script: &str) {
    let library_folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/sdk").join(library);
    if !library_folder.join("asked").exists() {
        println!("skipped: {library} is not there; dev/sdk/setup brings it");
        return;
    }
    let program = match program {
        "python" => library_folder.join("bin/python"),
        other => PathBuf::from(other),
    };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(script);
    let mut command = Command::new(program);
    command.arg(script).args(exported(folder.path())).env("FORECOURT_SDK", &library_folder);
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), said(&output));
}

#[test]
fn s14_2_a_validator_in_python_takes_every_exported_document() {
    validated("openapi-python", "python", "openapi.py");
}

#[test]
fn s14_2_validators_in_javascript_take_every_exported_document() {
    validated("openapi-js", "node", "openapi.mjs");
}
