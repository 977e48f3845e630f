//! NLWeb's `/ask` in list mode through the real daemon, against axum, tantivy and serde that answer with
//! as many items; and the same by words and meaning, when `FORECOURT_MODEL` is the folder of a model.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use bench_baseline::bare::Bare;
use bench_baseline::items::Pantry;
use serde_json::{Value, json};

use crate::arm::{Arm, OPEN_LIMITS, binary};
use crate::cpu;
use crate::load::{self, Asked};
use crate::report::{compare, sides};
use crate::run::Run;

const QUESTIONS: u64 = 100;
const RESULTS: usize = 10;

/// Runs the comparison with 10,000 and with 100,000 items.
pub(super) fn small(run: &Run) -> anyhow::Result<()> {
    for count in run.of(&[10_000, 100_000][..], &[1_000]) {
        with(run, *count)?;
    }
    Ok(())
}

/// Runs the comparison with 1,000,000 items.
pub(super) fn large(run: &Run) -> anyhow::Result<()> {
    with(run, run.of(1_000_000, 2_000))
}

fn with(run: &Run, count: u64) -> anyhow::Result<()> {
    println!("{count} items:");
    let folder = std::env::current_exe()?.with_file_name(format!("bench-ask-{count}"));
    std::fs::create_dir_all(&folder)?;
    let pantry = Pantry::stocked()?;
    let items = folder.join("items.jsonl");
    pantry.write(&items, count)?;
    let bare = folder.join("bare");
    fill(&bare, &items, count)?;
    let model = std::env::var_os("FORECOURT_MODEL").map(PathBuf::from);
    let mut arms = vec![
        Arm::baseline_over("axum and tantivy", "ask", &bare)?,
        Arm::baseline_over("the same again", "ask", &bare)?,
        Arm::forecourt_over("forecourt, words", &deployment(&folder.join("words"), &items, count, None)?)?,
    ];
    if let Some(model) = &model {
        let fused = deployment(&folder.join("fused"), &items, count, Some(model))?;
        arms.push(Arm::forecourt_over("forecourt, fused", &fused)?);
    }
    arms.iter().try_for_each(|arm| answers(arm, &pantry.question(0)))?;
    let texts = |port| (0..run.of(QUESTIONS, 3)).map(|n| request(port, &pantry.question(n))).collect();
    let what = format!("{count} items, ");
    compare(run, &what, &sides(&arms, |port| Asked::each(texts(port), "\"results\":[{")))
}

/// Loads what an earlier run has not.
fn fill(folder: &Path, items: &Path, count: u64) -> anyhow::Result<()> {
    let mut bare = Bare::open(folder)?;
    if bare.count() == count { Ok(()) } else { bare.load(items) }
}

/// A deployment of one agent over the items, indexed.
fn deployment(folder: &Path, items: &Path, count: u64, model: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder.join("agents"))?;
    std::fs::write(folder.join("forecourt.toml"), OPEN_LIMITS)?;
    let model = model.map_or_else(String::new, |model| format!("model_dir = {model:?}\n"));
    let agent = format!(
        "handle = \"chef\"\nname = \"Chef\"\n[backend]\nkind = \"search\"\nitem_label = \"recipes\"\n\
         content = [{items:?}]\nresults = {RESULTS}\n{model}"
    );
    std::fs::write(folder.join("agents/chef.toml"), agent)?;
    let before = cpu::children_seconds()?;
    let mut index = std::process::Command::new(binary()?);
    let output = index.arg("index").arg(folder).env("FORECOURT_LOG", "error").env("XDG_STATE_HOME", folder).output()?;
    ensure!(output.status.success(), "indexing failed: {}", String::from_utf8_lossy(&output.stderr));
    let spent = cpu::children_seconds()? - before;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    println!("  {name}: {spent:.1} s of CPU to index, {:.0} items for each second", count as f64 / spent);
    Ok(folder.to_owned())
}

fn request(port: u16, question: &str) -> String {
    let body = json!({
        "query": {"text": question},
        "prefer": {"mode": "list", "streaming": false},
        "meta": {"version": "0.55"},
    })
    .to_string();
    format!(
        "POST /ask HTTP/1.1\r\nHost: demo.localhost:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nUser-Agent: bench\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Fails unless a server answers with as many items as all others.
fn answers(arm: &Arm, question: &str) -> anyhow::Result<()> {
    let answer = load::sample(arm.port, &request(arm.port, question))?;
    let (_, body) = answer.split_once("\r\n\r\n").context("an answer has a body")?;
    let results = serde_json::from_str::<Value>(body)?["results"].as_array().map_or(0, Vec::len);
    ensure!(results == RESULTS, "{}: {results} results instead of {RESULTS}: {body}", arm.name);
    println!("  {}: {} bytes for the first question", arm.name, body.len());
    Ok(())
}
