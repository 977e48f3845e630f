//! `catalog diff`: what changed, what breaks, and exit codes for scripts. AGTP-API 4.7.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

const OLD: &str = r#"{"version":"1.0.0","verbs":{"BOOK":{},"LEARN":{},"AUDIT":{}}}"#;
const NEW: &str = r#"{"version":"2.0.0","verbs":{"BOOK":{"deprecated_in":"2.0.0","removed_in":"3.0.0","successor":"RESERVE"},"AUDIT":{},"RESERVE":{},"ROOM":{}}}"#;

/// A folder with both catalogs and files of a deployment.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("old.json", OLD), ("new.json", NEW)].iter().chain(files) {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

/// Exit code, standard output and standard error.
fn diff(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .current_dir(folder)
        .args(["catalog", "diff"])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const DEPLOYMENT: [(&str, &str); 5] = [
    ("site/endpoints/teach.toml", "[endpoint]\nmethod = \"LEARN\"\npath = \"/skills\"\n"),
    ("site/endpoints/book.toml", "[endpoint]\nmethod = \"BOOK\"\npath = \"/hotel/ro-om/{room}\"\n"),
    ("site/endpoints/readme.md", "LEARN"),
    (
        "site/agtp-recipes.toml",
        "[[recipe]]\nname = \"school\"\n[[recipe.steps]]\nmethod = \"AUDIT\"\n[[recipe.steps]]\nmethod = \"LEARN\"\n",
    ),
    ("site/forecourt.toml", "domain = \"a.example\"\n[agtp.policies.methods]\ndisallow = [\"LEARN\", \"AUDIT\"]\n"),
];

#[test]
fn s4_7_without_a_deployment_nothing_breaks() {
    let folder = folder(&[]);
    let (code, out, _) = diff(folder.path(), &["old.json", "new.json"]);
    assert_eq!(code, 0, "{out}");
    for said in ["Catalog 1.0.0 -> 2.0.0", "Added (2):\n  RESERVE\n  ROOM\n", "Removed (1):\n  LEARN\n", "use RESERVE"]
    {
        assert!(out.contains(said), "no {said} in {out}");
    }
    assert!(out.ends_with("Summary: 0 breaking changes in deployment context.\n"), "{out}");
}

#[test]
fn s4_7_what_breaks_is_named_with_its_file_and_ends_with_1() {
    let folder = folder(&DEPLOYMENT);
    let (code, out, err) = diff(folder.path(), &["old.json", "new.json", "--against-deployment", "site"]);
    assert_eq!(code, 1, "{out}");
    for said in [
        "endpoints/book.toml: `ro-om` in /hotel/ro-om/{room} spells ROOM",
        "endpoints/teach.toml: LEARN",
        "agtp-recipes.toml: school takes a step of LEARN",
        "forecourt.toml: disallow names LEARN",
        "Summary: 4 breaking changes in deployment context.",
    ] {
        assert!(out.contains(said), "no {said} in {out}");
    }
    assert!(err.contains("4 things break"), "{err}");
}

#[test]
fn s4_7_as_json_the_fields_are_those_of_every_such_tool() {
    let folder = folder(&DEPLOYMENT);
    let (code, out, _) = diff(folder.path(), &["old.json", "new.json", "--against-deployment", "site", "--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!((&told["old_version"], &told["new_version"]), (&"1.0.0".into(), &"2.0.0".into()));
    assert_eq!(told["newly_deprecated"][0]["removed_in"], "3.0.0");
    assert_eq!(told["path_grammar_conflicts"][0]["segment"], "ro-om");
    assert_eq!(told["endpoint_conflicts"][0]["method"], "LEARN");
    assert_eq!(told["recipe_conflicts"][0]["recipe"], "school");
    assert_eq!(told["method_policy_conflicts"][0]["directive"], "disallow");
    let (code, out, _) = diff(folder.path(), &["old.json", "old.json", "--against-deployment", "site", "--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &told["endpoint_conflicts"]), (0, &Value::Array(Vec::new())));
}

#[test]
fn s4_7_the_reference_server_s_own_files_are_read_too() {
    let policy = "[server]\nserver_id = \"a\"\n[policies.methods]\nallow = [\"LEARN\"]\n";
    let folder = folder(&[("site/agtp-server.toml", policy)]);
    let (code, out, _) = diff(folder.path(), &["old.json", "new.json", "--against-deployment", "site"]);
    assert_eq!(code, 1);
    assert!(out.contains("agtp-server.toml: allow names LEARN"), "{out}");
}

#[test]
fn s4_7_what_cannot_be_read_ends_with_2() {
    let folder = folder(&[
        ("junk.json", "{"),
        ("site/endpoints/broken.toml", "[endpoint\n"),
        ("policy/forecourt.toml", "[agtp.policies.methods]\nallow = 7\n"),
    ]);
    for arguments in [
        &["nowhere.json", "new.json"][..],
        &["junk.json", "new.json"],
        &["old.json", "junk.json"],
        &["old.json", "new.json", "--against-deployment", "nowhere"],
        &["old.json", "new.json", "--against-deployment", "site"],
        &["old.json", "new.json", "--against-deployment", "policy"],
    ] {
        let (code, out, err) = diff(folder.path(), arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.starts_with("error: "), "{err}");
    }
}
