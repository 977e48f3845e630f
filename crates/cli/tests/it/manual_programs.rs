//! The programs of the manual, run as they are printed against the plain listener: no resolver of theirs, no
//! authority, nothing but the address. `dev/sdk/setup` brings the libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Deployment, Served};

/// Where programs of the manual expect the deployment.
const PRINTED: &str = "http://127.0.0.1:8080";

/// The program under a heading of the page about A2A.
fn program(heading: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/a2a.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split(&format!("## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no section {heading}"));
    let fenced = section.split("```").nth(1).unwrap();
    fenced.split_once('\n').unwrap().1.to_owned()
}

fn library(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/sdk").join(name)
}

/// Runs the program under `heading` with a library, unless that is not there. It must find a soup.
#[track_caller]
fn runs(heading: &str, name: &str) {
    let library = library(name);
    if !library.join("asked").exists() {
        println!("skipped: {name} is not there; dev/sdk/setup brings it");
        return;
    }
    let served = Deployment::kitchen().serve();
    let program = program(heading);
    assert!(program.contains(PRINTED), "{program}");
    let program = program.replace(PRINTED, &format!("http://127.0.0.1:{}", served.http));
    let mut command = match name.starts_with("python") {
        true => {
            served.deployment.write("program.py", &program);
            let mut command = Command::new(library.join("bin/python"));
            command.arg("program.py");
            command
        }
        false => {
            served.deployment.write("program.mjs", &program);
            let modules = served.deployment.path().join("node_modules");
            std::os::unix::fs::symlink(library.join("node_modules"), modules).unwrap();
            let mut command = Command::new("node");
            command.arg("program.mjs");
            command
        }
    };
    for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(variable).env_remove(variable.to_lowercase());
    }
    let output = command.current_dir(served.deployment.path()).output().unwrap();
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{heading}:\n{said}\n{complaints}");
    assert!(said.contains("wikibooks"), "{heading} found no soup:\n{said}");
}

#[test]
fn python_1_runs_as_printed() {
    runs("Python, a2a-sdk 1.x", "python-1");
}

#[test]
fn python_0_3_runs_as_printed() {
    runs("Python, a2a-sdk 0.3", "python-0.3");
}

#[test]
fn javascript_1_runs_as_printed() {
    runs("JavaScript, @a2a-js/sdk 1.x", "js-1");
}

#[test]
fn javascript_0_3_runs_as_printed() {
    runs("JavaScript, @a2a-js/sdk 0.3", "js-0.3");
}

/// What a plain listener says under one Host.
fn fetched(served: &Served, host: &str, path: &str) -> (String, String) {
    let url = format!("http://127.0.0.1:{}{path}", served.http);
    let output = Command::new("curl")
        .args(["-s", "--noproxy", "*", "-w", "\n%{http_code}", "-H", &format!("Host: {host}")])
        .args(["-H", "X-Forwarded-Host: evil.example", "-H", "X-Forwarded-Proto: https", &url])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.to_owned(), body.to_owned())
}

const DOCUMENTS: [&str; 7] = [
    "/.well-known/agent-card.json",
    "/a2a/gate/.well-known/agent-card.json",
    "/.well-known/agent-card/gate",
    "/.well-known/webfinger?resource=acct:gate@demo.localhost",
    "/.well-known/mentionable-agents.json",
    "/~gate",
    "/",
];

#[test]
fn design_18_documents_name_the_plain_origin_at_which_they_were_fetched() {
    let served = Deployment::gatehouse().serve();
    for host in ["127.0.0.1", "localhost", "[::1]", "demo.localhost"] {
        for path in DOCUMENTS {
            let (status, body) = fetched(&served, &format!("{host}:{}", served.http), path);
            let origin = format!("http://{host}:{}/", served.http);
            assert_eq!(status, "200", "{host} {path}");
            assert!(body.contains(&origin), "{host} {path}: {body}");
            for other in ["https://demo.localhost", "https://127.0.0.1", "evil.example"] {
                assert!(!body.contains(other), "{host} {path} names {other}: {body}");
            }
        }
    }
    for host in ["evil.example", "127.0.0.2", "demo.localhost.evil.example"] {
        assert_eq!(fetched(&served, host, DOCUMENTS[0]).0, "421", "{host}");
    }
}

#[test]
fn design_18_behind_a_proxy_documents_name_the_public_base() {
    for line in ["public_url = \"https://kitchen.example\"\n", "trusted_proxies = [\"127.0.0.1/32\"]\n"] {
        let deployment = Deployment::gatehouse();
        let text = deployment.read("forecourt.toml");
        let served = deployment.and("forecourt.toml", &format!("{line}{text}")).serve();
        for path in DOCUMENTS {
            let (status, body) = fetched(&served, "127.0.0.1", path);
            assert_eq!(status, "200", "{path}");
            assert!(!body.contains("http://127.0.0.1"), "{line} {path}: {body}");
        }
    }
}
