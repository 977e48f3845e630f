//! `forecourt conform` against hosts that others made. What it finds on each is exactly what
//! `tests/conformance/foreign/NAME.json` lists, with the reason beside it: a new finding is either a fault of theirs that
//! is written down, or one of ours that is mended. `dev/sdk/setup` brings the hosts.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::scripts::{RunningScript, client_script, library};
use crate::support::{Deployment, Ran};

/// What is known of a host.
fn known(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/foreign").join(format!("{name}.json"))
}

/// Judges a host by all that it offers, and holds that against what is known of it.
#[track_caller]
fn is_known(name: &str, url: &str) -> Value {
    let file = known(name).display().to_string();
    let ran = Deployment::empty().run("conform", [url, "--with-effects", "--json", "--against", &file]);
    let report = news_of(name, &ran);
    let known: Value = serde_json::from_str(&std::fs::read_to_string(known(name)).unwrap()).unwrap();
    for check in known["checks"].as_array().unwrap() {
        assert!(check["why"].as_str().is_some_and(|why| !why.is_empty()), "{name}: no reason beside {check}");
    }
    report
}

/// The report, of which nothing may be new or gone.
#[track_caller]
fn news_of(name: &str, ran: &Ran) -> Value {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let against = report["against"].as_object().unwrap();
    assert_eq!(report["against"]["is_unjudged"], false, "{name}: nothing was judged");
    let news: Vec<_> =
        against.iter().filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty())).collect();
    let told = |id: &Value| report["checks"].as_array().unwrap().iter().find(|check| check["id"] == *id).cloned();
    let checks: Vec<_> = news.iter().flat_map(|(_, list)| list.as_array().unwrap()).filter_map(told).collect();
    assert!(news.is_empty(), "{name}: {news:?}\n{checks:#?}");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    report
}

/// The names of the protocols that were found.
fn offered(report: &Value) -> Vec<&str> {
    let all = report["protocols"].as_array().unwrap().iter();
    all.filter(|one| one["status"] == "offered").map(|one| one["name"].as_str().unwrap()).collect()
}

/// Starts the host of a library, and judges it. `None` where the library is not there.
#[track_caller]
fn judged(name: &str, library_name: &str, script: &str) -> Option<Value> {
    let folder = library(library_name)?;
    let (_host, url) = RunningScript::start(&mut client_script(&format!("servers/{script}"), Some(&folder)));
    Some(is_known(name, &url))
}

#[test]
fn an_agent_of_a2a_python_has_the_faults_that_are_known() {
    let Some(report) = judged("a2a_python", "a2a-server-python", "a2a_python.py") else { return };
    assert_eq!(offered(&report), ["A2A card", "A2A 1.0", "A2A 1.0 over HTTP+JSON", "A2A 0.3"]);
}

#[test]
fn an_agent_of_a2a_js_has_the_faults_that_are_known() {
    let Some(report) = judged("a2a_js", "a2a-server-js", "a2a_js.mjs") else { return };
    assert_eq!(offered(&report), ["A2A card", "A2A 1.0", "A2A 1.0 over HTTP+JSON"]);
}

#[test]
fn a_server_of_fastmcp_has_the_faults_that_are_known() {
    let Some(report) = judged("fastmcp", "fastmcp", "fastmcp_tools.py") else { return };
    assert_eq!(offered(&report), ["MCP with sessions", "MCP 2026-07-28"]);
}

#[test]
fn server_everything_has_the_faults_that_are_known() {
    let Some(report) = judged("everything", "mcp-everything", "everything.mjs") else { return };
    assert_eq!(offered(&report), ["MCP with sessions"]);
}

/// A site of pages, and an application of one page: neither offers anything, and neither has a fault.
#[test]
fn sites_of_pages_offer_nothing_and_have_no_faults() {
    for (name, words) in [("static_site", &[][..]), ("single_page", &["spa"][..])] {
        let (_host, url) = RunningScript::start(client_script("servers/pages.py", None).args(words));
        let report = is_known(name, &url);
        assert!(offered(&report).is_empty(), "{report}");
        assert_eq!(report["summary"]["fail"], 0);
        // Without a file of what is known, a run that judged nothing does not pass.
        let said = Deployment::empty().run("conform", [url.as_str()]).failed(1);
        assert!(said.contains("offers nothing"), "{said}");
    }
}
