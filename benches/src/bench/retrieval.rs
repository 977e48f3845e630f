//! How good the first results are, on judged questions: by words, by meaning, and by both.
//!
//! Reads every set in `judged/` of `FORECOURT_DATA` (else of `../shared/data` beside the workspace), and
//! those whose folders `FORECOURT_JUDGED` lists like a search path. `FORECOURT_MODEL` is the folder of
//! the embedding model; without it, only words are measured.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use forecourt_content::{By, Library, Options, Query, Source};
use forecourt_testkit::judged::{DEEP, Judged, Scores};

/// Measures every set that there is, and the mean over them.
pub(super) fn run() -> anyhow::Result<()> {
    let folders = folders()?;
    if folders.is_empty() {
        println!("skipped: no judged sets (FORECOURT_DATA, FORECOURT_JUDGED)");
        return Ok(());
    }
    let model = std::env::var_os("FORECOURT_MODEL").map(PathBuf::from);
    if model.is_none() {
        println!("no model (FORECOURT_MODEL): by words alone");
    }
    println!("{:<24} {:<8} {:>8} {:>10} {:>8}", "set", "by", "nDCG@10", "recall@100", "MRR@10");
    for folder in &folders {
        measure(folder, model.as_deref())?;
    }
    Ok(())
}

fn folders() -> anyhow::Result<Vec<PathBuf>> {
    let data = std::env::var_os("FORECOURT_DATA").map(PathBuf::from);
    let data = data.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let mut folders = Vec::new();
    let judged = data.join("judged");
    if judged.is_dir() {
        for entry in std::fs::read_dir(judged)? {
            folders.push(entry?.path());
        }
    }
    folders.sort();
    folders.extend(std::env::var_os("FORECOURT_JUDGED").iter().flat_map(std::env::split_paths));
    folders.retain(|folder| folder.join("qrels.tsv").exists());
    Ok(folders)
}

fn measure(folder: &Path, model: Option<&Path>) -> anyhow::Result<()> {
    let set = Judged::read(folder)?;
    let index = tempfile::tempdir()?;
    let library = Library::open(index.path(), Options { model: model.map(Path::to_owned), ..Options::default() })?;
    let report = library.index(&[Source::new(&set.corpus)], &mut (), &|| false)?;
    ensure!(report.loaded > 0, "nothing was loaded: {:?}", report.reasons.first());
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    for (label, by) in [("words", By::Words), ("meaning", By::Meaning), ("both", By::Both)] {
        if by == By::Words || model.is_some() {
            let Scores { ndcg, recall, reciprocal_rank } = set.score(|question| ranked(&library, question, by));
            println!("{name:<24} {label:<8} {ndcg:>8.4} {recall:>10.4} {reciprocal_rank:>8.4}");
        }
    }
    Ok(())
}

/// Ids of what is found. A search that fails finds nothing, and the scores say so.
fn ranked(library: &Library, question: &str, by: By) -> Vec<String> {
    let query = Query { limit: DEEP, ..Query::new(question) };
    let hits = library.search_by(&query, by).unwrap_or_default();
    hits.iter().filter_map(|hit| hit.item["_id"].as_str()).map(str::to_owned).collect()
}
