//! Questions over items, in NLWeb's list mode.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, ensure};
use bench_baseline::bare::Bare;
use bench_baseline::items::Pantry;
use forecourt_agents::siblings::Siblings;
use forecourt_agents::{BuiltAgent, Context};
use forecourt_backends::search::BACKEND;
use forecourt_core::{Handle, Language};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_nlweb::PROTOCOL;
use forecourt_settings::Section;
use forecourt_testhost::{Blueprint, resident};
use forecourt_testkit::{CountedEntropy, HandClock, card};
use serde_json::json;

use super::{Question, http};

/// Items in each index: as many as are searched on the thread that asks.
const ITEMS: u64 = 10_000;
/// Different questions, asked in turn.
const QUESTIONS: u64 = 100;
const FILE: &str = "items.jsonl";

/// Fills both indexes, unless an earlier run of this program has: what loads them is not counted.
///
/// # Errors
/// When they can't be written.
pub(super) fn prepare() -> anyhow::Result<()> {
    let folder = folder()?;
    std::fs::create_dir_all(&folder)?;
    Pantry::stocked()?.write(&folder.join(FILE), ITEMS)?;
    let mut bare = Bare::open(&bare_folder(&folder))?;
    if bare.count() != ITEMS {
        bare.load(&folder.join(FILE))?;
    }
    let indexing = built(&folder)?.indexing.context("a search has content")?;
    // What is there already is not read again.
    indexing.index(&mut |_| {}).map_err(|error| anyhow!("{error}"))?;
    ensure!(indexing.items() == ITEMS, "{} of {ITEMS} items were loaded", indexing.items());
    Ok(())
}

/// Serves axum over tantivy.
pub(super) async fn axum() -> anyhow::Result<Question> {
    let router = bench_baseline::ask::router(&bare_folder(&folder()?))?;
    question(http::bare(router).await?)
}

/// Serves ours.
pub(super) async fn ours() -> anyhow::Result<Question> {
    let chef = resident(card("chef"), built(&folder()?)?.agent, Vec::new());
    let mounted = Blueprint { residents: vec![chef], ..Blueprint::default() }.start(Some(&PROTOCOL)).await;
    question(http::listen(mounted, &PROTOCOL, "/ask").await?)
}

/// Beside this program, where they stay between runs.
fn folder() -> anyhow::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("count-items-{ITEMS}")))
}

fn bare_folder(folder: &Path) -> PathBuf {
    folder.join("bare")
}

/// The search backend as the daemon builds it.
fn built(folder: &Path) -> anyhow::Result<BuiltAgent> {
    let settings =
        format!("[backend]\nkind = \"search\"\nitem_label = \"recipes\"\ncontent = [\"{FILE}\"]\nresults = 10\n");
    let problems = |problems| anyhow!("{problems}");
    let mut root = Section::parse(&folder.join("agent.toml"), &settings, &|_: &str| None).map_err(problems)?;
    let section = root.take("backend").context("there is a backend")?;
    let context = Context {
        handle: Handle::parse("chef")?,
        host: "demo.localhost".to_owned(),
        language: Language::english(),
        folder: folder.to_owned(),
        data_dir: folder.join("ours"),
        clock: Arc::new(HandClock::new()),
        entropy: Arc::new(CountedEntropy::default()),
        egress: Egress::builder(EgressConfig::default()).build()?,
        path_variable: None,
        variable: |_| None,
        budget: forecourt_agents::budget::BudgetSettings::default(),
        usage: Arc::new(forecourt_agents::usage::NoUsage),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        goes_on: false,
        builtin: Vec::new(),
    };
    (BACKEND.build)(section, &context).map_err(problems)
}

fn question(address: SocketAddr) -> anyhow::Result<Question> {
    let pantry = Pantry::stocked()?;
    let requests = (0..QUESTIONS).map(|n| request(address.port(), &pantry.question(n))).collect();
    Ok(Question { address, requests, expects: "\"results\":[{".to_owned() })
}

fn request(port: u16, text: &str) -> String {
    let body = json!({
        "query": {"text": text},
        "prefer": {"mode": "list", "streaming": false},
        "meta": {"version": "0.55"},
    });
    http::post(port, "/ask", "", &body.to_string())
}
