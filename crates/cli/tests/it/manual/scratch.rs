//! A deployment in which a part of a file is checked by itself: it holds what the snippets of the manual name.

use std::process::Command;

use super::page::VARIABLES;
use crate::support::Deployment;

/// Checks a part of `file`, which may be `forecourt.toml` or that of an agent. `beside` is the deployment of the
/// page, of which files of other kinds are parts.
#[track_caller]
pub(super) fn check_part(at: &str, file: &str, text: &str, beside: &std::path::Path) {
    let scratch = deployment();
    match file {
        "forecourt.toml" if text.lines().any(|line| line.starts_with("domain = ")) => scratch.write(file, text),
        "forecourt.toml" => scratch.write(file, &format!("domain = \"demo.localhost\"\n{text}\n")),
        _ if file.starts_with("agents/") => {
            let handle = file.trim_start_matches("agents/").trim_end_matches(".toml");
            let backend = if text.contains("[backend") { "" } else { "[backend]\nkind = \"echo\"\n" };
            let head = if text.contains("handle = ") {
                String::new()
            } else {
                format!("handle = \"{handle}\"\nname = \"X\"\n")
            };
            scratch.write(file, &format!("{head}{text}\n{backend}"));
        }
        _ => {
            copy(beside, scratch.path());
            let whole = scratch.read(file);
            scratch.write(file, &format!("{whole}\n{text}\n"));
        }
    }
    let mut check = scratch.command("check");
    let output = check.arg(".").envs(VARIABLES).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{at}: `forecourt check` does not take this part of {file}:\n{text}\n\n{told}");
}

/// The files of a folder into another one, without what a daemon keeps.
pub(super) fn copy(from: &std::path::Path, to: &std::path::Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().filter_entry(|entry| entry.file_name() != ".forecourt") {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        match entry.file_type().is_dir() {
            true => std::fs::create_dir_all(target).unwrap(),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn deployment() -> Deployment {
    let scratch = Deployment::empty();
    scratch.write("forecourt.toml", "domain = \"demo.localhost\"\n");
    for agent in ["chef", "pantry"] {
        let text = format!("handle = \"{agent}\"\nname = \"{agent}\"\n\n[backend]\nkind = \"echo\"\n");
        scratch.write(&format!("agents/{agent}.toml"), &text);
    }
    scratch.write("content/apples.jsonl", "{\"@type\": \"Product\", \"@id\": \"a\", \"name\": \"Apples\"}\n");
    scratch.write("menu.md", "# Menu\n");
    scratch.write("countries.csv", "network,country\n203.0.113.0/24,XX\n");
    scratch.write("plate.png", "no picture");
    std::os::unix::fs::symlink(scratch.path().join("menu.md"), scratch.path().join("openapi.json")).unwrap();
    certificate(&scratch);
    scratch
}

/// A certificate with its key, as `[tls]` and `[agtp.mtls]` name them in the manual.
fn certificate(scratch: &Deployment) {
    let words = "req -x509 -newkey ed25519 -nodes -subj /CN=demo.localhost -days 30 -addext \
                 subjectAltName=DNS:demo.localhost -addext basicConstraints=critical,CA:TRUE -addext \
                 keyUsage=critical,keyCertSign,digitalSignature -keyout privkey.pem -out fullchain.pem";
    let mut openssl = Command::new("openssl");
    let output = openssl.args(words.split_whitespace()).current_dir(scratch.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    std::fs::copy(scratch.path().join("fullchain.pem"), scratch.path().join("agent-ca.pem")).unwrap();
    let words = ["pkey", "-in", "privkey.pem", "-pubout", "-out", "issuer.pem"];
    assert!(Command::new("openssl").args(words).current_dir(scratch.path()).status().unwrap().success());
}
