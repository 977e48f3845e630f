//! `forecourt conform` against deployments that are served by the real binary, and against nobody.

use serde_json::Value;

use crate::browser::{Browser, View};
use crate::scripts::{RunningScript, client_script, library};
use crate::support::{DOMAIN, Deployment, Ran, Served};

/// The names of the checks that came to `outcome`, each with its reason.
fn came_to(report: &Value, outcome: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == outcome);
    checks.map(|check| format!("{}: {}", check["id"], check["reason"])).collect()
}

fn report(served: &Served, target: &str, more: &[&str]) -> Value {
    let ran = served.deployment.run("conform", [&[target, "--json"], more].concat());
    assert!(ran.stderr.is_empty() || ran.code == Some(1), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn our_own_host_keeps_every_rule_over_http() {
    let served = Deployment::kitchen().serve();
    let found = report(&served, &format!("https://{DOMAIN}"), &["--with-effects"]);
    assert_eq!(came_to(&found, "fail"), Vec::<String>::new(), "{found}");
    assert_eq!(came_to(&found, "warn"), Vec::<String>::new(), "{found}");
    assert!(found["summary"]["pass"].as_u64().unwrap() > 170, "{}", found["summary"]);
    let untold: Vec<&Value> =
        found["protocols"].as_array().unwrap().iter().filter(|one| one["status"] != "offered").collect();
    assert!(untold.is_empty(), "{untold:?}");
    let gate = report(&served, &format!("https://{DOMAIN}"), &["--agent", "@gate", "--only", "rest-"]);
    assert_eq!(came_to(&gate, "fail"), Vec::<String>::new(), "{gate}");
}

/// A small deployment with endpoints, recipes and agents that is served, and the id of one of its agents.
fn hotel() -> (Served, String) {
    let deployment = Deployment::of_example("hotel");
    let served = deployment.serve();
    let id = served.deployment.agent_id("desk");
    (served, id)
}

#[test]
fn our_own_server_of_agtp_keeps_every_rule() {
    let (served, id) = hotel();
    let target = format!("agtp://{DOMAIN}");
    let named = ["--agent-id", id.as_str(), "--with-effects"];
    for more in [&[][..], &named[..2], &named[..]] {
        let found = report(&served, &target, more);
        assert_eq!(came_to(&found, "fail"), Vec::<String>::new(), "{more:?} {found}");
    }
}

#[test]
fn a_broken_rule_ends_with_1_and_nobody_there_with_3() {
    let deployment = Deployment::empty();
    let said = deployment.run("conform", ["https://127.0.0.1:1", "--insecure"]).failed(3);
    assert!(said.contains("nobody answers"), "{said}");
    deployment.run("conform", ["agtp://127.0.0.1:1", "--plaintext"]).failed(3);
    deployment.run("conform", ["http://example.com"]).failed(2);
    deployment.run("conform", ["agtp://127.0.0.1:1", "--only", "no-such-check"]).failed(2);
    deployment.run("conform", ["agtp://127.0.0.1:1", "--agent-id", "x"]).failed(2);
    // A server of HTTP is none of AGTP.
    let served = Deployment::gatehouse().serve();
    let port = served.http.to_string();
    let ran = served.deployment.run("conform", [&format!("agtp://127.0.0.1:{port}"), "--plaintext"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("AGTP: not offered: "), "{}", ran.stdout);
    assert!(ran.stderr.contains("offers nothing"), "{ran:?}");
}

#[test]
fn checks_are_listed_with_their_sections() {
    let deployment = Deployment::empty();
    let all = deployment.run("conform", ["--list", "--json"]).json();
    let checks = all["checks"].as_array().unwrap();
    let mut ids: Vec<&str> = checks.iter().map(|check| check["id"].as_str().unwrap()).collect();
    let count = ids.len();
    assert!(count > 200, "{count}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "a name is there twice");
    // Each item of the list of AGTP-API 13.1 has a check.
    for item in 1..=13 {
        assert!(ids.iter().any(|id| id.starts_with(&format!("agtp-13.1-{item}"))), "item {item}");
    }
    let listed = deployment.run("conform", ["--list", "--only", "rest-4"]).fine();
    assert!(listed.lines().all(|line| line.starts_with("rest-4")), "{listed}");
}

#[test]
fn a_certificate_that_nobody_trusts_is_a_finding_and_insecure_goes_on() {
    let served = Deployment::gatehouse().serve();
    // By its address: the authority of a name under .localhost is found by itself.
    let target = format!("https://127.0.0.1:{}", served.https);
    let run = |more: &[&str]| Deployment::empty().run("conform", [&[target.as_str(), "--json"], more].concat());
    let strange = run(&[]);
    assert_eq!(strange.code, Some(1), "{strange:?}");
    let found: Value = serde_json::from_str(&strange.stdout).unwrap();
    assert_eq!(came_to(&found, "fail").len(), 1, "{found}");
    assert!(came_to(&found, "fail")[0].starts_with("\"tls-chain\""), "{found}");
    let others = found["protocols"].as_array().unwrap().iter().filter(|one| one["name"] != "TLS");
    for other in others {
        let is_told = other["reason"].as_str().is_some_and(|why| why.contains("--cacert"));
        assert!(other["status"] == "untold" && is_told, "{other}");
    }
    let found = run(&["--insecure"]).json();
    assert!(found["summary"]["pass"].as_u64().unwrap() > 100, "{}", found["summary"]);
}

#[test]
fn only_news_fail_a_run_that_knows_what_was_found() {
    let served = Deployment::gatehouse().serve();
    let target = format!("http://127.0.0.1:{}", served.http);
    let deployment = &served.deployment;
    deployment.run("conform", [target.as_str(), "--only", "mcp-", "--write-known", "known.json"]).fine();
    let known: Value = serde_json::from_str(&deployment.read("known.json")).unwrap();
    assert_eq!(known["checks"], serde_json::json!([]));
    let again = deployment.run("conform", [target.as_str(), "--only", "mcp-", "--against", "known.json"]).fine();
    assert!(again.contains("nothing is new, and nothing is gone"), "{again}");
    // Where MCP was offered and is not, that is news.
    let elsewhere = ["--only", "mcp-", "--mcp", "/nowhere", "--against", "known.json"];
    let gone = deployment.run("conform", [&[target.as_str()][..], &elsewhere[..]].concat());
    assert_eq!(gone.code, Some(1), "{gone:?}");
    assert!(gone.stdout.contains("not offered any more: MCP 2026-07-28"), "{gone:?}");
    assert!(gone.stderr.contains("2 things are new"), "{gone:?}");
    let said = deployment.run("conform", [target.as_str(), "--against", "nowhere.json"]).failed(1);
    assert!(said.contains("nowhere.json"), "{said}");
    // What a run did not look at stays known.
    let elsewhere = "{\"checks\": [{\"id\": \"tls-expiry\", \"outcome\": \"warn\", \"why\": \"renewed by hand\"}]}";
    deployment.write("known.json", elsewhere);
    deployment.run("conform", [target.as_str(), "--only", "mcp-", "--write-known", "known.json"]).fine();
    let known: Value = serde_json::from_str(&deployment.read("known.json")).unwrap();
    assert_eq!(known["checks"][0]["why"], "renewed by hand", "{known}");
    // A run that judges nothing passes only where that is known.
    let nowhere = [target.as_str(), "--only", "mcp-", "--mcp", "/nowhere"];
    deployment.write("empty.json", "{\"checks\": []}");
    let said = deployment.run("conform", [&nowhere[..], &["--against", "empty.json"]].concat()).failed(1);
    assert!(said.contains("offers nothing"), "{said}");
    deployment.run("conform", [&nowhere[..], &["--write-known", "nothing.json"]].concat()).failed(1);
    deployment.run("conform", [&nowhere[..], &["--against", "nothing.json"]].concat()).fine();
    // What is something else is not written over.
    deployment.write("mine.json", "[1]");
    deployment.run("conform", [target.as_str(), "--only", "mcp-", "--write-known", "mine.json"]).failed(1);
    assert_eq!(deployment.read("mine.json"), "[1]");
}

/// Runs it against an agent of others that has faults, and writes every form of the report; the folder they are in.
fn reports() -> Option<Deployment> {
    let folder = library("a2a-server-js")?;
    let (_host, url) = RunningScript::start(&mut client_script("servers/a2a_js.mjs", Some(&folder)));
    let deployment = Deployment::empty();
    let forms = ["--junit", "report.xml", "--sarif", "report.sarif", "--html", "report.html", "--with-effects"];
    let ran = deployment.run("conform", [&[url.as_str()][..], &forms[..]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    Some(deployment)
}

#[test]
fn the_report_for_code_scanning_keeps_its_schema() {
    let (Some(deployment), Some(folder)) = (reports(), library("sarif")) else { return };
    let schema = folder.join("node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    // Its pattern for languages, which the report does not name, is no regular expression.
    for component in ["run", "toolComponent"] {
        let place = format!("/definitions/{component}/properties/language");
        schema.pointer_mut(&place).unwrap().as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let sarif: Value = serde_json::from_str(&deployment.read("report.sarif")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&sarif).map(|error| error.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new());
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty());
}

#[test]
fn the_report_for_continuous_integration_is_xml_with_its_counts() {
    let Some(deployment) = reports() else { return };
    let count = "import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); \
                 print(r.tag, r.get('failures'), len(r.findall('.//failure')), len(r.findall('.//skipped')) == int(r.get('skipped')), \
                 len(r.findall('.//testcase')) == int(r.get('tests')))";
    let mut python = std::process::Command::new("python3");
    let said = Ran::of(python.args(["-c", count]).arg(deployment.path().join("report.xml"))).fine();
    let words: Vec<&str> = said.split_whitespace().collect();
    assert_eq!((words[0], words[3], words[4]), ("testsuites", "True", "True"), "{said}");
    assert!(words[1] == words[2] && words[1] != "0", "{said}");
}

#[test]
fn the_report_is_a_page_that_a_phone_shows_by_day_and_by_night() {
    let Some(deployment) = reports() else { return };
    let page = format!("file://{}", deployment.path().join("report.html").display());
    for (view, name) in [(View::Desk, "desk"), (View::Dark, "dark"), (View::Phone, "phone")] {
        let Some(browser) = Browser::open(view) else { return };
        browser.go(&page);
        browser.picture(&format!("conform-{name}"));
        assert!(browser.find("article.fail").text().contains("Failed"));
        assert!(browser.find("h1").text().starts_with("Conformance of http://127.0.0.1:"));
        let is_wide = browser.value("document.documentElement.scrollWidth > innerWidth");
        assert_eq!(is_wide, false, "{name}: it is wider than the screen");
        let ground = browser.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(ground == "rgb(255, 255, 255)", name != "dark", "{name}: {ground}");
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
}
