//! `forecourt connect`: what other programs are told works as it is told.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Deployment, Ran};

/// The programs that have a settings file, where that is, and its table of servers.
const WRITTEN: [(&str, &str, &str); 5] = [
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("claude-code", ".mcp.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".vscode/mcp.json", "servers"),
    ("gemini-cli", ".gemini/settings.json", "mcpServers"),
];

/// Runs the command at home, which is also where the project is.
fn connect(home: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forecourt"));
    command.arg("connect").args(arguments).current_dir(home).env("HOME", home);
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME").env_remove("FORECOURT_DATA_DIR");
    Ran::of(&mut command)
}

fn settings(home: &Path, file: &str) -> Value {
    serde_json::from_slice(&std::fs::read(home.join(file)).unwrap()).unwrap()
}

#[test]
fn each_program_is_told_of_a_server_that_answers() {
    let served = Deployment::gatehouse().serve();
    let home = tempfile::tempdir().unwrap();
    let folder = served.deployment.path().to_str().unwrap().to_owned();
    for (program, file, table) in WRITTEN {
        connect(home.path(), &[program, &folder, "--write"]).fine();
        let entry = settings(home.path(), file)[table]["demo"].clone();
        if let Some(url) = entry["url"].as_str().or(entry["httpUrl"].as_str()) {
            assert_eq!(url, format!("http://127.0.0.1:{}/mcp", served.http), "{program}");
        } else {
            assert_eq!(begun(&entry)["result"]["protocolVersion"], "2025-11-25", "{program}");
        }
        assert!(connect(home.path(), &[program, &folder, "--write"]).fine().contains("already"), "{program}");
    }
    let curl = connect(home.path(), &["curl", &folder]).fine();
    let output = Command::new("sh").args(["-c", &curl]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    assert!(names.collect::<Vec<_>>().contains(&"ask_echo"), "{answer}");
}

/// What a program that is started as its settings say answers to the handshake.
fn begun(entry: &Value) -> Value {
    let arguments = entry["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.args(arguments).env_remove("FORECOURT_DATA_DIR").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let me = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": me});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    child.stdin.take().unwrap().write_all(format!("{message}\n").as_bytes()).unwrap();
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn what_a_user_has_in_the_settings_stays() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".gemini/settings.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\"example-com\": {\"httpUrl\": \"https://old.example\"}}\n}\n";
    std::fs::write(&file, before).unwrap();
    let words = connect(home.path(), &["gemini-cli", "example.com", "--write"]).failed(1);
    assert!(words.contains("has another server called `example-com`") && words.contains("--force"), "{words}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    connect(home.path(), &["gemini-cli", "example.com", "--write", "--name", "other", "--token-variable", "TOKEN"])
        .fine();
    let after = std::fs::read_to_string(&file).unwrap();
    for piece in ["// mine", "\"theme\": \"dark\"", "https://old.example", "https://example.com/mcp", "Bearer ${TOKEN}"]
    {
        assert!(after.contains(piece), "{piece}: {after}");
    }
    assert_eq!(std::fs::read_to_string(home.path().join(".gemini/settings.json.bak")).unwrap(), before);
}

#[test]
fn what_leads_nowhere_is_said() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, code, words) in [
        (&["cursor"][..], 1, "is no deployment"),
        (&["cursor", "nobody.localhost"], 3, "no deployment of nobody.localhost is served"),
        (&["cursor", "https://me:secret@example.com"], 1, "a password in it"),
        (&["cursor", "http://example.com", "--token-variable", "TOKEN"], 1, "not sent over plain HTTP"),
        (&["curl", "example.com", "--write"], 1, "no settings file"),
        (&["notepad"], 2, "invalid value"),
        (&["cursor", "example.com", "--token-variable", "not a name"], 2, "names a variable"),
        (&["cursor", "example.com", "--force"], 2, "--write"),
    ] {
        let said = connect(home.path(), arguments).failed(code);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert!(std::fs::read_dir(home.path()).unwrap().next().is_none(), "nothing was written");
}
