//! What newcomers ask `@guide`, over the manual and the reference: each answer comes from the section that tells
//! the next step, and has the step in it, to be copied.

use std::path::{Path, PathBuf};

use forecourt_agents::{BuiltAgent, Context};
use tempfile::TempDir;

use crate::support::{ask, build, in_folder};

/// A question, headings of which one is that of its answer, and what the answer has to have.
type Case = (&'static str, &'static [&'static str], &'static str);

const GUIDE: &[Case] = &[
    ("how do I start?", &["Start: run the example", "Start a deployment"], "forecourt serve"),
    ("how do I change the port?", &["Ports: change the port"], "http = \"127.0.0.1:8090\""),
    ("how do I add an agent?", &["How do I add an agent"], "agents/echo.toml"),
    ("how do I put it behind nginx?", &["Behind nginx"], "proxy_pass"),
    ("where is my data stored?", &["Where is my data", "Data folder"], ".forecourt/"),
    ("how do I make a backup?", &["Backup and restore"], "```sh"),
    ("How can I use my own TLS certificate?", &["HTTPS with your own TLS certificate"], "[tls]"),
    ("how do I create an API key?", &["API keys for programs"], "forecourt keys api create"),
    ("how do I require consent before an answer?", &["Consent"], "require_consent"),
    ("how can I get paid for answers?", &["Ask to be paid", "Payment"], "require_payment"),
    ("how do I connect Claude Desktop?", &["Claude Desktop"], "mcpServers"),
    ("how do I call an agent over A2A from the command line?", &["Over A2A"], "--via a2a"),
    ("how do I add a language model?", &["Add a language model"], "kind = \"model\""),
    ("can it index CSV files?", &["Which files can be indexed"], "CSV"),
    ("what does status 461 mean?", &["461"], "461"),
];

/// Questions that nothing in the manual is about.
const ELSEWHERE: &[&str] =
    &["Do you ship to Mars?", "what is your refund policy for shoes?", "how tall is Mount Everest?"];

/// A copy of the manual as the program carries it, indexed.
fn guide() -> (TempDir, BuiltAgent) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = tempfile::tempdir().unwrap();
    let manual = folder.path().join("manual");
    std::fs::create_dir(&manual).unwrap();
    let pages = std::fs::read_dir(docs.join("manual")).unwrap().map(|entry| entry.unwrap().path());
    for page in pages.filter(|path| path.extension().is_some_and(|kind| kind == "md")) {
        std::fs::copy(&page, manual.join(page.file_name().unwrap())).unwrap();
    }
    let copy = |from: &str, to: &str| std::fs::copy(docs.join("reference").join(from), manual.join(to)).unwrap();
    copy("config.md", "configuration.md");
    for page in ["errors", "metrics", "worker", "vocabulary-keys", "openapi-mapping", "nodes-state", "engine-figures"] {
        copy(&format!("{page}.md"), &format!("{page}.md"));
    }
    let builtin: Vec<(String, PathBuf)> = vec![("manual".to_owned(), manual)];
    let context = Context { builtin, ..in_folder(folder.path()) };
    let toml = "[backend]\nkind = \"search\"\ncontent = [\"builtin:manual\"]\nitem_label = \"sections\"\nresults = 5\n";
    let built = build(toml, &context);
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

/// Questions that were written before any of the rules was tried on them.
const GUIDE_UNTUNED: &[Case] = &[
    ("how do I set a rate limit?", &["Rate limits"], "per_address"),
    ("where do I see the logs and how do I change the log level?", &["Logs"], "level ="),
    ("how do I get metrics into Prometheus?", &["Metrics (Prometheus)"], "job_name"),
    ("how do I upgrade to a newer version?", &["Upgrade"], "forecourt check"),
    ("can I exclude a file from the index?", &["Exclude a file"], "content ="),
    ("how do I run it in Docker?", &["Docker"], "```"),
    ("how do I run it as a systemd service?", &["systemd"], "[Service]"),
    ("how can an agent be reached by e-mail?", &["mail", "E-mail"], "email"),
    ("how do I search by meaning with embeddings?", &["Semantic search"], "model_dir"),
    ("how do I allow other web pages to call my agent (CORS)?", &["CORS"], "cors"),
    ("is there a health check?", &["Health checks"], "/readyz"),
    ("which backends are there?", &["Which backends are there", "Which backend?"], "search"),
    ("how do I sign people in with OpenID Connect?", &["OpenID Connect", "Bearer tokens"], "issuer"),
    ("how do I stream an answer with curl?", &["Streaming"], "curl"),
    ("how do I import an OpenAPI document?", &["Import an OpenAPI document"], "forecourt import openapi"),
];

#[tokio::test]
async fn the_next_step_can_be_copied_from_the_answer() {
    let wrong = wrong(GUIDE).await;
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), GUIDE.len(), wrong.join("\n"));
}

#[tokio::test]
async fn so_it_is_with_questions_that_no_rule_was_made_for() {
    let wrong = wrong(GUIDE_UNTUNED).await;
    eprintln!("{} of {} are answered otherwise:\n{}", wrong.len(), GUIDE_UNTUNED.len(), wrong.join("\n"));
    assert!(10 * wrong.len() <= GUIDE_UNTUNED.len() + 5, "{}", wrong.join("\n"));
}

/// The questions whose answers come from another section, or lack what they have to have.
async fn wrong(cases: &[Case]) -> Vec<String> {
    let (_folder, built) = guide();
    let mut wrong = Vec::new();
    for (question, headings, wanted) in cases {
        let said = ask(&built, question).await.text();
        let source =
            said.lines().find(|line| line.starts_with("From ") || line.starts_with("… continue")).unwrap_or_default();
        let source = source.split("Next to it").next().unwrap_or_default();
        if !headings.iter().any(|heading| source.contains(heading)) || !said.contains(wanted) {
            let head: String = said.chars().take(400).collect();
            wrong.push(format!("{question}\n  {source}\n  {}", head.replace('\n', "\n  ")));
        }
    }
    wrong
}

#[tokio::test]
async fn what_the_manual_does_not_tell_is_not_answered_with_confidence() {
    let (_folder, built) = guide();
    for question in ELSEWHERE {
        let said = ask(&built, question).await.text();
        let honest = ["I found n", "I only know", "This is the closest section"];
        let is_honest = honest.iter().any(|start| said.starts_with(start));
        assert!(is_honest, "{question}: {said}");
    }
}
