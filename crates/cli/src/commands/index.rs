//! `forecourt index`: content into indexes, with progress.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use forecourt_agents::{Indexed, Progressed};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::printable::printable;
use crate::args::Index;
use crate::host::{self, Content};
use crate::manual;
use crate::output::{Failure, Outcome, print_json};

/// Warnings that are shown for one agent.
const WARNINGS_SHOWN: usize = 10;

/// Loads everything and says what came of it.
pub(crate) async fn run(index: &Index) -> Outcome {
    let loaded = super::load(&index.place)?;
    let data = host::make_data_dir(&index.place.data_dir())?;
    manual::unpack(&data)?;
    let site = host::site(&loaded, loaded.listen.https.port());
    let egress = host::egress(&loaded, &site, &[])?;
    let agents = host::agents(&loaded, &site, &egress, &data)?;
    if let Some(question) = &index.explain {
        return explain(&agents.content, question);
    }
    agents.content.iter().for_each(|content| content.indexing.fetch_again());
    let done = index_all(&agents.content).await?;
    match index.json {
        true => print_json(&done.iter().map(|(content, indexed)| as_json(content, indexed)).collect::<Vec<_>>()),
        false => Ok(()),
    }
}

/// Says for each agent why its items rank as they do.
fn explain(contents: &[Content], question: &str) -> Outcome {
    for content in contents {
        let told = content.indexing.explain(question);
        let told = told.map_err(|error| Failure::yours(format!("@{}: {error}", content.handle)))?;
        println!("@{}: {} items explained", content.handle, told.len());
        told.iter().for_each(|item| println!("{}", printable(item)));
    }
    Ok(())
}

/// Indexes the content of every agent, one after the other, and reports each on standard error.
pub(crate) async fn index_all(contents: &[Content]) -> Result<Vec<(Content, Indexed)>, Failure> {
    let mut done = Vec::with_capacity(contents.len());
    for content in contents {
        let indexed = index_one(content).await.map_err(|e| Failure::yours(format!("@{}: {e}", content.handle)))?;
        report(content, &indexed);
        done.push((content.clone(), indexed));
    }
    Ok(done)
}

/// Indexes what has no index yet. Whatever has one answers from it at once, and is brought up to
/// date while it does.
pub(crate) async fn index_new(contents: &[Content]) -> Outcome {
    let new: Vec<Content> = contents.iter().filter(|content| content.indexing.items() == 0).cloned().collect();
    index_all(&new).await.map(|_| ())
}

/// Indexes the content of one agent on a thread of its own.
pub(crate) async fn index_one(content: &Content) -> Result<Indexed, String> {
    let content = content.clone();
    let work = move || {
        let (bar, begun) = (bar(&content), Instant::now());
        let indexed = content.indexing.index(&mut |progressed| {
            show(&bar, begun.elapsed(), progressed);
        });
        bar.finish_and_clear();
        indexed.map_err(|error| error.to_string())
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// Files are measured by their bytes; pages of a site have none before they are read.
fn show(bar: &ProgressBar, elapsed: Duration, progressed: &Progressed) {
    let (at, total) = match progressed.bytes_total {
        0 => (progressed.files as u64, progressed.files_total as u64),
        bytes => (progressed.bytes, bytes),
    };
    bar.set_length(total);
    bar.set_position(at);
    let remaining = progressed.files_total.saturating_sub(progressed.files);
    let rate = progressed.items as f64 / elapsed.as_secs_f64().max(0.001);
    bar.set_message(format!("{} items, {rate:.0} a second, {remaining} files or pages to go", progressed.items));
}

fn bar(content: &Content) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(10),
        false => ProgressDrawTarget::hidden(),
    };
    let style = ProgressStyle::with_template("{prefix} {bar:30} {percent:>3} %  {msg}  {elapsed}, {eta} left");
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_prefix(format!("indexing @{}", content.handle));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn report(content: &Content, indexed: &Indexed) {
    eprintln!(
        "@{}: {} items ({} new, {} updated, {} unchanged, {} removed, {} skipped)",
        content.handle,
        indexed.items,
        indexed.loaded,
        indexed.updated,
        indexed.unchanged,
        indexed.removed,
        indexed.skipped
    );
    for warning in indexed.warnings.iter().take(WARNINGS_SHOWN) {
        eprintln!("  {warning}");
    }
    if indexed.warnings.len() > WARNINGS_SHOWN {
        eprintln!("  and {} more", indexed.warnings.len() - WARNINGS_SHOWN);
    }
}

fn as_json(content: &Content, indexed: &Indexed) -> serde_json::Value {
    let mut value = json!(indexed);
    value["agent"] = content.handle.as_str().into();
    value
}
