//! The book for contributors: each page of `docs/contributing` has a small example, a patch beside it. All of them are
//! applied to a copy of the project, which is built once and served; then what each adds is asked over its wire.

mod copy;

use std::any::Any;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::admin::{TOKEN, api};
use crate::support::{DOMAIN, Deployment, PATIENCE, Served};

/// Where the pages and their patches are, from the root of the repository.
const FOLDER: &str = "docs/contributing";

/// A page, and what asks for what its patch adds.
type Page = (&'static str, fn(&Served));

/// The pages in the order in which their patches are applied.
const PAGES: &[Page] = &[
    ("backend", backend),
    ("wire", wire),
    ("refusal-kind", refusal_kind),
    ("rule", rule),
    ("setting", setting),
    ("loader", loader),
    ("endpoint-handler", endpoint_handler),
    ("console-page", console_page),
];

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn patch_of(page: &str) -> PathBuf {
    root().join(FOLDER).join(format!("{page}.patch"))
}

/// The files that a patch writes.
fn files_of(patch: &str) -> Vec<&str> {
    patch.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect()
}

#[test]
fn every_page_is_tried() {
    let there = fs::read_dir(root().join(FOLDER)).unwrap().map(|entry| entry.unwrap().path());
    let there = there.filter(|path| path.extension().is_some_and(|it| it == "patch"));
    let there: BTreeSet<String> = there.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let tried: BTreeSet<String> = PAGES.iter().map(|(page, _)| (*page).to_owned()).collect();
    assert_eq!(tried, there, "each patch of {FOLDER} needs a line in PAGES");
}

#[test]
fn what_each_page_adds_is_built_and_answers() {
    let pages: Vec<&str> = PAGES.iter().map(|(page, _)| *page).collect();
    let served = deployment().run_by(copy::build(&pages)).serve();
    let wrong: Vec<String> = PAGES
        .iter()
        .filter_map(|(page, ask)| {
            let panic = catch_unwind(AssertUnwindSafe(|| ask(&served))).err()?;
            Some(format!(
                "the example of {FOLDER}/{page}.md is built and does not do what it should: {}",
                words(&*panic)
            ))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// A deployment that uses all that the patches add.
fn deployment() -> Deployment {
    let settings = format!(
        "domain = \"{DOMAIN}\"\ndefault_agent = \"loud\"\n\n[admin]\ntoken = \"{TOKEN}\"\n\n[agtp]\n\n\
         [pages]\ncrawl_delay_seconds = 7\n\n[finger]\nlisten = \"127.0.0.1:0\"\n"
    );
    let agent = |handle: &str, more: &str| format!("handle = \"{handle}\"\nname = \"{handle}\"\n\n{more}");
    let loud = "[agtp]\nscopes = [\"text:*\"]\n\n[backend]\nkind = \"shout\"\nmarks = 2\n";
    let brief = "[backend]\nkind = \"echo\"\n\n[[policy.rules]]\nkind = \"length\"\nchars_max = 5\n";
    let adults = "[backend]\nkind = \"script\"\n\n[[backend.rule]]\ntext = \".*\"\n\
                  events = [{ policy = { kind = \"age_check\", message = \"For adults.\" } }]\n";
    let people = "[backend]\nkind = \"search\"\ncontent = [\"people\"]\n";
    Deployment::empty()
        .and("forecourt.toml", &settings)
        .and("agents/loud.toml", &agent("loud", loud))
        .and("agents/brief.toml", &agent("brief", brief))
        .and("agents/adults.toml", &agent("adults", adults))
        .and("agents/people.toml", &agent("people", people))
        .and(
            "people/staff.vcf",
            "BEGIN:VCARD\nFN:Ada Lovelace\nTITLE:Engineer\nURL:https://demo.localhost/ada\nEND:VCARD\n",
        )
        .and("endpoints/words.toml", WORDS)
}

const WORDS: &str = r#"
[endpoint]
method = "QUERY"
path = "/words"
description = "Counts words."
required_scopes = ["text:count"]
errors = []
input_schema = { type = "object", additionalProperties = false, required = ["text"], properties = { text = { type = "string" } } }
output_schema = { type = "object", required = ["words"], properties = { words = { type = "integer" } } }
[endpoint.semantic]
intent = "Count the words of a text."
actor = "agent"
outcome = "The caller knows how many words the text has."
capability = "analysis"
confidence = 1.0
impact = "informational"
is_idempotent = true
[endpoint.handler]
type = "registered_function"
function = "builtin.count_words"
"#;

const JSON: [&str; 2] = ["-H", "Accept: application/json"];

fn backend(served: &Served) {
    let answer = served.curl("/~loud?user=hello", &["-H", "Accept: text/markdown"]).with_status(200);
    assert_eq!(answer.text().trim(), "HELLO!!");
}

fn wire(served: &Served) {
    let recorded: Value = serde_json::from_str(&served.deployment.read(".forecourt/serving.json")).unwrap();
    let port = recorded["sockets"]["finger"].as_u64().and_then(|port| u16::try_from(port).ok());
    let port = port.unwrap_or_else(|| panic!("no socket is called finger: {recorded}"));
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"brief hi\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "hi\r\n");
}

fn refusal_kind(served: &Served) {
    let refused = served.curl("/~adults?user=hello", &JSON).with_status(428).json();
    assert_eq!(refused["policy"]["kind"], "age_check", "{refused}");
}

fn rule(served: &Served) {
    served.curl("/~brief?user=hello", &JSON).with_status(200);
    let refused = served.curl("/~brief?user=hello!", &JSON).with_status(403).json();
    assert_eq!(refused["policy"]["message"], "Ask in at most 5 characters.", "{refused}");
}

fn setting(served: &Served) {
    let robots = served.curl("/robots.txt", &[]).with_status(200).text();
    assert!(robots.contains("Crawl-delay: 7\n"), "{robots}");
    let text = served.deployment.read("forecourt.toml").replace("= 7\n", "= 3601\n");
    let wrong = Deployment::empty()
        .and("forecourt.toml", &text)
        .and("agents/loud.toml", &served.deployment.read("agents/loud.toml"));
    let said = wrong.run_by(served.deployment.program().to_owned()).run("check", ["."]).failed(1);
    assert!(said.contains("forecourt.toml:10") && said.contains("`crawl_delay_seconds` can be at most 3600"), "{said}");
}

fn loader(served: &Served) {
    let found = served.curl("/~people?user=engineer", &JSON).with_status(200).text();
    assert!(found.contains("Ada Lovelace"), "{found}");
}

fn endpoint_handler(served: &Served) {
    let agents = served.deployment.run("agtp", ["DISCOVER", &format!("agtp://{DOMAIN}/agents")]).json();
    let loud = agents.as_array().unwrap().iter().find(|agent| agent["name"] == "loud").expect("@loud is listed");
    let (uri, id) = (format!("agtp://{DOMAIN}/words"), loud["agent_id"].as_str().unwrap());
    let call =
        ["QUERY", uri.as_str(), "--agent-id", id, "--scope", "text:count", "-d", r#"{"text": "one two  three"}"#];
    assert_eq!(served.deployment.run("agtp", call).json()["words"], 3);
}

fn console_page(served: &Served) {
    let program = api(served, "/program", &[]).with_status(200).json();
    assert!(program["version"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")), "{program}");
    let jar = served.deployment.path().join("cookies");
    let jar = jar.to_str().unwrap();
    let origin = format!("http://localhost:{}", served.admin);
    let (form, from) = (format!("token={TOKEN}"), format!("Origin: {origin}"));
    let login = ["-c", jar, "-H", &from, "--data-urlencode", &form];
    crate::wire::curl(&format!("{origin}/console/login"), &login).with_status(303);
    let page = crate::wire::curl(&format!("{origin}/console/program"), &["-b", jar]).with_status(200).text();
    assert!(page.contains("Processor") && page.contains(program["processor"].as_str().unwrap()), "{page}");
}
