//! The conformance suite of MCP for servers, against the real program: what fails is exactly what
//! `tests/conformance/known_gaps.txt` lists, also behind another host. `dev/sdk/setup` brings the suite, with a Node
//! that is new enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::mcp_servers::tools;
use crate::support::{Deployment, Served, within};

/// The folder with the deployment that the suite talks to, and the list of what is known to fail.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
/// What counts as a gap, though the suite may call it a warning.
const GAPS: [&str; 2] = ["FAILURE", "WARNING"];

#[test]
fn a_server_of_2025_11_25_has_the_gaps_that_are_listed_and_no_others() {
    holds("2025-11-25");
}

#[test]
fn a_server_of_2026_07_28_has_the_gaps_that_are_listed_and_no_others() {
    holds("2026-07-28");
}

/// Of 2026-07-28 it takes more than a minute to find that the tasks of a server stay with it.
#[test]
fn a_server_of_2025_11_25_has_the_same_gaps_behind_a_host() {
    let Some(suite) = Suite::find() else { return };
    let server = deployment().serve();
    let file = format!("url = \"http://127.0.0.1:{}/mcp\"\n", server.http);
    let host = Deployment::empty()
        .and("forecourt.toml", "domain = \"demo.localhost\"\n")
        .and("agents/echo.toml", "handle = \"echo\"\nname = \"Echo\"\n\n[backend]\nkind = \"echo\"\n")
        .and("servers/far.toml", &file)
        .serve();
    within("the server is asked what it has", || (tools(&host, "/mcp/far").len() > 10).then_some(()));
    suite.finds("2025-11-25", &host, "/mcp/far");
}

/// Runs everything that a revision requires, and its extensions.
#[track_caller]
fn holds(revision: &str) {
    if let Some(suite) = Suite::find() {
        suite.finds(revision, &deployment().serve(), "/mcp");
    }
}

/// The suite, and the Node that runs it.
struct Suite {
    folder: PathBuf,
    node: PathBuf,
}

impl Suite {
    /// `None`, and it is said, where it is not there.
    fn find() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/sdk/mcp-conformance/node_modules");
        let Some(node) = node(&folder) else {
            println!("skipped: mcp-conformance is not there; dev/sdk/setup brings it");
            return None;
        };
        Some(Self { folder, node })
    }

    /// Runs it against an endpoint, where it finds the gaps that are listed and no others.
    #[track_caller]
    fn finds(&self, revision: &str, served: &Served, path: &str) {
        let results = served.deployment.path().join("results");
        let mut command = Command::new(&self.node);
        command.arg(self.folder.join("@modelcontextprotocol/conformance/dist/index.js"));
        // By its address, since not every resolver knows that the name means this machine.
        let url = format!("http://127.0.0.1:{}{path}", served.http);
        command.args(["server", "--requirements", revision, "--url", &url]);
        command.arg("--output-dir").arg(&results).current_dir(served.deployment.path());
        for stranger in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(stranger).env_remove(stranger.to_lowercase());
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let (checks, found) = gaps(&results);
        assert!(checks > 60, "the suite looked at {checks} things only:\n{said}");
        let known = known(revision);
        let new: Vec<_> = found.iter().filter(|(gap, _)| !known.contains(*gap)).collect();
        let gone: Vec<_> = known.iter().filter(|gap| !found.contains_key(*gap)).collect();
        assert!(new.is_empty(), "these fail and are not listed: {new:#?}");
        assert!(gone.is_empty(), "these are listed and do not fail any more; take them off the list: {gone:#?}");
    }
}

/// The Node of the suite: the system's may be too old for it.
pub(crate) fn node(suite: &Path) -> Option<PathBuf> {
    let names = fs::read_dir(suite).ok()?.flatten().map(|entry| entry.path());
    names
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("node-")))
        .map(|path| path.join("bin/node"))
        .find(|path| path.exists())
}

fn deployment() -> Deployment {
    let deployment = Deployment::empty();
    for file in ["forecourt.toml", "agents/everything.toml"] {
        deployment.write(file, &fs::read_to_string(Path::new(FOLDER).join(file)).unwrap());
    }
    fs::copy(Path::new(FOLDER).join("red.png"), deployment.path().join("red.png")).unwrap();
    deployment
}

/// How many checks there were, and those that failed, as `scenario:check`, with what was said.
fn gaps(results: &Path) -> (usize, BTreeMap<String, String>) {
    let mut found = BTreeMap::new();
    let mut count = 0;
    for folder in fs::read_dir(results).unwrap().flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let checks: Value =
            serde_json::from_str(&fs::read_to_string(folder.path().join("checks.json")).unwrap()).unwrap();
        for check in checks.as_array().unwrap() {
            count += 1;
            if GAPS.iter().any(|gap| check["status"] == *gap) {
                let gap = format!("{}:{}", scenario(&name), check["id"].as_str().unwrap());
                found.insert(gap, check["errorMessage"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    (count, found)
}

/// The scenario of a folder, which is called `server-<scenario>-<time>`.
fn scenario(folder: &str) -> &str {
    const TIME: usize = "-2026-01-01T00-00-00-000Z".len();
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    &name[..name.len().saturating_sub(TIME)]
}

/// What is listed for a revision: a line each, `revision scenario:check`, and a reason behind a `#`.
fn known(revision: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(FOLDER).join("known_gaps.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut all = BTreeSet::new();
    for line in lines {
        let (gap, reason) = line.split_once('#').expect("each gap has a reason");
        assert!(!reason.trim().is_empty(), "{line}");
        let (of, check) = gap.trim().split_once(' ').expect("a revision, then a check");
        if of == revision || of == "both" {
            assert!(all.insert(check.trim().to_owned()), "listed twice: {line}");
        }
    }
    all
}
