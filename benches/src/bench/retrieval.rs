//! How good the first results are, on judged questions: by a plain BM25 that is not ours, by words, by meaning, and
//! by both; and what one typing error in every question costs.
//!
//! Reads the folders that are named; else every set in `judged/` of `FORECOURT_DATA` (or of
//! `../shared/data` beside the workspace), the sets that are made of the items there, and those whose
//! folders `FORECOURT_JUDGED` lists like a search path. `FORECOURT_MODEL` and `FORECOURT_MINILM` are
//! folders of embedding models; without them, only words are measured.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use forecourt_index::{Library, Options, Query, RankBy};
use forecourt_loaders::ContentSource;
use forecourt_testkit::judged::{DEEP, JudgedSet, MADE, PlainBm25, Scores};

use crate::run::Run;

/// Items of a set that is made, and questions about them.
const MADE_ITEMS: usize = 1_500;
const MADE_QUESTIONS: usize = 300;

/// Measures every set that there is.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let made = tempfile::tempdir()?;
    let folders = if run.is_smoke() { small(made.path())? } else { folders(made.path())? };
    if folders.is_empty() {
        println!("skipped: no judged sets (FORECOURT_DATA, FORECOURT_JUDGED)");
        return Ok(());
    }
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from);
    let models: Vec<PathBuf> = ["FORECOURT_MODEL", "FORECOURT_MINILM"].into_iter().filter_map(folder).collect();
    if models.is_empty() {
        println!("no model (FORECOURT_MODEL, FORECOURT_MINILM): by words alone");
    }
    println!(
        "{:<18} {:<8} {:<8} {:>8} {:>10} {:>8} {:>12}",
        "set", "model", "by", "nDCG@10", "recall@100", "MRR@10", "misspelled"
    );
    for folder in &folders {
        let set = JudgedSet::read(folder)?;
        let name = name(folder);
        let plain = PlainBm25::read(&set.corpus)?;
        keep(run, [&name, "", "plain"], plain.score(&set), plain.score(&set.misspelled()))?;
        measure(run, &name, &set, None)?;
        models.iter().try_for_each(|model| measure(run, &name, &set, Some(model)))?;
    }
    Ok(())
}

/// One small set of the example's own recipes, which are always there.
fn small(made: &Path) -> anyhow::Result<Vec<PathBuf>> {
    const ITEMS: usize = 60;
    const QUESTIONS: usize = 10;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kitchen/content/recipes.jsonl");
    let set = MADE.iter().find(|set| set.name == "recipes-pantry").context("a set of recipes")?;
    set.write(&file, made, ITEMS, QUESTIONS)?;
    Ok(vec![made.to_owned()])
}

fn folders(made: &Path) -> anyhow::Result<Vec<PathBuf>> {
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
    for set in MADE {
        let (file, folder) = (data.join(set.items), made.join(set.name));
        if file.exists() {
            set.write(&file, &folder, MADE_ITEMS, MADE_QUESTIONS)?;
            folders.push(folder);
        }
    }
    Ok(folders)
}

/// By words without a model, by meaning and by both with one.
fn measure(run: &Run, name: &str, set: &JudgedSet, model: Option<&PathBuf>) -> anyhow::Result<()> {
    let index = tempfile::tempdir()?;
    let library = Library::open(index.path(), Options { model: model.cloned(), ..Options::default() })?;
    let report = library.index(&[ContentSource::new(&set.corpus)], &mut (), &|| false)?;
    ensure!(report.loaded > 0, "nothing was loaded: {:?}", report.reasons.first());
    let misspelled = set.misspelled();
    let model = model.map_or_else(String::new, |folder| self::name(folder));
    let rankings: &[_] = match library.has_model() {
        true => &[("meaning", RankBy::Meaning), ("both", RankBy::Both)],
        false => &[("words", RankBy::Words)],
    };
    for (label, by) in rankings {
        let right = set.score(|question| ranked(&library, question, *by));
        keep(run, [name, &model, label], right, misspelled.score(|question| ranked(&library, question, *by)))?;
    }
    Ok(())
}

fn keep(run: &Run, [name, model, label]: [&str; 3], right: Scores, misspelled: Scores) -> anyhow::Result<()> {
    let (Scores { ndcg, recall, reciprocal_rank }, wrong) = (right, misspelled.ndcg);
    println!("{name:<18} {model:<8} {label:<8} {ndcg:>8.4} {recall:>10.4} {reciprocal_rank:>8.4} {wrong:>12.4}");
    run.keep(format_args!("{name} {model} {label}, nDCG@10"), &[ndcg], &[])
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Ids of what is found. A search that fails finds nothing, and the scores say so.
fn ranked(library: &Library, question: &str, by: RankBy) -> Vec<String> {
    let query = Query { limit: DEEP, ..Query::new(question) };
    let hits = library.search_by(&query, by).unwrap_or_default();
    hits.iter().filter_map(|hit| hit.item["_id"].as_str()).map(str::to_owned).collect()
}
