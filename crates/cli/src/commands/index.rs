//! `forecourt index`: content into indexes, with progress.

mod live;

use forecourt::data_folder;
use forecourt::house::Content;
use forecourt_agents::{FetchSummary, IndexReport, RankExplanation};
use serde_json::json;

use self::live::Live;
use super::printable::{counted, line, printable};
use crate::args::Index;
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// Reasons that are shown for one agent.
const WARNINGS_SHOWN: usize = 10;
/// Characters of a reason.
const WARNING_CHARS_MAX: usize = 300;

/// Loads everything, sites too, and says what came of it.
pub(crate) async fn run(index: &Index) -> Outcome {
    let deployment = super::load(&index.place)?;
    let data = data_folder::make(deployment.data_folder())?;
    data_folder::keep_private();
    let house = deployment.with_data_folder(data).build()?;
    house.unpack_manual()?;
    if let Some(question) = &index.explain {
        return explain(house.contents(), question, index.json);
    }
    let mut done = Vec::with_capacity(house.contents().len());
    let mut unreadable = Vec::new();
    for content in house.contents() {
        let wrong = |error| Failure::yours(format!("@{}: {error}", content.handle));
        let fetched = fetched(content).await.map_err(wrong)?;
        report_fetched(content, &fetched);
        let indexed = indexed(content, true).await.map_err(wrong)?;
        embedded(content).await.map_err(wrong)?;
        report(content, &indexed);
        done.push(as_json(content, &fetched, &indexed));
        // An empty folder is fine; one of which nothing could be read is a mistake that a script should see.
        if indexed.items == 0 && indexed.skipped + fetched.skipped > 0 {
            unreadable.push(format!("@{}", content.handle));
        }
    }
    if index.json {
        print_json(&done)?;
    }
    match unreadable.is_empty() {
        true => Ok(()),
        false => Err(Failure::yours(format!("nothing of the content of {} could be read", unreadable.join(", ")))),
    }
}

/// Says for each agent how it reads the question, and why its items rank as they do.
fn explain(contents: &[Content], question: &str, as_json: bool) -> Outcome {
    let mut all = Vec::with_capacity(contents.len());
    for content in contents {
        let told = content.indexing.explain(question);
        let told = told.map_err(|error| Failure::yours(format!("@{}: {error}", content.handle)))?;
        if as_json {
            let data = |all: Vec<RankExplanation>| all.into_iter().map(|one| one.data).collect::<Vec<_>>();
            let (words, items) = (data(told.words), data(told.items));
            all.push(json!({"agent": content.handle.as_str(), "question": question, "words": words, "items": items}));
            continue;
        }
        stdoutln!("@{}: {} items explained", content.handle, told.items.len());
        told.words.iter().for_each(|part| stdoutln!("{}", printable(&part.text)));
        told.items.iter().for_each(|item| stdoutln!("{}", printable(&item.text)));
    }
    if as_json { print_json(&all) } else { Ok(()) }
}

/// Indexes what has no index yet, for its words: meaning follows while it serves. Whatever has one answers from it at once, and is brought up to
/// date while it does; what is elsewhere is not waited for.
pub(crate) async fn index_new(contents: &[Content]) -> Outcome {
    for content in contents.iter().filter(|content| content.indexing.items() == 0) {
        let wrong = |error| Failure::yours(format!("@{}: {error}", content.handle));
        report(content, &indexed(content, false).await.map_err(wrong)?);
    }
    Ok(())
}

/// Indexes the content of one agent on a thread of its own.
async fn indexed(content: &Content, in_pipes: bool) -> Result<IndexReport, String> {
    let content = content.clone();
    let work = move || {
        let mut live = Live::begin(format!("@{} files", content.handle), in_pipes);
        let indexed = content.indexing.index(&mut |progressed| live.show(progressed));
        live.end();
        indexed.map_err(|error| error.to_string())
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// Makes what is missing to find the content of one agent by meaning, on a thread of its own.
async fn embedded(content: &Content) -> Result<(), String> {
    let indexing = content.indexing.clone();
    let work = move || indexing.embed(&mut |_| {}, &|| false).map_err(|error| error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// Asks for what one agent has elsewhere, on a thread of its own.
async fn fetched(content: &Content) -> Result<FetchSummary, String> {
    let content = content.clone();
    let work = move || {
        let mut live = Live::begin(format!("@{} sites", content.handle), true);
        let fetched = content.indexing.fetch(&mut |progressed| live.show(progressed), &|| false);
        live.end();
        fetched.map_err(|error| error.to_string())
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

fn report_fetched(content: &Content, fetched: &FetchSummary) {
    if *fetched == FetchSummary::default() {
        return;
    }
    let FetchSummary { pages, unchanged, items, skipped, warnings } = fetched;
    stderrln!(
        "@{}: {} ({unchanged} unchanged), {} on them, {skipped} left out",
        content.handle,
        counted(*pages as u64, "page"),
        counted(*items, "item")
    );
    tell(warnings, *skipped);
}

/// The first reasons, and how many more there are.
fn tell(warnings: &[String], skipped: u64) {
    let shown = warnings.len().min(WARNINGS_SHOWN);
    // Warnings quote files and pages of others: their control characters must not reach the terminal.
    warnings.iter().take(shown).for_each(|warning| stderrln!("  {}", line(warning, WARNING_CHARS_MAX)));
    match skipped.saturating_sub(shown as u64) {
        0 => {}
        more => stderrln!("  and {more} more"),
    }
}

fn report(content: &Content, indexed: &IndexReport) {
    let IndexReport { items, loaded, updated, unchanged, removed, overridden, skipped, warnings, .. } = indexed;
    let pushed = match overridden {
        0 => String::new(),
        count => format!(", {count} overridden by hand"),
    };
    stderrln!(
        "@{}: {} ({loaded} new, {updated} updated, {unchanged} unchanged, {removed} removed, {skipped} skipped{pushed})",
        content.handle,
        counted(*items, "item")
    );
    if !indexed.kinds.is_empty() {
        let kinds = indexed
            .kinds
            .iter()
            .map(|kind| format!("{} from {} ({})", kind.items, counted(kind.files, "file"), kind.kind));
        stderrln!("  {}", kinds.collect::<Vec<_>>().join(", "));
    }
    tell(warnings, *skipped);
    if indexed.files_left_out > 0 {
        stderrln!("  not read:");
        tell(&indexed.left_out, indexed.files_left_out);
    }
}

fn as_json(content: &Content, fetched: &FetchSummary, indexed: &IndexReport) -> serde_json::Value {
    let mut value = json!(indexed);
    value["agent"] = content.handle.as_str().into();
    if *fetched != FetchSummary::default() {
        value["fetched"] = json!(fetched);
    }
    value
}
