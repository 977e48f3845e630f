//! Retrieval against graded human judgements: 1,400 abstracts, 225 queries.

mod common;

use std::collections::HashMap;
use std::path::Path;

use common::{Shelf, data, model};
use forecourt_content::{Options, Query};
use serde_json::Value;

#[test]
fn words_alone_reach_the_reference() {
    let Some(score) = judged(Options::default()) else { return };
    println!("nDCG@10 by words: {score:.4}");
    assert!(score >= 0.35, "nDCG@10 of {score}");
}

#[test]
fn a_model_helps() {
    let Some(model) = model() else { return };
    let Some(score) = judged(Options { model: Some(model), ..Options::default() }) else { return };
    println!("nDCG@10 by words and meaning: {score:.4}");
    assert!(score >= 0.37, "nDCG@10 of {score}");
}

fn judged(options: Options) -> Option<f64> {
    let dir = data("judged/cranfield")?;
    let shelf = Shelf::with(options);
    shelf.index_from(&dir.join("corpus.jsonl"));
    let judgements = judgements(&dir.join("qrels.tsv"));
    let queries = std::fs::read_to_string(dir.join("queries.jsonl")).unwrap();
    let scores: Vec<f64> = queries
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|query| Some((judgements.get(query["_id"].as_str()?)?, query["text"].as_str()?.to_owned())))
        .map(|(judged, text)| {
            let hits = shelf.library.search(&Query::new(text)).unwrap();
            let grades: Vec<f64> = hits.iter().map(|hit| grade(judged, &hit.item)).collect();
            ndcg(&grades, judged)
        })
        .collect();
    Some(scores.iter().sum::<f64>() / scores.len() as f64)
}

fn grade(judged: &HashMap<String, f64>, item: &Value) -> f64 {
    item["_id"].as_str().and_then(|id| judged.get(id)).copied().unwrap_or(0.0)
}

/// Query id to document id to grade.
fn judgements(path: &Path) -> HashMap<String, HashMap<String, f64>> {
    let mut all: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let [query, document, grade] = *line.split('\t').collect::<Vec<_>>() else { continue };
        all.entry(query.to_owned()).or_default().insert(document.to_owned(), grade.parse().unwrap_or(0.0));
    }
    all
}

/// Discounted gain of the first ten, over that of the best order.
fn ndcg(grades: &[f64], judged: &HashMap<String, f64>) -> f64 {
    let gain = |grades: &[f64]| -> f64 {
        grades.iter().take(10).zip(2..).map(|(grade, place)| grade / f64::from(place).log2()).sum()
    };
    let mut ideal: Vec<f64> = judged.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    gain(grades) / gain(&ideal)
}
